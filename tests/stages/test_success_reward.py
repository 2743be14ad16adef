"""Reinforcement on the success of tasks: without marks or a reward model, and resumed exactly."""

from __future__ import annotations

import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from signalled_run import AfterCall, run_and_signal
from test_resume import LOGGED, same_runs, twelve
from tiny_runs import copied, interplay, opened, refused, rows

from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.lane_reader import EpisodeSource
from interplay.episodes.snapshot import Snapshot
from interplay.learner.agents import load_agent
from interplay.stages.episode_snapshot import freeze_once
from interplay.stages.shared_parts import Demonstrations, dataset_actor

SUCCESS = ("reinforce.reward=success", "reinforce.actor.achieved=true", "reinforce.actor.lanes=8")


def settings(root: Path) -> list[str]:
    return [*twelve(root, "reinforce", False), *SUCCESS]


@pytest.fixture(scope="module")
def straight(cloned: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = copied(cloned, tmp_path_factory.mktemp("straight"))
    interplay("reinforce", settings(root))
    return root


def test_an_episode_earns_one_for_its_task(straight: Path) -> None:
    returns = rows(straight / "run" / "reinforce" / "returns.jsonl")
    earned = np.array([value for row in returns for value in (*row["training"], *row["heldout"])])
    assert set(earned) == {0.0, 1.0}


@pytest.mark.slow
def test_a_killed_run_resumes_bit_for_bit(straight: Path, cloned: Path, tmp_path: Path) -> None:
    killed = copied(cloned, tmp_path)
    result = run_and_signal(["reinforce", *settings(killed)], signal.SIGKILL, AfterCall(LOGGED, 8), tmp_path / "log")
    assert result.code == -signal.SIGKILL, result.output
    interplay("reinforce", settings(killed))
    same_runs(straight, killed, "reinforce")


@pytest.mark.slow
def test_only_tasks_of_the_given_kinds_are_replayed(cloned: Path, tmp_path: Path) -> None:
    root = copied(cloned, tmp_path)
    interplay("collect-agent", settings(root))  # of other kinds, too
    interplay("reinforce", [*settings(root), "reinforce.actor.kinds=[go]"])
    logged = rows(root / "run" / "reinforce" / "metrics.jsonl")
    assert {name for row in logged for name in row if name.startswith("tasks/")} == {"tasks/go"}
    run = opened(settings(root))
    snapshot = Snapshot(run.snapshot_path("reinforce"))
    replayed, recorded = (len(snapshot.select(EpisodeFilter(split="train", tasks=kinds))) for kinds in (("go",), ()))
    assert run.stage("reinforce").record()["replayed"] == replayed < recorded


def test_a_kind_that_no_setter_asked_for_is_refused(
    cloned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused("reinforce", [*settings(copied(cloned, tmp_path)), "reinforce.actor.kinds=[go,dance]"], capsys)
    assert "reinforce.actor.kinds names dance, which no setter of" in said and "allowed: " in said


def test_demonstrations_have_tasks_of_the_given_kinds_alone(
    cloned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = copied(cloned, tmp_path)
    recorded = EpisodeFilter(split="train")
    with opened(settings(root)).store() as store:
        other = store.read(store.ids(split="train")[0])
        both = ((0, {"kind": "go"}), (1, {"kind": "dance"}))
        store.append(replace(other, meta=replace(other.meta, id="e" * 32, tasks=both, endings=())))
        every = set(store.select(recorded))
        chosen = {entry.id for entry in store.entries(recorded) if entry.task_kinds == ("go",)}
    run = opened([*settings(root), "reinforce.dataset.kinds=[go]"])
    agent, words = load_agent(run.stage("clone").checkpoints)
    snapshot = freeze_once(run, "reinforce", EpisodeFilter(), "collect")
    what = Demonstrations("reinforce", snapshot.path, agent.layout, words, run.config.reinforce.dataset, recorded)
    opened_by_reader: set[str] = set()
    get = EpisodeSource.get
    monkeypatch.setattr(EpisodeSource, "get", lambda self, name: (opened_by_reader.add(name), get(self, name))[1])
    actor = dataset_actor(run, what)
    for _ in range(100):
        actor.unroll()
    assert "e" * 32 not in chosen and chosen < every
    assert opened_by_reader == chosen
    with pytest.raises(ValueError, match=r"reinforce\.dataset\.kinds: .* dance has one of another kind, too"):
        dataset_actor(run, replace(what, config=replace(what.config, kinds=("dance",))))


def test_demonstrations_of_an_unknown_kind_are_refused(
    cloned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = copied(cloned, tmp_path)
    said = refused("reinforce", [*settings(root), "reinforce.dataset.kinds=[dance]"], capsys)
    assert "reinforce.dataset.kinds names dance, and no demonstration in" in said and "allowed: " in said


def test_episodes_without_a_task_are_refused_before_anything_is_played(
    cloned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = copied(cloned, tmp_path)
    with opened(settings(root)).store() as store:
        asked = store.read(store.ids(split="train")[0])
        meta = replace(asked.meta, id="f" * 32, tasks=(), endings=())  # as where a person asks
        store.append(replace(asked, meta=meta))
    said = refused("reinforce", settings(root), capsys)
    assert "reinforce.reward=success pays for the truth about tasks, and 1 of the " in said
    assert "replay the others with reinforce.actor.kinds=[" in said
