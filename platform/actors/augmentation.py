"""Feedback augmentation: marked windows with a swapped instruction or utterance, and marks changed to match.

A reward model trained only on agents that roughly follow their instruction can reward activity and ignore language.
Therefore, in some episodes, either the setter's instruction is swapped for another (what was progress is now a slip),
or an utterance of the solver is swapped for another (which is then a mistake).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from interplay.episodes.vocabulary import PAD

Tokens = NDArray[np.int16]


@dataclass(frozen=True)
class AugmentationConfig:
    """Probabilities of the augmentations."""

    probability: float = 0.33  # that an episode in a window is changed
    instruction_share: float = 0.5  # of the changed episodes: swap the instruction, not an utterance; choice
    mirror: float = 0.0  # chance that an episode is mirrored; choice, for worlds symmetric in left and right

    def __post_init__(self) -> None:
        for name in ("probability", "instruction_share", "mirror"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"reward.augmentation.{name} is a share from 0 to 1, got {getattr(self, name)!r}")


class MarkedWindow(NamedTuple):
    """Rows of marked episodes: one column per lane, in which episodes (each with one rater) follow one another."""

    first: NDArray[np.bool_]  # [T, B] an episode starts here
    heard: Tokens  # [T, B, L] the setter's last utterance
    said: Tokens  # [T, B, L] the solver's own last utterance
    spoke: NDArray[np.bool_]  # [T, B] the solver speaks in the step that begins at this row
    tokens: Tokens  # [T, B, L] its utterance in that step
    positive: NDArray[np.integer]  # [T, B] marks
    negative: NDArray[np.integer]  # [T, B]


class Segment(NamedTuple):
    """The rows [start, stop) of a lane: the part of one episode within the window."""

    lane: int
    start: int
    stop: int


class Augmented(NamedTuple):
    """The augmented window, and its changes."""

    window: MarkedWindow
    untouched: NDArray[np.bool_]  # [T, B] unchanged rows: the only ones for cloning and contrastive losses
    instructions: tuple[Segment, ...]  # with a swapped instruction
    utterances: tuple[Segment, ...]  # with one swapped utterance


def augment(*, window: MarkedWindow, config: AugmentationConfig, rng: np.random.Generator) -> Augmented:
    """Swaps instructions or utterances between the episodes of a window; the input arrays are not modified.

    Each episode is changed with `config.probability`. If the sampled kind of swap is impossible, the other is used; if
    both are, the episode stays unchanged. The donor is always another episode of the window, and its text always
    differs. Choices, because the paper is silent:

    - Instruction: every row with an instruction gets the donor's. Positive marks become negative, negative marks stay.
      Possible in episodes with marks.
    - Utterance: one of the solver's utterances becomes another, in `tokens` and then in `said` until it speaks
      again. The marks of the window, which judged other behavior, are dropped; one negative mark is placed at the first
      row after the utterance.
    """
    changed = window._replace(
        heard=window.heard.copy(),
        said=window.said.copy(),
        tokens=window.tokens.copy(),
        positive=window.positive.copy(),
        negative=window.negative.copy(),
    )
    untouched = np.ones(window.first.shape, bool)
    heard, spoken = _texts(window.heard), _texts(window.tokens[window.spoke])
    instructions: list[Segment] = []
    utterances: list[Segment] = []
    for segment in segments(window.first):
        if rng.random() >= config.probability:
            continue
        kinds = [(_swap_instruction, heard, instructions), (_swap_utterance, spoken, utterances)]
        for swap, texts, swapped in kinds if rng.random() < config.instruction_share else reversed(kinds):
            if swap(window, changed, segment, texts, rng):
                swapped.append(segment)
                untouched[segment.start : segment.stop, segment.lane] = False
                break
    return Augmented(changed, untouched, tuple(instructions), tuple(utterances))


def mirrored(
    *,
    image: NDArray[np.uint8],
    first: NDArray[np.bool_],
    before: NDArray[np.bool_],
    chance: float,
    rng: np.random.Generator,
) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Mirrors whole episodes left to right, so that a small model does not memorize houses.

    Args:
        image: [T, B, H, W, 3]; not modified.
        first: [T, B], an episode starts here.
        before: [B], whether the episode that each lane was in before the window is mirrored.
        chance: probability that a new episode is mirrored.

    Returns:
        The resulting pictures, and the mirrored rows [T, B].
    """
    rows = np.empty(first.shape, bool)
    for lane in range(first.shape[1]):
        shown = bool(before[lane])
        for segment in segments(first[:, lane : lane + 1]):
            if first[segment.start, lane]:
                shown = bool(rng.random() < chance)
            rows[segment.start : segment.stop, lane] = shown
    return np.where(rows[..., None, None, None], image[:, :, :, ::-1], image), rows


def segments(first: NDArray[np.bool_]) -> list[Segment]:
    """The episodes of a window [T, B], lane by lane; the first of a lane may have started before the window."""
    length, lanes = first.shape
    found = []
    for lane in range(lanes):
        cuts = [0, *(int(t) for t in np.flatnonzero(first[1:, lane]) + 1), length]
        found += [Segment(lane, start, stop) for start, stop in pairwise(cuts)]
    return found


def _swap_instruction(
    window: MarkedWindow, changed: MarkedWindow, segment: Segment, texts: set[bytes], rng: np.random.Generator
) -> bool:
    rows = slice(segment.start, segment.stop), segment.lane
    if not (window.positive[rows].any() or window.negative[rows].any()):
        return False
    hears = (window.heard[rows] != PAD).any(-1)  # [rows]
    donor = _donor(texts, window.heard[rows], rng)
    if donor is None or not hears.any():
        return False
    changed.heard[rows][hears] = donor
    changed.negative[rows] += window.positive[rows]
    changed.positive[rows] = 0
    return True


def _swap_utterance(
    window: MarkedWindow, changed: MarkedWindow, segment: Segment, texts: set[bytes], rng: np.random.Generator
) -> bool:
    rows = slice(segment.start, segment.stop), segment.lane
    spoken = segment.start + np.flatnonzero(window.spoke[rows])
    swappable = spoken[spoken + 1 < segment.stop]  # an utterance is visible, and can be marked, from the next row on
    donor = _donor(texts, window.tokens[rows][window.spoke[rows]], rng)
    if donor is None or not len(swappable):
        return False
    step = int(rng.choice(swappable))
    later = spoken[spoken > step]
    until = int(later[0]) + 1 if len(later) else segment.stop  # the first row that shows a newer utterance
    changed.tokens[step, segment.lane] = donor
    changed.said[step + 1 : until, segment.lane] = donor
    changed.positive[rows] = 0
    changed.negative[rows] = 0
    changed.negative[step + 1, segment.lane] = 1
    return True


def _texts(tokens: Tokens) -> set[bytes]:
    """The distinct non-empty texts of [..., L]."""
    rows = tokens.reshape(-1, tokens.shape[-1])
    return {row.tobytes() for row in np.unique(rows[(rows != PAD).any(-1)], axis=0)}


def _donor(texts: set[bytes], own: Tokens, rng: np.random.Generator) -> Tokens | None:
    """Samples uniformly one of `texts` that this episode does not contain, [L]; None if it contains all."""
    different = sorted(texts - _texts(own))
    if not different:
        return None
    return np.frombuffer(different[int(rng.integers(len(different)))], own.dtype)
