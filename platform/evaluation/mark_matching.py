"""One-to-one matching of the marks of two raters on one episode, by time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from interplay.env.arrays import Float64Array


@dataclass(frozen=True)
class MarkTrack:
    """The marks of one rater on one episode, in the order of their times."""

    seconds: Float64Array  # [n], ascending
    signs: NDArray[np.int64]  # [n], +1 or -1

    @classmethod
    def of(cls, marks: Sequence[tuple[float, int]]) -> MarkTrack:
        """A track of (seconds, sign) in any order."""
        ordered = sorted(marks)
        return cls(np.array([at for at, _ in ordered], np.float64), np.array([sign for _, sign in ordered], np.int64))

    def __len__(self) -> int:
        return len(self.seconds)

    def of_sign(self, sign: int) -> MarkTrack:
        """The marks of one sign."""
        kept = self.signs == sign
        return MarkTrack(self.seconds[kept], self.signs[kept])


def matched(ours: Float64Array, theirs: Float64Array, within: float) -> list[tuple[int, int]]:
    """Pairs (index in ours, index in theirs) at most `within` seconds apart.

    There are as many pairs as possible, and of all such matchings this one has the least total distance.

    Both arrays ascend. Some best matching has no crossing pairs, since uncrossing two pairs never adds distance, so
    dynamic programming over prefixes finds one, in O(n m).
    """
    n, m = len(ours), len(theirs)
    best = [[(0, 0.0)] * (m + 1) for _ in range(n + 1)]  # (pairs, -distance) of the first i and j marks
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            value = max(best[i - 1][j], best[i][j - 1])
            distance = abs(float(ours[i - 1] - theirs[j - 1]))
            if distance <= within:
                count, less = best[i - 1][j - 1]
                value = max(value, (count + 1, less - distance))
            best[i][j] = value
    pairs: list[tuple[int, int]] = []
    i, j = n, m
    while i and j:
        if best[i][j] == best[i - 1][j]:
            i -= 1
        elif best[i][j] == best[i][j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            pairs.append((i, j))
    return pairs[::-1]


def seconds_by_sign(tracks: Sequence[MarkTrack]) -> Float64Array:
    """The times of the marks of each sign, + and -, of each track, ascending, then nan; [2, tracks, most marks + 1]."""
    times = [[track.of_sign(sign).seconds for track in tracks] for sign in (1, -1)]
    most = max((len(each) for row in times for each in row), default=0)
    found = np.full((2, len(tracks), most + 1), np.nan)
    for row, each_sign in zip(found, times, strict=True):
        for place, seconds in zip(row, each_sign, strict=True):
            place[: len(seconds)] = seconds
    return found


def pair_counts(ours: Float64Array, theirs: Float64Array, within: float) -> NDArray[np.int64]:
    """The number of pairs that `matched` finds for each of many tracks, [...].

    ours: [..., n], theirs: [..., m], whose leading axes are broadcast against each other. Each row ascends and ends in
    at least one nan. Pairing the earliest free marks that are close enough gives the most pairs on a line, in O(n + m)
    for all tracks at once.
    """
    shape = np.broadcast_shapes(ours.shape[:-1], theirs.shape[:-1])
    i, j = (
        np.broadcast_to(np.arange(0, each.size, each.shape[-1]).reshape(each.shape[:-1]), shape).copy()
        for each in (ours, theirs)
    )
    flat_ours, flat_theirs = ours.ravel(), theirs.ravel()
    pairs = np.zeros(shape, np.int64)
    for _ in range(ours.shape[-1] + theirs.shape[-1] - 2):  # each step passes at least one mark of a track
        later = flat_ours[i] - flat_theirs[j]  # nan once either track has no more marks, which passes none
        pass_ours, pass_theirs = later <= within, later >= -within
        pairs += pass_ours & pass_theirs
        i += pass_ours
        j += pass_theirs
    return pairs


def f1_scores(ours: Float64Array, theirs: Float64Array, within: float) -> Float64Array:
    """2 pairs / (marks of both) of each track, [...], for pairs of equal sign; 1 where neither rater marked anything.

    ours, theirs: [2, ..., marks], as `seconds_by_sign` gives them.
    """
    total = sum(np.count_nonzero(~np.isnan(each), axis=(0, -1)) for each in (ours, theirs))
    pairs = pair_counts(ours, theirs, within).sum(axis=0)
    return np.where(total == 0, 1.0, 2 * pairs / np.maximum(total, 1))


def f1(ours: MarkTrack, theirs: MarkTrack, within: float) -> float:
    """`f1_scores` of one track of each rater."""
    return float(f1_scores(seconds_by_sign([ours]), seconds_by_sign([theirs]), within)[0])
