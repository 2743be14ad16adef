"""Network of the inference server: several versions of the weights, one forward for the requests of many actors."""

from __future__ import annotations

import copy
import threading
from collections.abc import Collection, Sequence

import numpy as np
import torch

from interplay.agent.network import Agent
from interplay.agent.noise import Noise, NoiseStream
from interplay.agent.packed import pack
from interplay.agent.policy import act, tensors
from interplay.agent.recurrent import concatenate_states
from interplay.agent.remote_policy import DecisionRequest, DecisionResponse, split_decision
from interplay.agent.weights import Weights, load_weights
from interplay.runtime.batching_queue import RequestRefused


class VersionGone(RequestRefused):
    """A request for weights that have been dropped: its sender has been restarted in the meantime."""


class InferenceModel:
    """Answers requests for one version in one forward on the agent's device; stateless but for the weights.

    Each version has its own network, so that alternating versions do not reload weights. There is one for each version
    in use and the newest: at most `runtime.max_lag` + 2.
    """

    def __init__(self, agent: Agent) -> None:
        self._prototype = agent.eval().requires_grad_(False)
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
        """Answers requests that share their version and whether they are greedy.

        Raises:
            VersionGone: the version has been dropped.
        """
        with self._changed:
            agent = self._agent_of(requests[0].version)
        device = agent.device
        joined = {
            name: np.concatenate([each.observations[name] for each in requests], axis=1)
            for name in requests[0].observations
        }  # [1, B, ...]
        generators = [_generator(each) for each in requests]
        noise = Noise([NoiseStream(drawn, each.lanes) for drawn, each in zip(generators, requests, strict=True)])
        state = concatenate_states([each.state for each in requests]).to_tensors(device)
        decision = act(agent, tensors(joined, device), state, noise, requests[0].greedy)
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
