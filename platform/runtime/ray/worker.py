"""One part in a process of its own: a plain object behind a thin Ray actor, and the handle that restarts it."""

from __future__ import annotations

import faulthandler
import logging
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, TextIO

import ray
import torch
from ray import ObjectRef
from ray.exceptions import RayError

from interplay.runtime.config import RuntimeConfig
from interplay.runtime.crashes import CrashReports
from interplay.runtime.heartbeat import Activity, Heartbeat, IdleFraction
from interplay.runtime.ray.gpu_visibility import hide_unassigned_gpus
from interplay.runtime.ray.worker_placement import WorkerPlacement
from interplay.runtime.restart_budget import RestartBudget
from interplay.runtime.status import WorkerStatus

logger = logging.getLogger(__name__)

CONTROL_SECONDS = 10.0  # an answer that needs no work
HEARTBEAT_POLL_SECONDS = 0.5  # between two readings of a pulse
STATUS_CHECK_SECONDS = 0.05  # between two looks whether it has been read
# What Ray says of an actor that it placed on a node before it noticed that the node is lost.
LOST_BEFORE_START_TEXTS = ("its node has died", "The actor never ran")
NO_GROUPS: Mapping[str, int] = MappingProxyType({})


def remote_class(of: type[Any], placement: WorkerPlacement, name: str, groups: Mapping[str, int] = NO_GROUPS) -> Any:
    """The class as a Ray actor in its place. It is restarted by its handle, which knows where it has to go on, and not
    by Ray; calls of the group "control" are answered beside its work, and so are those of further `groups`, each by so
    many threads."""
    decorate: Any = ray.remote  # whose types do not know of concurrency groups
    decorated = decorate(max_restarts=0, concurrency_groups={"control": 1, **groups})(of)
    return decorated.options(**placement.options(name))


def lost_before_start(cause: str) -> bool:
    """Had the part only been placed, on a node that was lost already? Then its loss has been counted before."""
    return all(said in cause for said in LOST_BEFORE_START_TEXTS)


def dump_process_stacks(heartbeat: Heartbeat, file: TextIO) -> str:
    """Writes the stack of every thread of this process; returns what it is doing, in words."""
    activity = heartbeat.read()
    message = f"says: {activity.doing}, for {activity.since:.0f} s (pid {activity.pid})"
    file.write(f"{message}\n")
    file.flush()
    faulthandler.dump_traceback(file, all_threads=True)
    return message


class Worker:
    """Hosts the object that `make(*arguments)` builds; one call at a time, beside which its pulse can be read."""

    def __init__(
        self, name: str, make: Callable[..., Any], folder: str, crashes: CrashReports, limit: float, *arguments: Any
    ) -> None:
        os.chdir(folder)  # paths of the run's configuration are relative to where it was typed
        self._printed = crashes.worker_log(name)
        self._printed.catch()
        hide_unassigned_gpus()
        torch.set_num_threads(1)
        self._heartbeat = Heartbeat()
        self._limit = limit
        crashes.stacks.mkdir(parents=True, exist_ok=True)
        # Open for good: the watchdog writes into it without Python's help, even where the interpreter hangs.
        self._stacks = (crashes.stacks / f"{name}.txt").open("a")
        with self._heartbeat.doing("starts"):
            self._target = self._build(make, arguments)

    def _build(self, make: Callable[..., Any], arguments: Sequence[Any]) -> Any:
        return make(*arguments)

    def call(self, method: str, what: str, *arguments: Any) -> Any:
        """Calls a method of the hosted object; `what` says what that is, for those who watch."""
        self._printed.shorten()
        with self._heartbeat.doing(what):
            faulthandler.dump_traceback_later(self._limit, file=self._stacks)
            try:
                return getattr(self._target, method)(*arguments)
            finally:
                faulthandler.cancel_dump_traceback_later()

    @ray.method(concurrency_group="control")
    def heartbeat(self) -> Activity:
        """What the part is doing."""
        self._printed.shorten()  # which one long call may have made too long
        return self._heartbeat.read()

    @ray.method(concurrency_group="control")
    def dump(self) -> str:
        """Writes the stack of every thread into the part's file; returns what the part is doing, in words."""
        return dump_process_stacks(self._heartbeat, self._stacks)


class WorkerHandle:
    """The learner's handle of a part: asks it, reads its pulse, restarts it where it went down."""

    def __init__(
        self,
        name: str,
        make: Callable[..., Any],
        *,
        placement: WorkerPlacement,
        crashes: CrashReports,
        config: RuntimeConfig,
        of: type[Worker] = Worker,
        groups: Mapping[str, int] = NO_GROUPS,
    ) -> None:
        """
        Args:
            of, groups: what hosts the object in its process; see `remote_class`.
        """
        self.name = name
        self.completed = 0  # by whoever asks
        self.restarts = 0
        self.incarnation = 0  # processes that were asked for
        self._make = make
        self._placement = placement
        self._crashes = crashes
        self._config = config
        self._restart_budget = RestartBudget(config.restart_window)
        self._of, self._groups = of, groups
        self._greeting: tuple[str, tuple[Any, ...]] | None = None
        self._completed_before = 0  # by the processes before the present one
        self._actor: Any = None
        self._activity: Activity | None = None
        self._idle = IdleFraction()
        self._reading: ObjectRef[Any] | None = None
        self._read_at = self._looked_at = self._heard_at = 0.0
        self._started = time.monotonic()
        self._lock = threading.Lock()  # of the reading: two threads may want it

    @property
    def result_limit(self) -> float:
        """Seconds that may pass until its next answer: the first takes its start, too."""
        starts = self.completed == self._completed_before
        return self._config.result_limit if starts else self._config.stall_limit

    @property
    def process(self) -> Any:
        """Of its present life, for other parts to call."""
        return self._actor

    @property
    def age(self) -> float:
        """Seconds of its present life."""
        return time.monotonic() - self._started

    @property
    def silent_seconds(self) -> float:
        """Seconds for which nothing has been heard of it."""
        return time.monotonic() - max(self._heard_at, self._started)

    def start(self, *arguments: Any) -> None:
        """Makes the part; `arguments` go to its `make`, references as what they refer to."""
        self._activity, self._reading, self._started = None, None, time.monotonic()
        self._completed_before = self.completed
        self.incarnation += 1
        self._crashes.worker_log(self.name).begin()
        completed, limit = remote_class(self._of, self._placement, self.name, self._groups), self._config.stall_limit
        self._actor = completed.remote(self.name, self._make, str(Path.cwd()), self._crashes, limit, *arguments)
        if self._greeting is not None:
            self.call_worker(self._greeting[0], *self._greeting[1])

    def call_worker(self, method: str, *arguments: Any) -> ObjectRef[Any]:
        """Calls a method of the part itself, not of what it hosts."""
        reference: ObjectRef[Any] = getattr(self._actor, method).remote(*arguments)
        return reference

    def call_on_every_start(self, method: str, *arguments: Any) -> None:
        """Tells it now, where it has been started, and from now on after each start; the newest only."""
        self._greeting = (method, arguments)
        if self._actor is not None:
            self.call_worker(method, *arguments)

    def ask(self, method: str, what: str, *arguments: Any) -> ObjectRef[Any]:
        """Asks for a call of the hosted object's method; `what` says what it does, for those who watch."""
        reference: ObjectRef[Any] = self._actor.call.remote(method, what, *arguments)
        return reference

    def handle_failure(self, cause: BaseException | str, episodes: list[str]) -> None:
        """Keeps why, and ends what may be left of the part; the caller starts it again. One that never ran is no more
        than placed anew.

        Raises:
            WorkerFailed: it went down more often than it may.
        """
        text = cause if isinstance(cause, str) else f"{type(cause).__name__}: {cause}"
        if lost_before_start(text):
            logger.warning("%s was placed on a node that is lost, and is placed anew", self.name)
            self.kill()
            return
        self.restarts += 1
        number = self._restart_budget.record_failure(self.completed)
        file = self._crashes.record_failure(self.name, number, text, episodes)
        self.kill()
        if number > self._crashes.limit:
            raise self._crashes.restarts_exhausted(self.name, text, file)
        message = (self.name, number, self._crashes.limit, file)
        logger.warning("%s went down and is made anew, %d of at most %d times (see %s)", *message)

    def kill(self) -> None:
        """Ends the part's process."""
        if self._actor is not None:
            ray.kill(self._actor)

    def read(self) -> WorkerStatus:
        """What the part says of itself; never waits for it."""
        with self._lock:
            return self._read()

    def _read(self) -> WorkerStatus:
        now = time.monotonic()
        if self._actor is not None and self._reading is None and now - self._read_at >= HEARTBEAT_POLL_SECONDS:
            self._reading, self._read_at = self._actor.heartbeat.remote(), now
        if self._reading is not None and now - self._looked_at >= STATUS_CHECK_SECONDS:
            self._looked_at = now
            self._look(self._reading)
        activity = self._activity or Activity("starts", now - self._started, 0.0, 0.0, 0)
        idle = self._idle.of(activity) if activity.pid else 0.0
        kind = self.name.split("-")[0]
        return WorkerStatus(
            self.name, kind, activity.doing, activity.since, idle, self.completed, self.restarts, activity.pid
        )

    def _look(self, reading: ObjectRef[Any]) -> None:
        if not ray.wait([reading], timeout=0)[0]:
            return
        self._reading = None
        try:
            activity: Activity = ray.get(reading, timeout=CONTROL_SECONDS)
            self._activity, self._heard_at = activity, time.monotonic()
            self.completed = max(self.completed, self._completed_before + activity.completed)
        except RayError:  # whoever waits for its work is told the same, and restarts it
            self._activity = None

    def request_stacks(self) -> ObjectRef[Any] | None:
        """Lets the part write its stack into its file under `stacks`; wait for it with a time limit."""
        return None if self._actor is None else self._actor.dump.remote()
