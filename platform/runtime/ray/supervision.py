"""The driver's side: starts the learner, shows what it says, passes on a wish to stop, and restarts it when it dies.

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
from interplay.learner import checkpoint
from interplay.learner.distributed import RankLost
from interplay.runtime.config import RuntimeConfig
from interplay.runtime.crashes import CrashReports
from interplay.runtime.heartbeat import WAITING
from interplay.runtime.interruption import StopRequest
from interplay.runtime.ray.cluster_session import cluster_session
from interplay.runtime.ray.learner_host import (
    STARTING_ACTIVITY,
    DriverTerminal,
    LearnerHost,
    LearnerReport,
    StageFunction,
)
from interplay.runtime.ray.worker import CONTROL_SECONDS, lost_before_start, remote_class
from interplay.runtime.ray.worker_placement import LEARNER, ResourceRequest, WorkerPlacement, reserve_resources
from interplay.runtime.restart_budget import RestartBudget
from interplay.runtime.status import RunStatus, WorkerStatus

logger = logging.getLogger(__name__)

REPORT_POLL_SECONDS = 0.25  # between two questions to the learner
STATUS_SECONDS = 0.5  # between two writings of status.json


@dataclass(frozen=True)
class SupervisedStage:
    """What is to be run."""

    name: str  # of the stage
    folder: Path  # of the stage: metrics.jsonl is read there, status.json is written
    stage: StageFunction
    requests: tuple[ResourceRequest, ...]
    config: RuntimeConfig
    crashes: CrashReports


def supervise(work: SupervisedStage, watch: Callable[[RunStatus], None] = lambda status: None) -> None:
    """Runs a stage under Ray to its end; `watch` sees its status every half second.

    Raises:
        ClusterError: there is no cluster, or no room in it.
        WorkerFailed: a part, or the learner, went down too often.
        Exception: what the stage raised.
    """
    cpus = sum(each.resources.cpus for each in work.requests)
    with cluster_session(work.config, cpus), StopRequest() as stop:
        placement = reserve_resources(work.requests, work.config)
        try:
            _run_with_restarts(work, placement, stop, watch)
        finally:
            placement.release()


def _run_with_restarts(
    work: SupervisedStage, placement: WorkerPlacement, stop: StopRequest, watch: Callable[[RunStatus], None]
) -> None:
    budget, counted_restarts = RestartBudget(work.config.restart_window), 0
    for restarts in itertools.count():
        life = _LearnerProcess(work, placement, restarts, counted_restarts, watch)
        try:
            life.follow(stop)
            return
        except LearnerDied as died:
            text = str(died)
            if lost_before_start(text):
                logger.warning("the learner, or a rank of it, was placed on a node that is lost, and is placed anew")
                continue
            counted_restarts = budget.record_failure(_saved(work.folder))
            file = work.crashes.record_failure(LEARNER, counted_restarts, text, [])
            if counted_restarts > work.crashes.limit:
                raise work.crashes.restarts_exhausted(LEARNER, text, file) from died
            logger.warning("the learner died (see %s) and goes on from its newest checkpoint", file)
        finally:
            life.end()


def _saved(folder: Path) -> int:
    """The updates that a stage has saved: all that comes of a life of the learner."""
    newest = checkpoint.latest(folder / "checkpoints")
    return 0 if newest is None else newest.step


class LearnerDied(Exception):
    """Its process is gone, or stuck, or has lost one of its ranks."""


def stage_error(error: RayError) -> BaseException:
    """What the stage raised; or that its process is gone: killed, out of memory, lost with its node, left by a rank."""
    if isinstance(error, RayTaskError) and isinstance(error.cause, RankLost):
        return LearnerDied(str(error.cause))
    if isinstance(error, RayTaskError):
        raised: BaseException = error.cause
        return raised
    if isinstance(error, UnserializableException):  # raised, too; what it says ends with its traceback
        return RuntimeError(str(error))
    return LearnerDied(f"{type(error).__name__}: {error}")


class _LearnerProcess:
    """One process of the learner, from its start to its end."""

    def __init__(
        self,
        work: SupervisedStage,
        placement: WorkerPlacement,
        restarts: int,
        counted_restarts: int,
        watch: Callable[[RunStatus], None],
    ) -> None:
        screen = DriverTerminal(sys.stderr.isatty(), shutil.get_terminal_size().columns)
        work.crashes.worker_log(LEARNER).begin()
        completed = remote_class(LearnerHost, placement, LEARNER)
        self._work = work
        self._watch = watch
        self._host: Any = completed.remote(
            str(Path.cwd()), screen, work.config, placement, work.crashes, restarts, counted_restarts
        )
        self._hearing: ObjectRef[Any] | None = None
        self._heard_at = time.monotonic()
        self._heard = False
        self._shown_at = 0.0
        self._asked_to_stop = False
        self._complaint = ""
        self._unwritten = False

    def follow(self, stop: StopRequest) -> None:
        """Until the stage ends."""
        ended = self._host.run.remote(self._work.stage)
        while not ray.wait([ended], timeout=REPORT_POLL_SECONDS)[0]:
            self._hear()
            if stop.requested and not self._asked_to_stop:
                self._asked_to_stop = self._ask_to_stop()
        for _ in range(2):  # what was asked before the end, and what was said since
            self._hear(CONTROL_SECONDS)
        try:
            ray.get(ended, timeout=CONTROL_SECONDS)
        except RayError as error:
            raise stage_error(error) from error

    def end(self) -> None:
        """Ends the process, and with it all the parts that it owns."""
        ray.kill(self._host)

    def _hear(self, timeout: float = 0.0) -> None:
        """Shows what the learner says, if it has answered; never waits longer than `timeout`."""
        if self._hearing is None:
            self._hearing = self._host.hear.remote()
        if not ray.wait([self._hearing], timeout=timeout)[0]:
            self._stalled(time.monotonic() - self._heard_at, "does not answer", starts=not self._heard)
            return
        hearing, self._hearing = self._hearing, None
        try:
            heard: LearnerReport = ray.get(hearing, timeout=CONTROL_SECONDS)
        except (RayTaskError, UnserializableException) as error:  # it lives
            cause = getattr(error, "cause", error)
            if str(cause) != self._complaint:
                logger.warning("the learner can't say how it stands: %r", cause)
            self._complaint = str(cause)
            self._stalled(time.monotonic() - self._heard_at, "can't say how it stands", starts=not self._heard)
            return
        except RayError:  # its process is gone: `follow` is told the same, and says why
            return
        self._heard_at, self._heard = time.monotonic(), True
        sys.stderr.write(heard.said)
        sys.stderr.flush()
        if self._heard_at - self._shown_at >= STATUS_SECONDS or timeout:
            self._shown_at = self._heard_at
            self._show(heard.workers)
        learner = heard.workers[0]
        if not learner.activity.startswith(WAITING):  # while it waits, it watches those for whom it does itself
            starts = learner.activity == STARTING_ACTIVITY
            self._stalled(learner.activity_seconds, f"says: {learner.activity}", starts=starts)

    def _stalled(self, seconds: float, what: str, *, starts: bool) -> None:
        config = self._work.config
        limit = config.result_limit if starts else config.stall_limit
        if seconds <= limit:
            return
        message = (
            f"the learner has not moved for {seconds:.0f} s (runtime.stall_limit={config.stall_limit:g}): it {what}"
        )
        logger.warning(message)
        dumping = self._host.dump.remote(message)
        where = f"; what stacks it has kept by itself are in {self._work.crashes.stacks / f'{LEARNER}.txt'}"
        if ray.wait([dumping], timeout=2 * CONTROL_SECONDS)[0]:
            try:
                where = f"; the stack of every part is in {ray.get(dumping, timeout=CONTROL_SECONDS)}"
            except RayError as error:
                where = f"; its stacks could not be kept: {error}"
        raise LearnerDied(f"{message}{where}")

    def _ask_to_stop(self) -> bool:
        try:
            return bool(ray.get(self._host.stop.remote(), timeout=CONTROL_SECONDS))
        except RayError:  # not there yet, or gone: asked again
            return False

    def _show(self, workers: tuple[WorkerStatus, ...]) -> None:
        newest = JsonLines(self._work.folder / "metrics.jsonl", key="step").newest(1)
        row = newest[0] if newest else {}
        update = int(row.pop("step", 0))
        learner = replace(workers[0], completed=update)
        status = RunStatus(self._work.name, time.time(), update, (learner, *workers[1:]), row)
        if self._work.folder.exists():  # which the stage makes
            self._write(status)
        self._watch(status)

    def _write(self, status: RunStatus) -> None:
        file = self._work.folder / "status.json"
        try:
            write_whole(file, json.dumps(status.to_json()), durable=False)
        except OSError as error:  # a full disk; whether learning can go on is for the learner to say
            if not self._unwritten:
                logger.warning("%s can't be written (%s); the run goes on, and can't be watched", file, error)
            self._unwritten = True
