"""The inference service under Ray: one network decides for all actors, in batches of whatever waits.

    learner ----- weights of a version ----> inference
       |                                      ^    |
       '-- plays unroll n with version v --> actors '-- decisions

Its process keeps nothing but weights, which its successor is made with, and every request carries what its answer
depends on. So no unroll is lost with it, and none differs.
"""

from __future__ import annotations

import faulthandler
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import ray
from ray import ObjectRef
from ray.exceptions import RayError

from interplay.agent.remote_policy import DecisionRequest, DecisionResponse
from interplay.runtime.batching_queue import BatchingQueue
from interplay.runtime.heartbeat import WAITING
from interplay.runtime.ray.inference_client import INFERENCE_WAIT
from interplay.runtime.ray.learner_context import LearnerContext
from interplay.runtime.ray.stalls import report_blocked
from interplay.runtime.ray.worker import CONTROL_SECONDS, HEARTBEAT_POLL_SECONDS, Worker, WorkerHandle

MAX_BATCH_LANES = 1024  # lanes of one forward: what they take in memory is bounded, however many actors there are
DECIDING_ACTIVITY = "decides"
STALL_REPORT_SECONDS = 3 * CONTROL_SECONDS  # for the learner to see that the service is stuck, and to keep the stacks
QUEUE_POLL_SECONDS = 1.0  # seconds after which it looks up from waiting for requests
WATCHDOG_INTERVAL_SECONDS = 1.0  # seconds between two windings of its watchdog, which takes a thread each time


def concurrency_groups(actors: int) -> Mapping[str, int]:
    """Threads of the service: one for every request that can be under way, those of actors that are gone, too."""
    return {"asked": 2 * actors, "published": 1}


class InferenceWorker(Worker):
    """Hosts a `Deciding`: threads wait with the actors' requests, and one answers them."""

    def _build(self, make: Callable[..., Any], arguments: Sequence[Any]) -> Any:
        self._batching: BatchingQueue[DecisionRequest, DecisionResponse] = BatchingQueue(
            key=lambda request: (request.version, request.greedy),
            size=lambda request: request.lanes,
            room=MAX_BATCH_LANES,
        )
        return make(*arguments)

    def serve(self) -> None:
        """Answers requests for as long as the process lives; raises what a forward raised."""
        wound = -WATCHDOG_INTERVAL_SECONDS
        while True:
            if time.monotonic() - wound >= WATCHDOG_INTERVAL_SECONDS:
                faulthandler.dump_traceback_later(self._limit, file=self._stacks)
                wound = time.monotonic()
            self._heartbeat.waits("for requests")
            self._heartbeat.add_completed(self._batching.answer(self._decide, QUEUE_POLL_SECONDS))

    def _decide(self, requests: Sequence[DecisionRequest]) -> Sequence[DecisionResponse]:
        self._heartbeat.works(DECIDING_ACTIVITY)
        answers: Sequence[DecisionResponse] = self._target.decide(requests)
        return answers

    @ray.method(concurrency_group="asked")
    def decide(self, request: DecisionRequest, limit: float) -> DecisionResponse:
        """Answers one request, as soon as its version is there."""
        self._target.await_version(request.version, limit)
        return self._batching.ask(request, limit)

    @ray.method(concurrency_group="published")
    def publish(self, version: int, wanted: Sequence[int], weights: Any) -> None:
        """See `Deciding.publish`."""
        self._target.publish(version, weights, wanted)


class InferenceServer:
    """The learner's handle of the service, and of the actors that ask it.

    `worker` is made with the versions that are wanted and, one after the other, their weights.
    """

    def __init__(self, worker: WorkerHandle, actors: Sequence[WorkerHandle], context: LearnerContext) -> None:
        self.worker = worker
        self._actors = list(actors)
        self._context = context
        self._weights: dict[int, ObjectRef[Any]] = {}  # by version, those that are played with
        self._bytes: dict[int, int] = {}
        self._calls: list[ObjectRef[Any]] = []  # of its present process: one that lasts as long as it, publications

    @property
    def held_bytes(self) -> int:
        """Of the weights that are kept for a successor of the present process."""
        return sum(self._bytes.values())

    def start(self) -> None:
        """Makes the service, and tells the actors whom to ask."""
        self.worker.start(tuple(self._weights), *self._weights.values())
        self._calls = [self.worker.call_worker("serve")]
        config = self._context.config
        limit = (config.result_limit + STALL_REPORT_SECONDS) * (
            1 + config.restarts
        )  # whoever is to blame is found out before
        for actor in self._actors:
            actor.call_on_every_start("connect", self.worker.process, self.worker.incarnation, limit)

    def publish(self, version: int, weights: ObjectRef[Any], nbytes: int, wanted: Sequence[int]) -> None:
        """Lets it decide with these weights; `wanted`: the other versions that are still played with."""
        if version in self._weights:
            return
        self._weights = {each: kept for each, kept in self._weights.items() if each in wanted} | {version: weights}
        self._bytes[version] = nbytes
        self._bytes = {each: self._bytes[each] for each in self._weights}
        if self.worker.process is not None:
            self._calls.append(self.worker.call_worker("publish", version, list(wanted), weights))

    def waiting_for(self) -> dict[ObjectRef[Any], Callable[[], None]]:
        """Its calls under way, and what to do where one has ended: well, or with what took the service down."""
        waiting: dict[ObjectRef[Any], Callable[[], None]] = {}
        for call in self._calls:
            waiting[call] = partial(self._hear, call)
        return waiting

    def delays(self, actor: WorkerHandle) -> bool:
        """Does this actor wait for a decision, and not we for it? One that does not answer is not believed."""
        doing = actor.read().activity
        return (
            doing == f"{WAITING} {INFERENCE_WAIT}" and actor.silent_seconds < CONTROL_SECONDS + HEARTBEAT_POLL_SECONDS
        )

    def restart_stalled(self) -> None:
        """Makes the service anew where an actor has waited for its decision for too long.

        Raises:
            WorkerFailed: it went down more often than it may.
        """
        for actor in self._actors:
            if not self.delays(actor):
                continue
            seconds = min(actor.read().activity_seconds, self.worker.age)  # its successor has not owed it for longer
            if seconds > self.worker.result_limit:
                message = report_blocked(self._context, self.worker.name, seconds, "a decision", waiter=actor.name)
                self._restart(message)
                return

    def _hear(self, call: ObjectRef[Any]) -> None:
        if call not in self._calls:  # of a process that is gone
            return
        self._calls.remove(call)
        try:
            ray.get(call, timeout=CONTROL_SECONDS)
        except RayError as error:
            self._restart(error)

    def _restart(self, cause: BaseException | str) -> None:
        self.worker.handle_failure(cause, [])
        self.start()
