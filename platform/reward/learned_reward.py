"""The reward of a trained reward model: the change of its utility, or the marks that an autoregressive model draws.

The draws are reproducible: each lane has its own stream of random numbers, with a key that follows from the lane's
first observation, and a counter of its rows. Both are part of the lane's state, so any process draws the same marks.
"""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from interplay.agent.inference_device import InferenceDevice, fetch, send
from interplay.agent.mark_head import MarkState, mark_rewards
from interplay.agent.network import Agent
from interplay.agent.observation import Arrays
from interplay.agent.recurrent import RecurrentArrays, RecurrentState
from interplay.agent.weights import MARK_PREFIX, UTILITY_PREFIX, Weights, load_weights
from interplay.learner.ibt import utility_reward
from interplay.reward.reward_functions import (
    LaneState,
    RewardFunction,
    ScoredUnroll,
    fetched_state,
    forward_unroll,
)

KEY_BITS = 24  # exact in a float32, as is the counter for 16 million rows of a lane


class LearnedReward(RewardFunction):
    """Scores unrolls with a reward model that has a utility."""

    def __init__(self, model: Agent, version: int, on: InferenceDevice | None = None) -> None:
        """
        Args:
            on: device and precision, to which it moves the model; float32 on the model's by default.

        Raises:
            ValueError: the model has no utility.
        """
        if model.utility is None:
            raise ValueError("this agent has no utility head: give a checkpoint of the reward stage, not of a policy")
        self._on = on or InferenceDevice(model.device)
        self._model = model.to(self._on.device).eval()
        self.version = version

    def score(self, arrays: Arrays, lane_state: LaneState) -> ScoredUnroll:
        with self._on.running():
            output = forward_unroll(self._model, arrays, _own_state(lane_state, self._model), self._on)
            assert output.steps.utility is not None and output.end.utility is not None
            found = fetch({"utility": torch.cat([output.steps.utility, output.end.utility]), **output.state._asdict()})
            utility = torch.from_numpy(found["utility"])
            reward = utility_reward(utility=utility, last=torch.from_numpy(arrays["last"]))
        state = replace(lane_state, reward=fetched_state(found))
        return ScoredUnroll(reward.numpy(), state, self.version, utility.numpy())

    def load_version(self, weights: Weights, version: int) -> None:
        if not any(name.startswith(UTILITY_PREFIX) for name in weights):
            raise ValueError("these weights have no utility head: give those of a reward stage, not of a policy")
        with self._on.stream():
            load_weights(self._model, weights)
        self.version = version


class _Lanes(NamedTuple):
    """The state of b lanes before a row."""

    core: RecurrentArrays | None  # of the network
    head: MarkState
    key: NDArray[np.int64]  # [b], of the random numbers
    row: NDArray[np.int64]  # [b], rows before it


class MarkReward(RewardFunction):
    """Scores unrolls with an autoregressive reward model.

    Its lane state has the form of a recurrent state, [b, 2 D + 2]: `hidden` holds the hidden states of the network and
    of the head, the previous mark and the key; `cell` holds their cell states, the counter of rows and a zero.
    """

    def __init__(self, model: Agent, version: int, on: InferenceDevice | None = None) -> None:
        """
        Args:
            on: device and precision, to which it moves the model; float32 on the model's by default.

        Raises:
            ValueError: the model predicts no marks.
        """
        if model.marks is None:
            raise ValueError("this agent predicts no marks: give a checkpoint of the reward stage with reward.model=ar")
        self._on = on or InferenceDevice(model.device)
        self._model, self._head = model.to(self._on.device).eval(), model.marks
        self.version = version

    def score(self, arrays: Arrays, lane_state: LaneState) -> ScoredUnroll:
        with self._on.running():
            state = _own_state(lane_state, self._model)
            lanes = self._initial(arrays) if state is None else self._unpacked(state)
            output = forward_unroll(self._model, arrays, lanes.core, self._on)
            uniform = send(torch.from_numpy(_uniform(lanes, len(arrays["first"]))), self._model.device)
            first = send(torch.tensor(arrays["first"]), self._model.device)
            marks, before_end = self._head.sample(output.steps.core, first[:-1], lanes.head, uniform[:-1])
            last_mark, _ = self._head.sample(output.end.core, first[-1:], before_end, uniform[-1:])
            earned = mark_rewards(torch.cat([marks, last_mark])[1:]).cpu()  # the mark at row t + 1 judges step t
            reward = torch.where(torch.tensor(arrays["last"])[:-1], 0.0, earned)
            after = fetched_state(fetch(output.state._asdict()))
            packed = _packed(_Lanes(after, before_end, lanes.key, lanes.row + len(marks)))
        return ScoredUnroll(reward.numpy(), replace(lane_state, reward=packed), self.version)

    def load_version(self, weights: Weights, version: int) -> None:
        if not any(name.startswith(MARK_PREFIX) for name in weights):
            raise ValueError("these weights predict no marks: give those of a reward stage with reward.model=ar")
        with self._on.stream():
            load_weights(self._model, weights)
        self.version = version

    def _initial(self, arrays: Arrays) -> _Lanes:
        count = arrays["first"].shape[1]
        return _Lanes(None, self._head.initial_state(count), lane_keys(arrays), np.zeros(count, np.int64))

    def _unpacked(self, state: RecurrentArrays) -> _Lanes:
        width, device = self._model.config.lstm, self._model.device
        hidden, cell = state
        remembered, cells = (torch.tensor(part[:, width : 2 * width], device=device) for part in state)
        previous, key = (torch.from_numpy(hidden[:, column].astype(np.int64)) for column in (2 * width, 2 * width + 1))
        return _Lanes(
            RecurrentState(hidden[:, :width], cell[:, :width]),
            MarkState(remembered, cells, previous.to(device)),
            key.numpy(),
            cell[:, 2 * width].astype(np.int64),
        )


def state_width(model: Agent) -> int:
    """The width of a reward model's lane state: that of its recurrent state, and with marks that of `MarkReward`."""
    return model.config.lstm if model.marks is None else 2 * model.config.lstm + 2


def _own_state(lane_state: LaneState, model: Agent) -> RecurrentArrays | None:
    """The state of the lanes in a reward model. None before their first unroll, and if it is of a model of another
    width, because a resumed stage may have a new model."""
    state = lane_state.reward
    return state if state is not None and state.hidden.shape[1] == state_width(model) else None


def lane_keys(arrays: Arrays) -> NDArray[np.int64]:
    """The key of each lane's random numbers, [b], from the observations of row 0."""
    count = arrays["first"].shape[1]
    keys = np.arange(count)
    for name in sorted(set(arrays) & {"image", "vector", "heard"}):
        rows = np.ascontiguousarray(arrays[name][0])
        keys = np.array([zlib.crc32(rows[lane].tobytes(), int(keys[lane])) for lane in range(count)])
    found: NDArray[np.int64] = (keys % 2**KEY_BITS).astype(np.int64)
    return found


def _uniform(lanes: _Lanes, rows: int) -> NDArray[np.float32]:
    """Random numbers [rows, b] from 0 to 1, the same for a row of a lane whenever it is scored."""
    drawn = np.empty((rows, len(lanes.key)), np.float32)
    for lane, (key, row) in enumerate(zip(lanes.key, lanes.row, strict=True)):
        for t in range(rows):
            drawn[t, lane] = np.random.Philox(key=int(key), counter=int(row) + t).random_raw() / 2.0**64
    return drawn


def _packed(lanes: _Lanes) -> RecurrentArrays:
    assert lanes.core is not None
    hidden, cell = (
        np.concatenate([ours, theirs.cpu().numpy()], axis=1)
        for ours, theirs in zip(lanes.core, (lanes.head.hidden, lanes.head.cell), strict=True)
    )
    previous = lanes.head.previous.cpu().numpy()
    zeros = np.zeros_like(lanes.row)
    columns = (np.stack(pair, axis=1).astype(np.float32) for pair in ((previous, lanes.key), (lanes.row, zeros)))
    return RecurrentState(*(np.concatenate(both, axis=1) for both in zip((hidden, cell), columns, strict=True)))


def learned_reward(model: Agent, version: int, on: InferenceDevice) -> RewardFunction:
    """The reward function of a trained reward model: the change of its utility, or the marks that it draws."""
    return LearnedReward(model, version, on) if model.marks is None else MarkReward(model, version, on)
