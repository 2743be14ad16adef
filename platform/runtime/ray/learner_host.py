"""Learner process: runs the stage function and owns all workers that feed it.

If it dies, its workers die with it; its successor resumes from the newest checkpoint and starts new ones. A relay
buffers its stderr until the driver fetches it and prints it on its own.
"""

from __future__ import annotations

import io
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import ray

from interplay.core.running_clock import RunningClock
from interplay.runtime.config import RuntimeConfig
from interplay.runtime.crashes import CrashReports
from interplay.runtime.heartbeat import WorkerStatus
from interplay.runtime.interruption import StopRequest
from interplay.runtime.ray.learner_context import LearnerContext
from interplay.runtime.ray.worker import WorkerProcess, exit_as_error
from interplay.runtime.ray.worker_placement import LEARNER, WorkerPlacement

MAX_BUFFERED_CHARACTERS = 1_000_000  # not yet fetched; the oldest are dropped


class StderrRelay(io.TextIOBase):
    """Stream that looks to its writers like the driver's stderr: a terminal, or a file."""

    def __init__(self, is_tty: bool) -> None:
        self._is_tty = is_tty
        self._text = ""
        self._lock = threading.Lock()

    def isatty(self) -> bool:
        return self._is_tty

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        with self._lock:
            self._text = (self._text + text)[-MAX_BUFFERED_CHARACTERS:]
        return len(text)

    def take(self) -> str:
        """Returns and clears the text written since the last call."""
        with self._lock:
            text, self._text = self._text, ""
        return text


STARTING_ACTIVITY = "starts"

StageFunction = Callable[[LearnerContext], None]


@dataclass(frozen=True)
class LearnerReport:
    """Answer of the learner to its driver's poll."""

    stderr: str  # since the last report
    workers: tuple[WorkerStatus, ...]
    accepted: bool  # whether the stage has passed its checks


class LearnerHost(WorkerProcess):
    """Runs a stage, and answers its driver in parallel.

    Args:
        is_tty: whether the driver's stderr, where the output of the stage is shown, is a terminal.
    """

    def __init__(
        self,
        folder: str,
        is_tty: bool,
        config: RuntimeConfig,
        placement: WorkerPlacement,
        crashes: CrashReports,
        restarts: int,
        counted_restarts: int,
    ) -> None:
        super().__init__(LEARNER, folder, crashes, config, threads=config.threads)
        # The driver requests stops. After this signal Ray would not answer calls until the stage has ended.
        signal.signal(signal.SIGTERM, lambda number, frame: None)
        self._stderr = StderrRelay(is_tty)
        sys.stderr = self._stderr
        logging.basicConfig(level=logging.INFO, format="%(levelname).1s %(message)s", stream=self._stderr, force=True)
        # Read when the driver polls: Ctrl-Z suspends the driver and Ray's own processes, for which workers then wait.
        self._clock, self._seconds = RunningClock(), 0.0
        self._context = LearnerContext(
            config, placement, crashes, restarts, counted_restarts, clock=lambda: self._seconds
        )
        self._start_watchdog()

    def run(self, stage: StageFunction) -> None:
        """Runs the stage to its end."""
        self._context.heartbeat.set_busy(STARTING_ACTIVITY)
        try:
            with exit_as_error():
                stage(self._context)
        finally:
            self._context.close()

    @ray.method(concurrency_group="control")
    def report(self, columns: int) -> LearnerReport:
        """Returns new output and the status of every process. Restarts the watchdog, which expires without polls.

        Args:
            columns: of the driver's terminal at present, for the lines of progress.
        """
        os.environ["COLUMNS"] = str(columns)
        self._start_watchdog()
        self._seconds = self._clock()
        self._log.truncate()
        return LearnerReport(self._stderr.take(), self._context.status(), self._context.accepted)

    @ray.method(concurrency_group="control")
    def stop(self) -> bool:
        """Requests that the stage saves and stops; False if it does not listen yet."""
        return StopRequest.request_stop()

    @ray.method(concurrency_group="control")
    def dump(self, message: str) -> Path:
        """Writes the stacks of all processes and `message`; returns their folder."""
        return self._context.write_blocked(message, self._context.dump_stacks())
