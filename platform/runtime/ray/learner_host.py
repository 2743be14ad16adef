"""The learner's process: the stage function itself runs in it, and it owns all the parts that feed it.

Where it dies, they die with it; its successor resumes from the newest checkpoint and makes them anew.
"""

from __future__ import annotations

import faulthandler
import logging
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import ray
import torch

from interplay.runtime.config import RuntimeConfig
from interplay.runtime.crashes import CrashReports
from interplay.runtime.interruption import StopRequest
from interplay.runtime.ray.gpu_visibility import hide_unassigned_gpus
from interplay.runtime.ray.learner_context import LearnerContext
from interplay.runtime.ray.stderr_relay import StderrRelay
from interplay.runtime.ray.worker_placement import LEARNER, WorkerPlacement
from interplay.runtime.status import WorkerStatus

STARTING_ACTIVITY = "starts"

StageFunction = Callable[[LearnerContext], None]


@dataclass(frozen=True)
class LearnerReport:
    """What the driver hears from the learner."""

    said: str
    workers: tuple[WorkerStatus, ...]


@dataclass(frozen=True)
class DriverTerminal:
    """Where the learner's words will be shown."""

    terminal: bool
    columns: int


class LearnerHost:
    """Runs a stage; beside it, answers its driver."""

    def __init__(
        self,
        folder: str,
        screen: DriverTerminal,
        config: RuntimeConfig,
        placement: WorkerPlacement,
        crashes: CrashReports,
        restarts: int,
        counted_restarts: int,
    ) -> None:
        os.chdir(folder)  # paths of the run's configuration are relative to where it was typed
        self._printed = crashes.worker_log(LEARNER)
        self._printed.catch()
        hide_unassigned_gpus()
        os.environ["COLUMNS"] = str(screen.columns)
        torch.set_num_threads(config.threads)
        self._said = StderrRelay(screen.terminal)
        sys.stderr = self._said
        logging.basicConfig(level=logging.INFO, format="%(levelname).1s %(message)s", stream=self._said, force=True)
        self._context = LearnerContext(config, placement, crashes, restarts, counted_restarts)
        crashes.stacks.mkdir(parents=True, exist_ok=True)
        # Open for good: the watchdog writes into it without Python's help, even where the interpreter hangs.
        self._stacks = (crashes.stacks / f"{LEARNER}.txt").open("a")
        self._limit = config.stall_limit
        self._wind()

    def run(self, stage: StageFunction) -> None:
        """Runs the stage to its end."""
        self._context.heartbeat.works(STARTING_ACTIVITY)
        try:
            stage(self._context)
        finally:
            self._context.close()

    @ray.method(concurrency_group="control")
    def hear(self) -> LearnerReport:
        """What there is to tell since the last call."""
        self._wind()
        self._printed.shorten()
        return LearnerReport(self._said.take(), self._context.status())

    @ray.method(concurrency_group="control")
    def stop(self) -> bool:
        """Asks the stage to save and stop; False where it can't be asked yet."""
        return StopRequest.ask()

    @ray.method(concurrency_group="control")
    def dump(self, blocked: str) -> Path:
        """The stacks of all parts and the learner's own; returns their folder."""
        return self._context.write_blocked(blocked, self._context.dump_stacks())

    def _wind(self) -> None:
        """Puts the watchdog off: it keeps the stacks of a process that can't be heard for too long."""
        faulthandler.dump_traceback_later(self._limit, file=self._stacks)
