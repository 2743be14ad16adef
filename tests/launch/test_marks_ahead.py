"""Recordings that are marked while the agent is cloned from them."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock

import pytest
from processes import becomes_true
from tiny_runs import copied, interplay, opened, tiny

from interplay.episodes.snapshot import Snapshot
from interplay.launch import marks_ahead
from interplay.launch.marks_ahead import MarksAhead
from interplay.runtime.crashes import WorkerFailed
from interplay.stages.stage_folder import write_json

MARKED = ("mark.rater.threshold=0.05", "mark.rater.misses=0", "mark.raters=[ann,bea]")


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The root of a run whose only stage is `collect`."""
    root = tmp_path_factory.mktemp("collected")
    interplay("collect", tiny(root, *MARKED))
    return root


@pytest.fixture
def worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of a few episodes are marked ahead, too, also where memory or cores are scarce."""
    monkeypatch.setattr(marks_ahead, "FEWEST_EPISODES", 1)
    monkeypatch.setattr(marks_ahead, "why_not_concurrent", lambda run: "")


def marks(root: Path) -> list[tuple[str, str, str, int, int]]:
    with opened(tiny(root, *MARKED)).store() as store:
        return [(mark.id, mark.episode, mark.rater, mark.frame, mark.sign) for mark in store.marks()]


@pytest.mark.slow
@pytest.mark.usefixtures("worth_it")
def test_marks_made_ahead_are_those_of_the_stage_and_not_in_what_the_clone_learns_from(
    collected: Path, tmp_path: Path
) -> None:
    later, ahead = copied(collected, tmp_path / "later"), copied(collected, tmp_path / "ahead")
    interplay("mark", tiny(later, *MARKED))
    run = opened(tiny(ahead, *MARKED))
    with MarksAhead(run) as other:
        other.before("clone")
        interplay("clone", tiny(ahead, *MARKED))
        assert becomes_true(lambda: marks(ahead) == marks(later) != [])
        other.before("mark")
        assert not run.stage("mark").finished
    assert Snapshot(run.snapshot_path("clone")).marks() == []
    interplay("mark", tiny(ahead, *MARKED))
    assert run.stage("mark").finished and marks(ahead) == marks(later)


@pytest.mark.usefixtures("worth_it")
def test_nothing_is_marked_before_the_clone_has_a_checkpoint(collected: Path, tmp_path: Path) -> None:
    root = copied(collected, tmp_path)
    with pytest.raises(ValueError, match="of the clone"), MarksAhead(opened(tiny(root, *MARKED))) as other:
        other.before("clone")
        raise ValueError("of the clone")
    assert marks(root) == []


@pytest.mark.usefixtures("worth_it")
def test_a_process_that_dies_leaves_the_marks_to_the_stage(
    cloned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    run = opened(tiny(copied(cloned, tmp_path)))
    clone = run.stage("clone")
    write_json(clone.path / "stage.json", {**clone.record(), "finished": False})
    monkeypatch.setattr(marks_ahead, "map_in_processes", Mock(side_effect=WorkerFailed("one died")))
    with MarksAhead(run) as other:
        other.before("clone")
        other.before("mark")
    assert "marking the recordings while their clone trains failed, so mark does it later: one died" in caplog.text


@pytest.mark.parametrize(
    "typed",
    [
        "collect.episodes=400",
        "run.round=2",
        "runtime.concurrent_work=false",
        "reinforce.reward=scripted reinforce.actor.progress=true",
    ],
)
def test_a_process_starts_only_where_there_is_much_to_mark_and_room_for_it(
    typed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(marks_ahead, "why_not_concurrent", lambda run: "")
    monkeypatch.setattr(marks_ahead.threading, "Thread", started := Mock())
    many = tiny(tmp_path, "collect.episodes=500")
    MarksAhead(opened([*many, *typed.split()])).before("clone")
    assert not started.called
    MarksAhead(opened(many)).before("clone")
    assert started.called
