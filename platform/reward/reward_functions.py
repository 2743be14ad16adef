"""Reward functions: true progress or success, the environment's own reward, or a learned model (`learned_reward`).

All are stateless: the recurrent states of the lanes are an argument and part of the result, so that any process can
score any unroll, and a request can be repeated.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from interplay.agent.inference_device import InferenceDevice, SharedUpload, fetch
from interplay.agent.network import Agent, AgentOutput, StepFeatures, fold_time
from interplay.agent.observation import UTTERANCE_ARRAYS, Arrays
from interplay.agent.recurrent import RecurrentArrays, RecurrentState
from interplay.agent.weights import Weights
from interplay.episodes.token_translation import TokenTranslation
from interplay.learner.ibt import utility_reward


@dataclass(frozen=True)
class LaneState:
    """Recurrent states of the lanes before row 0 of their next unroll; None before the first, or without a network."""

    reward: RecurrentArrays | None = None  # of the reward model
    reference: RecurrentArrays | None = None  # of the reference policy


@dataclass(frozen=True)
class ScoredUnroll:
    """The score of one unroll."""

    reward: NDArray[np.float32]  # [T, b]
    lane_state: LaneState = field(default_factory=LaneState)
    version: int = 0  # of the reward model; 0 without one
    utility: NDArray[np.float32] | None = None  # [T + 1, b], of a reward model
    reference_gate: NDArray[np.float32] | None = None  # [T + 1, b]: gate logits of the reference policy

    def arrays(self) -> Arrays:
        """The arrays that the score adds to its unroll (see `interplay.agent.unroll`)."""
        gate = {} if self.reference_gate is None else {"reference_gate": self.reference_gate}
        return {"reward": self.reward, **gate}


class RewardFunction(ABC):
    """Scores unrolls."""

    version: int = 0  # of the reward model; 0 without one
    # Whether `score` reads the array `image`: where a GPU draws what agents see, it is drawn again for `score`.
    reads_pictures: bool = True

    @abstractmethod
    def score(self, arrays: Arrays, lane_state: LaneState) -> ScoredUnroll:
        """Score one unroll.

        Args:
            arrays: of the unroll [T + 1, b, ...], read-only: the learner trains on the same memory, so copy an array
                before changing it.
            lane_state: of the previous score of these lanes; `LaneState()` for their first unroll.

        Raises:
            ValueError: an array that the reward is computed from is missing.
        """

    def load_version(self, weights: Weights, version: int) -> None:
        """Replace the weights of the reward model.

        Raises:
            ValueError: the weights belong to another model, or this reward has no model.
        """
        raise ValueError(f"{type(self).__name__} has no reward model, so none can be replaced")


class ProgressReward(RewardFunction):
    """The change of the task's true progress: an upper bound, and the probe reward of the paper's agents."""

    reads_pictures = False

    def score(self, arrays: Arrays, lane_state: LaneState) -> ScoredUnroll:
        check_present(arrays, ["progress", "last"])
        if np.isnan(arrays["progress"]).any():
            raise ValueError("these unrolls carry no true progress; set reinforce.actor.progress=true")
        return ScoredUnroll(_change(arrays, "progress"), lane_state)


class SuccessReward(RewardFunction):
    """+1 at the step in which a task is achieved, once a task; 0 otherwise, also for a wrong answer.

    An instruction is achieved once it has stayed done for `reinforce.actor.hold_steps`, as in the probes. The reward of
    the scripted probes (section 6.3 of the paper).
    """

    reads_pictures = False

    def score(self, arrays: Arrays, lane_state: LaneState) -> ScoredUnroll:
        check_present(arrays, ["achieved", "last"])
        if np.isnan(arrays["achieved"]).any():
            raise ValueError("these unrolls carry no true success of each step; set reinforce.actor.achieved=true")
        return ScoredUnroll(_change(arrays, "achieved"), lane_state)


class EnvironmentReward(RewardFunction):
    """The world's own reward, as in Gymnasium environments."""

    reads_pictures = False

    def score(self, arrays: Arrays, lane_state: LaneState) -> ScoredUnroll:
        check_present(arrays, ["env_reward", "last"])
        reward: NDArray[np.float32] = np.where(arrays["last"], np.float32(0), arrays["env_reward"])
        return ScoredUnroll(reward[:-1], lane_state)


class WithReferenceGate(RewardFunction):
    """Adds the gate logits of the policy from the start of reinforcement to the scores of another reward function.

    They are the reference of the gate's KL penalty. Adds none in a world without utterances.
    """

    def __init__(self, function: RewardFunction, reference: Agent, on: InferenceDevice | None = None) -> None:
        """
        Args:
            on: device and precision of the reference, and of `function` if that has a network: both then share one
                upload of the unroll. Float32 on the reference's device by default.
        """
        self._function = function
        self._on = on or InferenceDevice(reference.device)
        self._reference = reference.to(self._on.device).eval()
        self.version = function.version

    def score(self, arrays: Arrays, lane_state: LaneState) -> ScoredUnroll:
        shared = SharedUpload(arrays, self._on)
        scored = checked_score(self._function, shared, lane_state)
        with self._on.running():
            output = forward_unroll(self._reference, shared, lane_state.reference, self._on)
            results = output.state._asdict()
            if output.steps.gate is not None and output.end.gate is not None:
                results["gate"] = torch.cat([output.steps.gate, output.end.gate])
            found = fetch(results)
        state = replace(scored.lane_state, reference=fetched_state(found))
        return replace(scored, lane_state=state, reference_gate=found.get("gate"))

    def load_version(self, weights: Weights, version: int) -> None:
        self._function.load_version(weights, version)
        self.version = version


class TranslatedReward(RewardFunction):
    """Translates what an agent with another vocabulary heard and said before a reward model scores it."""

    def __init__(self, function: RewardFunction, translation: TokenTranslation) -> None:
        self._function = function
        self._translation = translation
        self.version = function.version

    def score(self, arrays: Arrays, lane_state: LaneState) -> ScoredUnroll:
        translated = {key: self._translation(arrays[key]) for key in UTTERANCE_ARRAYS if key in arrays}
        return self._function.score({**arrays, **translated}, lane_state)

    def load_version(self, weights: Weights, version: int) -> None:
        self._function.load_version(weights, version)
        self.version = version


def checked_score(function: RewardFunction, arrays: Arrays, lane_state: LaneState) -> ScoredUnroll:
    """Score one unroll and check the result.

    Raises:
        ValueError: the result is not a `ScoredUnroll` with a finite float32 reward [T, b]; an array is changed, which
            is read-only; or see `RewardFunction.score`.
    """
    name = type(function).__name__
    try:
        scored = function.score(arrays, lane_state)
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        raise ValueError(
            f"the reward {name}: score() changes an array that is read-only; change a copy of it"
        ) from error
    rows, lanes = arrays["last"].shape
    wanted, found = [rows - 1, lanes], _described(scored)
    if found != f"float32 {wanted}":
        raise ValueError(
            f"the reward {name}: score() must return a ScoredUnroll whose reward is a float32 array [T, b] = {wanted}; "
            f"got {found}"
        )
    finite = np.isfinite(scored.reward)
    if not finite.all():
        step, lane = np.argwhere(~finite)[0]
        raise ValueError(
            f"the reward {name}: score() must return finite numbers; the reward is {scored.reward[step, lane]} at step "
            f"{step} of lane {lane}, counted from 0"
        )
    return scored


def _described(scored: object) -> str:
    """The dtype and shape of the reward, as "float64 [9, 8]", or the type of another result."""
    if not isinstance(scored, ScoredUnroll):
        return f"a {type(scored).__name__}"
    if not isinstance(scored.reward, np.ndarray):
        return f"a ScoredUnroll whose reward is a {type(scored.reward).__name__}"
    return f"{scored.reward.dtype} {list(scored.reward.shape)}"


def check_present(arrays: Arrays, wanted: Sequence[str]) -> None:
    """Check that an unroll has these arrays.

    Raises:
        ValueError: it lacks some.
    """
    if missing := [name for name in wanted if name not in arrays]:
        raise ValueError(f"the unroll lacks {', '.join(missing)}; it has {', '.join(sorted(arrays))}")


def _change(arrays: Arrays, level: str) -> NDArray[np.float32]:
    """The change of a level [T + 1, b] in each step, [T, b]; 0 for terminal rows."""
    change = utility_reward(utility=torch.tensor(arrays[level]), last=torch.tensor(arrays["last"]))
    reward: NDArray[np.float32] = change.numpy()
    return reward


class UnrollOutputs(NamedTuple):
    """Outputs of a network along an unroll, on its device."""

    steps: AgentOutput  # of rows 0 .. T - 1
    end: AgentOutput  # of row T
    state: RecurrentState[Tensor]  # before row T, which is row 0 of the next unroll


def fetched_state(found: Mapping[str, NDArray[Any]]) -> RecurrentArrays:
    """The state among fetched results."""
    return RecurrentState(found["hidden"], found["cell"])


def forward_unroll(model: Agent, arrays: Arrays, state: RecurrentArrays | None, on: InferenceDevice) -> UnrollOutputs:
    """Run a network along an unroll from its state before row 0; None is the initial state.

    Nearly all arithmetic is the encoding of single rows: on a GPU, and in bf16, all T + 1 rows are encoded in one pass.
    In float32 on the CPU row T is encoded by itself, because a product of more rows may round differently.

    Raises:
        ValueError: an array is missing.
    """
    wanted = [*model.layout.observations(0, 0)]
    check_present(arrays, [*wanted, "last"])
    with on.running():
        observations = on.upload(arrays, wanted)
        rows, lanes = observations["first"].shape
        before = model.initial_state(lanes)
        if state is not None:
            before = RecurrentState(**on.upload(state._asdict()))
        parts = [slice(0, rows - 1), slice(rows - 1, rows)]
        with on.autocast():
            if on.is_exact:
                features = [model.encode(_rows(observations, part), with_vision=False) for part in parts]
            else:
                features = _split(model.encode(_rows(observations, slice(None)), with_vision=False), lanes)
            steps, between = model.unroll_core(features[0], observations["first"][parts[0]], before)
            end, _ = model.unroll_core(features[1], observations["first"][parts[1]], between)
    return UnrollOutputs(steps, end, between)


def _rows(observations: Mapping[str, Tensor], part: slice) -> dict[str, Tensor]:
    """Some rows of observations [T, B, ...], as `Agent.encode` expects them."""
    return fold_time({key: value[part] for key, value in observations.items()})


def _split(features: StepFeatures, lanes: int) -> list[StepFeatures]:
    """The features of all rows but the last, and of the last; each [N, ...]."""
    cut = len(features.aggregate) - lanes
    both = [None if part is None else (part[:cut], part[cut:]) for part in features]
    return [StepFeatures(*(None if part is None else part[index] for part in both)) for index in (0, 1)]  # type: ignore[arg-type]
