"""Collecting and marking: after a kill, a stop or a second run, no episode or mark is duplicated or lost."""

from __future__ import annotations

import json
import pkgutil
import signal
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from signalled_run import AfterCall, run_and_signal
from tiny_runs import copied, interplay, opened, refused, tiny

from interplay.actors.episode_collector import EpisodeCollector
from interplay.env.world import Action
from interplay.launch.cli import main
from interplay.players.rater import RaterConfig
from interplay.runtime import interruption
from interplay.runtime.interruption import StopRequest
from interplay.stages import continue_stage, evaluate_stage, mark_stage, stage_folder
from interplay.stages.collect_stage import interleaved
from interplay.stages.probe_files import read_films
from interplay.stages.run import Run
from interplay.stages.stage_folder import WORK_LOCK, StageFolder

APPENDED = "interplay.episodes.store:EpisodeStore.append"
PLACED = "interplay.episodes.store:EpisodeFiles.place"  # the file exists, the catalog has no entry
SAVED = "interplay.stages.stage_folder:StageClock.save"  # just before an episode is stored
MARKED = "interplay.episodes.store:EpisodeStore.add_marks"  # the marks exist, ratings without a mark do not
PLAYED = "interplay.evaluation.probe_player:ProbePlayer._step"


def starts(settings: list[str]) -> list[tuple[str, int]]:
    """(split, seed) of every stored episode."""
    with opened(settings).store() as store:
        metas = [store.read(identifier).meta for identifier in store.ids()]
    return sorted((meta.split, meta.seed) for meta in metas)


def requests(settings: list[str]) -> list[tuple[str, int, str]]:
    """(split, seed, first words of the setter) of every stored episode."""
    with opened(settings).store() as store:
        metas = [store.read(identifier).meta for identifier in store.ids()]
    return sorted((meta.split, meta.seed, meta.utterances[0].text) for meta in metas)


def marks(settings: list[str]) -> list[tuple[int, str, int, int]]:
    """Every mark by its episode's seed, its rater, frame and sign."""
    with opened(settings).store() as store:
        seeds = {identifier: store.read(identifier).meta.seed for identifier in store.ids()}
        return sorted((seeds[mark.episode], mark.rater, mark.frame, mark.sign) for mark in store.marks())


def rated(settings: list[str]) -> dict[str, tuple[str, ...]]:
    """The raters that watched each episode."""
    with opened(settings).store() as store:
        return store.raters()


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The settings of a run that was collected and marked without interruption."""
    settings = tiny(tmp_path_factory.mktemp("straight"))
    interplay("collect", settings)
    interplay("mark", settings)
    return settings


@pytest.mark.parametrize(
    ("moment", "stored"),
    [
        pytest.param(AfterCall(APPENDED, 2), 2, id="stored"),
        pytest.param(AfterCall(PLACED, 3), 3, id="placed", marks=pytest.mark.slow),
        pytest.param(AfterCall(SAVED, 3), 2, id="saved", marks=pytest.mark.slow),
    ],
)
def test_a_killed_recording_continues(straight: list[str], tmp_path: Path, moment: AfterCall, stored: int) -> None:
    settings = tiny(tmp_path)
    result = run_and_signal(["collect", *settings], signal.SIGKILL, moment, tmp_path / "log")
    assert result.code == -signal.SIGKILL, result.output
    files = sorted(path.name for path in tmp_path.glob("run/store/episodes/*/*.npz"))
    assert len(files) == stored
    interplay("collect", settings)
    assert starts(settings) == starts(straight)
    assert {path.name for path in tmp_path.glob("run/store/episodes/*/*.npz")} >= set(files)
    with opened(settings).store() as store:
        steps = sum(store.meta(identifier).steps for identifier in store.ids())
    assert opened(settings).stage("collect").record()["steps"] == steps, "those before the kill once"


@pytest.mark.slow
def test_a_killed_recording_of_recurring_houses_continues_with_the_requests_it_lacks(tmp_path: Path) -> None:
    recurring = ["collect.episodes=5", "collect.houses=2", "collect.heldout=1", "collect.lanes=1"]
    whole = tiny(tmp_path / "whole", *recurring)
    interplay("collect", whole)
    seeds = [seed for split, seed in starts(whole) if split == "train"]
    assert sorted(seeds.count(seed) for seed in set(seeds)) == [2, 3]
    assert len(set(requests(whole))) > 3  # other requests in the same house
    killed = tiny(tmp_path / "killed", *recurring)
    assert run_and_signal(["collect", *killed], signal.SIGKILL, AfterCall(APPENDED, 3), tmp_path / "log").code
    interplay("collect", killed)
    assert requests(killed) == requests(whole)


@pytest.mark.slow
def test_a_stopped_recording_keeps_every_episode_that_had_begun(straight: list[str], tmp_path: Path) -> None:
    settings = tiny(tmp_path)
    result = run_and_signal(["collect", *settings], signal.SIGINT, AfterCall(APPENDED, 1), tmp_path / "log")
    assert result.code == 130
    stored = starts(settings)
    # One episode had ended and the other lane's ends; how many more lanes begin one depends on timing.
    assert 2 <= len(stored) < 6
    assert f"stopped with {len(stored)} of 6 episodes stored; the same command continues" in result.output
    assert "Traceback" not in result.output
    assert not opened(settings).stage("collect").finished
    interplay("collect", settings)
    assert starts(settings) == starts(straight)


def test_collecting_and_marking_again_changes_nothing(straight: list[str]) -> None:
    episodes, clicks = starts(straight), marks(straight)
    interplay("collect", straight)
    interplay("mark", straight)
    assert starts(straight) == episodes
    assert marks(straight) == clicks
    assert len(episodes) == len(set(episodes)) == 6
    assert clicks


@pytest.mark.slow
def test_a_killed_rater_marks_nothing_twice(straight: list[str], tmp_path: Path) -> None:
    settings = tiny(tmp_path)
    interplay("collect", settings)
    result = run_and_signal(["mark", *settings], signal.SIGKILL, AfterCall(MARKED, 1), tmp_path / "log")
    assert result.code == -signal.SIGKILL, result.output
    assert marks(settings) == marks(straight)
    interplay("mark", settings)
    assert marks(settings) == marks(straight)


@pytest.mark.parametrize("whole", [True, False], ids=["the journal", "a line of the journal"])
def test_marks_that_a_damaged_store_has_lost_are_made_again(straight: list[str], tmp_path: Path, whole: bool) -> None:
    settings = tiny(copied(opened(straight).root.parent, tmp_path))
    store, before = tmp_path / "run" / "store", rated(settings)
    (store / "catalogue.db").unlink()
    lines = (store / "marks.jsonl").read_text().splitlines()
    assert '"change": "mark"' in lines[0]
    kept = [] if whole else ["damaged", *lines[1:]]
    (store / "marks.jsonl").write_text("".join(f"{line}\n" for line in kept))
    interplay("reindex", settings)
    assert not marks(settings)
    interplay("mark", settings)
    assert marks(settings) == marks(straight) and rated(settings) == before


@pytest.mark.parametrize("rated_first", [True, False])
def test_episodes_that_are_deleted_during_the_marking_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rated_first: bool
) -> None:
    """One is deleted before it is read, or after it was rated and before its marks are stored."""
    settings = tiny(tmp_path)
    interplay("collect", settings)
    with opened(settings).store() as store:
        chosen = store.ids()[0 if rated_first else -1]
        rate = mark_stage._rated

        def rated_and_deleted(run: Run, world: Any, episode: Any, rater: str, config: RaterConfig) -> Any:
            found = rate(run, world, episode, rater, config)
            if chosen in store.ids():
                store.delete(chosen)
                store.purge()
            return found

        monkeypatch.setattr(mark_stage, "_rated", rated_and_deleted)
        interplay("mark", settings)
        assert chosen not in store.ids()
        assert set(store.raters()) == set(store.ids())


@pytest.mark.parametrize(
    ("stage", "call", "kept"),
    [
        (mark_stage.mark, "interplay.episodes.store.EpisodeStore.add_ratings", 3),
        (evaluate_stage.evaluate, "interplay.stages.evaluate_stage.write_results", 1),
        (continue_stage.continue_scenarios, "interplay.stages.continue_stage._Partial.add", 2),
    ],
)
def test_a_killed_stage_counts_the_time_of_the_results_that_it_keeps(
    stage: Callable[[Run], None], call: str, kept: int, cloned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = ("evaluate.kinds=[go]", "evaluate.chance=false", "continuation.scenarios=1", "continuation.continuations=4")
    run = opened(tiny(copied(cloned, tmp_path), *few, "continuation.steps=2"))
    monkeypatch.setattr(mark_stage, "EPISODES_PER_TRANSACTION", 1)
    monkeypatch.setattr(stage_folder, "time", SimpleNamespace(monotonic=count().__next__))  # a second at each look
    found, done = pkgutil.resolve_name(call), []

    def killed_later(*arguments: Any) -> None:
        if len(done) == kept:
            raise KeyboardInterrupt
        found(*arguments)
        done.append(arguments)

    monkeypatch.setattr(call, killed_later)
    with pytest.raises(KeyboardInterrupt):
        stage(run)
    (record,) = (file for name in ("mark", "evaluate", "continue") if (file := run.root / name / "stage.json").exists())
    assert json.loads(record.read_text())["seconds"] > 1, "the time until the first result"


def test_what_is_recorded_later_is_marked_too(straight: list[str], tmp_path: Path) -> None:
    settings = tiny(tmp_path)
    interplay("collect", settings)
    interplay("mark", settings)
    before = marks(settings)
    interplay("clone", settings)
    interplay("collect-agent", settings)
    interplay("mark", settings)
    after = marks(settings)
    assert set(after) > set(before)
    assert len({(rater, seed) for seed, rater, _, _ in after}) > len({(rater, seed) for seed, rater, _, _ in before})


def test_raters_never_share_their_draws(straight: list[str]) -> None:
    """Two raters of one episode make different mistakes, each the same ones every time."""
    run = opened(straight)
    world = run.make_world()
    config = RaterConfig()
    with run.store() as store:
        for identifier in store.ids():
            episode = store.read(identifier)
            once, again = (list(mark_stage._rated(run, world, episode, "ann", config)) for _ in range(2))
            assert [mark.id for mark in once] == [mark.id for mark in again]
            assert [mark.frame for mark in once] == [mark.frame for mark in again]
            other = list(mark_stage._rated(run, world, episode, "bob", config))
            assert not {mark.id for mark in once} & {mark.id for mark in other}


def test_long_episodes_under_way_do_not_hold_up_a_stop(
    straight: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, step, taken = tiny(tmp_path), EpisodeCollector._step, []

    def asks(maker: EpisodeCollector, index: int, action: Action) -> None:
        step(maker, index, action)
        taken.append(index)
        if len(taken) == 5:
            StopRequest.request_stop()

    monkeypatch.setattr(interruption, "GRACE_SECONDS", 0.0)
    monkeypatch.setattr(EpisodeCollector, "_step", asks)
    assert main(["collect", *settings]) == 130
    assert taken == [0, 1, 0, 1, 0, 1] and starts(settings) == []
    assert not opened(settings).stage("collect").record()  # other settings may start it
    monkeypatch.undo()
    interplay("collect", settings)
    assert starts(settings) == starts(straight)


@pytest.mark.parametrize("verb", ["collect", "mark"])
def test_two_processes_cannot_record_mark_or_reindex_the_same_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    settings = tiny(tmp_path)
    monkeypatch.setattr("interplay.stages.stage_folder.LOCK_SECONDS", 0.0)
    with opened(settings).stage(verb).locked(WORK_LOCK):
        assert f"run/{verb} is being worked on by process" in refused(verb, settings, capsys)
        assert f"run/{verb} is being worked on by process" in refused("reindex", settings, capsys)
    with StageFolder(opened(settings).root / "round-2" / verb).locked(WORK_LOCK):
        assert f"round-2/{verb} is being worked on by process" in refused("reindex", settings, capsys)


@pytest.mark.slow
def test_an_agent_has_not_been_evaluated_before_its_films_are_kept(tmp_path: Path) -> None:
    settings = tiny(tmp_path)
    for verb in ("collect", "clone"):
        interplay(verb, settings)
    kept = AfterCall("interplay.stages.probe_files:write_films", 1)
    result = run_and_signal(["evaluate", *settings], signal.SIGKILL, kept, tmp_path / "log")
    assert result.code == -signal.SIGKILL, result.output
    folder = opened(settings).stage("evaluate")
    assert (folder.path / "bc.npz").exists() and not (folder.path / "bc.json").exists()
    assert read_films(folder, "bc") == []
    interplay("evaluate", settings)
    assert read_films(folder, "bc")


@pytest.mark.slow
def test_a_stopped_evaluation_is_played_again(tmp_path: Path) -> None:
    settings = tiny(tmp_path)
    for verb in ("collect", "clone"):
        interplay(verb, settings)
    result = run_and_signal(["evaluate", *settings], signal.SIGINT, AfterCall(PLAYED, 3), tmp_path / "log")
    assert result.code == 130
    assert "stopped while bc played" in result.output
    interplay("evaluate", settings)
    results = json.loads((tmp_path / "run" / "evaluate" / "bc.json").read_text())["results"]
    assert len({(row["kind"], row["index"]) for row in results}) == len(results) == 6


def test_episodes_of_two_worlds_never_share_a_store(straight: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    said = refused("collect", [*straight, "env.image=[24,32]", "env.objects=[2,2]"], capsys)
    assert "env.image: [16, 24] -> [24, 32]" in said
    assert "env.objects: [2, 3] -> [2, 2]" in said
    assert "Type the settings of this run again" in said and "run/config.json has all" in said
    assert "run.name=" in said and "remove" not in said
    interplay("collect", straight)  # and the refused settings are not in the run's configuration


def test_a_stopped_collection_has_episodes_of_both_splits() -> None:
    order = interleaved({"train": 8, "heldout": 2})
    assert sorted(order) == sorted([("train", k) for k in range(8)] + [("heldout", k) for k in range(2)])
    for split in ("train", "heldout"):
        assert [index for name, index in order if name == split] == sorted(k for name, k in order if name == split)
    assert [order[:5].count(("heldout", k)) for k in range(2)] == [1, 0]
    assert interleaved({"train": 3, "heldout": 0}) == [("train", 0), ("train", 1), ("train", 2)]


def contents(settings: list[str]) -> list[dict[str, bytes]]:
    """What the players of each episode did and saw, in the order of the store."""
    with opened(settings).store() as store:
        episodes = [store.read(identifier) for identifier in store.ids()]
    return [
        {
            "start": episode.initial_state,
            "split": episode.meta.split.encode(),
            "said": repr(episode.meta.utterances).encode(),
            **{role: actions.tobytes() for role, actions in episode.actions.items()},
            **({} if episode.poses is None else {"poses": np.asarray(episode.poses).tobytes()}),
        }
        for episode in episodes
    ]


@pytest.mark.slow
def test_workers_record_the_same_episodes_whatever_their_number(straight: list[str], tmp_path: Path) -> None:
    one, two = (tiny(tmp_path / count, f"collect.workers={count}", "mark.workers=2") for count in ("1", "2"))
    for settings in (one, two):
        interplay("collect", settings)
    assert len(contents(one)) == 6
    assert contents(two) == contents(one), "also in the same order"
    assert starts(one) == starts(straight)
    interplay("mark", one)
    interplay("mark", [*two, "mark.workers=0"])
    assert marks(one) == marks(two) != []


@pytest.mark.slow
def test_a_stopped_recording_with_workers_continues(straight: list[str], tmp_path: Path) -> None:
    settings = tiny(tmp_path, "collect.workers=2")
    result = run_and_signal(["collect", *settings], signal.SIGINT, AfterCall(APPENDED, 1), tmp_path / "log")
    assert result.code == 130, result.output
    stored = starts(settings)
    assert 1 <= len(stored) < 6
    assert f"stopped with {len(stored)} of 6 episodes stored; the same command continues" in result.output
    assert "Traceback" not in result.output
    interplay("collect", [*settings, "collect.workers=1"])
    assert starts(settings) == starts(straight)
