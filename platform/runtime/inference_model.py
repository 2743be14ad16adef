"""The network of the inference service: the versions of its weights that are wanted, one forward for many actors."""

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
    """A request for weights that have been dropped: whoever sent it has been made anew in the meantime."""


class InferenceModel:
    """Decides requests of one version in one forward on the agent's device; keeps nothing of them.

    Each version has a network of its own, so that actors which play with different ones do not take turns in loading
    weights. There are as many as versions that are played with, and the newest: at most `runtime.max_lag` + 2.
    """

    def __init__(self, agent: Agent) -> None:
        self._plain = agent.eval().requires_grad_(False)
        pack(self._plain)
        self._agents: dict[int, Agent] = {}
        self._newest = -1
        self._spare: list[Agent] = []
        self._changed = threading.Condition()

    @property
    def versions(self) -> list[int]:
        """Those that can decide, the oldest first."""
        with self._changed:
            return sorted(self._agents)

    def publish(self, version: int, weights: Weights, wanted: Collection[int]) -> None:
        """Takes up the weights of a version; from then on only it and those that are `wanted` are kept."""
        with self._changed:
            fresh = self._spare.pop() if self._spare else None
        fresh = fresh or copy.deepcopy(self._plain)
        load_weights(fresh, weights)  # beside forwards of other versions: nobody knows of this one yet
        with self._changed:
            dropped = [each for each in self._agents if each not in (version, *wanted)]
            self._spare += [self._agents.pop(each) for each in dropped]
            self._agents[version] = fresh
            self._newest = max(self._newest, version)
            self._changed.notify_all()

    def await_version(self, version: int, seconds: float) -> None:
        """Waits until this version can decide.

        Raises:
            VersionGone: it has been dropped.
            TimeoutError: it has not come in so many seconds.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self._newest >= version, timeout=seconds):
                raise TimeoutError(f"version {version} of the weights has not come in {seconds:g} s")
            self._agent_of(version)

    def decide(self, requests: Sequence[DecisionRequest]) -> list[DecisionResponse]:
        """Answers requests, all of one version and all greedy or none.

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
    """On the CPU wherever the network is, so that it yields there what it yields here."""
    generator = torch.Generator()
    generator.set_state(torch.from_numpy(request.random.copy()))
    return generator
