"""Agreement of raters: matching against all matchings, chance, order of moments, alpha against a transcription."""

from __future__ import annotations

import itertools
import json
import math
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from interplay.episodes.episode import EpisodeMeta, Mark
from interplay.evaluation.agreement import (
    CHANCE_SHIFTS,
    RatedEpisode,
    agreement,
    bins,
    chance_f1,
    nominal_alpha,
    ordered_pairs,
)
from interplay.evaluation.mark_matching import MarkTrack, f1, matched, pair_counts, seconds_by_sign
from interplay.learner.ibt import pair_signs
from interplay.studio.marks import rater_quality
from interplay.studio.marks.check_results import stored_track

TIMES = st.lists(st.integers(0, 40), max_size=5).map(lambda times: np.sort(np.array(times, np.float64)) / 4)


def best_matching(ours: np.ndarray, theirs: np.ndarray, within: float) -> tuple[int, float]:
    """(pairs, -distance) of the best of all one-to-one matchings, by trying each."""
    best = (0, 0.0)
    for count in range(1, min(len(ours), len(theirs)) + 1):
        for left in itertools.combinations(range(len(ours)), count):
            for right in itertools.permutations(range(len(theirs)), count):
                distances = [abs(ours[i] - theirs[j]) for i, j in zip(left, right, strict=True)]
                if max(distances) <= within:
                    best = max(best, (count, -sum(distances)))
    return best


@given(ours=TIMES, theirs=TIMES, within=st.sampled_from([0.25, 1.0, 3.0]))
def test_the_matching_is_the_best_of_all(ours: np.ndarray, theirs: np.ndarray, within: float) -> None:
    pairs = matched(ours, theirs, within)
    assert len({i for i, _ in pairs}) == len({j for _, j in pairs}) == len(pairs)
    distance = sum(abs(float(ours[i] - theirs[j])) for i, j in pairs)
    count, less = best_matching(ours, theirs, within)
    assert len(pairs) == count and distance == pytest.approx(-less)


def test_f1_counts_marks_of_equal_sign_only() -> None:
    ours = MarkTrack.of([(1.0, 1), (5.0, -1), (9.0, 1)])
    theirs = MarkTrack.of([(1.4, 1), (5.2, 1)])
    assert f1(ours, theirs, 1.0) == pytest.approx(2 * 1 / 5)
    assert f1(ours, ours, 0.1) == 1.0
    assert f1(MarkTrack.of([]), MarkTrack.of([]), 1.0) == 1.0
    assert f1(ours, MarkTrack.of([]), 1.0) == 0.0


def test_one_mark_matches_one_other_only() -> None:
    assert f1(MarkTrack.of([(1.0, 1)]), MarkTrack.of([(0.8, 1), (1.1, 1)]), 1.0) == pytest.approx(2 / 3)


def pair_orders(track: MarkTrack, rows: int, row_seconds: float) -> dict[tuple[int, int], int]:
    """The sign of every ordered pair, transcribed from the definition."""
    found = {}
    steps = [int(at / row_seconds) for at in track.seconds]
    for i, j in itertools.combinations(range(rows), 2):
        signs = {
            int(sign)
            for step, sign in zip(steps, track.signs, strict=True)
            if i < min(step + 1, rows - 1) <= j  # the last row has no step
        }
        if len(signs) == 1:
            found[i, j] = signs.pop()
    return found


MARKS = st.lists(st.tuples(st.integers(0, 40).map(lambda n: n / 4), st.sampled_from([1, -1])), max_size=5)


@given(ours=MARKS, theirs=MARKS)
def test_ordered_pairs_follow_the_definition(ours: list[tuple[float, int]], theirs: list[tuple[float, int]]) -> None:
    episode = RatedEpisode(MarkTrack.of(ours), MarkTrack.of(theirs), seconds=10.0, row_seconds=0.5)
    first, second = (pair_orders(track, 21, 0.5) for track in (episode.ours, episode.theirs))
    both = first.keys() & second.keys()
    assert ordered_pairs(episode) == (sum(first[pair] == second[pair] for pair in both), len(both))


def test_pairs_are_those_of_the_reward_models_loss() -> None:
    """Marks at any frame of a step, also its first one, as people set them."""
    frames_per_step, steps, rate = 8, 9, 30.0
    rng = np.random.default_rng(5)
    for _ in range(20):
        frames, signs = rng.integers(0, frames_per_step * steps + 1, 4), rng.choice([1, -1], 4)
        counts = np.zeros((2, steps + 1, 1), np.int8)
        for frame, sign in zip(frames, signs, strict=True):
            counts[int(sign < 0), min(frame // frames_per_step + 1, steps), 0] += 1  # as `RowWriter` places them
        rows = torch.zeros(steps + 1, 1, dtype=torch.bool)
        positive, negative = map(torch.from_numpy, counts)
        wanted = pair_signs(marks_positive=positive, marks_negative=negative, first=rows, valid=~rows)
        track = stored_track([Mark("", "", int(f), int(s)) for f, s in zip(frames, signs, strict=True)], rate)
        episode = RatedEpisode(track, track, steps * frames_per_step / rate, frames_per_step / rate)
        assert ordered_pairs(episode) == (int((wanted != 0).sum()),) * 2


def test_alpha_is_krippendorffs() -> None:
    values = np.array([[1, 1, 0, -1, 0, 0], [1, 0, 0, -1, 0, 1]])
    # Coincidences, transcribed: each unit adds (a, b) and (b, a).
    matrix = np.zeros((3, 3))
    for a, b in values.T:
        matrix[a + 1, b + 1] += 1
        matrix[b + 1, a + 1] += 1
    totals, n = matrix.sum(axis=0), matrix.sum()
    observed = (matrix.sum() - np.trace(matrix)) / n
    expected = sum(totals[a] * totals[b] for a in range(3) for b in range(3) if a != b) / (n * (n - 1))
    assert nominal_alpha([values]) == pytest.approx(1 - observed / expected)
    assert nominal_alpha([values[:, :3], values[:, 3:]]) == pytest.approx(1 - observed / expected)
    assert math.isnan(nominal_alpha([np.zeros((2, 5), np.int64)]))


def test_bins_hold_the_sign_of_each_second() -> None:
    episode = RatedEpisode(MarkTrack.of([(0.2, 1), (1.5, -1), (9.99, 1)]), MarkTrack.of([(10.0, -1)]), 10.0, 0.5)
    assert bins(episode).tolist() == [[1, -1, 0, 0, 0, 0, 0, 0, 0, 1], [0] * 9 + [-1]]


def test_a_late_rater_agrees_less_within_a_short_time_and_its_lateness_is_found() -> None:
    rng = np.random.default_rng(3)
    episodes = []
    for _ in range(12):
        times = np.sort(rng.uniform(2, 50, 6))
        signs = rng.choice([1, -1], 6)
        theirs = MarkTrack.of(list(zip(times, signs, strict=True)))
        ours = MarkTrack.of(list(zip(times + 0.6, signs, strict=True)))
        episodes.append(RatedEpisode(ours, theirs, 60.0, 0.25))
    found = agreement(episodes, np.random.default_rng(0))
    assert found.lateness.value == pytest.approx(0.6, abs=0.05)
    assert found.f1.value > 0.95 > 0.5 > found.chance
    assert found.same_sign.value > 0.9
    shares = [share for _, share, _ in found.curve]
    assert shares == sorted(shares) and shares[0] < 0.3
    assert found.corrected.value == 1.0 and math.isnan(found.corrected.low), "equal in all episodes: no interval"


def test_random_marks_agree_as_by_chance() -> None:
    rng = np.random.default_rng(5)
    episodes = [
        RatedEpisode(*(MarkTrack.of([(t, 1) for t in rng.uniform(0, 60, 8)]) for _ in range(2)), 60.0, 0.25)
        for _ in range(12)
    ]
    found = agreement(episodes, np.random.default_rng(0))
    assert abs(found.corrected.value) < 0.1
    ours, theirs = (seconds_by_sign([track]) for track in (episodes[0].ours, episodes[0].theirs))
    alone = chance_f1(ours, theirs, np.array([60.0]), 1.0, np.random.default_rng(1))
    assert alone == pytest.approx(found.chance, abs=0.15)


def test_raters_that_marked_nothing_agree() -> None:
    found = agreement([RatedEpisode(MarkTrack.of([]), MarkTrack.of([]), 10.0, 0.5)], np.random.default_rng(0))
    assert found.f1.value == 1.0 and math.isnan(found.lateness.value)
    with pytest.raises(ValueError, match="at least one episode"):
        agreement([], np.random.default_rng(0))


def test_the_fast_count_of_pairs_is_that_of_the_matching() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        ours, theirs = (
            [MarkTrack.of([(at, int(rng.choice([1, -1]))) for at in rng.uniform(0, 20, n)]) for n in counts]
            for counts in rng.integers(0, 12, (2, 5))
        )
        within = float(rng.choice([0.25, 1.0, 3.0]))
        slow = [
            [
                len(matched(a.of_sign(sign).seconds, b.of_sign(sign).seconds, within))
                for a, b in zip(ours, theirs, strict=True)
            ]
            for sign in (1, -1)
        ]
        fast = pair_counts(seconds_by_sign(ours), seconds_by_sign(theirs), within)
        assert fast.tolist() == slow
        many = pair_counts(seconds_by_sign(ours)[:, :, None], seconds_by_sign(theirs)[:, None], within)
        assert np.array_equal(np.diagonal(many, axis1=1, axis2=2), fast), "each of ours with each of theirs"


def test_chance_is_the_mean_over_shifted_tracks() -> None:
    ours, theirs = MarkTrack.of([(1.0, 1), (4.0, -1), (9.5, 1)]), MarkTrack.of([(1.5, 1), (5.0, -1), (6.0, -1)])
    shifts = np.random.default_rng(3).uniform(0, 12.0, CHANCE_SHIFTS)
    slow = []
    for shift in shifts:
        moved = MarkTrack.of([((at + shift) % 12.0, sign) for at, sign in zip(ours.seconds, ours.signs, strict=True)])
        pairs = [matched(moved.of_sign(s).seconds, theirs.of_sign(s).seconds, 1.0) for s in (1, -1)]
        slow.append(2 * sum(map(len, pairs)) / 6)
    none = MarkTrack.of([])  # takes no random numbers
    tracks = (seconds_by_sign(each) for each in ([none, ours, none], [theirs, theirs, none]))
    found = chance_f1(*tracks, np.array([9.0, 12.0, 5.0]), 1.0, np.random.default_rng(3))
    assert found.tolist() == [0.0, pytest.approx(np.mean(slow)), 1.0]


def test_raters_of_one_episode_have_values_without_intervals_as_json() -> None:
    meta = cast(EpisodeMeta, SimpleNamespace(frames=300, frames_per_step=1))
    marks = {"e": {rater: [Mark("e", rater, 10 * at, 1) for at in (1, 9)] for rater in ("a", "b")}}
    (found,) = rater_quality.summary_of(marks, {"e": meta}, 30.0)
    assert found["f1"] == [1.0, None, None] and found["lateness"] == [0.0, None, None]
    json.dumps(found, allow_nan=False)


def test_only_pairs_whose_marks_changed_are_compared_again_with_the_result_of_comparing_all() -> None:
    rng = np.random.default_rng(2)
    names = [f"e{n}" for n in range(6)]
    metas = {name: rater_quality.FrameCounts(300, 1) for name in names}
    rated = {
        name: {rater: [Mark(name, rater, int(at), 1) for at in rng.integers(0, 300, 4)] for rater in "abc"}
        for name in names
    }
    summaries = rater_quality.PairSummaries()
    before = summaries.of(rated, metas, 30.0)
    rated["e3"]["c"] = [Mark("e3", "c", 20, 1)]
    after = summaries.of(rated, metas, 30.0)
    assert [one is other for one, other in zip(before, after, strict=True)] == [True, False, False], "ab, ac, bc"
    assert after == rater_quality.summary_of(rated, metas, 30.0) != before
    del rated["e3"]["a"]  # the pairs of a draw fewer random numbers, and so do those after them
    assert summaries.of(rated, metas, 30.0) == rater_quality.summary_of(rated, metas, 30.0)
