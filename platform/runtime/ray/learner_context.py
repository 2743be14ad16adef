"""Context of the learner process under Ray: configuration, placement, worker handles, heartbeat."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import ray
from ray.exceptions import RayError
from ray.util.placement_group import placement_group_table

from interplay.core.running_clock import MAX_GAP_SECONDS
from interplay.runtime.config import RuntimeConfig
from interplay.runtime.crashes import CrashReports
from interplay.runtime.heartbeat import Heartbeat, IdleFraction, WorkerStatus
from interplay.runtime.prefetcher import Prefetcher
from interplay.runtime.ray.worker import Worker, dump_process_stacks
from interplay.runtime.ray.worker_placement import LEARNER, WorkerPlacement
from interplay.runtime.ray.worker_restarts import (
    FETCH_SECONDS,
    HEARTBEAT_POLL_SECONDS,
    HEARTBEAT_POLLS_PER_SECOND,
    NO_GROUPS,
    ActorPipeline,
    PendingUnroll,
    WorkerHandle,
)

logger = logging.getLogger(__name__)

NO_ROOM = (
    "the cluster has no room for all workers, as after the loss of a node: give it more nodes, or lower runtime.actors"
)
STATUS_SECONDS_PER_WORKER = 0.001  # for which a status is kept: reading it costs some microseconds a worker

Prefetched = TypeVar("Prefetched")


def lack_of_room(placement: WorkerPlacement) -> str:
    """The end of a message about a process that does not answer, if the cluster has not reserved the resources of all
    workers, as after the loss of a node: no worker starts before that. Otherwise empty."""
    untyped: Any = placement_group_table
    return "" if untyped(placement.group)["state"] == "CREATED" else f"; {NO_ROOM}"


@dataclass
class LearnerContext:
    """Created once in each learner process."""

    config: RuntimeConfig
    placement: WorkerPlacement
    crashes: CrashReports
    restarts: int  # of the learner so far
    counted_restarts: int  # those of them that count towards `runtime.restarts`
    heartbeat: Heartbeat = field(default_factory=Heartbeat)  # of the learner
    accepted: bool = False  # whether the stage has passed its checks
    clock: Callable[[], float] = time.monotonic  # of the limits of the workers
    workers: list[WorkerHandle] = field(default_factory=list)
    _idle: IdleFraction = field(default_factory=IdleFraction)
    _statuses: tuple[WorkerStatus, ...] = ()
    _status_at: float = 0.0

    def add_worker(
        self,
        name: str,
        make: Callable[..., Any],
        worker_class: type[Worker] = Worker,
        groups: Mapping[str, int] = NO_GROUPS,
    ) -> WorkerHandle:
        """Adds a worker, not yet started; see `WorkerHandle`."""
        worker = WorkerHandle(
            name,
            make,
            placement=self.placement,
            crashes=self.crashes,
            config=self.config,
            worker_class=worker_class,
            groups=groups,
            clock=self.clock,
        )
        self.workers.append(worker)
        self.pace_heartbeats()
        return worker

    def pace_heartbeats(self) -> None:
        """Sets the time between two heartbeat requests to a worker, which limits their rate over all workers.

        Messages carry a heartbeat as well, but a worker that hangs reads its `RunningClock` only on request, and has to
        read it at least every `MAX_GAP_SECONDS`."""
        seconds = max(HEARTBEAT_POLL_SECONDS, len(self.workers) / HEARTBEAT_POLLS_PER_SECOND)
        seconds = min(seconds, MAX_GAP_SECONDS / 2)
        for worker in self.workers:
            worker.poll_seconds = seconds

    def status(self) -> tuple[WorkerStatus, ...]:
        """Status of every process, the learner first; up to `STATUS_SECONDS_PER_WORKER` old for each worker."""
        now = time.monotonic()
        if self._statuses and now - self._status_at < STATUS_SECONDS_PER_WORKER * len(self.workers):
            return self._statuses
        self._status_at, self._statuses = now, self._read_status()
        return self._statuses

    def _read_status(self) -> tuple[WorkerStatus, ...]:
        reading = self.heartbeat.read()
        learner = WorkerStatus(
            name=LEARNER,
            kind=LEARNER,
            activity=reading.activity,
            activity_seconds=reading.activity_seconds,
            idle_fraction=self._idle.update(reading),
            completed=0,
            restarts=self.restarts,
            pid=reading.pid,
        )
        return (learner, *(worker.status() for worker in self.workers))

    def dump_stacks(self) -> dict[str, str]:
        """Writes the stacks of every process to `stacks`; returns name -> reported activity."""
        requested = {worker.name: worker.request_stacks() for worker in self.workers}
        self.crashes.stacks.mkdir(parents=True, exist_ok=True)
        with (self.crashes.stacks / f"{LEARNER}.txt").open("a") as file:
            activities = {LEARNER: dump_process_stacks(self.heartbeat, file)}  # while the workers write theirs
        waiting = [reference for reference in requested.values() if reference is not None]
        limit = self.config.control_limit
        answered = ray.wait(waiting, num_returns=len(waiting), timeout=limit)[0] if waiting else []
        no_room = "" if len(answered) == len(waiting) else lack_of_room(self.placement)
        for name, reference in requested.items():
            activities[name] = f"has not answered in {limit:g} s{no_room}"
            if reference in answered:
                try:
                    activities[name] = str(ray.get(reference, timeout=FETCH_SECONDS))
                except RayError as error:
                    activities[name] = f"has died: {type(error).__name__}"
        return activities

    def write_blocked(self, message: str, activities: Mapping[str, str]) -> Path:
        """Writes the activity of every process to `blocked.txt` in the folder of the stacks; returns that folder."""
        stacks = self.crashes.stacks
        stacks.mkdir(parents=True, exist_ok=True)
        lines = [message, *(f"{name} {activity}" for name, activity in activities.items())]
        (stacks / "blocked.txt").write_text("\n".join(lines) + "\n")
        return stacks

    def await_item(
        self,
        prefetcher: Prefetcher[Prefetched],
        reason: str,
        stopped: Callable[[], bool] = lambda: False,
        *,
        count: int = 1,
    ) -> None:
        """Waits for the next item, or for this many; until then the learner counts as idle, waiting for `reason`.

        Raises:
            StopRequested: `stopped` returned True before.
        """
        self.heartbeat.set_idle(reason)
        prefetcher.await_item(stopped, count=count)
        self.heartbeat.set_busy("learns")

    def restart_stalled(
        self,
        pipelines: Iterable[ActorPipeline],
        resubmit: Callable[[ActorPipeline, PendingUnroll], Any],
        what: str,
    ) -> None:
        """Restarts each worker whose result is overdue, after all stacks and the blocked pair are written.

        `resubmit` submits a request of a pipeline again.

        Raises:
            WorkerFailed: a worker failed more often than allowed.
        """
        for pipeline in pipelines:
            if (seconds := pipeline.stalled_seconds()) is not None:
                cause = self.report_blocked(pipeline.worker, seconds, what)
                pipeline.worker.handle_failure(cause, pipeline.episodes)
                pipeline.restart(partial(resubmit, pipeline))

    def report_blocked(self, worker: WorkerHandle, seconds: float, what: str, waiter: str = "the learner") -> str:
        """Writes the stacks of every process; returns which process waits for which, with the stacks of the latter."""
        name, limit = worker.name, worker.limit_text
        activities = self.dump_stacks()
        message = f"{waiter} has waited {seconds:.0f} s ({limit}) for {what} from {name}, which {activities[name]}"
        folder = self.write_blocked(message, activities)
        logger.warning("%s; the stack of every worker is in %s", message, folder)
        stacks = folder / f"{name}.txt"
        return f"{message}\n{stacks.read_text() if stacks.exists() else ''}"

    def close(self) -> None:
        """Kills every worker."""
        for worker in self.workers:
            worker.kill()
