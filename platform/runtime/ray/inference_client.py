"""The actor's side of the inference service: asks its process of the day, and its successor where that goes down."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayError, RayTaskError

from interplay.agent.remote_policy import DecisionRequest, DecisionResponse
from interplay.runtime.batching_queue import QueueClosed
from interplay.runtime.heartbeat import Heartbeat
from interplay.runtime.ray.worker import CONTROL_SECONDS, Worker

INFERENCE_WAIT = "for inference"  # what an actor waits for, in its pulse


class InferenceClient:
    """Asks for decisions; the learner says whom, and says it anew after each restart of the service."""

    def __init__(self, heartbeat: Heartbeat, limit: float) -> None:
        """
        Args:
            limit: seconds until it is told whom to ask.
        """
        self._heartbeat = heartbeat
        self._limit = limit
        self._service: Any = None
        self._life = 0  # of the service: which of its processes; 0 before the first
        self._changed = threading.Condition()

    def connect(self, service: Any, incarnation: int, limit: float) -> None:
        """From now on asks this process; `limit`: seconds in which a request is answered, by it or a successor."""
        with self._changed:
            self._service, self._life, self._limit = service, incarnation, limit
            self._changed.notify_all()

    def ask(self, request: DecisionRequest) -> DecisionResponse:
        """Waits for the answer, whoever gives it.

        Raises:
            RayTaskError: this request can't be answered, as where the weights that it asks for have been dropped.
            TimeoutError: nobody has answered, and the learner has not found out why.
        """
        incarnation, ends = 0, time.monotonic() + self._limit
        with self._heartbeat.waiting(INFERENCE_WAIT):
            while True:
                service, incarnation, ends = self._successor(incarnation, ends)
                asked = service.decide.remote(request, self._limit)
                try:
                    answer: DecisionResponse = ray.get(asked, timeout=max(0.0, ends - time.monotonic()))
                except GetTimeoutError as error:
                    raise TimeoutError("the inference service has not answered, nor been restarted") from error
                except RayTaskError as error:
                    if not isinstance(error.cause, QueueClosed):
                        raise
                except RayError:  # it is gone; the learner is told the same, as where it is closed, and makes it anew
                    pass
                else:
                    return answer

    def _successor(self, incarnation: int, ends: float) -> tuple[Any, int, float]:
        """The process after that of this life, its own life, and until when to wait for its answer."""
        with self._changed:
            there = self._changed.wait_for(lambda: self._life > incarnation, timeout=max(0.0, ends - time.monotonic()))
            if not there:
                raise TimeoutError("the inference service went down, and no other has come in its place")
            return self._service, self._life, time.monotonic() + self._limit


class InferenceClientWorker(Worker):
    """Hosts an actor whose decisions come from the service: its `make` is also given `ask`."""

    def _build(self, make: Callable[..., Any], arguments: Sequence[Any]) -> Any:
        self._asking = InferenceClient(self._heartbeat, CONTROL_SECONDS + self._limit)
        return make(*arguments, ask=self._asking.ask)

    @ray.method(concurrency_group="control")
    def connect(self, service: Any, incarnation: int, limit: float) -> None:
        """See `InferenceClient.connect`."""
        self._asking.connect(service, incarnation, limit)
