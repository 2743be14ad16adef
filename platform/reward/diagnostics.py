"""Quality measures of a reward model on held-out episodes: agreement with raters' marks, episode returns, and the
prediction of marks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from interplay.agent.inference_device import InferenceDevice
from interplay.agent.mark_head import NO_MARK, mark_classes
from interplay.agent.network import Agent
from interplay.agent.observation import Arrays
from interplay.env.arrays import Float32Array
from interplay.learner.ibt import pair_signs
from interplay.reward.learned_reward import MarkReward
from interplay.reward.reward_functions import LaneState


@dataclass(frozen=True)
class Agreement:
    """Counts per episode [episodes]: pairs of moments that raters ordered, and those that the model orders alike.

    Ties count half, as in `ibt_loss`.
    """

    pairs: NDArray[np.int64]
    right: NDArray[np.float64]

    @property
    def accuracy(self) -> float:
        """The share of pairs ordered alike; NaN without pairs."""
        return float(self.right.sum() / self.pairs.sum()) if self.pairs.sum() else float("nan")


class OrderedPairs(NamedTuple):
    """Pairs of moments of an episode that a rater ordered."""

    gaps: NDArray[np.int64]  # [pairs], rows between the two
    margins: Float32Array  # [pairs], the rise of utility in the rater's direction: above 0 where the model agrees


def batches(rows: Sequence[int], *, at_once: int = 64, most_rows: int = 8192) -> Iterator[range]:
    """Consecutive episodes to measure together, from their numbers of rows: at most `at_once` with `most_rows` in all,
    so that memory does not grow with the number or the length of the episodes."""
    start = total = 0
    for index, each in enumerate(rows):
        if index > start and (index - start == at_once or total + each > most_rows):
            yield range(start, index)
            start, total = index, 0
        total += each
    if start < len(rows):
        yield range(start, len(rows))


def utilities(
    model: Agent,
    episodes: Sequence[Arrays],
    *,
    rows: int = 16,
    on: InferenceDevice | None = None,
    beat: Callable[[str], None] = lambda what: None,
) -> list[Float32Array]:
    """The utility at every row of whole episodes, each [N + 1], from arrays [N + 1, 1, ...] (see `agent.unroll`).

    Of a model that predicts marks, the sum of the marks that it draws up to the row: what its rewards sum to.

    Args:
        rows: number of rows of each episode in one forward.
        on: device and precision, to which it moves the model; float32 on the model's by default.
        beat: called with the progress before each forward.
    """
    utility = _forward(model, episodes, rows, on, beat)
    return [utility[: len(arrays["first"]), lane].numpy() for lane, arrays in enumerate(episodes)]


def memory(model: Agent, arrays: Arrays, *, rows: int = 16, on: InferenceDevice | None = None) -> Float32Array:
    """What a model remembers of one episode: its recurrent state after every `rows` rows and at the end, averaged; [D].

    arrays: the episode [N + 1, 1, ...] (see `agent.unroll`). on: see `utilities`.
    """
    found = []
    with _computing(model, on):
        state = model.initial_state(1)
        for start in range(0, len(arrays["first"]), rows):
            _, state = model(_observed(model, [arrays], start, min(start + rows, len(arrays["first"]))), state)
            found.append(state.to_arrays().hidden[0])
    mean: Float32Array = np.mean(found, axis=0, dtype=np.float32)
    return mean


def agreement(utility: Sequence[Float32Array], episodes: Sequence[Arrays]) -> Agreement:
    """Compares utilities with the marks in the same episodes."""
    pairs: list[int] = []
    right: list[float] = []
    for values, arrays in zip(utility, episodes, strict=True):
        margin = ordered_pairs(values, arrays).margins
        pairs.append(len(margin))
        right.append(float((margin > 0).sum() + 0.5 * (margin == 0).sum()))
    return Agreement(np.array(pairs, np.int64), np.array(right, np.float64))


def ordered_pairs(utility: Float32Array, arrays: Arrays) -> OrderedPairs:
    """The pairs of moments of an episode that its rater ordered, from the utility at each row [N + 1]."""
    sign = pair_signs(
        marks_positive=torch.from_numpy(arrays["positive"]),
        marks_negative=torch.from_numpy(arrays["negative"]),
        first=torch.from_numpy(arrays["first"]),
        valid=torch.ones(arrays["first"].shape, dtype=torch.bool),
    )[..., 0].numpy()  # [N + 1, N + 1]
    earlier, later = np.nonzero(sign)
    margins = sign[earlier, later] * (utility[later] - utility[earlier])
    return OrderedPairs(later - earlier, margins)


def returns(utility: Sequence[Float32Array]) -> NDArray[np.float64]:
    """The return of each episode, U_end - U_start; [episodes]."""
    return np.array([float(values[-1] - values[0]) for values in utility])


def with_instruction(arrays: Arrays, heard: NDArray[np.int16]) -> Arrays:
    """The episode with another instruction: `heard` [L] replaces every utterance of the setter.

    In a world without utterances the players hear no instruction, and the episode is the same.
    """
    if "heard" not in arrays:
        return arrays
    changed = arrays["heard"].copy()
    changed[(changed != 0).any(-1)] = heard
    return {**arrays, "heard": changed}


def other_instructions(
    heard: Sequence[NDArray[np.int16]], kinds: Sequence[str] | None = None
) -> dict[int, NDArray[np.int16]]:
    """The instruction [L] of another episode for each episode, by index, from the instructions [L] of all.

    It is the next different one in the order of the list. `kinds`, the kinds of task of the episodes, limit the choice
    to the same kind: between kinds, an agent that only separates questions from instructions to move would find its
    actions less likely too. Episodes without an instruction, and those without a different one, are left out.
    """
    kinds = [""] * len(heard) if kinds is None else kinds
    spoken = [index for index, own in enumerate(heard) if own.any()]
    found = {}
    for place, index in enumerate(spoken):
        following = (other for other in spoken[place + 1 :] + spoken[:place] if kinds[other] == kinds[index])
        other = next((heard[other] for other in following if not np.array_equal(heard[other], heard[index])), None)
        if other is not None:
            found[index] = other
    return found


@contextmanager
def _computing(model: Agent, on: InferenceDevice | None) -> Iterator[None]:
    """Context of a computation without gradients; `on`: see `utilities`."""
    if on is None:
        model.eval()
        with torch.inference_mode():
            yield
        return
    with on.running(), on.autocast():
        model.to(on.device).eval()
        yield


def _forward(
    model: Agent, batch: Sequence[Arrays], rows: int, on: InferenceDevice | None, beat: Callable[[str], None]
) -> Tensor:
    """Utilities [longest, episodes] of a batch of episodes, `rows` rows per forward."""
    longest = max(len(arrays["first"]) for arrays in batch)
    if model.marks is not None:
        return _summed_marks(model, batch, rows, on, beat)
    found = []
    with _computing(model, on):
        state = model.initial_state(len(batch))
        for start in range(0, longest, rows):
            beat(f"row {start}")
            output, state = model(_observed(model, batch, start, min(start + rows, longest)), state)
            found.append(output.utility.cpu())
    return torch.cat(found)


def joined_rows(
    batch: Sequence[Arrays], keys: Iterable[str], start: int, stop: int, device: torch.device
) -> dict[str, Tensor]:
    """Some rows of these arrays of a batch of episodes, [stop - start, episodes, ...]; shorter episodes are padded with
    zeros at the end."""
    joined = {}
    for key in keys:
        first = batch[0][key]
        block = np.zeros((stop - start, len(batch), *first.shape[2:]), first.dtype)
        for lane, arrays in enumerate(batch):
            piece = arrays[key][start:stop, 0]
            block[: len(piece), lane] = piece
        joined[key] = torch.from_numpy(block).to(device)
    return joined


def _observed(model: Agent, batch: Sequence[Arrays], start: int, stop: int) -> dict[str, Tensor]:
    return joined_rows(batch, model.layout.observations(0, 0), start, stop, model.device)


def _summed_marks(
    model: Agent, batch: Sequence[Arrays], rows: int, on: InferenceDevice | None, beat: Callable[[str], None]
) -> Tensor:
    """The sums of drawn marks [longest, episodes]; each episode is a lane with its own draws."""
    function, state, longest = MarkReward(model, 0, on), LaneState(), max(len(arrays["first"]) for arrays in batch)
    rewards = []
    for start in range(0, longest - 1, rows):
        beat(f"row {start}")
        stop = min(start + rows + 1, longest)
        arrays = {key: value.cpu().numpy() for key, value in _observed(model, batch, start, stop).items()}
        scored = function.score({**arrays, "last": np.zeros((stop - start, len(batch)), bool)}, state)
        state = scored.lane_state
        rewards.append(torch.from_numpy(scored.reward))
    return torch.cat([torch.zeros(1, len(batch)), *rewards]).cumsum(0)


@dataclass(frozen=True)
class MarkPrediction:
    """How well a model predicts marks, given the true marks before them."""

    likelihood: float  # mean log-likelihood of a row's mark, in nats
    auc: float  # of the probability of a mark, of rows with a mark against rows without; NaN if there are none
    sign_accuracy: float  # of the marked rows, the share whose sign is the more likely one; NaN without marked rows


def mark_prediction(model: Agent, episodes: Iterable[Arrays], rows: int = 16) -> MarkPrediction:
    """Compares the predictions of a model with `marks` with the marks in whole episodes [N + 1, 1, ...]."""
    head = model.eval().marks
    assert head is not None
    logits, marks = [], []
    for arrays in episodes:
        observed = {key: torch.from_numpy(arrays[key]).to(model.device) for key in model.layout.observations(0, 0)}
        true = mark_classes(torch.from_numpy(arrays["positive"]), torch.from_numpy(arrays["negative"])).to(model.device)
        state, before = model.initial_state(1), head.initial_state(1)
        for start in range(0, len(true), rows):
            window = {key: value[start : start + rows] for key, value in observed.items()}
            with torch.inference_mode():
                output, state = model(window, state)
                found, before = head(output.core, true[start : start + rows], window["first"], before)
            logits.append(found[:, 0].cpu())
        marks.append(true[:, 0].cpu())
    return _prediction(torch.cat(logits).log_softmax(-1).numpy(), torch.cat(marks).numpy())


def _prediction(log_probs: NDArray[np.float32], marks: NDArray[np.int64]) -> MarkPrediction:
    """From the log-probabilities [N, 3] and true classes [N] of all rows."""
    marked = marks != NO_MARK
    signs = log_probs[marked, 1:].argmax(-1) + 1 == marks[marked]
    return MarkPrediction(
        likelihood=float(log_probs[np.arange(len(marks)), marks].mean()),
        auc=_auc(-log_probs[:, NO_MARK], marked),
        sign_accuracy=float(signs.mean()) if len(signs) else float("nan"),
    )


def _auc(score: NDArray[np.float32], positive: NDArray[np.bool_]) -> float:
    """The chance that a positive has the higher score than a negative; ties count half."""
    positives, negatives = int(positive.sum()), int((~positive).sum())
    if not positives or not negatives:
        return float("nan")
    _, inverse, counts = np.unique(score, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2
    return float((ranks[inverse][positive].sum() - positives * (positives + 1) / 2) / (positives * negatives))
