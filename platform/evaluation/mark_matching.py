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
    """Pairs (index in ours, index in theirs) at most `within` seconds apart: most pairs, then least total distance.

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


def pair_counts(ours: Float64Array, theirs: Float64Array, within: float) -> NDArray[np.int64]:
    """The number of pairs that `matched` finds for each of many tracks, [tracks].

    ours: [tracks, n], theirs: [m], both ascending. Pairing the earliest free marks that are close enough gives the most
    pairs on a line, in O(n + m) for all tracks at once.
    """
    tracks, n = ours.shape
    i, j, pairs = (np.zeros(tracks, np.int64) for _ in range(3))
    if not n or not len(theirs):
        return pairs
    lanes = np.arange(tracks)
    while (active := (i < n) & (j < len(theirs))).any():
        later = ours[lanes, np.minimum(i, n - 1)] - theirs[np.minimum(j, len(theirs) - 1)]
        close = active & (np.abs(later) <= within)
        pairs += close
        i += close | (active & (later < -within))
        j += close | (active & (later > within))
    return pairs


def f1(ours: MarkTrack, theirs: MarkTrack, within: float) -> float:
    """2 pairs / (marks of both), for pairs of equal sign; 1 where neither rater marked anything."""
    total = len(ours) + len(theirs)
    signs = ((ours.of_sign(sign).seconds[None], theirs.of_sign(sign).seconds) for sign in (1, -1))
    pairs = sum(int(pair_counts(first, second, within)[0]) for first, second in signs)
    return 2 * pairs / total if total else 1.0
