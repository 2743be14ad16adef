"""docs/own_data.md: its files import recordings, from which an agent is cloned; what was not recorded is refused."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from tiny_runs import AGENT, SHORT, interplay, refused

from interplay.episodes.episode import Mark
from interplay.episodes.store import EpisodeStore

PAGE = (Path(__file__).parents[2] / "docs/own_data.md").read_text()
CODE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
CLONE = re.compile(r"^PYTHONPATH=. interplay clone (.+)$", re.MULTILINE)
STEPS = 6


def write_recordings(folder: Path) -> None:
    """Ten episodes of six pictures of 96x128, of a dot that moves by its action."""
    folder.mkdir()
    for number in range(10):
        actions = np.full((STEPS, 2), 0.8 if number % 2 else -0.8)
        np.savez(folder / f"{number}.npz", state=actions.cumsum(0), action=actions)
        (folder / f"{number}.txt").write_text("move right\n" if number % 2 else "move left\n")
        with av.open(str(folder / f"{number}.mp4"), "w") as video:
            stream: Any = video.add_stream("mpeg4", rate=10)
            stream.width, stream.height, stream.pix_fmt = 128, 96, "yuv420p"
            for step in range(STEPS):
                picture = np.zeros((96, 128, 3), np.uint8)
                picture[40:56, 56 + 4 * step : 72 + 4 * step] = 255
                video.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
            video.mux(stream.encode())


def test_the_files_of_the_page_import_recordings_to_clone_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_recordings(tmp_path / "data")
    *_, environment, importing, checking = CODE.findall(PAGE)
    (tmp_path / "recordings.py").write_text(environment)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "recordings", raising=False)
    try:
        exec(importing, {})
        with EpisodeStore("runs/arm/store") as store:
            assert (len(store.ids(split="train")), len(store.ids(split="heldout"))) == (9, 1)
            episode = store.read(store.ids(split="heldout")[0])
        assert episode.images["solver"].shape == (STEPS, 48, 64, 3)
        assert episode.actions["solver"].tolist() == [[9, 9]] * (STEPS - 1)
        assert [said.text for said in episode.meta.utterances] == ["move right"]
        (typed,) = CLONE.findall(PAGE)
        settings = [word.strip("'") for word in typed.split()] + [*AGENT, *SHORT]
        others = [word if word != "env.bins=11" else "env.bins=5" for word in settings]
        assert "(env.bins: 11 -> 5)" in refused("clone", others, capsys)
        interplay("clone", settings)
        exec(checking, {})
        said = capsys.readouterr().out.splitlines()[-1]
        assert re.fullmatch(r"mean distance in bins, by number of the action: \[ *\d\S* +\d\S*\]", said)
        with EpisodeStore("runs/arm/store") as store:
            marks = [
                Mark(name, "me", STEPS - 2, 1 if split == "train" else -1)
                for split in ("train", "heldout")
                for name in store.ids(split=split)
            ]
            store.add_marks(marks)
        interplay("reward", settings)
        assert "not what others lead to" in refused("evaluate", settings, capsys)
    finally:
        sys.modules.pop("recordings", None)
