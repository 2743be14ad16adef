"""interplay export minari: which episodes it writes where, what it replaces, and what it refuses."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import minari
import pytest
from minari_house import HOUSE, digest, export
from tiny_runs import copied, opened, refused, tiny

from interplay.stages import export_stage

pytestmark = pytest.mark.usefixtures("own_datasets")
UTTERED = "zwölf 鸭"


def test_episodes_are_chosen_as_by_a_filter_of_the_store_which_stays_as_it_is(
    tmp_path: Path, house: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copied(house, tmp_path)
    with opened(tiny(tmp_path, house=HOUSE)).store() as store:
        ids = store.ids()
        heldout, marked, color = store.ids(split="heldout"), store.ids(marked=True), store.ids(tasks=["color"])
    before = digest(tmp_path / "run/store")
    for number, (settings, chosen) in enumerate(
        [
            ((), ids),
            (("export.minari.split=heldout",), heldout),
            (("export.minari.marked=true",), marked),
            (("export.minari.tasks=[color]",), color),
            (("export.minari.solver=[scripted,agent]", "export.minari.round=0", "export.minari.episodes=2"), ids[:2]),
        ]
    ):
        export(tmp_path, f"house/some-v{number}", *settings)
        storage = minari.load_dataset(f"house/some-v{number}").storage
        assert [each["episode"] for each in storage.get_episode_metadata(range(storage.total_episodes))] == chosen
    assert digest(tmp_path / "run/store") == before
    for settings in (("export.minari.solver=[human]",), ("export.minari.round=7",)):
        words = ["minari", "house/none-v0", *tiny(tmp_path, *settings, house=HOUSE)]
        assert "has 6 episodes, and export.minari chooses none of them" in refused("export", words, capsys)
    assert not (tmp_path / "datasets/house/none-v0").exists()


def test_a_dataset_that_exists_is_replaced_on_request_only(
    tmp_path: Path, house: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export(house, "house/taken-v0", "export.minari.episodes=1")
    words = ["minari", "house/taken-v0", *tiny(house, house=HOUSE)]
    said = refused("export", words, capsys)
    assert "house/taken-v0 exists already" in said and "export.minari.overwrite=true to replace it" in said
    assert len(minari.load_dataset("house/taken-v0")) == 1
    export(house, "house/taken-v0", "export.minari.overwrite=true")
    assert len(minari.load_dataset("house/taken-v0")) == 6
    assert [*minari.list_local_datasets()] == ["house/taken-v0"]
    assert sorted(each.name for each in (tmp_path / "datasets").iterdir()) == ["house"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")], ids=["Ctrl-C", "full"])
def test_an_export_writes_episode_by_episode_and_when_stopped_leaves_nothing(
    tmp_path: Path, house: Path, monkeypatch: pytest.MonkeyPatch, error: Any
) -> None:
    export(house, "house/kept-v0", "export.minari.episodes=1")
    before = digest(tmp_path / "datasets")
    reads = iter(range(10))

    def stopped(*arguments: Any) -> Any:
        if next(reads) == 3:
            (file,) = (tmp_path / "datasets").glob(".interplay-export.*/*/*/data/main_data.hdf5")
            assert len(minari.MinariDataset(file.parent)) == 3, "each episode is written before the next one is read"
            raise error
        return read(*arguments)

    read = export_stage._read
    monkeypatch.setattr(export_stage, "_read", stopped)
    code = 130 if error is KeyboardInterrupt else 1
    for dataset, settings in (("house/kept-v0", ("export.minari.overwrite=true",)), ("other/new-v0", ())):
        reads = iter(range(10))
        export(house, dataset, *settings, code=code)
        assert digest(tmp_path / "datasets") == before
        assert sorted(each.name for each in (tmp_path / "datasets").iterdir()) == ["house"]


def test_what_can_not_be_read_or_written_is_left_out_and_named(
    tmp_path: Path, house: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copied(house, tmp_path)
    with opened(tiny(tmp_path, house=HOUSE)).store() as store:
        first, second, third, *_ = store.ids()
        path, episode = store.root / store.path(first), store.read(third)
        said = [replace(each, text=f"{UTTERED}\0") for each in episode.meta.utterances]
        odd = replace(episode, meta=replace(episode.meta, id=f"{third[:-1]}x", utterances=tuple(said)))
        said = [replace(each, text=UTTERED) for each in episode.meta.utterances]
        fine = replace(episode, meta=replace(episode.meta, id=f"{third[:-1]}y", utterances=tuple(said)))
        for each in (odd, fine):
            store.append(each)
    path.write_bytes(b"damaged")
    export(tmp_path, "house/most-v0", code=1)
    out = capsys.readouterr().out
    assert "6 episodes written" in out
    assert f"1 episodes that can't be read or drawn, as {first}: " in out
    assert "1 episodes with a text that HDF5 can't store, as episode " in out
    dataset = minari.load_dataset("house/most-v0")
    assert next(iter(dataset.storage.get_episode_metadata([0])))["episode"] == second
    heard = {text for episode in dataset for text in episode.observations["heard"]}
    assert UTTERED in heard and all(text in dataset.observation_space["heard"] for text in heard)
    for file in (tmp_path / "run/store/episodes").glob("*/*.npz"):
        file.write_bytes(b"damaged")
    said_then = refused("export", ["minari", "house/none-v0", *tiny(tmp_path, house=HOUSE)], capsys)
    assert "no episode can be exported" in said_then and "8 episodes that can't be read" in said_then
    assert [*minari.list_local_datasets()] == ["house/most-v0"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["minari"],
            r"minari and the id of a dataset to write, as: export minari house/recordings-v0; got \['minari'\]",
        ),
        (["mdc", "some/x-v0"], "takes no words, for the tables"),
        (["minari", "some/x-v0", "export.format=jsonl"], "export.format is about tables"),
        (["export.minari.split=train"], "export.minari.split is about a Minari dataset: type export minari DATASET"),
        (["export.minari.dataset=some/x-v0"], "type the id of the dataset after the verb"),
        (["minari", "some/x-v0", "export.minari.episodes=0"], "export.minari.episodes must be at least 1"),
    ],
)
def test_mistyped_words_are_refused(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert re.search(said, refused("export", [*words, f"run.dir={tmp_path}"], capsys, code=2))


@pytest.mark.parametrize("name", ["recordings", "house/recordings", "../x-v0", "house/x-v", "/abs/x-v0", "x/y-v0"])
def test_an_id_that_minari_would_not_read_is_refused(
    name: str, house: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused("export", ["minari", name, *tiny(house, house=HOUSE)], capsys)
    assert f"{name!r} is not an id of a Minari dataset: type NAME-vNUMBER" in said


def test_a_place_that_another_folder_takes_is_refused(
    tmp_path: Path, house: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also with export.minari.overwrite, which would otherwise remove the datasets in it."""
    export(house, "all-v0/first-v0", "export.minari.episodes=1")
    before = digest(tmp_path / "datasets")
    for name, words in (("all-v0", "is a folder of datasets"), ("all-v0/first-v0/second-v0", "first-v0 is a dataset")):
        typed = ["minari", name, *tiny(house, "export.minari.overwrite=true", house=HOUSE)]
        assert words in refused("export", typed, capsys)
    assert digest(tmp_path / "datasets") == before


def test_observations_of_an_environment_need_one(house: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["minari", "house/x-v0", *tiny(house, "export.minari.observations=environment", house=HOUSE)]
    assert "is for Gymnasium worlds, and this one is playhouse" in refused("export", words, capsys)


def test_a_missing_run_and_a_missing_package_are_named(tmp_path: Path, house: Path) -> None:
    script = (
        "import sys; sys.modules['minari'] = None\n"
        "from interplay.launch.cli import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    for folder, words in ((house, "export minari needs the package 'minari'"), (tmp_path, "there is no run in")):
        typed = ["export", "minari", "house/x-v0", f"run.dir={folder}", "run.name=run"]
        ran = subprocess.run([sys.executable, "-c", script, *typed], capture_output=True, text=True, timeout=300)
        assert ran.returncode == 1 and "Traceback" not in ran.stderr and words in ran.stderr
