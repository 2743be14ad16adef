"""Inference service under Ray: one network decides for all actors, in batches of the requests that are pending.

    learner --- weights of a version ----> inference
       |                                    ^    |
       '-- play unroll n, version v ----> actors '-- decisions

A restarted server gets the same weights, and a request carries everything else that the response depends on. A restart
therefore neither loses nor changes an unroll: clients retry on the replacement when the server process dies. If the
server draws pictures, it also keeps the houses that requests show, and has clients send those that it lacks.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import ray
from ray import ObjectRef
from ray.exceptions import GetTimeoutError, RayError, RayTaskError

from interplay.agent.remote_policy import DecisionRequest, DecisionResponse
from interplay.runtime.heartbeat import WAITING, Heartbeat
from interplay.runtime.inference_model import BatchingQueue, KnownParts, PartsMissing, QueueClosed
from interplay.runtime.prefetcher import POLL_SECONDS
from interplay.runtime.ray.learner_context import LearnerContext
from interplay.runtime.ray.worker import Worker
from interplay.runtime.ray.worker_restarts import FETCH_SECONDS, WorkerHandle

INFERENCE_WAIT = "for inference"  # why an actor is idle, in its heartbeat


class InferenceClient:
    """Requests decisions from the server that the learner has connected it to, again after each server restart."""

    def __init__(self, heartbeat: Heartbeat, limit: float) -> None:
        """
        Args:
            limit: seconds until the first `connect`.
        """
        self._heartbeat = heartbeat
        self._limit = limit
        self._server: Any = None
        self._incarnation = 0  # of the server; 0 before the first
        self._known: tuple[int, frozenset[int]] = (0, frozenset())  # parts of scenes, by what incarnation
        self._changed = threading.Condition()

    def connect(self, server: Any, incarnation: int, limit: float) -> None:
        """Sends requests to this server process from now on.

        Args:
            limit: seconds in which a request is answered, by this process or a successor.
        """
        with self._changed:
            self._server, self._incarnation, self._limit = server, incarnation, limit
            self._changed.notify_all()

    def decide(self, request: DecisionRequest) -> DecisionResponse:
        """Waits for the response, from this server process or a successor.

        Raises:
            RayTaskError: the request can't be answered, for example because its weights have been dropped.
            TimeoutError: there is no response, and the learner has not found out why.
        """
        incarnation, deadline = 0, time.monotonic() + self._limit
        with self._heartbeat.idle(INFERENCE_WAIT):
            while True:
                server, incarnation, deadline = self._next_server(incarnation, deadline)
                try:
                    return self._answer(server, incarnation, request, deadline)
                except GetTimeoutError as error:
                    raise TimeoutError("the inference server has neither answered nor been restarted") from error
                except RayTaskError as error:
                    if not isinstance(error.cause, QueueClosed):
                        raise
                except RayError:  # the process is gone; the learner gets the same error, and restarts it
                    pass

    def _answer(self, server: Any, incarnation: int, request: DecisionRequest, deadline: float) -> DecisionResponse:
        """Sends a request to one server process, with those parts of its scenes that the process does not have."""
        scenes = request.scenes
        if scenes is None:
            response: DecisionResponse = self._get(server.decide.remote(request, self._limit), deadline)
            return response
        parts, sent = scenes.parts(request.observations["view"][0]), replace(request, scenes=scenes.with_parts({}))
        by, keys = self._known
        known = keys if by == incarnation else frozenset()
        try:
            new = {key: None if key in known else part for key, part in parts.items()}
            response = self._get(server.decide.remote(sent, self._limit, new), deadline)
        except RayTaskError as error:
            if not isinstance(error.cause, PartsMissing):
                raise
            response = self._get(server.decide.remote(sent, self._limit, parts), deadline)
        self._known = incarnation, frozenset(parts)
        return response

    def _get(self, pending: Any, deadline: float) -> Any:
        return ray.get(pending, timeout=max(0.0, deadline - time.monotonic()))

    def _next_server(self, incarnation: int, deadline: float) -> tuple[Any, int, float]:
        """Waits for a server process after this incarnation; returns it, its incarnation, and its own deadline."""
        with self._changed:
            timeout = max(0.0, deadline - time.monotonic())
            if not self._changed.wait_for(lambda: self._incarnation > incarnation, timeout=timeout):
                raise TimeoutError("the inference server went down, and no other has taken its place")
            return self._server, self._incarnation, time.monotonic() + self._limit


class InferenceClientWorker(Worker):
    """Hosts an actor whose decisions come from the server: its `make` also gets `ask`."""

    def _build(self, make: Callable[..., Any], arguments: Sequence[Any]) -> Any:
        self._client = InferenceClient(self._heartbeat, self._config.control_limit + self._config.stall_limit)
        return make(*arguments, ask=self._client.decide)

    @ray.method(concurrency_group="control")
    def connect(self, server: Any, incarnation: int, limit: float) -> None:
        """See `InferenceClient.connect`."""
        self._client.connect(server, incarnation, limit)


MAX_BATCH_LANES = 1024  # of one forward: bounds its memory, whatever the number of actors
DECIDING_ACTIVITY = "decides"
QUEUE_POLL_SECONDS = 1.0  # that one call of `serve_batch` waits for requests
WATCHDOG_INTERVAL_SECONDS = 1.0  # between two restarts of the watchdog, each of which starts a thread


def concurrency_groups(actors: int) -> Mapping[str, int]:
    """Threads of the server: one for every request that can be pending, those of dead actors included."""
    return {"requests": 2 * actors, "weights": 1}


class InferenceWorker(Worker):
    """Hosts an `InferenceModel`: threads wait with the actors' requests, and one thread answers them."""

    def _build(self, make: Callable[..., Any], arguments: Sequence[Any]) -> Any:
        self._queue: BatchingQueue[DecisionRequest, DecisionResponse] = BatchingQueue(
            key=lambda request: request.version,
            size=lambda request: request.lanes,
            max_size=MAX_BATCH_LANES,
        )
        self._parts = KnownParts()
        return make(*arguments)

    def serve(self) -> None:
        """Answers requests as long as the process lives; raises what a forward raised."""
        started = -WATCHDOG_INTERVAL_SECONDS
        while True:
            if time.monotonic() - started >= WATCHDOG_INTERVAL_SECONDS:
                self._start_watchdog()
                started = time.monotonic()
            self._heartbeat.set_idle("for requests")
            self._heartbeat.add_completed(self._queue.serve_batch(self._respond, QUEUE_POLL_SECONDS))

    def _respond(self, requests: Sequence[DecisionRequest]) -> Sequence[DecisionResponse]:
        self._heartbeat.set_busy(DECIDING_ACTIVITY)
        responses: Sequence[DecisionResponse] = self._target.decide(requests)
        return responses

    @ray.method(concurrency_group="requests")
    def decide(
        self, request: DecisionRequest, limit: float, parts: Mapping[int, Any] | None = None
    ) -> DecisionResponse:
        """Answers one request once its version of the weights has arrived; `parts` as in `KnownParts.complete`.

        Raises:
            PartsMissing: it shows a part that did not come with it, and is not known here.
        """
        if request.scenes is not None:
            request = replace(request, scenes=self._parts.complete(request.scenes, parts or {}))
        self._target.await_version(request.version, limit)
        return self._queue.submit(request, limit)

    @ray.method(concurrency_group="weights")
    def publish(self, version: int, wanted: Sequence[int], weights: Any) -> None:
        """See `InferenceModel.publish`."""
        self._target.publish(version, weights, wanted)


class InferenceServer:
    """The learner's view of the server: starts it, publishes weights, restarts it, connects the actors to it.

    `worker` is started with the versions in use, followed by their weights.
    """

    def __init__(self, worker: WorkerHandle, actors: Sequence[WorkerHandle], context: LearnerContext) -> None:
        self.worker = worker
        self._actors = list(actors)
        self._context = context
        self._weights: dict[int, tuple[ObjectRef[Any], int]] = {}  # by version, those that actors play with; bytes
        self._looked_at = 0.0
        self._calls: list[ObjectRef[Any]] = []  # of the present process: `serve`, and publications

    @property
    def held_bytes(self) -> int:
        """Size of the weights that are kept for a successor of the process."""
        return sum(nbytes for _, nbytes in self._weights.values())

    def start(self) -> None:
        """Starts the server and connects the actors to it."""
        self.worker.start(tuple(self._weights), *(weights for weights, _ in self._weights.values()))
        self._calls = [self.worker.call_worker("serve")]
        config = self._context.config
        # Three control limits: for the learner to notice a stall, and to write the stacks. All restarts may be used up
        # before the failing process is known.
        limit = (config.result_limit + 3 * config.control_limit) * (1 + config.restarts)
        for actor in self._actors:
            actor.call_on_every_start("connect", self.worker.actor, self.worker.incarnation, limit)

    def publish(self, version: int, weights: ObjectRef[Any], nbytes: int, wanted: Sequence[int]) -> None:
        """Makes these weights available for decisions; `wanted` are the other versions still in use."""
        if version in self._weights:
            return
        kept = {each: stored for each, stored in self._weights.items() if each in wanted}
        self._weights = {**kept, version: (weights, nbytes)}  # never changed in place: `held_bytes` is read elsewhere
        if self.worker.actor is not None:
            self._calls.append(self.worker.call_worker("publish", version, list(wanted), weights))

    def has(self, version: int) -> bool:
        """Whether the weights of this version were published."""
        return version in self._weights

    def handle_ended(self) -> None:
        """Handles its calls that have ended; does not wait."""
        if time.monotonic() - self._looked_at < POLL_SECONDS or not self._calls:
            return
        self._looked_at = time.monotonic()
        for call in ray.wait(self._calls, num_returns=len(self._calls), timeout=0)[0]:
            self._handle_result(call)

    def delays(self, actor: WorkerHandle) -> bool:
        """Whether this actor waits for a decision. The heartbeat of an actor that has fallen silent does not count."""
        waiting = actor.status().activity == f"{WAITING} {INFERENCE_WAIT}"
        return waiting and actor.silent_seconds < self._context.config.control_limit + actor.poll_seconds

    def restart_stalled(self) -> None:
        """Restarts the server if an actor has waited too long for a decision.

        Raises:
            WorkerFailed: the server failed more often than allowed.
        """
        for actor in self._actors:
            if not self.delays(actor):
                continue
            seconds = min(actor.status().activity_seconds, self.worker.age_seconds)  # a successor has had less time
            if seconds > self.worker.result_limit:
                cause = self._context.report_blocked(self.worker, seconds, "a decision", waiter=actor.name)
                self._restart(cause)
                return

    def _handle_result(self, call: ObjectRef[Any]) -> None:
        if call not in self._calls:  # of a process that is gone
            return
        self._calls.remove(call)
        try:
            ray.get(call, timeout=FETCH_SECONDS)
        except RayError as error:
            self._restart(error)

    def _restart(self, cause: BaseException | str) -> None:
        self.worker.handle_failure(cause, [])
        self.start()
