"""Messages from workers to the learner, one for each unroll, and the Ray-independent objects that create them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from interplay.actors.dataset_actor import DatasetActor
from interplay.actors.setter_replay_actor import SetterReplayActor
from interplay.agent.inference_device import InferenceDevice, fetch
from interplay.agent.observation import Arrays
from interplay.agent.read_only_arrays import accept_read_only_arrays
from interplay.agent.recurrent import RecurrentArrays
from interplay.agent.unroll import FinishedTask, LaneScenes, draw_pictures
from interplay.agent.weights import Weights
from interplay.reward.reward_functions import LaneState, RewardFunction, ScoredUnroll, checked_score
from interplay.runtime.heartbeat import WorkerReply
from interplay.runtime.lane_records import from_bytes, to_bytes


@dataclass(frozen=True)
class UnrollMessage(WorkerReply):
    """An unroll as NumPy arrays, and its actor's state after it: an actor restarted from that state loses nothing."""

    number: int  # index of the unroll among its actor's unrolls, from 0
    arrays: Arrays  # [T + 1, b, ...]
    state: RecurrentArrays | None  # as `Unroll.state`
    version: int  # as `Unroll.version`
    episodes: list[str]
    after: bytes  # serialized state of the actor after this unroll
    tasks: list[FinishedTask] = field(default_factory=list)  # as `Unroll.tasks`
    scenes: list[LaneScenes] = field(default_factory=list)  # as `Unroll.scenes`

    @cached_property
    def lanes(self) -> int:
        """b."""
        return int(next(iter(self.arrays.values())).shape[1])

    @cached_property
    def nbytes(self) -> int:
        """Approximate memory use of the message."""
        arrays = sum(int(array.nbytes) for array in (*self.arrays.values(), *(self.state or ())))
        return arrays + sum(part.scenes.nbytes for part in self.scenes) + len(self.after)


class RolloutWorker:
    """Sends the unrolls of a setter-replay actor as messages, starting from the actor state `after` if it is given."""

    def __init__(self, actor: SetterReplayActor, after: bytes | None) -> None:
        self._actor = actor
        self._version: int | None = None
        if after is not None:
            actor.load_state(from_bytes(after))

    def unroll(self, number: int, weights: Weights, version: int) -> UnrollMessage:
        """Plays unroll `number` with these weights."""
        if version != self._version:
            self._actor.load_weights(weights, version)
            self._version = version
        return _message(self._actor, number)


class DatasetWorker:
    """Sends the unrolls of a dataset actor as messages; see `RolloutWorker`."""

    def __init__(self, dataset: DatasetActor, after: bytes | None) -> None:
        self._dataset = dataset
        if after is not None:
            dataset.load_state(from_bytes(after))

    def unroll(self, number: int) -> UnrollMessage:
        """Reads unroll `number`."""
        return _message(self._dataset, number)


class ScoringReplica:
    """Scores messages with a reward function. Their arrays are read-only."""

    def __init__(self, function: RewardFunction, on: InferenceDevice | None = None) -> None:
        """`on`: where it draws the pictures of messages that have none; the CPU by default."""
        self._function, self._on = function, on or InferenceDevice()
        accept_read_only_arrays()

    def score(self, message: UnrollMessage, lane_state: LaneState) -> ScoredUnroll:
        """See `checked_score`."""
        return checked_score(self._function, with_pictures(message, self._on), lane_state)

    def load_version(self, weights: Weights, version: int) -> None:
        """See `RewardFunction.load_version`."""
        self._function.load_version(weights, version)


def with_pictures(message: UnrollMessage, on: InferenceDevice) -> Arrays:
    """The arrays of a message; `image` [T + 1, b, H, W, C] is drawn on this device in place of the rows `view`."""
    arrays = dict(message.arrays)
    view = arrays.pop("view", None)
    if view is None:
        return arrays
    with on.running():  # of a copy, because torch warns of read-only arrays
        return arrays | fetch({"image": draw_pictures({"view": view.copy()}, message.scenes, on.device)})


def _message(actor: Any, number: int) -> UnrollMessage:
    unroll, state = actor.unroll(), actor.state()
    assert state["turn"] == number + 1, f"unroll {number} was requested, the actor has made {state['turn']} already"
    return UnrollMessage(
        number,
        unroll.arrays,
        unroll.state,
        unroll.version,
        unroll.episodes,
        to_bytes(state),
        unroll.tasks,
        unroll.scenes,
    )
