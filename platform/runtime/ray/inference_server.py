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
from interplay.runtime.batching import Batching
from interplay.runtime.heartbeat import WAITING
from interplay.runtime.ray.inference_client import DECISION
from interplay.runtime.ray.learner_context import LearnerContext
from interplay.runtime.ray.stalls import blocked
from interplay.runtime.ray.worker import CONTROL_SECONDS, POLL_SECONDS, Worker, WorkerHandle

ROOM = 1024  # lanes of one forward: what they take in memory is bounded, however many actors there are
DECIDES = "decides"
NOTICED = 3 * CONTROL_SECONDS  # for the learner to see that the service is stuck, and to keep the stacks
LOOK_UP = 1.0  # seconds after which it looks up from waiting for requests
WINDED = 1.0  # seconds between two windings of its watchdog, which takes a thread each time


def groups(actors: int) -> Mapping[str, int]:
    """Threads of the service: one for every request that can be under way, those of actors that are gone, too."""
    return {"asked": 2 * actors, "published": 1}


class InferencePart(Worker):
    """Hosts a `Deciding`: threads wait with the actors' requests, and one answers them."""

    def _built(self, make: Callable[..., Any], arguments: Sequence[Any]) -> Any:
        self._batching: Batching[DecisionRequest, DecisionResponse] = Batching(
            key=lambda request: (request.version, request.greedy), size=lambda request: request.lanes, room=ROOM
        )
        return make(*arguments)

    def serve(self) -> None:
        """Answers requests for as long as the process lives; raises what a forward raised."""
        wound = -WINDED
        while True:
            if time.monotonic() - wound >= WINDED:
                faulthandler.dump_traceback_later(self._limit, file=self._stacks)
                wound = time.monotonic()
            self._pulse.waits("for requests")
            self._pulse.has_made(self._batching.answer(self._decide, LOOK_UP))

    def _decide(self, requests: Sequence[DecisionRequest]) -> Sequence[DecisionResponse]:
        self._pulse.works(DECIDES)
        answers: Sequence[DecisionResponse] = self._hosted.decide(requests)
        return answers

    @ray.method(concurrency_group="asked")
    def decide(self, request: DecisionRequest, limit: float) -> DecisionResponse:
        """Answers one request, as soon as its version is there."""
        self._hosted.await_version(request.version, limit)
        return self._batching.ask(request, limit)

    @ray.method(concurrency_group="published")
    def publish(self, version: int, wanted: Sequence[int], weights: Any) -> None:
        """See `Deciding.publish`."""
        self._hosted.publish(version, weights, wanted)


class InferenceServer:
    """The learner's handle of the service, and of the actors that ask it.

    `part` is made with the versions that are wanted and, one after the other, their weights.
    """

    def __init__(self, part: WorkerHandle, actors: Sequence[WorkerHandle], surroundings: LearnerContext) -> None:
        self.part = part
        self._actors = list(actors)
        self._surroundings = surroundings
        self._weights: dict[int, ObjectRef[Any]] = {}  # by version, those that are played with
        self._bytes: dict[int, int] = {}
        self._calls: list[ObjectRef[Any]] = []  # of its present process: one that lasts as long as it, publications

    @property
    def held_bytes(self) -> int:
        """Of the weights that are kept for a successor of the present process."""
        return sum(self._bytes.values())

    def start(self) -> None:
        """Makes the service, and tells the actors whom to ask."""
        self.part.start(tuple(self._weights), *self._weights.values())
        self._calls = [self.part.tell("serve")]
        config = self._surroundings.config
        limit = (config.patience + NOTICED) * (1 + config.restarts)  # whoever is to blame is found out before
        for actor in self._actors:
            actor.tell_always("connect", self.part.process, self.part.lives, limit)

    def publish(self, version: int, weights: ObjectRef[Any], nbytes: int, wanted: Sequence[int]) -> None:
        """Lets it decide with these weights; `wanted`: the other versions that are still played with."""
        if version in self._weights:
            return
        self._weights = {each: kept for each, kept in self._weights.items() if each in wanted} | {version: weights}
        self._bytes[version] = nbytes
        self._bytes = {each: self._bytes[each] for each in self._weights}
        if self.part.process is not None:
            self._calls.append(self.part.tell("publish", version, list(wanted), weights))

    def waiting_for(self) -> dict[ObjectRef[Any], Callable[[], None]]:
        """Its calls under way, and what to do where one has ended: well, or with what took the service down."""
        waiting: dict[ObjectRef[Any], Callable[[], None]] = {}
        for call in self._calls:
            waiting[call] = partial(self._hear, call)
        return waiting

    def delays(self, actor: WorkerHandle) -> bool:
        """Does this actor wait for a decision, and not we for it? One that does not answer is not believed."""
        doing = actor.read().doing
        return doing == f"{WAITING} {DECISION}" and actor.silent < CONTROL_SECONDS + POLL_SECONDS

    def restart_stalled(self) -> None:
        """Makes the service anew where an actor has waited for its decision for too long.

        Raises:
            PartFailed: it went down more often than it may.
        """
        for actor in self._actors:
            if not self.delays(actor):
                continue
            seconds = min(actor.read().since, self.part.age)  # its successor has not owed it for longer
            if seconds > self.part.patience:
                told = blocked(self._surroundings, self.part.name, seconds, "a decision", waiter=actor.name)
                self._restart(told)
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
        self.part.went_down(cause, [])
        self.start()
