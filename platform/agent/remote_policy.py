"""Decisions that another process makes: what is asked and answered, and the policy of whoever asks.

A request carries everything that its answer depends on, the random state, too. So whoever answers keeps nothing of it,
and a request whose answer was lost may be asked again, of another process, and gets the same answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from interplay.agent.observation import Arrays, Layout
from interplay.agent.policy import Decision
from interplay.agent.recurrent import RecurrentArrays, RecurrentState
from interplay.agent.weights import Weights


@dataclass(frozen=True)
class DecisionRequest:
    """One step of b lanes that has to be decided."""

    observations: Arrays  # [1, b, ...]
    state: RecurrentArrays  # [b, D], before the step
    random: NDArray[np.uint8]  # the state of the generator that all lanes draw from
    version: int  # of the weights that decide
    greedy: bool

    @property
    def lanes(self) -> int:
        """b."""
        return self.state.lanes


@dataclass(frozen=True)
class DecisionResponse:
    """A `Decision` as numpy arrays, and the random state after it."""

    decided: Arrays  # by the names of `Decision`, [b, ...]
    state: RecurrentArrays  # [b, D], after the step
    random: NDArray[np.uint8]


DECISION_FIELDS = tuple(name for name in Decision._fields if name != "state")


def split_decision(decision: Decision, lanes: Sequence[int], random: Sequence[Tensor]) -> list[DecisionResponse]:
    """A joined decision, divided among requests of so many lanes each; `random` are their random states after it."""
    state = decision.state.to_arrays()
    answers, start = [], 0
    for count, after in zip(lanes, random, strict=True):
        own = slice(start, start + count)
        decided = {name: getattr(decision, name)[own] for name in DECISION_FIELDS}
        answers.append(DecisionResponse(decided, state.select(own), after.numpy()))
        start += count
    return answers


class RemotePolicy:
    """A `Policy` that asks for every decision; it has no network, and needs no weights but their version."""

    def __init__(
        self,
        ask: Callable[[DecisionRequest], DecisionResponse],
        *,
        layout: Layout,
        width: int,
        generator: torch.Generator,
        greedy: bool = False,
    ) -> None:
        """
        Args:
            width: D, of what a lane remembers.
        """
        self.greedy = greedy
        self._ask = ask
        self._layout = layout
        self._width = width
        self._random = generator.get_state()
        self._version = 0

    @property
    def layout(self) -> Layout:
        return self._layout

    def initial_state(self, lanes: int) -> RecurrentState[Tensor]:
        zeros = torch.zeros(lanes, self._width)
        return RecurrentState(zeros, zeros)

    def decide(self, observations: Arrays, memory: RecurrentState[Tensor]) -> Decision:
        state = memory.to_arrays()
        answer = self._ask(DecisionRequest(observations, state, self._random.numpy(), self._version, self.greedy))
        # What comes from another process is read-only, and tensors share memory with what they are made from.
        self._random = torch.from_numpy(answer.random.copy())
        after = RecurrentState(*(torch.from_numpy(part.copy()) for part in answer.state))
        return Decision(**answer.decided, state=after)

    def load_version(self, weights: Weights, version: int) -> None:
        self._version = version

    def random_state(self) -> Tensor:
        return self._random

    def load_random_state(self, state: Tensor) -> None:
        self._random = state
