"""Client of the inference server; retries on the replacement when the server process dies."""

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
from interplay.runtime.ray.worker import Worker

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
                pending = server.decide.remote(request, self._limit)
                try:
                    response: DecisionResponse = ray.get(pending, timeout=max(0.0, deadline - time.monotonic()))
                except GetTimeoutError as error:
                    raise TimeoutError("the inference server has not answered, nor been restarted") from error
                except RayTaskError as error:
                    if not isinstance(error.cause, QueueClosed):
                        raise
                except RayError:  # the process is gone; the learner gets the same error, and restarts it
                    pass
                else:
                    return response

    def _next_server(self, incarnation: int, deadline: float) -> tuple[Any, int, float]:
        """Waits for a server process after this incarnation; returns it, its incarnation, and its own deadline."""
        with self._changed:
            timeout = max(0.0, deadline - time.monotonic())
            if not self._changed.wait_for(lambda: self._incarnation > incarnation, timeout=timeout):
                raise TimeoutError("the inference server went down, and no other has come in its place")
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
