"""Marks the recordings of `collect` in a process of its own while the agent is cloned from them.

    this process  | collect | clone          | collect-agent | mark: the rest | reward | ...
    the other               |       | mark   |

Imitation keeps one core busy once the episodes are in memory, and cloning reads no marks. The marks are the same as
those that the stage `mark` makes: each follows from its episode and rater. The other process begins once the clone has
a checkpoint: until then a restarted clone freezes its snapshot again, which lists the marks made so far.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from functools import partial
from types import TracebackType

from interplay.launch.concurrent_baselines import NICENESS, POLL_SECONDS, why_not_concurrent
from interplay.runtime.crashes import WorkerFailed
from interplay.stages.mark_stage import EPISODES_PER_TRANSACTION, mark_ahead
from interplay.stages.process_pool import map_in_processes
from interplay.stages.run import Run
from interplay.stages.stage_config import LEARNED_REWARDS
from interplay.stages.stage_folder import StageConflict

logger = logging.getLogger(__name__)

FEWEST_EPISODES = 500  # fewer are marked in less time than a process takes to start


class MarksAhead:
    """Marks recordings at the same time as a run clones them, if the settings and the machine permit it::

        with MarksAhead(run) as ahead:
            for each stage:
                ahead.before(stage)
                ...

    The process ends before the stage `mark`, which marks what is left, and when the block is left.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> MarksAhead:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def before(self, stage: str) -> None:
        """Starts the process before `clone`, and ends it before `mark`."""
        if stage == "clone" and self._is_worth_it():
            self._thread = threading.Thread(target=self._mark, name="marks-ahead")
            self._thread.start()
        if stage == "mark":
            self._end()

    def _end(self) -> None:
        """Ends the process after its current episode."""
        self._stop.set()
        while self._thread is not None:
            self._thread.join(timeout=POLL_SECONDS)
            if not self._thread.is_alive():
                self._thread = None

    def _is_worth_it(self) -> bool:
        run, recorded = self._run, self._run.config.collect
        if run.round > 1 or recorded.episodes + recorded.heldout < FEWEST_EPISODES:
            return False
        if run.stage("clone").finished or run.config.reinforce.reward not in LEARNED_REWARDS:
            return False
        return run.config.runtime.concurrent_work and not why_not_concurrent(run)

    def _mark(self) -> None:
        """Waits for the clone's first checkpoint, then marks in a process; runs in the thread."""
        clone = self._run.stage("clone")
        while not clone.has_agent:
            if self._stop.wait(POLL_SECONDS):
                return
        recorded, raters = self._run.config.collect, self._run.config.mark.raters
        batches = (recorded.episodes + recorded.heldout) * len(raters) // EPISODES_PER_TRANSACTION + 1
        make, stopped = partial(_marker, self._run), self._stop.is_set
        try:
            for _ in map_in_processes(make, range(batches), workers=1, stopped=stopped, overdue=stopped):
                pass
        except (WorkerFailed, StageConflict, OSError, ValueError, RuntimeError) as error:
            logger.warning("marking the recordings while their clone trains failed, so mark does it later: %s", error)


def _marker(run: Run, stopped: Callable[[], bool]) -> Callable[[int], None]:
    """Prepares the process and returns the function that marks the next batch of episodes, whatever its argument."""
    os.nice(NICENESS)
    marking = mark_ahead(run, stopped)
    return lambda _: next(marking, None)
