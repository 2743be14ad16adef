"""Policy whose network runs in another process: request, response and client.

A request carries everything that its response depends on, including the random state. So the server is stateless, and a
request whose response was lost can be sent again, to another process, with the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from interplay.agent.inputs import LaneViews
from interplay.agent.observation import Arrays, Layout
from interplay.agent.policy import Decision
from interplay.agent.recurrent import RecurrentArrays, RecurrentState
from interplay.agent.unroll import Scenes
from interplay.agent.weights import Weights


@dataclass(frozen=True)
class DecisionRequest:
    """Request for the actions of one step of b lanes."""

    observations: Arrays  # [1, b, ...]; pictures, or rows `view` of `scenes`
    state: RecurrentArrays  # [b, D], before the step
    random: NDArray[np.uint8]  # state of the generator that all lanes draw from
    version: int  # of the weights
    scenes: Scenes | None = None

    @property
    def lanes(self) -> int:
        """b."""
        return self.state.lanes


@dataclass(frozen=True)
class DecisionResponse:
    """A `Decision` as numpy arrays, and the random state after it."""

    decided: Arrays  # the fields of `Decision` by name, [b, ...]
    state: RecurrentArrays  # [b, D], after the step
    random: NDArray[np.uint8]


DECISION_FIELDS = tuple(name for name in Decision._fields if name != "state")


def split_decision(decision: Decision, lanes: Sequence[int], random: Sequence[Tensor]) -> list[DecisionResponse]:
    """Split a batched decision into responses with the given numbers of lanes; `random` holds their random states."""
    state = decision.state.to_arrays()
    answers, start = [], 0
    for count, after in zip(lanes, random, strict=True):
        own = slice(start, start + count)
        decided = {name: getattr(decision, name)[own] for name in DECISION_FIELDS}
        answers.append(DecisionResponse(decided, state.select(own), after.numpy()))
        start += count
    return answers


class RemotePolicy:
    """A `Policy` without a network: requests every decision, and holds only the version of the weights."""

    def __init__(
        self,
        ask: Callable[[DecisionRequest], DecisionResponse],
        *,
        layout: Layout,
        width: int,
        generator: torch.Generator,
        views: LaneViews | None = None,
    ) -> None:
        """
        Args:
            ask: sends a request and returns the response.
            width: D, the width of the recurrent state.
            views: what gives the rows `view` in the observations; None with pictures.
        """
        self._ask = ask
        self.layout = layout
        self._width = width
        self._random = generator.get_state()
        self._version = 0
        self._views = views

    def initial_state(self, lanes: int) -> RecurrentState[Tensor]:
        zeros = torch.zeros(lanes, self._width)
        return RecurrentState(zeros, zeros)

    def decide(self, observations: Arrays, state: RecurrentState[Tensor]) -> Decision:
        scenes = None if self._views is None else self._views.scenes()[0].scenes
        random, version = self._random.numpy(), self._version
        request = DecisionRequest(observations, state.to_arrays(), random, version, scenes)
        answer = self._ask(request)
        # Arrays from another process are read-only, and tensors share their memory: copy them.
        self._random = torch.from_numpy(answer.random.copy())
        after = RecurrentState(*(torch.from_numpy(part.copy()) for part in answer.state))
        return Decision(**answer.decided, state=after)

    def load_version(self, weights: Weights, version: int) -> None:
        self._version = version

    def random_state(self) -> Tensor:
        return self._random

    def load_random_state(self, state: Tensor) -> None:
        self._random = state
