"""Driver side of a stage under Ray: starts the learner, shows its output, relays stop requests, restarts it if it dies.

driver (a terminal) --- supervises ---> learner host --- owns ---> actors, dataset actors, reward replicas
"""

from __future__ import annotations

import itertools
import json
import logging
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import ray
from ray import ObjectRef
from ray.exceptions import RayError, RayTaskError, UnserializableException

from interplay.core.files import JsonLines, write_whole
from interplay.core.running_clock import RunningClock
from interplay.learner import checkpoint
from interplay.learner.distributed import RankLost
from interplay.runtime.config import RuntimeConfig
from interplay.runtime.crashes import CrashReports, error_line
from interplay.runtime.heartbeat import WAITING, RunStatus, WorkerStatus
from interplay.runtime.interruption import Interrupted, StopRequest
from interplay.runtime.ray.cluster_session import ClusterSession, cluster_session, temporary_folder_problem
from interplay.runtime.ray.learner_context import lack_of_room
from interplay.runtime.ray.learner_host import (
    STARTING_ACTIVITY,
    LearnerHost,
    LearnerReport,
    StageFunction,
)
from interplay.runtime.ray.worker_placement import LEARNER, ResourceRequest, WorkerPlacement, reserve_resources
from interplay.runtime.ray.worker_restarts import FETCH_SECONDS, lost_before_start, remote_class
from interplay.runtime.restart_budget import RestartBudget

logger = logging.getLogger(__name__)

REPORT_POLL_SECONDS = 0.25  # between two polls of the learner
STATUS_SECONDS = 0.5  # between two writes of status.json
HEAD_POLL_SECONDS = 2.0  # between two checks of Ray's head


@dataclass(frozen=True)
class SupervisedStage:
    """A stage to be run under Ray."""

    name: str
    folder: Path  # metrics.jsonl is read there, status.json is written
    stage: StageFunction
    requests: tuple[ResourceRequest, ...]
    config: RuntimeConfig
    crashes: CrashReports
    on_accepted: Callable[[], object]  # called with every report of a stage that has passed its checks


def supervise(work: SupervisedStage) -> None:
    """Runs a stage under Ray to its end, and writes its status every half second.

    Raises:
        ClusterError: there is no cluster, or not enough room in it, or a process of Ray has ended.
        WorkerFailed: a worker, or the learner, failed more often than allowed.
        Exception: raised by the stage.
    """
    cpus = sum(each.resources.cpus for each in work.requests)
    with cluster_session(work.config, cpus) as session, StopRequest() as stop:
        placement = reserve_resources(work.requests, work.config)
        try:
            _run_with_restarts(work, session, placement, stop)
        finally:
            if session.head_answers:
                placement.release()


def _run_with_restarts(
    work: SupervisedStage, session: ClusterSession, placement: WorkerPlacement, stop: StopRequest
) -> None:
    budget, counted_restarts = RestartBudget(work.crashes.limit, work.config.restart_window), 0
    for restarts in itertools.count():
        process = _LearnerProcess(work, session, placement, restarts, counted_restarts)
        try:
            process.follow(stop)
            return
        except Interrupted:
            if not stop.requested:
                session.check()  # the reason why it was stopped
            raise
        except LearnerDied as died:
            if not stop.requested:
                session.check()
            text = work.crashes.explained(LEARNER, str(died), temporary_folder_problem())
            if lost_before_start(text) and not stop.requested:
                logger.warning("the learner, or a rank of it, was placed on a node that is lost, and is placed again")
                continue
            counted_restarts = budget.record_failure(_saved_updates(work.folder))
            file = work.crashes.record_failure(LEARNER, counted_restarts, text, [])
            if stop.requested:  # by a signal that may also have ended Ray's processes: no other learner would start
                raise Interrupted(
                    f"stopped, but the learner died before it had saved (see {file}); the same command continues from "
                    "the newest checkpoint"
                ) from died
            if budget.exhausted:
                line = error_line(text if text == str(died) else text.partition("\n")[0])
                raise work.crashes.restarts_exhausted(LEARNER, text, line, file) from died
            logger.warning("the learner died (see %s) and continues from its newest checkpoint", file)
        finally:
            process.end()


def _saved_updates(folder: Path) -> int:
    """The update of a stage's newest checkpoint, from which the next learner process continues."""
    newest = checkpoint.latest(folder / "checkpoints")
    return 0 if newest is None else newest.step


class LearnerDied(Exception):
    """The learner process has died, is stuck, or has lost one of its ranks."""


def stage_error(error: RayError) -> BaseException:
    """The exception that the stage raised; `LearnerDied` if its process or one of its ranks has died."""
    if isinstance(error, RayTaskError) and isinstance(error.cause, RankLost):
        return LearnerDied(str(error.cause))
    if isinstance(error, RayTaskError):
        raised: BaseException = error.cause
        return raised
    if isinstance(error, UnserializableException):  # raised by the stage; its text ends with the traceback
        return RuntimeError(str(error))
    return LearnerDied(f"{type(error).__name__}: {error}")


class _LearnerProcess:
    """One process of the learner, from its start to its end."""

    def __init__(
        self,
        work: SupervisedStage,
        session: ClusterSession,
        placement: WorkerPlacement,
        restarts: int,
        counted_restarts: int,
    ) -> None:
        work.crashes.worker_log(LEARNER).write_header()
        self._work, self._session, self._placement = work, session, placement
        self._host: Any = remote_class(LearnerHost, placement, LEARNER).remote(
            str(Path.cwd()), sys.stderr.isatty(), work.config, placement, work.crashes, restarts, counted_restarts
        )
        self._pending_report: ObjectRef[Any] | None = None
        self._clock = RunningClock()  # read with every poll: a driver that was suspended could not hear the learner
        self._reported_at = self._clock()
        self._has_reported = False
        self._shown_at = 0.0
        self._stop_requested = False
        self._logged_error = ""
        self._logged_write_error = False
        self._head_asked = 0.0
        self._logged_lost_head = False

    def follow(self, stop: StopRequest) -> None:
        """Returns when the stage has ended."""
        ended = self._host.run.remote(self._work.stage)
        while not ray.wait([ended], timeout=REPORT_POLL_SECONDS)[0]:
            self._poll()
            if (stop.requested or self._head_is_lost()) and not self._stop_requested:
                self._stop_requested = self._request_stop()
        for _ in range(2):  # the pending report, and the output since
            self._poll(FETCH_SECONDS)
        try:
            ray.get(ended, timeout=FETCH_SECONDS)
        except RayError as error:
            raise stage_error(error) from error

    def end(self) -> None:
        """Kills the process, and with it all workers that it owns."""
        if self._session.head_answers:
            ray.kill(self._host)

    def _poll(self, timeout: float = 0.0) -> None:
        """Shows the learner's report if it arrives within `timeout`."""
        if self._pending_report is None:
            self._pending_report = self._host.report.remote(shutil.get_terminal_size().columns)
        if not ray.wait([self._pending_report], timeout=timeout)[0]:
            silent = self._clock() - self._reported_at
            if silent > self._work.config.control_limit:
                self._session.check()
            self._check_stall(silent, "does not answer", starts=not self._has_reported)
            return
        pending, self._pending_report = self._pending_report, None
        try:
            report: LearnerReport = ray.get(pending, timeout=FETCH_SECONDS)
        except (RayTaskError, UnserializableException) as error:  # the process is alive
            cause = getattr(error, "cause", error)
            if str(cause) != self._logged_error:
                logger.warning("the learner can't report its status: %r", cause)
            self._logged_error = str(cause)
            silent = self._clock() - self._reported_at
            self._check_stall(silent, "can't report its status", starts=not self._has_reported)
            return
        except RayError:  # the process has died: `follow` gets the same error and raises it
            return
        self._reported_at, self._has_reported = self._clock(), True
        sys.stderr.write(report.stderr)
        sys.stderr.flush()
        if report.accepted:
            self._work.on_accepted()
        if self._reported_at - self._shown_at >= STATUS_SECONDS or timeout:
            self._shown_at = self._reported_at
            self._show(report.workers)
        learner = report.workers[0]
        if not learner.activity.startswith(WAITING):  # while it waits, it monitors the workers that it waits for
            starts = learner.activity == STARTING_ACTIVITY
            self._check_stall(learner.activity_seconds, f"reports: {learner.activity}", starts=starts)

    def _check_stall(self, seconds: float, what: str, *, starts: bool) -> None:
        config = self._work.config
        if seconds <= (config.result_limit if starts else config.stall_limit):
            return
        message = f"the learner has not moved for {seconds:.0f} s ({config.limit_text(starts=starts)}): it {what}"
        if starts:
            message += lack_of_room(self._placement)
        logger.warning(message)
        dump = self._host.dump.remote(message)
        where = f"; the stacks that its watchdog has written are in {self._work.crashes.stacks / f'{LEARNER}.txt'}"
        if ray.wait([dump], timeout=2 * config.control_limit)[0]:
            try:
                where = f"; the stack of every worker is in {ray.get(dump, timeout=FETCH_SECONDS)}"
            except RayError as error:
                where = f"; its stacks could not be written: {error}"
        raise LearnerDied(f"{message}{where}")

    def _head_is_lost(self) -> bool:
        """Whether the learner has to save now, because Ray will end it; asks every `HEAD_POLL_SECONDS`."""
        if time.monotonic() - self._head_asked < HEAD_POLL_SECONDS:
            return self._logged_lost_head
        self._head_asked, lost = time.monotonic(), self._session.head_is_lost
        if lost and not self._logged_lost_head:
            logger.warning("stopping: saving first, because Ray's head (gcs_server) has ended")
        self._logged_lost_head = lost
        return lost

    def _request_stop(self) -> bool:
        try:
            return bool(ray.get(self._host.stop.remote(), timeout=FETCH_SECONDS))
        except RayError:  # not started yet, or died: requested again
            return False

    def _show(self, workers: tuple[WorkerStatus, ...]) -> None:
        newest = JsonLines(self._work.folder / "metrics.jsonl", key="step").newest(1)
        row = newest[0] if newest else {}
        update = int(row.pop("step", 0))
        learner = replace(workers[0], completed=update)
        status = RunStatus(self._work.name, time.time(), update, (learner, *workers[1:]), row)
        if self._work.folder.exists():  # the stage creates it
            self._write(status)

    def _write(self, status: RunStatus) -> None:
        file = self._work.folder / "status.json"
        try:
            write_whole(file, json.dumps(status.to_json()), durable=False)
        except OSError as error:  # a full disk; the learner decides whether it can continue
            if not self._logged_write_error:
                logger.warning("%s can't be written (%s); the run continues, but can't be watched", file, error)
            self._logged_write_error = True
