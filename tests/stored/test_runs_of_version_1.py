"""Runs and stores written before the renames of settings, modules and tasks: this version reads and resumes them.

`run.tar.xz` holds a whole pipeline of a tiny run, with the last checkpoint of each training stage and settings under
their old names. `tasks.tar.xz` holds a store whose episodes ask every kind of task, cue and modifier of that version,
and `truth.json`: per episode and task [instruction, answer, success with what was said, success with the true answer,
progress] at the row at which the task was judged.
"""

from __future__ import annotations

import json
import shutil
import tarfile
from pathlib import Path

import pytest
from outcomes import read_ledger
from tiny_runs import copied, interplay, opened, rows, tiny

from interplay.core.renamed_settings import with_current_names
from interplay.env import registry
from interplay.env.world import World
from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.decoded_episode import decode_for_role, resimulate
from interplay.episodes.episode import Episode
from interplay.episodes.snapshot import Snapshot
from interplay.episodes.store import EpisodeStore
from interplay.episodes.transcript import dialogue
from interplay.learner import checkpoint

STORED = Path(__file__).parent
TRAINED = ("clone", "reward", "reinforce")


def unpacked(name: str, to: Path) -> Path:
    with tarfile.open(STORED / f"{name}.tar.xz") as archive:
        archive.extractall(to, filter="data")
    return to


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpacked("tasks", tmp_path_factory.mktemp("tasks"))


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The root of the old run, to be copied."""
    return unpacked("run", tmp_path_factory.mktemp("old"))


def settings(root: Path, *more: str) -> list[str]:
    """The old run's settings, as they are called today."""
    return tiny(
        root,
        "run.name=old",
        "env.start_in_corner=false",
        "collect.grace_steps=2",
        "clone.measure_every=500",  # the default: the old clone did not measure
        "agent.channels=[4,4]",
        "agent.width=8",
        "agent.lstm=8",
        *(f"agent.{layer}=4" for layer in ("policy_hidden", "value_hidden", "decoder_width", "contrast_hidden")),
        *more,
        house=("env=room", "env.objects=[3,4]", "env.image=[16,24]"),
    )


def test_every_stored_task_is_read_and_judged_as_when_it_was_recorded(tasks: Path) -> None:
    expected = json.loads((tasks / "truth.json").read_text())
    found = {}
    with EpisodeStore(tasks / "store") as store:
        (deleted,) = set(expected) - set(store.ids())
        store.restore(deleted)
        world = None
        for identifier in store.ids():
            episode = store.read(identifier)
            world = world or world_of(episode)
            found[identifier] = judgments(world, episode)
        store.delete(deleted)
    wrong = [
        f"{identifier}, task {number}: recorded {then}, now {now}"
        for identifier in expected
        for number, (then, now) in enumerate(zip(expected[identifier], found[identifier], strict=True))
        if then != now
    ]
    assert not wrong, "\n".join(wrong)


def world_of(episode: Episode) -> World:
    """The world that an episode was recorded in, its settings under today's names."""
    recorded = with_current_names(dict(episode.meta.world_config), "env")
    return registry.make(recorded.pop("name"), **recorded)


def judgments(world: World, episode: Episode) -> list[list[object]]:
    """Of each task, what `truth.json` holds; see the module."""
    asked = dialogue(episode.meta)
    spoken = episode.said(world.spec.solver)
    found: dict[int, list[object]] = {}
    for row, _, _ in resimulate(world, episode, ()):
        for number, one in enumerate(asked):
            if one.judged == row:
                task, facts = world.tasks().load(one.fields), world.facts()
                successes = [bool(task.success(facts, said)) for said in (one.answers(spoken), [task.answer or ""])]
                progress = round(float(task.progress(facts)), 6)
                found[number] = [task.instruction, task.answer, *successes, progress]
    return [found[number] for number in range(len(asked))]


def test_old_marks_and_deletions_are_kept_and_frozen(tasks: Path, tmp_path: Path) -> None:
    shutil.copytree(tasks / "store", tmp_path / "store")
    with EpisodeStore(tmp_path / "store") as store:
        marks = store.marks()
        assert len(marks) == 4 * 2 * 3 - 1  # four episodes, two raters, three marks each, one of them undone
        assert store.reindex().added == ()
        entries = {entry.id: entry.task_kinds for entry in store.entries()}
        assert store.ids(tasks=["same_color"]) == [one for one, kinds in entries.items() if "same_color" in kinds] != []
        marked = sorted({mark.episode for mark in marks})
        snapshot = store.snapshot("marked", EpisodeFilter(marked=True))
        assert list(snapshot.ids) == marked
        assert snapshot.marks() == marks
        episode = snapshot.read(marked[0])
    decoded = decode_for_role(episode, "solver", world=world_of(episode))
    assert decoded.images is not None
    assert len(decoded.images) == decoded.rows == 301


def test_old_snapshots_and_checkpoints_are_read(old: Path) -> None:
    for stage in TRAINED:
        snapshot = Snapshot(old / "old" / "store" / "snapshots" / f"{stage}.db")
        assert all(snapshot.read(identifier).meta.steps for identifier in snapshot.ids)
        assert checkpoint.read(old / "old" / stage / "checkpoints").step == 4


@pytest.mark.parametrize("stage", TRAINED)
def test_an_old_training_stage_is_resumed(old: Path, tmp_path: Path, stage: str) -> None:
    root = copied(old, tmp_path, "old")
    interplay(stage, settings(root, f"{stage}.training.updates=6"))
    assert opened(settings(root)).stage(stage).finished_at(6)
    assert [row["step"] for row in rows(root / "old" / stage / "metrics.jsonl")] == [1, 2, 3, 4, 5, 6]
    assert [row.update for row in read_ledger(root / "old" / stage / "ledger.jsonl")] == [1, 2, 3, 4, 5, 6]


def test_the_other_stages_of_an_old_run_find_their_work_done(old: Path, tmp_path: Path) -> None:
    root = copied(old, tmp_path, "old")
    run = opened(settings(root))
    with run.store() as store:
        episodes, marks = store.ids(), store.marks()
    for stage in ("collect", "collect-agent", "mark", "evaluate"):
        before = run.stage(stage).record()
        interplay(stage, settings(root))
        changed = {key for key, value in run.stage(stage).record().items() if value != before[key]}
        assert changed <= {"seconds", "settings"}, stage  # the settings are stored under today's names
    with run.store() as store:
        assert (store.ids(), store.marks()) == (episodes, marks)


@pytest.mark.slow
def test_an_old_run_is_evaluated_reported_and_replayed(old: Path, tmp_path: Path) -> None:
    root = copied(old, tmp_path, "old")
    shutil.rmtree(root / "old" / "evaluate")
    interplay("evaluate", settings(root))
    interplay("report", settings(root))
    summary = json.loads((root / "old" / "summary.json").read_text())
    numbers = {finding["label"]: finding["number"] for finding in summary["results"]["headlines"]}
    assert all(numbers[label] for label in numbers if label != "Reward of an answer"), numbers  # its raters marked none
    with opened(settings(root)).store() as store:
        episode = store.ids()[0]
    interplay("replay", [episode, *settings(root, "replay.height=120", "replay.width=160", "replay.reward=reward")])
    assert (root / "old" / "replay" / f"{episode}.mp4").stat().st_size > 0
