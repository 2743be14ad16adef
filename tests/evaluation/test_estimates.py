"""The statistics against values worked out by hand or by a slow transcription of their definition."""

from __future__ import annotations

import itertools
import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.evaluation import estimates
from interplay.evaluation.estimates import Estimate


def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def test_wilson_agrees_with_the_published_example() -> None:
    # 81 of 263: Newcombe (1998), Table I, method 3
    share = estimates.wilson(81, 263)
    assert share.low == pytest.approx(0.2553, abs=5e-5)
    assert share.high == pytest.approx(0.3662, abs=5e-5)
    assert share.value == pytest.approx(81 / 263)
    # 0 of 20: same table
    assert estimates.wilson(0, 20).high == pytest.approx(0.1611, abs=5e-5)


@given(st.integers(1, 200), st.data())
def test_wilson_mirrors_and_contains_its_share(trials: int, data: st.DataObject) -> None:
    wins = data.draw(st.integers(0, trials))
    share, mirrored = estimates.wilson(wins, trials), estimates.wilson(trials - wins, trials)
    assert 0 <= share.low <= share.value <= share.high <= 1
    assert share.low == pytest.approx(1 - mirrored.high)


def test_wilson_without_trials_is_the_unit_interval() -> None:
    share = estimates.wilson(0, 0)
    assert math.isnan(share.value)
    assert (share.low, share.high, share.n) == (0, 1, 0)


def test_wilson_refuses_more_successes_than_trials() -> None:
    with pytest.raises(ValueError, match="between 0 and the 3 trials"):
        estimates.wilson(4, 3)


@pytest.mark.parametrize("strata", [None, ["go"] * 25 + ["lift"] * 25])
@pytest.mark.parametrize("value", [-1, 0, 1])
def test_a_difference_without_spread_reaches_as_far_as_none_of_all_probes(value: int, strata: list[str] | None) -> None:
    outcomes = rng().random(50) < 0.5
    ours, theirs = (outcomes, outcomes) if value == 0 else (np.full(50, value > 0), np.full(50, value < 0))
    gap = estimates.share_difference(ours, theirs, rng(), strata=strata)
    reach = estimates.wilson(0, 50).high
    assert (gap.value, gap.low, gap.high, gap.n) == (value, max(value - reach, -1), min(value + reach, 1), 50)
    ratio = estimates.share_ratio(outcomes, outcomes, rng(), strata=strata)
    assert ratio.value == 1 and math.isnan(ratio.low) and math.isnan(ratio.high), "it would be 1.00 to 1.00"


@pytest.mark.parametrize(("wins", "losses"), [(0, 0), (1, 0), (3, 0), (2, 2), (40, 0), (20, 10)])
def test_the_interval_of_a_difference_contains_it_and_is_not_a_point(wins: int, losses: int) -> None:
    ours, theirs = (np.isin(np.arange(40), np.arange(start, start + n)) for start, n in ((0, wins), (wins, losses)))
    gap = estimates.share_difference(ours, theirs, rng())
    assert -1 <= gap.low <= gap.value <= gap.high <= 1 and gap.low < gap.high


def test_paired_difference_has_the_normal_width_for_many_episodes() -> None:
    source = rng()
    gaps = source.normal(0.3, 1.0, 900)
    theirs = source.normal(0, 10, 900)  # variation that the agents share must not widen the interval
    found = estimates.paired_bootstrap(theirs + gaps, theirs, rng())
    error = gaps.std() / 30
    assert found.value == pytest.approx(gaps.mean())
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.08)


def test_a_mean_of_few_values_has_students_interval() -> None:
    found = estimates.student_mean([1.0, 2.0, 3.0])
    assert found.value == 2.0 and found.high - found.value == pytest.approx(4.3027 / math.sqrt(3), rel=1e-4)
    cut = estimates.student_mean([0.9, 0.7, 1.0], within=(0.0, 1.0))
    assert cut.high == 1 and cut.low == estimates.student_mean([0.9, 0.7, 1.0]).low > 0


@pytest.mark.parametrize("values", [[], [1.0], [0.1 + 0.2, 0.3], [0.36] * 6])
def test_values_without_spread_have_no_students_interval(values: list[float]) -> None:
    found = estimates.student_mean(values)
    assert found.n == len(values) and math.isnan(found.low) and math.isnan(found.high)


@pytest.mark.parametrize(
    ("freedom", "confidence", "value"),
    [(1, 0.95, 12.706), (2, 0.95, 4.303), (5, 0.95, 2.571), (19, 0.95, 2.093), (1, 0.99, 63.657), (4, 0.99, 4.604)],
)
def test_students_t_is_that_of_the_tables(freedom: int, confidence: float, value: float) -> None:
    assert estimates.student_t(freedom, confidence) == pytest.approx(value, abs=5e-4)


def test_a_difference_of_few_pairs_has_students_interval() -> None:
    found = estimates.student_difference([0.6, 0.4, 0.5], [0.4, 0.3, 0.2])
    assert (found.value, found.n) == (pytest.approx(0.2), 3)
    assert found.high - found.value == pytest.approx(4.303 * 0.1 / 3**0.5, abs=1e-4)  # t of 2 degrees of freedom
    two = estimates.student_difference([1, 0], [0, 0])
    assert (two.value, two.low, two.high) == (0.5, -1, 1), "shares differ by 1 at most"


@pytest.mark.parametrize("ours", [[1.0], [1.0, 1.0, 1.0]])
def test_equal_differences_have_no_interval(ours: list[float]) -> None:
    found = estimates.student_difference(ours, [0.0] * len(ours))
    assert (found.value, found.n) == (1, len(ours))
    assert math.isnan(found.low) and math.isnan(found.high) and not found.excludes_zero


def test_bootstrap_draws_the_same_interval_from_the_same_seed() -> None:
    ours, theirs = rng().random(30), np.random.default_rng(6).random(30)
    assert estimates.paired_bootstrap(
        ours, theirs, rng(), statistic=estimates.mean_ratio
    ) == estimates.paired_bootstrap(ours, theirs, rng(), statistic=estimates.mean_ratio)


def test_paired_ratio_of_an_exact_double_is_two_everywhere() -> None:
    theirs = np.array([1.0, 2.0, 4.0, 1.0])
    assert estimates.paired_bootstrap(2 * theirs, theirs, rng(), statistic=estimates.mean_ratio) == Estimate(
        2.0, 2.0, 2.0, 4
    )


def test_paired_ratio_over_a_baseline_without_success_is_infinite() -> None:
    ratio = estimates.paired_bootstrap([1, 1, 0, 1], [0, 0, 0, 0], rng(), statistic=estimates.mean_ratio)
    assert math.isinf(ratio.value)
    assert math.isinf(ratio.high)
    nothing = estimates.paired_bootstrap([0, 0], [0, 0], rng(), statistic=estimates.mean_ratio)
    assert all(math.isnan(number) for number in (nothing.value, nothing.low, nothing.high))


def test_resamples_without_any_success_show_no_difference() -> None:
    assert estimates.paired_bootstrap([1, 0, 0], [1, 0, 0], rng(), statistic=estimates.mean_ratio) == Estimate(
        1.0, 1.0, 1.0, 3
    )


@pytest.mark.parametrize(("n", "t"), [(2, 12.706), (10, 2.2622), (51, 2.0086)])  # t of n - 1 degrees of freedom, 0.975
def test_the_percentiles_of_a_bootstrap_give_a_mean_the_width_of_students_interval(n: int, t: float) -> None:
    assert estimates.bootstrap_tail(n) == pytest.approx(NormalDist().cdf(-t * math.sqrt(n / (n - 1))), rel=1e-3)
    two_tasks = NormalDist().cdf(-t * math.sqrt((n + 1) / (n - 1)))
    assert estimates.bootstrap_tail(n + 1, strata=2) == pytest.approx(two_tasks, rel=1e-3)
    assert estimates.bootstrap_tail(4000) == pytest.approx(0.025, rel=2e-3)


def test_the_interval_of_few_episodes_covers_the_truth() -> None:
    """Judgments of six episodes whose shares differ; plain percentiles cover the mean share in 83% of the cases."""
    source, covered = rng(), 0
    for _ in range(300):
        trials = source.integers(5, 31, 6)
        found = estimates.pooled_share(source.binomial(trials, source.beta(4, 2, 6)), trials, source)
        covered += found.low <= 4 / 6 <= found.high
    assert covered > 0.87 * 300


def test_the_interval_of_an_auc_is_as_wide_as_its_smaller_group_demands(monkeypatch: pytest.MonkeyPatch) -> None:
    """With six successes among a hundred failures, plain percentiles cover an area of 0.75 in 86% of the cases, and
    those of six episodes in 94%."""
    scores, outcomes = rng().normal(size=106), np.arange(106) < 6
    found = estimates.auc(scores, outcomes, rng())
    monkeypatch.setattr(estimates, "bootstrap_tail", lambda *asked: {(6, 1): 0.025}[asked])
    plain = estimates.auc(scores, outcomes, rng())
    assert found.low < plain.low < plain.high < found.high


def test_strata_keep_the_number_of_episodes_of_each_task() -> None:
    # within a task all episodes agree: a resample that keeps the tasks' sizes can not vary
    ours, theirs = [1, 1, 1, 0, 0], [0, 0, 0, 0, 0]
    kept = estimates.paired_bootstrap(ours, theirs, rng(), strata=["go", "go", "go", "lift", "lift"])
    free = estimates.paired_bootstrap(ours, theirs, rng())
    assert (kept.low, kept.high) == (0.6, 0.6)
    assert free.low < 0.6 < free.high


@pytest.mark.parametrize(("ours", "theirs"), [([1, 0], [1]), ([], []), ([[1]], [[1]])])
def test_a_comparison_refuses_unpaired_results(ours: list[int], theirs: list[int]) -> None:
    with pytest.raises(ValueError, match="same episodes"):
        estimates.paired_bootstrap(ours, theirs, rng())


def test_sign_test_counts_only_pairs_that_disagree() -> None:
    # five gains, one loss, four ties: 2 * (1 + 6) / 64
    ours = [1, 1, 1, 1, 1, 0, 1, 1, 0, 0]
    theirs = [0, 0, 0, 0, 0, 1, 1, 1, 0, 0]
    assert estimates.sign_test(ours, theirs) == pytest.approx(14 / 64)
    assert estimates.sign_test([1, 0], [1, 0]) == 1


def test_pooled_share_weighs_judgments_and_resamples_episodes() -> None:
    share = estimates.pooled_share([9, 1, 0], [10, 2, 0], rng())
    assert share.value == pytest.approx(10 / 12)
    assert (share.low, share.high) == (0.5, 0.9)  # only one of the two episodes drawn
    assert share.n == 2
    assert math.isnan(estimates.pooled_share([0], [0], rng()).value)


def test_one_pair_has_no_interval() -> None:
    for found in (estimates.paired_bootstrap([1], [0], rng()), estimates.mean([1.0], rng())):
        assert (found.value, found.n) == (1, 1)
        assert math.isnan(found.low) and math.isnan(found.high)
        assert not found.excludes_zero


@pytest.mark.parametrize("episodes", [1, 4])
def test_equal_shares_of_episodes_have_an_interval(episodes: int) -> None:
    shares = (
        estimates.repeated_share([2] * episodes, 5, rng()),
        estimates.pooled_share([2] * episodes, [5] * episodes, rng()),
    )
    for share in shares:
        assert (share.value, share.n) == (0.4, episodes)
        assert 0 < share.low < 0.4 < share.high < 1


def test_success_curve_steps_up_where_episodes_succeed() -> None:
    curve = estimates.success_curve([2, 2, None, 4], steps=5, seconds_per_step=0.5)
    np.testing.assert_array_equal(curve.share, [0, 0, 0.5, 0.5, 0.75, 0.75])
    np.testing.assert_array_equal(curve.seconds, [0, 0.5, 1, 1.5, 2, 2.5])
    assert np.all((curve.low <= curve.share) & (curve.share <= curve.high))


@given(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=2, max_size=20))
def test_auc_equals_the_share_of_pairs_in_order(rows: list[tuple[int, bool]]) -> None:
    scores, outcomes = zip(*rows, strict=True)
    wins = [score for score, won in rows if won]
    losses = [score for score, won in rows if not won]
    found = estimates.auc(scores, outcomes, rng()).value
    if not wins or not losses:
        assert math.isnan(found)
        return
    pairs = [(win > loss) + 0.5 * (win == loss) for win, loss in itertools.product(wins, losses)]
    assert found == pytest.approx(sum(pairs) / len(pairs))


def test_auc_refuses_scores_without_outcomes() -> None:
    with pytest.raises(ValueError, match="one score with one outcome"):
        estimates.auc([1.0, 2.0], [True], rng())


def test_the_interval_of_an_auc_has_the_width_of_many_episodes() -> None:
    """Hanley and McNeil (1982), formula 2, for scores that are exponentially distributed."""
    source, n, area = rng(), 250, 0.8
    scores = np.concatenate([source.exponential(area / (1 - area), n), source.exponential(1.0, n)])
    found = estimates.auc(scores, np.arange(2 * n) < n, rng())
    better, worse = area / (2 - area) - area**2, 2 * area**2 / (1 + area) - area**2
    error = math.sqrt((area * (1 - area) + (n - 1) * (better + worse)) / n**2)
    assert found.low < found.value < found.high and found.value == pytest.approx(area, abs=3 * error)
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.1)


def test_scores_that_separate_success_and_failure_have_the_interval_of_the_smaller_group() -> None:
    for wins in (3, 17):
        found = estimates.auc(np.arange(20.0), np.arange(20) >= 20 - wins, rng())
        assert (found.value, found.low, found.high, found.n) == (1, estimates.wilson(3, 3).low, 1, 20)


def test_a_mean_of_pooled_values_resamples_episodes() -> None:
    found = estimates.pooled_mean([10, 2, 0], [2, 1, 0], rng())
    assert (found.value, found.low, found.high, found.n) == (4, 2, 5, 2)
    silent = estimates.pooled_mean([10, 10], [1, 0], rng())  # as steps by requests, where one episode has none
    assert (silent.value, silent.low, silent.high, silent.n) == (20, 10, math.inf, 2)
    for amounts, counts, value in (([8], [2], 4), ([4, 8, 12], [1, 2, 3], 4), ([3, 0], [0, 0], math.nan)):
        none = estimates.pooled_mean(amounts, counts, rng())
        assert none.value == pytest.approx(value, nan_ok=True) and math.isnan(none.low) and math.isnan(none.high)
