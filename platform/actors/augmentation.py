"""Feedback augmentation: marked windows in which somebody says something else, and the marks change accordingly.

A reward model that sees only agents who roughly follow their instruction can pay for busyness and ignore the words.
So in some episodes either the setter's instruction is swapped for another one (what was progress no longer is), or
something that the solver said is swapped for another utterance (which is then a mistake).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Tokens = NDArray[np.int16]
PAD = 0


@dataclass(frozen=True)
class AugmentationConfig:
    """How often to swap, and to mirror."""

    probability: float = 0.33  # of an episode in a window to be changed at all
    instruction_share: float = 0.5  # of the changed ones: instruction rather than utterance; choice
    mirror: float = 0.0  # chance that an episode is seen in a mirror; choice, for worlds where left is as good as right

    def __post_init__(self) -> None:
        for name in ("probability", "instruction_share", "mirror"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"reward.augmentation.{name} is a share from 0 to 1, got {getattr(self, name)!r}")


class MarkedWindow(NamedTuple):
    """Rows of marked episodes: one column is one lane, and one (episode, rater) after another within it."""

    first: NDArray[np.bool_]  # [T, B] an episode starts here
    heard: Tokens  # [T, B, L] the setter's last utterance
    said: Tokens  # [T, B, L] the solver's own last utterance
    spoke: NDArray[np.bool_]  # [T, B] the solver speaks in the step that begins here
    tokens: Tokens  # [T, B, L] and says this
    positive: NDArray[np.integer]  # [T, B] marks
    negative: NDArray[np.integer]  # [T, B]


class Segment(NamedTuple):
    """The rows [start, stop) of a lane: one episode, as far as the window shows it."""

    lane: int
    start: int
    stop: int


class Augmented(NamedTuple):
    """The changed window, and where it was changed."""

    window: MarkedWindow
    untouched: NDArray[np.bool_]  # [T, B] rows as people made them: the only ones to clone or to contrast from
    instructions: tuple[Segment, ...]  # whose instruction was swapped
    utterances: tuple[Segment, ...]  # in which one utterance was swapped


def augment(*, window: MarkedWindow, config: AugmentationConfig, rng: np.random.Generator) -> Augmented:
    """Swaps instructions or utterances among the episodes of a window; the arrays given are left as they are.

    Each episode is changed with `config.probability`. Where the kind of swap that was drawn is not possible, the
    other one is made; where neither is, the episode stays as it is. A donor is always another episode of the window
    and its text always a different one. Choices, because the paper is silent:

    - Instruction: every row that heard something hears the donor's instruction. Positive marks become negative,
      negative marks stay. Possible in episodes with marks.
    - Utterance: one of the solver's utterances becomes another, in `tokens` and then in `said` until it speaks
      again. The marks of the window, which judged something else, are dropped; one negative mark lies at the row at
      which the utterance has been said.
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
    """Shows whole episodes with left and right exchanged, so that a small model does not learn houses by heart.

    Args:
        image: [T, B, H, W, 3]; stays as it is.
        first: [T, B], an episode starts here.
        before: [B], whether the episode that each lane was in before the window is shown so.
        chance: that an episode which starts is.

    Returns:
        The pictures as shown, and which rows [T, B] are mirrored.
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
    """The episodes of a window [T, B], lane by lane; the first of a lane may have begun before the window."""
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
    swappable = spoken[spoken + 1 < segment.stop]  # an utterance shows, and can be marked, at the next row only
    donor = _donor(texts, window.tokens[rows][window.spoke[rows]], rng)
    if donor is None or not len(swappable):
        return False
    step = int(rng.choice(swappable))
    later = spoken[spoken > step]
    until = int(later[0]) + 1 if len(later) else segment.stop  # the first row at which something newer was said
    changed.tokens[step, segment.lane] = donor
    changed.said[step + 1 : until, segment.lane] = donor
    changed.positive[rows] = 0
    changed.negative[rows] = 0
    changed.negative[step + 1, segment.lane] = 1
    return True


def _texts(tokens: Tokens) -> set[bytes]:
    """The different texts of [..., L], silence left out."""
    rows = tokens.reshape(-1, tokens.shape[-1])
    return {row.tobytes() for row in np.unique(rows[(rows != PAD).any(-1)], axis=0)}


def _donor(texts: set[bytes], own: Tokens, rng: np.random.Generator) -> Tokens | None:
    """One of `texts` that this episode does not have, [L]; None where there is none.

    Each text is as likely as any other, however long it was heard.
    """
    different = sorted(texts - _texts(own))
    if not different:
        return None
    return np.frombuffer(different[int(rng.integers(len(different)))], own.dtype)
