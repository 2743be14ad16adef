"""Feedback augmentation: episodes with a swapped instruction or utterance, and marks changed to match.

A reward model trained only on agents that roughly follow their instruction can reward activity and ignore language.
Therefore, in some episodes, either the setter's instruction is swapped for another (what was progress is now a slip),
or an utterance of the solver is swapped for another (which is then a slip).

The swapped episodes are examples of their own (`swaps=lanes`): some lanes show only swapped episodes, each swapped as a
whole, so that the recurrent state, the words and the marks of all its windows agree. With `swaps=windows` the episodes
of a window are swapped in place, drawn again for every window.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from interplay.episodes.decoded_episode import DecodedEpisode
from interplay.episodes.vocabulary import PAD

Tokens = NDArray[np.int16]


@dataclass(frozen=True)
class AugmentationConfig:
    """Probabilities of the augmentations."""

    probability: float = 0.33  # swapped episodes per true episode; with swaps=windows, the share of episodes changed
    swaps: Literal["lanes", "windows"] = "lanes"  # added to the true episodes, or in their place
    instruction_share: float = 0.5  # of the changed episodes: swap the instruction, not an utterance; design choice
    mirror: float = 0.0  # chance that an episode is mirrored; design choice, for worlds symmetric in left and right

    def swapped_lanes(self, lanes: int) -> int:
        """The number of `lanes` that show swapped episodes; each true lane has `probability` of them."""
        return round(lanes * self.probability / (1 + self.probability)) if self.swaps == "lanes" else 0

    def __post_init__(self) -> None:
        for name in ("probability", "instruction_share", "mirror"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"reward.augmentation.{name} must be a share from 0 to 1, got {getattr(self, name)!r}")


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
    differs. Design choices, because the paper does not specify them:

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


def swap_episode(
    *,
    episode: DecodedEpisode,
    donors: Iterable[DecodedEpisode],
    span: tuple[int, int],
    config: AugmentationConfig,
    rng: np.random.Generator,
) -> DecodedEpisode | None:
    """A copy of an episode with another instruction or utterance and its marks to match; None if neither is possible.

    Design choices, because the paper does not specify them: with another instruction, every row with an instruction has
    it, positive marks become negative and negative marks stay. With another utterance, all marks are dropped and one
    negative mark is placed at its step.

    Args:
        donors: episodes whose texts may be used; the first with a text that this one does not contain gives it.
        span: rows [start, stop) of the episode that are shown; a swapped utterance is visible within them.
    """
    swaps = [_with_instruction, _with_utterance]
    for swap in swaps if rng.random() < config.instruction_share else reversed(swaps):
        found = swap(episode, donors, span, rng)
        if found is not None:
            return found
    return None


def _with_instruction(
    episode: DecodedEpisode, donors: Iterable[DecodedEpisode], span: tuple[int, int], rng: np.random.Generator
) -> DecodedEpisode | None:
    donor = _text_of([donor.heard for donor in donors], {*episode.heard, ""}, rng)
    if donor is None or not any(episode.heard):
        return None
    marks = {rater: tuple((step, -1) for step, _ in clicks) for rater, clicks in episode.marks.items()}
    return replace(episode, heard=[text and donor for text in episode.heard], marks=marks)


def _with_utterance(
    episode: DecodedEpisode, donors: Iterable[DecodedEpisode], span: tuple[int, int], rng: np.random.Generator
) -> DecodedEpisode | None:
    steps = [step for step, text in enumerate(episode.spoke) if text is not None and span[0] <= step < span[1] - 1]
    donor = _text_of([[text or "" for text in donor.spoke] for donor in donors], {*episode.spoke, ""}, rng)
    if donor is None or not steps:
        return None
    step = steps[int(rng.integers(len(steps)))]
    spoke, said = list(episode.spoke), list(episode.said)
    spoke[step] = donor
    for row in range(step + 1, episode.rows):
        said[row] = donor
        if row < len(spoke) and spoke[row] is not None:
            break  # the next row shows a newer utterance
    marks = dict.fromkeys(episode.marks or ("augmentation",), ((step, -1),))
    return replace(episode, spoke=spoke, said=said, marks=marks)


def _text_of(texts: Sequence[Sequence[str]], without: Collection[str | None], rng: np.random.Generator) -> str | None:
    """A text of the first episode that has one which is not in `without`."""
    for each in texts:
        found = sorted({text for text in each if text not in without})
        if found:
            return found[int(rng.integers(len(found)))]
    return None


def mirrored_rows(
    *,
    first: NDArray[np.bool_],
    before: NDArray[np.bool_],
    chance: float,
    rng: np.random.Generator,
) -> NDArray[np.bool_]:
    """The rows [T, B] to mirror left to right: whole episodes, so that a small model does not memorize houses.

    Args:
        first: [T, B], an episode starts here.
        before: [B], whether the episode that each lane was in before the window is mirrored.
        chance: probability that a new episode is mirrored.
    """
    rows = np.empty(first.shape, bool)
    for lane in range(first.shape[1]):
        shown = bool(before[lane])
        for segment in segments(first[:, lane : lane + 1]):
            if first[segment.start, lane]:
                shown = bool(rng.random() < chance)
            rows[segment.start : segment.stop, lane] = shown
    return rows


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
    heard = np.ascontiguousarray(rows[(rows != PAD).any(-1)])
    return set(heard.view(f"V{rows.shape[-1] * rows.itemsize}").ravel().tolist())


def _donor(texts: set[bytes], own: Tokens, rng: np.random.Generator) -> Tokens | None:
    """Samples uniformly one of `texts` that this episode does not contain, [L]; None if it contains all."""
    different = sorted(texts - _texts(own))
    if not different:
        return None
    return np.frombuffer(different[int(rng.integers(len(different)))], own.dtype)
