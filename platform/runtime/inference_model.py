"""The inference server without Ray: dynamic batching of requests, and a network with several versions of the weights.

One consumer takes all compatible pending requests at once; it never waits for a batch to fill. One forward decides for
the requests of many actors.
"""

from __future__ import annotations

import copy
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from concurrent.futures import Future, wait
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from interplay.agent.inference_device import InferenceDevice
from interplay.agent.network import Agent
from interplay.agent.noise import Noise, NoiseStream
from interplay.agent.packed import pack
from interplay.agent.policy import act
from interplay.agent.recurrent import RecurrentState, concatenate_states
from interplay.agent.remote_policy import DecisionRequest, DecisionResponse, split_decision
from interplay.agent.unroll import Scenes
from interplay.agent.weights import Weights, load_weights

MOST_PARTS = 32768  # of scenes that a server keeps: houses of 12 to 18 kB, for some 30,000 lanes

Request = TypeVar("Request")
Response = TypeVar("Response")


class RequestRefused(Exception):
    """These requests can't be answered; others may be."""


class QueueClosed(RuntimeError):
    """The consumer has failed; no request is answered any more."""


class _PendingRequest(NamedTuple, Generic[Request, Response]):
    """A request until it is answered."""

    request: Request
    response: Future[Response]


class BatchingQueue(Generic[Request, Response]):
    """Queue in which many threads `submit` requests and one other thread repeatedly calls `serve_batch`.

    A batch consists of the oldest request and as many others with the same key as fit, in order of arrival.
    """

    def __init__(self, *, key: Callable[[Request], Hashable], size: Callable[[Request], int], max_size: int) -> None:
        """
        Args:
            key: requests with equal keys may share a batch.
            size: of a request; the sizes in a batch add up to at most `max_size`, unless it is a single request.
        """
        self._key = key
        self._size = size
        self._max_size = max_size
        self._pending: deque[_PendingRequest[Request, Response]] = deque()
        self._changed = threading.Condition()
        self._failure: Exception | None = None

    def submit(self, request: Request, seconds: float) -> Response:
        """Waits up to `seconds` for the response.

        Raises:
            RequestRefused: the request can't be answered.
            QueueClosed: the consumer has failed.
            TimeoutError: there is no response in time.
        """
        pending: _PendingRequest[Request, Response] = _PendingRequest(request, Future())
        with self._changed:
            if self._failure is not None:
                raise QueueClosed(str(self._failure)) from self._failure
            self._pending.append(pending)
            self._changed.notify_all()
        if not wait([pending.response], timeout=seconds).done:
            raise TimeoutError(f"no answer in {seconds:g} s")
        return pending.response.result(timeout=0.0)

    def serve_batch(self, respond: Callable[[Sequence[Request]], Sequence[Response]], seconds: float) -> int:
        """Answers one batch, after waiting up to `seconds` for a request; returns how many requests it had.

        Raises:
            Exception: what `respond` raised, unless it was `RequestRefused`; it closes the queue.
        """
        batch = self._take(seconds)
        if not batch:
            return 0
        try:
            responses = respond([each.request for each in batch])
        except RequestRefused as refused:
            _fail(batch, refused)
            return len(batch)
        except Exception as error:
            with self._changed:
                self._failure = error
                batch += self._pending
                self._pending.clear()
            _fail(batch, QueueClosed(str(error)))
            raise
        for each, response in zip(batch, responses, strict=True):
            each.response.set_result(response)
        return len(batch)

    def _take(self, seconds: float) -> list[_PendingRequest[Request, Response]]:
        with self._changed:
            if not self._changed.wait_for(lambda: self._pending, timeout=seconds):
                return []
            first = self._pending[0]
            key, room = self._key(first.request), self._max_size
            batch, others = [], deque[_PendingRequest[Request, Response]]()
            for each in self._pending:
                size = self._size(each.request)
                if each is first or (self._key(each.request) == key and size <= room):
                    batch.append(each)
                    room -= size
                else:
                    others.append(each)
            self._pending = others
            return batch


def _fail(batch: Sequence[_PendingRequest[Request, Response]], error: Exception) -> None:
    for each in batch:
        each.response.set_exception(error)


class VersionGone(RequestRefused):
    """A request for weights that have been dropped: its sender has been restarted in the meantime."""


class Painter(Protocol):
    """Draws the pictures of several requests in one pass."""

    def draw(self, views: Sequence[tuple[NDArray[np.float32], Any]]) -> Tensor:
        """The pictures uint8 [N, H, W, C] of the rows [n, S] of all requests, each with its scenes."""


class PartsMissing(Exception):
    """A request shows parts of scenes that this process does not have; the sender repeats it with all parts."""


class KnownParts:
    """The parts of scenes that were received last, so that requests carry only new ones. May be used by several
    threads."""

    def __init__(self, most: int = MOST_PARTS) -> None:
        self._most = most
        self._parts: OrderedDict[int, Any] = OrderedDict()  # the one used last at the end
        self._lock = threading.Lock()

    def complete(self, scenes: Scenes, parts: Mapping[int, Any]) -> Scenes:
        """The scenes with the parts that a request shows; those that came without it are None.

        Raises:
            PartsMissing: one came without the request, and is not known.
        """
        # Copies, because arrays of a request may lie in the object store, whose memory they would keep in use.
        new = {key: copy.deepcopy(part) for key, part in parts.items() if part is not None}
        with self._lock:
            self._parts.update(new)
            if unknown := [key for key in parts if key not in self._parts]:
                raise PartsMissing(f"the parts {unknown} of the scenes are not known here")
            for key in parts:
                self._parts.move_to_end(key)
            while len(self._parts) > max(self._most, len(parts)):
                self._parts.popitem(last=False)
            return scenes.with_parts({key: self._parts[key] for key in parts})


class InferenceModel:
    """Answers requests for one version in one forward on the agent's device. No response depends on an earlier request.

    Each version has its own network, so that alternating versions do not reload weights. There is one for each version
    in use and the newest: at most `runtime.max_lag` + 2.
    """

    def __init__(self, agent: Agent, on: InferenceDevice | None = None, painter: Painter | None = None) -> None:
        """
        Args:
            on: device and precision, to which it moves the agent; float32 on the agent's by default.
            painter: draws the pictures of requests that have none, on the same device.
        """
        self._painter = painter
        self._on = on or InferenceDevice(agent.device)
        self._prototype = agent.to(self._on.device).eval().requires_grad_(False)
        pack(self._prototype)
        self._agents: dict[int, Agent] = {}
        self._newest = -1
        self._spare: list[Agent] = []
        self._changed = threading.Condition()

    @property
    def versions(self) -> list[int]:
        """Versions that are available, the oldest first."""
        with self._changed:
            return sorted(self._agents)

    def publish(self, version: int, weights: Weights, wanted: Collection[int]) -> None:
        """Adds the weights of a version, and drops all other versions that are not `wanted`."""
        with self._changed:
            agent = self._spare.pop() if self._spare else None
        with self._on.stream():  # the copy, too: on another stream it might end after the weights are loaded
            agent = agent or copy.deepcopy(self._prototype)
            load_weights(agent, weights)  # without the lock: no request can use this one yet
        with self._changed:
            dropped = [each for each in self._agents if each not in (version, *wanted)]
            self._spare += [self._agents.pop(each) for each in dropped]
            self._agents[version] = agent
            self._newest = max(self._newest, version)
            self._changed.notify_all()

    def await_version(self, version: int, seconds: float) -> None:
        """Waits until this version is available.

        Raises:
            VersionGone: it has been dropped.
            TimeoutError: it has not arrived in time.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self._newest >= version, timeout=seconds):
                raise TimeoutError(f"version {version} of the weights has not arrived in {seconds:g} s")
            self._agent_of(version)

    def decide(self, requests: Sequence[DecisionRequest]) -> list[DecisionResponse]:
        """Answers requests for one version; actions are sampled.

        Raises:
            VersionGone: the version has been dropped.
        """
        with self._changed:
            agent = self._agent_of(requests[0].version)
        joined = {
            name: np.concatenate([each.observations[name] for each in requests], axis=1)
            for name in requests[0].observations
        }  # [1, B, ...]
        generators = [_generator(each) for each in requests]
        noise = Noise([NoiseStream(drawn, each.lanes) for drawn, each in zip(generators, requests, strict=True)])
        before = concatenate_states([each.state for each in requests])
        joined.pop("view", None)
        uploaded = self._on.upload({**joined, **before._asdict()})
        if self._painter is not None:
            with self._on.running():
                pictures = self._painter.draw([(each.observations["view"][0], each.scenes) for each in requests])
            uploaded["image"] = pictures[None]
        state = RecurrentState(*(uploaded.pop(name) for name in RecurrentState._fields))
        decision = act(agent, uploaded, state, noise, False, self._on, fetch_state=True)
        return split_decision(decision, [each.lanes for each in requests], [drawn.get_state() for drawn in generators])

    def _agent_of(self, version: int) -> Agent:
        if version not in self._agents:
            raise VersionGone(f"version {version} of the weights has been dropped, there are {sorted(self._agents)}")
        return self._agents[version]


def _generator(request: DecisionRequest) -> torch.Generator:
    """The request's generator, always on the CPU, so that its draws do not depend on the network's device."""
    generator = torch.Generator()
    generator.set_state(torch.from_numpy(request.random.copy()))
    return generator
