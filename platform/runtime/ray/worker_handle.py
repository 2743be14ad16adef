"""Handle of a worker process: sends it calls, reads its heartbeat, restarts it after a failure."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import ray
from ray import ObjectRef
from ray.exceptions import RayError

from interplay.runtime.config import RuntimeConfig
from interplay.runtime.crashes import CrashReports
from interplay.runtime.heartbeat import HeartbeatReading, IdleFraction
from interplay.runtime.ray.worker import Worker
from interplay.runtime.ray.worker_placement import WorkerPlacement
from interplay.runtime.restart_budget import RestartBudget
from interplay.runtime.status import WorkerStatus

logger = logging.getLogger(__name__)

HEARTBEAT_POLL_SECONDS = 0.5  # between two requests for a heartbeat
STATUS_CHECK_SECONDS = 0.05  # between two checks whether it has arrived
FETCH_SECONDS = 10.0  # limit for fetching a result that is ready
# Ray's words for an actor that it placed on a node before it noticed that the node is lost.
LOST_BEFORE_START_TEXTS = ("its node has died", "The actor never ran")
NO_GROUPS: Mapping[str, int] = MappingProxyType({})


def remote_class(cls: type[Any], placement: WorkerPlacement, name: str, groups: Mapping[str, int] = NO_GROUPS) -> Any:
    """Returns the class as a Ray actor with the resources reserved for `name`.

    Ray does not restart it; its handle does, which knows the state to continue from. Calls of the concurrency group
    "control" run in parallel to its work, as do those of further `groups`, which map a name to a number of threads.
    """
    decorate: Any = ray.remote  # its type stubs lack concurrency groups
    decorated = decorate(max_restarts=0, concurrency_groups={"control": 1, **groups})(cls)
    return decorated.options(**placement.options(name))


def lost_before_start(cause: str) -> bool:
    """Whether the worker was only placed, on a node that was already lost. That loss has been counted before."""
    return all(text in cause for text in LOST_BEFORE_START_TEXTS)


class WorkerHandle:
    """The learner's handle of one worker, across all its processes (incarnations)."""

    def __init__(
        self,
        name: str,
        make: Callable[..., Any],
        *,
        placement: WorkerPlacement,
        crashes: CrashReports,
        config: RuntimeConfig,
        worker_class: type[Worker] = Worker,
        groups: Mapping[str, int] = NO_GROUPS,
    ) -> None:
        """
        Args:
            worker_class, groups: of the process that hosts the object; see `remote_class`.
        """
        self.name = name
        self.completed = 0  # items, counted by the user of the handle
        self.restarts = 0
        self.incarnation = 0  # number of processes started so far
        self._make = make
        self._placement = placement
        self._crashes = crashes
        self._config = config
        self._restart_budget = RestartBudget(crashes.limit, config.restart_window)
        self._worker_class, self._groups = worker_class, groups
        self._start_call: tuple[str, tuple[Any, ...]] | None = None
        self._completed_before = 0  # by the processes before the present one
        self._actor: Any = None
        self._reading: HeartbeatReading | None = None
        self._idle = IdleFraction()
        self._pending_reading: ObjectRef[Any] | None = None
        self._requested_at = self._checked_at = self._heard_at = 0.0
        self._started = time.monotonic()
        self._lock = threading.Lock()  # of the reading, which two threads may request

    @property
    def result_limit(self) -> float:
        """Seconds until its next result is overdue; the first result includes the start of the process."""
        starting = self.completed == self._completed_before
        return self._config.result_limit if starting else self._config.stall_limit

    @property
    def actor(self) -> Any:
        """The Ray actor of the present process, for other workers to call."""
        return self._actor

    @property
    def age_seconds(self) -> float:
        """Of the present process."""
        return time.monotonic() - self._started

    @property
    def silent_seconds(self) -> float:
        """Since its last heartbeat."""
        return time.monotonic() - max(self._heard_at, self._started)

    def start(self, *arguments: Any) -> None:
        """Starts a process; `arguments` are passed to `make`, Ray references as the objects that they refer to."""
        self._reading, self._pending_reading, self._started = None, None, time.monotonic()
        self._completed_before = self.completed
        self.incarnation += 1
        self._crashes.worker_log(self.name).write_header()
        remote = remote_class(self._worker_class, self._placement, self.name, self._groups)
        self._actor = remote.remote(self.name, self._make, str(Path.cwd()), self._crashes, self._config, *arguments)
        if self._start_call is not None:
            self.call_worker(self._start_call[0], *self._start_call[1])

    def call_worker(self, method: str, *arguments: Any) -> ObjectRef[Any]:
        """Calls a method of the worker itself, not of the hosted object."""
        reference: ObjectRef[Any] = getattr(self._actor, method).remote(*arguments)
        return reference

    def call_on_every_start(self, method: str, *arguments: Any) -> None:
        """Calls a method of the worker now, if it has been started, and after each start; replaces an earlier call."""
        self._start_call = (method, arguments)
        if self._actor is not None:
            self.call_worker(method, *arguments)

    def submit(self, method: str, activity: str, *arguments: Any) -> ObjectRef[Any]:
        """Submits a call of the hosted object's method; `activity` describes it in the heartbeat."""
        reference: ObjectRef[Any] = self._actor.call.remote(method, activity, *arguments)
        return reference

    def handle_failure(self, cause: BaseException | str, episodes: list[str]) -> None:
        """Records a failure and kills what is left of the process; the caller starts the next one.

        A process that never ran is not counted.

        Raises:
            WorkerFailed: the worker failed more often than allowed.
        """
        text = cause if isinstance(cause, str) else f"{type(cause).__name__}: {cause}"
        if lost_before_start(text):
            logger.warning("%s was placed on a node that is lost, and is placed again", self.name)
            self.kill()
            return
        self.restarts += 1
        number = self._restart_budget.record_failure(self.completed)
        file = self._crashes.record_failure(self.name, number, text, episodes)
        self.kill()
        if self._restart_budget.exhausted:
            raise self._crashes.restarts_exhausted(self.name, text, file)
        limit = self._crashes.limit
        logger.warning("%s went down and is restarted, %d of at most %d times (see %s)", self.name, number, limit, file)

    def kill(self) -> None:
        """Kills the process."""
        if self._actor is not None:
            ray.kill(self._actor)

    def status(self) -> WorkerStatus:
        """Status as of the newest heartbeat; never waits for the worker."""
        with self._lock:
            self._poll_heartbeat()
            reading = self._reading or HeartbeatReading("starts", self.age_seconds, 0.0, 0.0, 0)
            return WorkerStatus(
                name=self.name,
                kind=self.name.split("-")[0],
                activity=reading.activity,
                activity_seconds=reading.activity_seconds,
                idle_fraction=self._idle.update(reading) if reading.pid else 0.0,
                completed=self.completed,
                restarts=self.restarts,
                pid=reading.pid,
            )

    def _poll_heartbeat(self) -> None:
        now = time.monotonic()
        due = now - self._requested_at >= HEARTBEAT_POLL_SECONDS
        if self._actor is not None and self._pending_reading is None and due:
            self._pending_reading, self._requested_at = self._actor.heartbeat.remote(), now
        pending = self._pending_reading
        if pending is None or now - self._checked_at < STATUS_CHECK_SECONDS:
            return
        self._checked_at = now
        if not ray.wait([pending], timeout=0)[0]:
            return
        self._pending_reading = None
        try:
            reading: HeartbeatReading = ray.get(pending, timeout=FETCH_SECONDS)
            self._reading, self._heard_at = reading, time.monotonic()
            self.completed = max(self.completed, self._completed_before + reading.completed)
        except RayError:  # whoever waits for its result gets the same error, and restarts it
            self._reading = None

    def request_stacks(self) -> ObjectRef[Any] | None:
        """Requests that the worker writes its stacks to its file under `stacks`; wait for it with a time limit."""
        return None if self._actor is None else self._actor.dump.remote()
