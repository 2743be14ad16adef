"""`interplay replay`: a video of a recorded episode, from the command to the file."""

from __future__ import annotations

import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from fake_world import LineWorld, record_episode, with_number
from numpy.typing import NDArray
from tiny_runs import copied, interplay, opened, refused, tiny

from interplay.env import registry
from interplay.episodes.episode import Mark
from interplay.episodes.store import EpisodeStore
from interplay.launch.cli import main
from interplay.stages.episode_lookup import find_episode
from interplay.video import style
from interplay.video.timeline import build_timeline

SHORT = ("replay.height=240", "replay.width=320")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The settings of a run with episodes, marks and a reward model."""
    settings = tiny(tmp_path_factory.mktemp("runs"), "mark.rater.threshold=0.02", "mark.rater.misses=0.0")
    for verb in ("collect", "clone", "mark", "reward"):
        interplay(verb, settings)
    return settings


def most_marked(settings: list[str]) -> tuple[str, list[Mark]]:
    with opened(settings).store() as store:
        chosen = max(store.ids(), key=lambda episode: len(store.marks([episode])))
        return chosen, store.marks([chosen])


def watched(path: Path) -> tuple[Fraction, list[NDArray[np.uint8]]]:
    """The frame rate of a video and its images."""
    with av.open(str(path)) as container:
        rate = container.streams.video[0].average_rate
        assert rate is not None
        return rate, [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]


def near(picture: NDArray[np.uint8], color: style.Color) -> int:
    """Pixels of approximately a color, because encoding blurs them."""
    return int((np.abs(picture.astype(int) - np.array(color)).max(-1) < 40).sum())


def curve_end(strip: NDArray[np.uint8]) -> int:
    """The last column with the color of the utility curve."""
    columns = (np.abs(strip.astype(int) - np.array(style.CURVE)).max(-1) < 40).any(0)
    return int(np.flatnonzero(columns)[-1])


def test_an_episode_becomes_a_video(recorded: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    run = opened(recorded)
    before = (run.root / "config.json").read_text()
    episode, marks = most_marked(recorded)
    interplay("replay", [episode[:-1], *recorded, *SHORT])  # a unique prefix is enough
    path = run.root / "replay" / f"{episode}.mp4"
    assert f"The video: {path}" in capsys.readouterr().out
    with run.store() as store:
        told = build_timeline(store.read(episode).meta, run.make_world().spec, marks)
    rate, pictures = watched(path)
    assert rate == Fraction(15, 4)
    assert len(pictures) == told.steps + 1 + told.end_rows
    assert pictures[0].shape[0] > 240 and pictures[0].shape[1] == 320 + 120
    assert marks
    sign = marks[-1].sign
    assert near(pictures[0][:240, :320], style.mark(sign)) < near(pictures[-1][:240, :320], style.mark(sign)) - 500
    ends = [curve_end(picture[240:-20]) for picture in pictures[: told.steps + 1]]  # above the legend
    growth = np.diff(ends)  # captions of the same color end further right, and a mark can cover the end
    assert (growth >= 0).all() and growth[len(growth) // 2 :].mean() > 20, ends  # one step is some 30 pixels
    assert not [file for file in path.parent.iterdir() if file != path]
    assert (run.root / "config.json").read_text() == before


def test_the_recorded_world_is_used_whatever_the_settings(recorded: list[str], tmp_path: Path) -> None:
    """The run is the one that contains the file: its marks, its reward model, its folder."""
    run = opened(recorded)
    episode, _ = most_marked(recorded)
    interplay("replay", [episode, *recorded, *SHORT])
    path = run.root / "replay" / f"{episode}.mp4"
    first = path.read_bytes()
    path.unlink()
    (file,) = (run.root / "store" / "episodes").glob(f"*/{episode}.npz")
    interplay("replay", [str(file), f"run.dir={tmp_path}", *SHORT])
    assert path.read_bytes() == first
    assert not list(tmp_path.iterdir())


def test_a_file_outside_a_run_is_drawn_without_marks_or_utility(recorded: list[str], tmp_path: Path) -> None:
    episode, _ = most_marked(recorded)
    (file,) = (opened(recorded).root / "store" / "episodes").glob(f"*/{episode}.npz")
    shutil.copy(file, tmp_path / "given.npz")
    interplay("replay", [str(tmp_path / "given.npz"), f"run.dir={tmp_path}", "run.name=mine", *SHORT])
    _, pictures = watched(tmp_path / "mine" / "replay" / f"{episode}.mp4")
    assert not near(pictures[-1][240:], style.UP) + near(pictures[-1][240:], style.DOWN)


def test_speed_size_and_utility_follow_the_options(recorded: list[str]) -> None:
    run = opened(recorded)
    episode, _ = most_marked(recorded)
    path = run.root / "replay" / f"{episode}.mp4"
    interplay("replay", [episode, *recorded, *SHORT])
    _, with_utility = watched(path)
    interplay("replay", [episode, *recorded, *SHORT, "replay.speed=2", "replay.reward=none"])
    rate, without = watched(path)
    assert rate == Fraction(15, 2)
    assert len(without) > len(with_utility)  # the last image is held as long as before, in more frames
    assert without[0].shape[0] < with_utility[0].shape[0] - 20
    interplay("replay", [episode, *recorded, "replay.height=120", "replay.width=160"])
    assert watched(path)[1][0].shape[1] == 160 + 60


def test_an_unknown_episode_is_refused_with_the_closest_id(
    recorded: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with opened(recorded).store() as store:
        ids = store.ids()
    said = refused("replay", [f"{ids[1][:-1]}x", *recorded], capsys)
    assert "no episode" in said and ids[1] in said and "ls " in said
    assert "solver: scripted; steps: " in said
    said = refused("replay", [ids[0][:4], *recorded], capsys)
    assert f"{len(ids)} episodes begin with" in said
    assert "one episode, got 2" in refused("replay", [*ids[:2], *recorded], capsys, code=2)
    assert "between 120 and" in refused("replay", [ids[0], *recorded, "replay.height=10"], capsys, code=2)


def test_without_an_episode_the_newest_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    episode, _ = record_episode(LineWorld(), 3, 4)
    with EpisodeStore(tmp_path / "run" / "store", create=True) as store:
        for number in range(10):
            store.append(with_number(episode, number))
    interplay("replay", [f"run.dir={tmp_path}"])
    listed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in listed[1:-1]] == [f"{number:028x}" for number in range(2, 10)]
    assert listed[-1].endswith("ls " + str(tmp_path / "run/store/episodes/*"))


def test_a_run_without_episodes_and_a_missing_file_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for named in ([], ["0123"]):
        assert "interplay collect run.name=run" in refused("replay", [*named, *tiny(tmp_path)], capsys)
    assert "there is no file" in refused("replay", [str(tmp_path / "none.npz"), *tiny(tmp_path)], capsys)
    assert f"{tmp_path} is a folder; type the path" in refused("replay", [str(tmp_path), *tiny(tmp_path)], capsys)
    assert not list(tmp_path.iterdir())


def test_a_damaged_episode_is_refused(recorded: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    episode, _ = most_marked(recorded)
    (file,) = (opened(recorded).root / "store" / "episodes").glob(f"*/{episode}.npz")
    short = tmp_path / "short.npz"
    short.write_bytes(file.read_bytes()[:-200])
    assert f"{short} is damaged" in refused("replay", [str(short), *tiny(tmp_path)], capsys)


def test_a_policy_or_another_worlds_model_is_not_a_reward_model(
    recorded: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    episode, _ = most_marked(recorded)
    assert "without utility" in refused("replay", [episode, *recorded, "replay.reward=clone"], capsys)
    assert "'rewrad'" in refused("replay", [episode, *recorded, "replay.reward=rewrad"], capsys)
    other = tiny(tmp_path, "env.image=[24,32]")
    interplay("collect", other)
    there, _ = most_marked(other)
    elsewhere = f"replay.reward={opened(recorded).stage('reward').checkpoints}"
    assert "another world" in refused("replay", [there, *other, elsewhere], capsys)
    (file,) = (opened(other).root / "store" / "episodes").glob(f"*/{there}.npz")
    shutil.copy(file, tmp_path / "given.npz")  # outside every run, so the reward model is that of the given run
    assert f"than episode {there}" in refused("replay", [str(tmp_path / "given.npz"), *recorded], capsys)


def test_a_recording_that_was_left_out_is_found(tmp_path: Path) -> None:
    run = opened(tiny(tmp_path))
    with run.store() as store:
        store.append(record_episode(LineWorld(), 0, 6)[0])
        (episode,) = store.ids()
        store.flag(episode, "unfit")
    assert find_episode(run, episode[:-1]).episode.meta.id == episode


def test_of_many_episodes_the_nearest_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    episode, _ = record_episode(LineWorld(), 3, 4)
    with EpisodeStore(tmp_path / "run" / "store", create=True) as store:
        for number in range(40):
            store.append(with_number(episode, number))
    said = refused("replay", [f"{20:028x}x", f"run.dir={tmp_path}"], capsys)
    assert [number for number in range(40) if f"{number:028x}" in said] == list(range(17, 25))


@pytest.mark.parametrize("image", [True, False])
def test_a_world_without_portraits_shows_the_agents_images_if_any(
    image: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def line_world(image: bool = image) -> LineWorld:
        return LineWorld(image=image)

    monkeypatch.setattr(registry, "_REGISTERED", {"line": line_world})
    episode, _ = record_episode(LineWorld(image=image), 3, 12)
    episode = replace(episode, meta=replace(episode.meta, world_config={"image": image}))
    with EpisodeStore(tmp_path / "run" / "store", create=True) as store:
        store.append(episode)
    typed = [episode.meta.id, f"run.dir={tmp_path}", *SHORT]
    if image:
        assert main(["replay", *typed]) == 0
        _, pictures = watched(tmp_path / "run" / "replay" / f"{episode.meta.id}.mp4")
        assert len(pictures) >= 13
        assert np.ptp(pictures[5][60:200, 60:260].reshape(-1, 3), axis=0).max() > 100  # the world's picture
    else:
        assert "draws no pictures" in refused("replay", typed, capsys)
        assert not (tmp_path / "run" / "replay").exists()


def test_a_video_that_cannot_be_written_is_named_before_the_work(
    recorded: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = copied(Path(recorded[0].removeprefix("run.dir=")), tmp_path)
    chosen, _ = most_marked(recorded)
    shutil.rmtree(tmp_path / "run" / "replay", ignore_errors=True)  # of another test of the recorded run
    (tmp_path / "run" / "replay").touch()
    said = refused("replay", [chosen, *tiny(settings), "replay.reward=no/model"], capsys)
    assert f"{tmp_path / 'run' / 'replay'}: a file is in the place of this folder" in said
