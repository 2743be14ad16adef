"""Handle to a worker process: sends calls, reads heartbeats, and restarts the process after a failure.

Unroll requests to one actor are pipelined: a bounded number in flight, submitted again after a restart.
"""

from __future__ import annotations

import logging
import math
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import ray
import torch
from ray import ObjectRef
from ray.exceptions import OutOfMemoryError, RayError, RayTaskError

from interplay.actors.episode_note import NOTE_PREFIX
from interplay.runtime.config import RuntimeConfig
from interplay.runtime.crashes import CrashReports, error_line
from interplay.runtime.heartbeat import HeartbeatReading, IdleFraction, WorkerStatus
from interplay.runtime.messages import UnrollMessage
from interplay.runtime.ray.cluster_session import temporary_folder_problem
from interplay.runtime.ray.completions import Completions
from interplay.runtime.ray.worker import Worker
from interplay.runtime.ray.worker_placement import WorkerPlacement
from interplay.runtime.restart_budget import RestartBudget

logger = logging.getLogger(__name__)

HEARTBEAT_POLL_SECONDS = 0.5  # least interval between the heartbeat requests to a worker that sends no message
HEARTBEAT_POLLS_PER_SECOND = 50.0  # to all workers of a run together
STATUS_CHECK_SECONDS = 0.05  # interval between checks for the reply
FETCH_SECONDS = 10.0  # timeout for fetching a result that is ready
# Substrings of Ray's error for an actor scheduled on a node not yet known to be dead.
LOST_BEFORE_START_TEXTS = ("its node has died", "The actor never ran")
# Errors of a process's memory or GPU, after which a new process may succeed.
MACHINE_ERRORS = (MemoryError, torch.OutOfMemoryError, torch.AcceleratorError)
# Also those of files, connections and other processes.
PASSING_ERRORS = (*MACHINE_ERRORS, OSError, EOFError, RayError)
# What differs in Ray's error between two processes that raise the same.
PROCESS_TEXT = re.compile(rf"\b(pid=\d+|actor_id=\w+|0x[0-9a-f]+)|^{NOTE_PREFIX}.*$", re.MULTILINE)
NO_GROUPS: Mapping[str, int] = MappingProxyType({})


def remote_class(cls: type[Any], placement: WorkerPlacement, name: str, groups: Mapping[str, int] = NO_GROUPS) -> Any:
    """Returns the class as a Ray actor with the resources reserved for `name`.

    Ray never restarts the actor; its `WorkerHandle` does, because it has the state to resume from. Calls in the
    "control" concurrency group run in parallel with its work, as do calls in `groups`, which maps group names to thread
    counts.
    """
    decorate: Any = ray.remote  # its type stubs lack concurrency groups
    decorated = decorate(max_restarts=0, concurrency_groups={"control": 1, **groups})(cls)
    return decorated.options(**placement.options(name))


def lost_before_start(cause: str) -> bool:
    """Whether the worker was scheduled on a dead node and never ran. The loss of that node has already been counted."""
    return all(text in cause for text in LOST_BEFORE_START_TEXTS)


def raised_text(cause: BaseException | str) -> str | None:
    """The error that the code of a worker raised, the same for each process that raises it; None for another failure,
    as the end of its process, and for one of `PASSING_ERRORS`."""
    if not isinstance(cause, RayTaskError) or isinstance(cause.cause, PASSING_ERRORS):
        return None
    return PROCESS_TEXT.sub("", str(cause))


class WorkerHandle:
    """The learner's handle to one worker; it outlives the worker's individual processes (incarnations)."""

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
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """
        Args:
            name: name of the worker, which selects its reserved resources and its log file.
            make: returns the hosted object; called in the worker process with the arguments of `start`.
            worker_class: Ray actor class that hosts the object.
            groups: its additional concurrency groups; see `remote_class`.
            clock: that measures its age and how long a result takes.
        """
        self.name, self.clock = name, clock
        # Items, counted by `add_completed`, or reported in heartbeats by workers that count for themselves.
        self.completed = 0
        self.restarts = 0
        self.incarnation = 0  # number of processes started so far
        self.failure_line = ""  # `error_line` of its last failure
        self._make = make
        self._placement = placement
        self._crashes = crashes
        self._config = config
        self._restart_budget = RestartBudget(crashes.limit, config.restart_window)
        self._worker_class, self._groups = worker_class, groups
        self._start_call: tuple[str, tuple[Any, ...]] | None = None
        self._completed_before = 0  # by earlier processes
        self._raised: tuple[str | None, int] = (None, 0)  # by the last failure: `raised_text`, and `completed` by then
        self.actor: Any = None  # the Ray actor of the current process; other workers may call it
        self._reading: HeartbeatReading | None = None
        self._idle = IdleFraction()
        self._pending_reading: ObjectRef[Any] | None = None
        self._requested_at = self._checked_at = self._heard_at = 0.0
        self._started = clock()
        self._lock = threading.Lock()  # guards `completed` and the heartbeat reading, which two threads may request
        self.poll_seconds = HEARTBEAT_POLL_SECONDS  # longer in a run of many workers

    @property
    def result_limit(self) -> float:
        """Timeout in seconds for the next result; for a process's first result it includes startup."""
        return self._config.result_limit if self._starts else self._config.stall_limit

    @property
    def limit_text(self) -> str:
        """The settings behind `result_limit`, as typed."""
        return self._config.limit_text(starts=self._starts)

    @property
    def _starts(self) -> bool:
        """Whether the current process has returned no result yet."""
        return self.completed == self._completed_before

    @property
    def age_seconds(self) -> float:
        """Age of the current process in seconds."""
        return self.clock() - self._started

    @property
    def activity_began(self) -> float:
        """`clock` when its activity began, by its newest heartbeat; minus infinity without one."""
        with self._lock:
            return -math.inf if self._reading is None else self._heard_at - self._reading.activity_seconds

    @property
    def silent_seconds(self) -> float:
        """Seconds since its last heartbeat, or since its start if that is later."""
        return self.clock() - max(self._heard_at, self._started)

    def start(self, *arguments: Any) -> None:
        """Starts a process; `arguments` are passed to `make`, with Ray object references resolved."""
        self._reading, self._pending_reading, self._started = None, None, self.clock()
        self._completed_before = self.completed
        self.incarnation += 1
        self._crashes.begin_process(self.name)
        remote = remote_class(self._worker_class, self._placement, self.name, self._groups)
        self.actor = remote.remote(self.name, self._make, str(Path.cwd()), self._crashes, self._config, *arguments)
        if self._start_call is not None:
            self.call_worker(self._start_call[0], *self._start_call[1])

    def call_worker(self, method: str, *arguments: Any) -> ObjectRef[Any]:
        """Calls a method of the worker itself, not of the hosted object."""
        reference: ObjectRef[Any] = getattr(self.actor, method).remote(*arguments)
        return reference

    def call_on_every_start(self, method: str, *arguments: Any) -> None:
        """Calls a worker method now, if it has been started, and after every later start.

        Replaces any previously registered call.
        """
        self._start_call = (method, arguments)
        if self.actor is not None:
            self.call_worker(method, *arguments)

    def submit(self, method: str, activity: str, *arguments: Any) -> ObjectRef[Any]:
        """Submits a call of the hosted object's method; `activity` describes it in the heartbeat."""
        reference: ObjectRef[Any] = self.actor.call.remote(method, activity, *arguments)
        return reference

    def submit_each(self, method: str, activity: str, arguments: Sequence[tuple[Any, Any]]) -> ObjectRef[Any]:
        """Submits calls of a method that takes two arguments as one of Ray's; the result is the list of theirs.

        The first argument of each may be an object reference, which Ray resolves.
        """
        firsts, others = zip(*arguments, strict=True)
        reference: ObjectRef[Any] = self.actor.call_each.remote(method, activity, others, *firsts)
        return reference

    def handle_failure(self, cause: BaseException | str, episodes: list[str]) -> None:
        """Records a failure and kills the process if it still exists; the caller starts the next one.

        A process that never ran does not count towards the restart limit. A cause in words, Ray's for lack of memory,
        and one that `CrashReports.explained` explains begin with the line to show; stacks, or Ray's advice, follow.

        Raises:
            WorkerFailed: the worker failed more often than allowed, or raised the same error again without a result
                since.
        """
        found = cause if isinstance(cause, str) else f"{type(cause).__name__}: {cause}"
        text = self._crashes.explained(self.name, found, temporary_folder_problem())
        begins_with_line = isinstance(cause, str | OutOfMemoryError) or text != found
        self.failure_line = error_line(text.partition("\n")[0] if begins_with_line else text)
        if lost_before_start(text):
            logger.warning("%s was placed on a node that is lost, and is placed again", self.name)
            self.kill()
            return
        self.restarts += 1
        number = self._restart_budget.record_failure(self.completed)
        file = self._crashes.record_failure(self.name, number, text, episodes)
        self.kill()
        if self._restart_budget.exhausted:
            raise self._crashes.restarts_exhausted(self.name, text, self.failure_line, file)
        before, self._raised = self._raised, (raised_text(cause), self.completed)
        if self._raised[0] is not None and self._raised == before:
            raise self._crashes.repeated(self.name, text, self.failure_line, file)
        logger.warning(
            "%s went down and is restarted, %d of at most %d times (see %s): %s",
            *(self.name, number, self._crashes.limit, file, self.failure_line),
        )

    def kill(self) -> None:
        """Kills the current process, if one was started."""
        if self.actor is not None:
            ray.kill(self.actor)

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

    def heard(self, reading: HeartbeatReading) -> None:
        """Takes the heartbeat that came with a message; the next request for one can wait."""
        with self._lock:
            self._take(reading)
            self._requested_at = time.monotonic()

    def add_completed(self) -> None:
        """Counts one more completed item."""
        with self._lock:
            self.completed += 1

    def _take(self, reading: HeartbeatReading) -> None:
        self._reading, self._heard_at = reading, self.clock()
        self.completed = max(self.completed, self._completed_before + reading.completed)

    def _poll_heartbeat(self) -> None:
        now = time.monotonic()
        due = now - self._requested_at >= self.poll_seconds
        if self.actor is not None and self._pending_reading is None and due:
            self._pending_reading, self._requested_at = self.actor.heartbeat.remote(), now
        pending = self._pending_reading
        if pending is None or now - self._checked_at < STATUS_CHECK_SECONDS:
            return
        self._checked_at = now
        if not ray.wait([pending], timeout=0)[0]:
            return
        self._pending_reading = None
        try:
            self._take(ray.get(pending, timeout=FETCH_SECONDS))
        except RayError:  # the caller waiting for a result gets the same error and restarts the worker
            self._reading = None

    def request_stacks(self) -> ObjectRef[Any] | None:
        """Asks the worker to dump its stack traces to its file under `stacks`.

        Wait for the result with a timeout. None if not started.
        """
        return None if self.actor is None else self.actor.dump.remote()


@dataclass(eq=False)
class PendingUnroll:
    """A requested unroll, with its message once it has arrived."""

    pipeline: int  # index of its actor
    number: int  # index of the unroll among its actor's unrolls
    version: int  # of the weights
    reference: ObjectRef[Any]
    message: UnrollMessage | None = None  # None until it arrives
    reply: Future[UnrollMessage] | None = None  # of the reference; None once the message has been received


class ActorPipeline:
    """Requests numbered unrolls from one worker, starting with unroll `number` from the actor state `after`.

    If the worker fails, the requests in flight are resubmitted to its next process, which continues after the last
    unroll that arrived.
    """

    def __init__(
        self,
        index: int,
        worker: WorkerHandle,
        *,
        number: int,
        after: bytes | None,
        completions: Completions,
        ended: Callable[[ActorPipeline], None],
    ) -> None:
        """
        Args:
            completions: where the ends of requests are reported, also of those that are submitted again.
            ended: called with this pipeline after a request has ended; see `has_ended`.
        """
        self.index = index
        self.worker = worker
        self.next_number = number
        self.in_flight: deque[PendingUnroll] = deque()
        self.episodes: list[str] = []  # episodes of the last unroll that arrived
        self._after = after
        self._completions, self._ended = completions, ended
        self._progress_at = self.worker.clock()

    @property
    def has_ended(self) -> bool:
        """Whether the oldest request in flight has ended, with a message or an error: `receive` does not wait."""
        reply = self.in_flight[0].reply if self.in_flight else None
        return reply is not None and reply.done()

    def start(self) -> None:
        """Starts the worker."""
        self._progress_at = self.worker.clock()
        self.worker.start(self._after)

    def request(self, version: int, activity: str, *arguments: Any) -> PendingUnroll:
        """Requests the next unroll; `arguments` are passed to the worker after the unroll's number."""
        if not self.in_flight:
            self._progress_at = self.worker.clock()
        number = self.next_number
        reference = self.worker.submit("unroll", f"{activity} {number}", number, *arguments)
        pending = PendingUnroll(self.index, number, version, reference)
        self.next_number += 1
        self.in_flight.append(pending)
        self._watch(pending, reference)
        return pending

    def receive(self) -> PendingUnroll | None:
        """Returns the oldest request in flight, which must be ready, with its message; None if the worker failed.

        Raises:
            WorkerFailed: the worker failed more often than allowed.
        """
        pending = self.in_flight[0]
        assert pending.reply is not None, "every request in flight is watched"
        try:
            message = pending.reply.result(timeout=self.worker.result_limit)
        except RayError as error:
            self.worker.handle_failure(error, self.episodes)
            return None
        if message.heartbeat is not None:
            self.worker.heard(message.heartbeat)
        assert message.number == pending.number, (message.number, pending.number)
        self.in_flight.popleft()
        pending.message, pending.reply = message, None
        self._after, self.episodes, self._progress_at = message.after, message.episodes, self.worker.clock()
        self.worker.add_completed()
        return pending

    def restart(self, resubmit: Callable[[PendingUnroll], ObjectRef[Any]]) -> None:
        """Restarts the worker and resubmits the requests in flight."""
        self.start()
        for pending in self.in_flight:
            self._watch(pending, resubmit(pending))

    def _watch(self, pending: PendingUnroll, reference: ObjectRef[Any]) -> None:
        def handle() -> None:
            if pending.reference is reference:  # otherwise the request was submitted again since
                self._ended(self)

        pending.reference = reference
        pending.reply = self._completions.watch(reference, handle)

    def excuse_stall(self) -> None:
        """Restarts the timeout of the pending result, after a delay that another process caused."""
        self._progress_at = self.worker.clock()

    def stalled_seconds(self) -> float | None:
        """Seconds since the last progress if the pending result is overdue, else None."""
        seconds = self.worker.clock() - self._progress_at
        return seconds if self.in_flight and seconds > self.worker.result_limit else None
