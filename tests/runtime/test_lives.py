"""The lives of a learner: how many it may have, and what counts as one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from interplay.learner import checkpoint
from interplay.runtime.config import RuntimeConfig
from interplay.runtime.crashes import CrashReports, WorkerFailed
from interplay.runtime.ray import supervision
from interplay.runtime.ray.supervision import LearnerDied, SupervisedStage
from interplay.runtime.ray.worker_handle import LOST_BEFORE_START_TEXTS

AT_ONCE = 1e-6  # seconds, which pass between any two deaths


@pytest.fixture
def lived(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[list[Callable[[], None]]], list[int]]:
    """Lives the given lives one after the other; returns how many restarts each was told of."""

    def live(lives: list[Callable[[], None]]) -> list[int]:
        told: list[int] = []

        class Life:
            """Does what the next of the lives does, without a process."""

            def __init__(
                self, work: SupervisedStage, placement: object, restarts: int, counted: int, watch: object
            ) -> None:
                assert work.crashes.limit >= counted
                told.append(restarts)

            def follow(self, stop: object) -> None:
                lives[told[-1]]()

            def end(self) -> None:
                pass

        monkeypatch.setattr(supervision, "_LearnerProcess", Life)
        config = RuntimeConfig("ray", restarts=1, restart_window=AT_ONCE)
        crashes = CrashReports(tmp_path / "crashes", seed=1, config="abc", limit=1, window=AT_ONCE)
        none: Any = None
        work = SupervisedStage("reinforce", tmp_path, none, (), config, crashes)
        supervision._run_with_restarts(work, none, none, none)
        return told

    return live


def dies(words: str = "killed") -> None:
    raise LearnerDied(words)


def test_a_learner_that_gets_on_between_its_deaths_goes_on(lived: Any, tmp_path: Path) -> None:
    def saves_and_dies(step: int) -> Callable[[], None]:
        def life() -> None:
            checkpoint.save(tmp_path / "checkpoints", step=step, description={}, weights={}, training={})
            dies()

        return life

    assert lived([*map(saves_and_dies, (10, 20, 30, 40)), lambda: None]) == [0, 1, 2, 3, 4]
    assert (tmp_path / "crashes/learner.txt").read_text().count("went down, 1 of at most 1 times in 1e-06 s") == 4


def test_a_learner_that_saves_nothing_between_its_deaths_is_given_up(lived: Any, tmp_path: Path) -> None:
    checkpoint.save(tmp_path / "checkpoints", step=10, description={}, weights={}, training={})
    with pytest.raises(WorkerFailed, match=r"runtime\.restarts=1 allows in runtime\.restart_window=1e-06 seconds"):
        lived([dies, dies, lambda: None])
    assert (tmp_path / "crashes/learner.txt").read_text().count("went down, ") == 2


def test_a_learner_placed_on_a_lost_node_has_been_counted_before(lived: Any, tmp_path: Path) -> None:
    def never_runs() -> None:
        dies("ActorDiedError: " + "\n".join(LOST_BEFORE_START_TEXTS))

    assert lived([dies, never_runs, never_runs, lambda: None]) == [0, 1, 2, 3]
    assert (tmp_path / "crashes/learner.txt").read_text().count("went down, ") == 1
