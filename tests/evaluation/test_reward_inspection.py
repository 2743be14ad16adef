"""What the inspection of a reward model counts, and where it says that modeled and true return part."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.evaluation.estimates import Estimate
from interplay.evaluation.figures import pair_bars, true_success_curve
from interplay.evaluation.report_data import RewardPoint
from interplay.evaluation.reward_inspection import (
    InspectedEpisode,
    by_kind,
    calibration,
    calibration_error,
    inspection_results,
    pairs_by_gap,
    parting,
)


def episode(kind: str, pairs: dict[int, float], returned: float = 0.0, done: bool = False) -> InspectedEpisode:
    """An episode with a pair at each gap, of this margin."""
    return InspectedEpisode(kind, np.array(list(pairs), np.int64), np.array(list(pairs.values())), returned, done)


def point(update: int, modeled: list[float], success: list[float]) -> RewardPoint:
    return RewardPoint(update, np.zeros(0), np.array(modeled), np.array(success))


def test_pairs_are_grouped_by_the_steps_between_their_moments() -> None:
    found = pairs_by_gap([episode("go", {1: 1.0, 3: -1.0, 40: 0.0}), episode("go", {2: 2.0, 33: 1.0})])
    assert {name: share.value for name, share in found.items()} == {"1": 1.0, "2 to 3": 0.5, "32 and more": 0.75}
    assert found["2 to 3"].n == 2, "an interval is over episodes"


def test_every_kind_has_its_own_numbers() -> None:
    solved, failed = episode("lift", {1: 1.0}, 2.0, done=True), episode("lift", {1: -1.0}, 1.0)
    found = by_kind([episode("go", {}, 5.0), solved, failed])
    assert list(found) == ["go", "lift"]
    assert (found["lift"].episodes, found["lift"].solved, found["lift"].auc.value) == (2, 1, 1.0)
    assert found["lift"].pairs.value == 0.5
    assert found["go"].pairs.n == 0 and np.isnan(found["go"].auc.value) and found["go"].swap_loss is None


def test_the_loss_under_other_words_is_over_the_episodes_that_have_some() -> None:
    kept = episode("go", {}, 3.0)
    swapped = InspectedEpisode("go", kept.gaps, kept.margins, 3.0, False, swapped_return=1.0)
    loss = by_kind([kept, swapped])["go"].swap_loss
    assert loss is not None and (loss.value, loss.n) == (2.0, 1)


def test_episodes_without_a_task_count_neither_as_solved_nor_as_failed() -> None:
    judged = [episode("go", {}, 2.0, done=True), episode("go", {}, 1.0)]
    unknown = InspectedEpisode("go", judged[0].gaps, judged[0].margins, 3.0, None)
    found = by_kind([*judged, unknown])["go"]
    assert (found.episodes, found.solved, found.auc.value) == (3, 1, 1.0)
    assert by_kind([unknown])["go"].solved is None


def test_a_confident_model_that_is_right_half_of_the_time_is_badly_calibrated() -> None:
    sure = [episode("go", {1: 20.0, 2: -20.0}) for _ in range(32)]
    assert calibration_error(calibration(sure)) == pytest.approx(0.5, abs=1e-6)
    unsure = [episode("go", {1: 1e-9, 2: -1e-9}) for _ in range(32)]
    assert calibration_error(calibration(unsure)) == pytest.approx(0.0, abs=1e-6)
    assert sum(each.pairs for each in calibration(sure)) == 64
    assert all(each.low <= each.right <= each.high and each.low < each.high for each in calibration(sure))
    assert calibration([]) == []


def test_calibration_resamples_episodes_and_not_their_pairs() -> None:
    """Two episodes of a hundred pairs each, one right and one wrong throughout, show nothing."""
    episodes = [InspectedEpisode("go", np.ones(100, np.int64), np.full(100, sign), 0.0, None) for sign in (1.0, -1.0)]
    (*_, last) = calibration([each for each in episodes for _ in range(4)])
    assert last.high - last.low > 0.5


def test_modeled_and_true_return_part_where_truth_falls_and_the_model_does_not_see_it() -> None:
    before, best = point(0, [0.0] * 9, [0.0] * 9), point(10, [1.0] * 9, [1.0] * 9)
    one_less = point(20, [2.0] * 9, [1.0] * 8 + [0.0])
    fallen = point(30, [2.0] * 9, [0.0] * 8 + [1.0])
    found = parting([before, best, one_less, fallen])
    assert found is not None and (found.best_update, found.update) == (10, 30), "one episode of nine is within error"
    assert found.success == (1.0, pytest.approx(1 / 9)) and found.modeled == (1.0, 2.0)
    assert parting([before, best, one_less]) is None
    assert parting([before, best, point(30, [0.5] * 9, [0.0] * 9)]) is None, "the model sees the fall"
    assert parting([best, point(30, [2.0] * 9, [np.nan] * 9)]) is None, "where the truth is unknown, nothing is said"
    deleted = point(20, [1.5] * 10, [1.0] * 10)
    later = parting([before, deleted, best, fallen])
    assert later is not None and later.best_update == 10, "of other episodes than those of the last measurement"


def test_the_best_of_many_measurements_is_not_a_sign_that_later_ones_are_worse() -> None:
    """True success that only varies by chance, of ten measurements of 24 episodes, and a modeled return that rises."""
    rng, found = np.random.default_rng(3), 0
    for _ in range(200):
        points = [point(at, [float(at)] * 24, rng.binomial(1, 0.6, 24).astype(float).tolist()) for at in range(10)]
        found += parting(points) is not None
    assert found <= 10
    worse = point(10, [10.0] * 24, [0.0] * 24)
    assert parting([*points, worse]) is not None, "nothing succeeds any more"


def test_few_episodes_do_not_part() -> None:
    assert parting([point(0, [0.0] * 2, [1.0] * 2), point(10, [1.0] * 2, [0.0] * 2)]) is None


def test_episodes_whose_truth_is_unknown_are_left_out() -> None:
    unknown = [np.nan] * 3
    best, fallen = point(10, [1.0] * 12, [1.0] * 9 + unknown), point(30, [2.0] * 12, [0.0] * 8 + [1.0] + unknown)
    found = parting([best, fallen])
    assert found is not None and found.success == (1.0, pytest.approx(1 / 9))
    held = inspection_results([], [best, fallen, point(40, [1.0], [np.nan])], {})["heldout"]
    assert [each["true_success"] for each in held] == [1.0, pytest.approx(1 / 9), None]
    bands = true_success_curve([best, fallen, point(40, [1.0], [np.nan])], None, "True success", "").svg
    known = true_success_curve(
        [point(10, [1.0], [1.0] * 9), point(30, [1.0], [0.0] * 8 + [1.0])], None, "True success", ""
    )
    assert bands == known.svg, "the band is of those that are known"


def test_any_number_of_kinds_is_drawn() -> None:
    """As of the tasks of CommAI."""
    drawn = pair_bars({f"kind {n}": Estimate(0.5, 0.4, 0.6, 9) for n in range(60)}, "By kind", "kind")
    assert drawn.caption.count("9") == 60
