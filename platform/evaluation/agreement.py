"""How far raters agree on the same episodes: marks in time, signs, and the order of moments that they imply.

Plain numpy, so that the web server computes it without torch. An entry of each function's input is one episode marked
by the same two raters; intervals resample episodes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from interplay.env.arrays import Float64Array
from interplay.evaluation.estimates import Estimate, mean, pooled_share
from interplay.evaluation.mark_matching import MarkTrack, f1_scores, matched, seconds_by_sign

WITHIN_SECONDS = 1.0
CURVE_SECONDS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0)
CHANCE_SHIFTS = 200
BIN_SECONDS = 1.0


@dataclass(frozen=True)
class RatedEpisode:
    """An episode that two raters marked."""

    ours: MarkTrack
    theirs: MarkTrack
    seconds: float  # its length
    row_seconds: float  # the length of one step

    @property
    def content(self) -> tuple[bytes | float, ...]:
        """Compares the contents of the arrays."""
        arrays = (self.ours.seconds, self.ours.signs, self.theirs.seconds, self.theirs.signs)
        return *(each.tobytes() for each in arrays), self.seconds, self.row_seconds


@dataclass(frozen=True)
class RaterAgreement:
    """Agreement of two raters over episodes. A part without data is nan."""

    f1: Estimate  # one-to-one matches of equal sign within `WITHIN_SECONDS`
    chance: float  # F1 that marks at random times would have
    corrected: Estimate  # (F1 - chance) / (1 - chance), by episode
    curve: tuple[tuple[float, float, float], ...]  # (tolerance in seconds, F1, F1 by chance)
    same_sign: Estimate  # of marks that match in time, the share of equal sign
    lateness: Estimate  # seconds by which we mark after the other rater, in matches of equal sign
    alpha: float  # Krippendorff's nominal alpha over bins of a second: +, -, none
    ordered_alike: Estimate  # of the pairs of moments that both order


def agreement(episodes: Sequence[RatedEpisode], rng: np.random.Generator) -> RaterAgreement:
    """Compares two raters over the episodes that both marked.

    Raises:
        ValueError: there are no episodes.
    """
    if not episodes:
        raise ValueError("agreement needs at least one episode that both raters marked")
    tracks = seconds_by_sign([each.ours for each in episodes]), seconds_by_sign([each.theirs for each in episodes])
    lengths = np.array([each.seconds for each in episodes])
    observed, by_chance = f1_scores(*tracks, WITHIN_SECONDS), chance_f1(*tracks, lengths, WITHIN_SECONDS, rng)
    loose = [matched(each.ours.seconds, each.theirs.seconds, WITHIN_SECONDS) for each in episodes]
    alike = [
        sum(each.ours.signs[i] == each.theirs.signs[j] for i, j in pairs)
        for each, pairs in zip(episodes, loose, strict=True)
    ]
    late = [delays for each in episodes if len(delays := _lateness(each))]
    ordered = np.array([ordered_pairs(each) for each in episodes])
    return RaterAgreement(
        f1=mean(observed, rng),
        chance=float(by_chance.mean()),
        corrected=mean(_corrected(observed, by_chance), rng),
        curve=tuple(
            (each, float(f1_scores(*tracks, each).mean()), float(chance_f1(*tracks, lengths, each, rng).mean()))
            for each in CURVE_SECONDS
        ),
        same_sign=pooled_share(np.array(alike), np.array([len(pairs) for pairs in loose]), rng),
        lateness=mean([float(delays.mean()) for delays in late], rng)
        if late
        else Estimate(math.nan, math.nan, math.nan, 0),
        alpha=nominal_alpha([bins(each) for each in episodes]),
        ordered_alike=pooled_share(ordered[:, 0], ordered[:, 1], rng),
    )


def chance_f1(
    ours: Float64Array, theirs: Float64Array, lengths: Float64Array, within: float, rng: np.random.Generator
) -> Float64Array:
    """The mean F1 of `CHANCE_SHIFTS` random circular shifts of our marks, which keep number, signs and spacing.

    Args:
        ours, theirs: [2, episodes, marks], as `seconds_by_sign` gives them.
        lengths: of the episodes in seconds, [episodes]; so is the result.
    """
    shifts = np.zeros((len(lengths), CHANCE_SHIFTS, 1))
    marked = ~np.isnan(ours).all(axis=(0, 2)) & ~np.isnan(theirs).all(axis=(0, 2))
    for episode in np.flatnonzero(marked):  # without marks of both, no shift changes F1
        shifts[episode, :, 0] = rng.uniform(0, lengths[episode], CHANCE_SHIFTS)
    moved, ends = ours[:, :, None] + shifts, lengths[:, None, None]
    moved = np.sort(np.where(moved < ends, moved, moved - ends), axis=-1)  # nan stays at the end
    return np.asarray(f1_scores(moved, theirs[:, :, None], within).mean(axis=1))


def ordered_pairs(episode: RatedEpisode) -> tuple[int, int]:
    """(pairs of rows that both raters order alike, pairs that both order).

    As in the reward model's loss, a rater orders rows i < j if it set at least one mark in (i, j], all of one sign.
    """
    rows = math.floor(episode.seconds / episode.row_seconds + 1e-9) + 1
    ours, theirs = (_orders(track, rows, episode.row_seconds) for track in (episode.ours, episode.theirs))
    both = (ours != 0) & (theirs != 0)
    return int(np.count_nonzero(both & (ours == theirs))), int(np.count_nonzero(both))


def bins(episode: RatedEpisode) -> NDArray[np.int64]:
    """The value of every second for both raters, [2, bins]: +1, -1 or 0; of several marks the sum's sign."""
    count = max(1, math.ceil(episode.seconds / BIN_SECONDS))
    values = np.zeros((2, count), np.int64)
    for row, track in enumerate((episode.ours, episode.theirs)):
        at = np.minimum((track.seconds / BIN_SECONDS).astype(int), count - 1)
        np.add.at(values[row], at, track.signs)
    return np.sign(values)


def nominal_alpha(tables: Sequence[NDArray[np.int64]]) -> float:
    """Krippendorff's alpha for two raters and nominal values, over all units of all tables [2, units].

    1 - observed disagreement / expected disagreement (Krippendorff 2011, nominal data); nan if all values are equal.
    """
    both = np.concatenate(tables, axis=1)
    values, counts = np.unique(both, return_counts=True)
    total = int(counts.sum())
    observed = float(np.count_nonzero(both[0] != both[1])) / both.shape[1]
    if len(values) < 2:
        return math.nan
    expected = 1 - float((counts * (counts - 1)).sum()) / (total * (total - 1))
    return float(1 - observed / expected)


def _orders(track: MarkTrack, rows: int, row_seconds: float) -> NDArray[np.int8]:
    """The order of each pair of rows i < j, int8 [rows, rows]: +1 later is better, -1 worse, 0 not ordered."""
    # A mark of step t lies at row t + 1, the first that shows its cause; one after the last step at the last row.
    at = np.minimum(np.floor(track.seconds / row_seconds + 1e-9).astype(int) + 1, rows - 1)
    positive, negative = (np.cumsum(np.bincount(at[track.signs == sign], minlength=rows)) for sign in (1, -1))
    more = (positive[None, :] - positive[:, None]) > 0
    less = (negative[None, :] - negative[:, None]) > 0
    signs = np.where(more & ~less, 1, np.where(less & ~more, -1, 0)).astype(np.int8)
    return np.asarray(np.triu(signs, k=1))


def _lateness(episode: RatedEpisode) -> Float64Array:
    """Our seconds minus theirs, of the matches of equal sign."""
    delays: list[float] = []
    for sign in (1, -1):
        ours, theirs = episode.ours.of_sign(sign).seconds, episode.theirs.of_sign(sign).seconds
        delays += [float(ours[i] - theirs[j]) for i, j in matched(ours, theirs, WITHIN_SECONDS)]
    return np.array(delays, np.float64)


def _corrected(observed: Float64Array, by_chance: Float64Array) -> Float64Array:
    room = 1 - by_chance
    return np.asarray(np.where(room > 1e-9, (observed - by_chance) / np.maximum(room, 1e-9), 1.0))
