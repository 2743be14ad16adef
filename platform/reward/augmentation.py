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
    """How often to swap."""

    probability: float = 0.33  # of an episode in a window to be changed at all
    instruction_share: float = 0.5  # of the changed ones: instruction rather than utterance; choice

    def __post_init__(self) -> None:
        for name in ("probability", "instruction_share"):
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
    swapped: dict[bool, list[Segment]] = {True: [], False: []}
    parts = segments(window.first)
    for part in parts:
        if rng.random() >= config.probability:
            continue
        instruction = bool(rng.random() < config.instruction_share)
        for kind in (instruction, not instruction):
            swap = _swap_instruction if kind else _swap_utterance
            if swap(window, changed, part, parts, rng):
                swapped[kind].append(part)
                untouched[part.start : part.stop, part.lane] = False
                break
    return Augmented(changed, untouched, tuple(swapped[True]), tuple(swapped[False]))


def segments(first: NDArray[np.bool_]) -> list[Segment]:
    """The episodes of a window [T, B], lane by lane; the first of a lane may have begun before the window."""
    length, lanes = first.shape
    found = []
    for lane in range(lanes):
        cuts = [0, *(int(t) for t in np.flatnonzero(first[1:, lane]) + 1), length]
        found += [Segment(lane, start, stop) for start, stop in pairwise(cuts)]
    return found


def _swap_instruction(
    window: MarkedWindow, changed: MarkedWindow, part: Segment, parts: list[Segment], rng: np.random.Generator
) -> bool:
    rows = slice(part.start, part.stop), part.lane
    if not (window.positive[rows].any() or window.negative[rows].any()):
        return False
    hears = (window.heard[rows] != PAD).any(-1)  # [rows]
    own = _texts(window.heard[rows][hears])
    others = [window.heard[p.start : p.stop, p.lane] for p in parts if p is not part]
    donor = _donor(own, others, rng)
    if donor is None or not own:
        return False
    changed.heard[rows][hears] = donor
    changed.negative[rows] += window.positive[rows]
    changed.positive[rows] = 0
    return True


def _swap_utterance(
    window: MarkedWindow, changed: MarkedWindow, part: Segment, parts: list[Segment], rng: np.random.Generator
) -> bool:
    spoken = part.start + np.flatnonzero(window.spoke[part.start : part.stop, part.lane])
    spoken = spoken[spoken + 1 < part.stop]  # an utterance shows, and can be marked, at the next row only
    if not len(spoken):
        return False
    step = int(rng.choice(spoken))
    own = _texts(window.tokens[step : step + 1, part.lane])
    others = [
        window.tokens[p.start : p.stop, p.lane][window.spoke[p.start : p.stop, p.lane]] for p in parts if p is not part
    ]
    donor = _donor(own, others, rng)
    if donor is None:
        return False
    until = _next_utterance(window, part, step)
    changed.tokens[step, part.lane] = donor
    changed.said[step + 1 : until, part.lane] = donor
    changed.positive[part.start : part.stop, part.lane] = 0
    changed.negative[part.start : part.stop, part.lane] = 0
    changed.negative[step + 1, part.lane] = 1
    return True


def _next_utterance(window: MarkedWindow, part: Segment, step: int) -> int:
    """The first row at which what was said at `step` is no longer the solver's last utterance."""
    again = np.flatnonzero(window.spoke[step + 1 : part.stop, part.lane])
    return step + 2 + int(again[0]) if len(again) else part.stop


def _texts(rows: Tokens) -> set[bytes]:
    """The different texts of [N, L], silence left out."""
    return {row.tobytes() for row in rows if (row != PAD).any()}


def _donor(own: set[bytes], others: list[Tokens], rng: np.random.Generator) -> Tokens | None:
    """One text of other episodes that is none of this one's own, [L]; None where there is none.

    Each text is as likely as any other, however long it was heard.
    """
    different = sorted(set().union(*(_texts(rows) for rows in others)) - own)
    if not different:
        return None
    dtype = others[0].dtype
    return np.frombuffer(different[int(rng.integers(len(different)))], dtype)
