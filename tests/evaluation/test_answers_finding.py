"""The sentence about answers follows from the intervals, not only from the means."""

from __future__ import annotations

import pytest

from interplay.evaluation.headlines import headlines
from interplay.evaluation.report_data import ReportData


@pytest.mark.parametrize(
    ("right", "wrong", "says"),
    [
        ([1.0, 1.1, 0.9, 1.0], [-1.0, -1.1, -0.9, -1.0], "The correct one earns most"),
        ([-1.0, -1.1, -0.9, -1.0], [1.0, 1.1, 0.9, 1.0], "is not as expected"),
        ([0.2, -0.2, 0.3, -0.1], [0.1, -0.3, 0.2, 0.0], "no clear order"),
        ([5.1, -4.9, 0.1, 1.2], [5.0, -5.0, 0.0, 1.0], "The correct one earns most"),  # the same questions
        ([0.6, 0.1], [0.2, 0.0], "no clear order"),  # two questions
        ([0.6], [0.2], "(95% interval –). There is no clear order."),  # a single one, without an interval
    ],
)
def test_an_order_is_claimed_if_intervals_do_not_overlap(right: list[float], wrong: list[float], says: str) -> None:
    found = headlines(ReportData(answer_rewards={"correct": right, "incoherent": wrong}))
    (answers,) = [finding for finding in found if finding.label == "Reward of an answer"]
    assert says in answers.sentence
