"""Findings: what the report concludes from the results, and how sure it is."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from report_material import probes, reward_model

from interplay.env.task import RETURN
from interplay.evaluation import findings, orderings
from interplay.evaluation.estimates import Estimate
from interplay.evaluation.findings import heldout_change, reward_model_figures
from interplay.evaluation.headlines import headlines, points, span
from interplay.evaluation.probes import ProbeResult, late_returns
from interplay.evaluation.report_data import (
    ChanceLevel,
    ProbeResults,
    ReportData,
    RewardPoint,
)
from interplay.evaluation.report_page import render_page


def test_the_return_of_an_episode_is_a_headline_of_worlds_with_one_kind_of_task() -> None:
    def measured(end: float) -> dict[str, dict[str, float]]:
        return {"return": {"end": end, "low": end - 1, "high": end + 1, "n": 64, "best": end}}

    steps = {"mission": np.array([np.nan])}
    chance = {"mission": ChanceLevel(0.0, 0.0, measures={"random": measured(20.0)})}
    played = ProbeResults({"BC": steps, "BC+RL": steps}, steps=500, seconds_per_step=0.02, chance=chance)
    returns = {"BC": {"mission": measured(22.0)}, "BC+RL": {"mission": measured(480.0)}}
    found = headlines(ReportData(probes=played, measures=returns))[-1]
    assert (found.label, found.number) == ("Return of an episode", "22.00 → 480.00")
    assert found.sentence == (
        "Sum of the world's rewards, mean of 64 Mission episodes and 95% interval: BC 22.00 (21.00 to 23.00), "
        "BC+RL 480.00 (479.00 to 481.00), at random 20.00 (19.00 to 21.00)."
    )
    several = {"BC": {kind: measured(1.0) for kind in ("Task0", "Task1")}}
    assert "Return of an episode" not in {each.label for each in headlines(ReportData(measures=several))}


@pytest.mark.parametrize(
    ("bc", "rl", "verdict", "words"),
    [
        (0.4, 0.8, 1, "BC+RL is better, 2.00× as often"),
        (0.8, 0.4, -1, "BC+RL is worse, 0.50× as often"),
        (0.5, 0.5, 0, "no clear difference"),
        (0.0, 0.4, 1, "BC+RL is better (difference +40 points"),
    ],
)
def test_the_verdict_follows_the_numbers(bc: float, rl: float, verdict: int, words: str) -> None:
    results = ReportData(probes=probes(bc, rl))
    success = headlines(results)[0]
    assert success.number == f"{bc * 100:.0f}% → {rl * 100:.0f}%"
    assert words in success.sentence
    assert orderings.orderings(results)[1].verdict == verdict


def test_three_lucky_episodes_are_not_evidence() -> None:
    comparison = findings.joint_comparison(replace(probes(0.0, 1.0, n=2), joint=("go",)))
    assert comparison is not None
    assert comparison.difference.excludes_zero  # the bootstrap is sure, of two episodes
    assert comparison.verdict == 0


def test_a_degenerate_interval_is_explained() -> None:
    few = ReportData(probes=replace(probes(0.25, 1.0, n=6), joint=("go",)))
    for finding in headlines(few)[:2]:  # five differ: a coin lands five times alike in 2 of 32
        assert "no clear difference, as too few episodes differ for the sign test (p = 0.062)" in finding.sentence
    assert "95% interval of the ratio 1.50 to ∞" in headlines(few)[0].sentence
    assert "<td>0.062</td>" in render_page(few)
    even = ReportData(probes=probes(0.5, 0.5))
    assert "too few" not in headlines(even)[0].sentence


def test_zero_against_zero_has_no_ratio() -> None:
    none = ReportData(probes=probes(0.0, 0.0))
    assert "no clear difference (difference +0 points, 95% interval -2 to +2)" in headlines(none)[0].sentence
    assert "1.00 to 1.00" not in render_page(none)


def test_agents_that_both_solve_everything_differ_by_less_than_the_probes_can_show() -> None:
    alike = ReportData(probes=replace(probes(1.0, 1.0, n=8), joint=("go",)))
    for found in headlines(alike)[:2]:
        assert "no clear difference (difference +0 points, 95% interval -32 to +32)" in found.sentence
    page = render_page(alike)
    assert "+0 to +0" not in page and "1.00 to 1.00" not in page


def test_a_difference_that_rounds_to_zero_has_no_minus() -> None:
    nearly = Estimate(-0.001, -0.004, 0.004, 1000)
    assert (points(nearly), span(nearly, points=True)) == ("+0 points", "+0 to +0")
    assert (span(nearly), span(nearly, signed=True)) == ("0.00 to 0.00", "+0.00 to +0.00")


def test_half_of_the_time_forgets_later_successes() -> None:
    late = ProbeResults({"BC": {"go": np.array([5.0, 6.0, np.nan])}}, steps=10, seconds_per_step=1.0)
    halved = findings.at_half_time(late)
    np.testing.assert_array_equal(halved.success_step["BC"]["go"], [5, np.nan, np.nan])
    assert halved.steps == 5


def test_a_return_that_no_agent_reaches_within_half_of_the_time_is_not_compared_by_then() -> None:
    """As that of CartPole, which grows with each step."""

    def played(kind: str, step: int | None, **measures: float) -> ProbeResult:
        return ProbeResult(kind, 0, 0, kind, step, (), 10, limit=10, measures=measures)

    late = played("mission", 9, **{RETURN: 9.0})
    assert late_returns([late, played("mission", None, **{RETURN: 2.0}), played("go", 9)]) == {"mission"}
    assert not late_returns([late, played("mission", 5, **{RETURN: 5.0})])
    steps = {"mission": np.array([9.0, np.nan])}
    alone = ProbeResults({"BC": steps, "BC+RL": steps}, 10, 0.5, late=frozenset({"mission"}))
    data = ReportData(probes=alone)
    assert "Success in half the time" not in [each.label for each in headlines(data)]
    found = orderings.orderings(data)[3]
    assert found.verdict is None and "no agent has reached the return that counts as success by then" in found.seen
    mixed = {agent: {**steps, "lift": np.array([4.0])} for agent in alone.success_step}
    assert (
        "within half of the time limit on Lift"
        in orderings.orderings(ReportData(probes=replace(alone, success_step=mixed)))[3].claim
    )


def test_a_task_only_one_agent_played_is_shown_but_not_compared() -> None:
    both = probes(0.4, 0.8)
    more = replace(both, success_step={**both.success_step, "scripted": {"count": np.array([1.0])}})
    assert more.tasks == ("go", "lift", "count")
    assert more.compared == ("go", "lift")
    assert render_page(ReportData(probes=more)).count("<td>not run</td>") == 4 + 3  # agents and tasks; findings


def test_every_task_must_be_won_for_a_yes() -> None:
    won, even = probes(0.2, 0.9).success_step, probes(0.5, 0.5).success_step
    mixed = {agent: {"go": won[agent]["go"], "lift": even[agent]["lift"], agent: np.ones(1)} for agent in won}
    results = ProbeResults(mixed, steps=10, seconds_per_step=0.5)
    assert results.compared == ("go", "lift")  # not what one of the two played alone
    found = orderings.orderings(ReportData(probes=results))[2]
    assert (found.verdict, found.seen) == (0, "better: Go; not clear: Lift")


def test_a_loss_on_one_of_several_tasks_needs_to_be_clear_for_all_of_them_together() -> None:
    lost = {"BC": np.ones(40), "BC+RL": np.where(np.arange(40) < 7, np.nan, 1.0)}  # p = 0.016 of this task alone
    even = {f"task{n}": np.ones(40) for n in range(5)}
    single = ProbeResults({agent: {"go": steps} for agent, steps in lost.items()}, steps=10, seconds_per_step=0.5)
    several = ProbeResults({agent: {"go": lost[agent], **even} for agent in lost}, steps=10, seconds_per_step=0.5)
    assert [orderings.orderings(ReportData(probes=each))[2].verdict for each in (single, several)] == [-1, 0]


def test_a_swapped_instruction_must_cost_return() -> None:
    model = reward_model()
    gained = replace(model, swapped_returns=2 * model.returns - model.swapped_returns)
    assert orderings.orderings(ReportData(reward_model=model))[5].verdict == 1
    assert orderings.orderings(ReportData(reward_model=gained))[5].verdict == -1
    two = replace(model, swapped_returns=np.array([*(model.returns[:2] - [0.1, 1.0]), *[np.nan] * 18]))
    assert orderings.orderings(ReportData(reward_model=two))[5].verdict == 0


def test_episodes_without_another_instruction_do_not_count_as_swapped() -> None:
    model = reward_model()
    told = np.arange(20) < 5
    some = replace(model, swapped_returns=np.where(told, model.returns - 0.5, np.nan))
    found = reward_model_figures(some).swap_loss
    assert found is not None and (found.value, found.n) == (pytest.approx(0.5), 5)
    assert "swapped (n = 5)" in render_page(ReportData(reward_model=some))
    none = ReportData(reward_model=replace(model, swapped_returns=np.full(20, np.nan)))
    assert orderings.orderings(none)[5].verdict is None and "own instruction" not in render_page(none)


def test_a_world_without_instructions_has_none_to_swap() -> None:
    mute = ReportData(reward_model=replace(reward_model(), swapped_returns=None))
    assert orderings.orderings(mute)[5].verdict is None
    assert "swapped" in render_page(ReportData(reward_model=reward_model())).replace("A swapped instruction", "")
    assert "swapped" not in render_page(mute).replace("A swapped instruction", "")


def test_a_right_answer_must_earn_something() -> None:
    ordered = {"correct": [-0.1, -0.2], "plausible": [-1.0, -1.1], "incoherent": [-2.0, -2.1]}
    assert orderings.orderings(ReportData(answer_rewards=ordered))[4].verdict == 0


def test_an_order_of_three_answers_is_not_claimed_without_an_incoherent_one() -> None:
    two = {"correct": [1.0, 1.1, 0.9, 1.0], "plausible": [-1.0, -1.2, -0.9, -1.0]}
    assert orderings.orderings(ReportData(answer_rewards=two))[4].verdict == 0
    three = two | {"incoherent": [-2.0, -2.3, -1.8, -2.1]}
    assert orderings.orderings(ReportData(answer_rewards=three))[4].verdict == 1


def test_answers_to_the_same_questions_are_compared_question_by_question() -> None:
    """Questions differ far more than the answers to one, so the intervals of the kinds overlap."""
    levels = np.array([1.0, 3.0, 5.0, 7.0])
    shifted = {kind: (levels - step).tolist() for kind, step in (("correct", 0.0), ("plausible", 1.0), ("odd", 2.0))}
    rewards = {kind: [value + 0.1 * (-1) ** n * len(kind) / 7 for n, value in enumerate(each)]
               for kind, each in shifted.items()}  # fmt: skip
    rewards["correct"] = [value + 4 for value in rewards["correct"]]
    assert orderings.orderings(ReportData(answer_rewards=rewards))[4].verdict == 1
    two = {kind: each[:2] for kind, each in rewards.items()}
    assert orderings.orderings(ReportData(answer_rewards=two))[4].verdict == 0, "two questions show no order"


@pytest.mark.parametrize(
    ("end", "words", "verdict"), [(1.0, "rose", 1), (-1.0, "fell", -1), (0.01, "did not clearly change", 0)]
)
def test_the_modeled_return_is_described_as_it_moved(end: float, words: str, verdict: int) -> None:
    noise = np.array([-0.1, 0.1, -0.1, 0.1])
    points = [RewardPoint(0, noise, noise), RewardPoint(9, noise, noise[::-1] + end)]
    results = ReportData(reward_points=points)
    assert words in headlines(results)[3].sentence
    assert orderings.orderings(results)[0].verdict == verdict


def test_a_report_without_a_reward_model_names_none() -> None:
    points = [RewardPoint(0, np.zeros(4), np.zeros(4)), RewardPoint(9, np.ones(4), np.ones(4))]
    found = headlines(ReportData(reward_points=points, reward_source="the world"))
    assert "the return that the world gives" in found[-1].sentence
    assert not any("model" in (headline.label + headline.sentence).lower() for headline in found)
    rises = orderings.orderings(ReportData(reward_points=points, reward_source="the world"))[0]
    assert (rises.verdict, rises.seen) == (None, "the return is given by the world, not by a model")
    page = render_page(ReportData(reward_points=points, reward_source="the world"))
    assert "Return of an episode, given by the world" in page
    assert "Utility through an episode" not in page and "can be trusted" not in page


def test_the_modeled_return_is_compared_pair_by_pair() -> None:
    start = np.array([-3.0, 0.0, 2.0, 9.0])  # episodes differ far more than their returns change
    rises = np.array([0.4, 0.5, 0.5, 0.6])
    change = heldout_change([RewardPoint(0, start[:0], start), RewardPoint(9, start, start + rises)])
    assert change is not None and change.updates == (0, 9)
    assert change.end - change.start == pytest.approx(0.5)
    assert change.change.high - 0.5 == pytest.approx(3.1824 * np.std(rises, ddof=1) / 2, rel=1e-4)
    assert change.verdict == 1


@pytest.mark.parametrize(
    ("rises", "verdict"),
    [
        ([0.1, 1.0], 0),  # by 2.4 standard errors, of two episodes
        ([0.5, 1.5, 0.1, 2.0], 0),  # by 2.4, of the four of experiment=house
        ([0.9, 1.1, 0.7, 1.3], 1),
        ([1.0] * 4, 0),  # without spread the sign test decides
        ([1.0] * 9, 1),
        ([-1.0] * 9, -1),
        ([0.0] * 9, 0),
    ],
)
def test_few_episodes_show_only_large_changes_of_return(rises: list[float], verdict: int) -> None:
    start = np.arange(len(rises), dtype=float)
    change = heldout_change([RewardPoint(0, start, start), RewardPoint(9, start, start + rises)])
    assert change is not None and change.verdict == verdict


def test_returns_of_other_numbers_of_episodes_are_not_paired() -> None:
    """Held-out episodes can be deleted between two measurements."""
    points = [RewardPoint(at, np.zeros(2), np.arange(n) + at) for at, n in ((0, 4), (10, 3), (20, 3))]
    change = heldout_change(points)
    assert change is not None and change.updates == (10, 20)
    assert heldout_change(points[:2]) is None
    assert "change of" not in render_page(ReportData(reward_points=points))


def test_answers_out_of_order_are_called_so() -> None:
    results = ReportData(answer_rewards={"correct": [-1.0, -1.1], "plausible": [0.5, 0.6]})
    assert "not as expected" in headlines(results)[5].sentence
    assert orderings.orderings(results)[4].verdict == -1


def test_half_of_the_time_is_half_of_each_tasks_own() -> None:
    results = ProbeResults({"BC": {"go": np.array([6.0]), "tower": np.array([20.0])}}, 10, 0.5, limits={"tower": 60})
    cut = findings.at_half_time(results)
    assert np.isnan(cut.success_step["BC"]["go"][0]) and cut.success_step["BC"]["tower"][0] == 20
    assert (cut.limit("go"), cut.limit("tower")) == (5, 30)
    assert len(findings.curves(results, ("tower",))["BC"].seconds) == 61


def test_an_interval_without_a_bound_says_on_which_side() -> None:
    assert span(Estimate(0.5, -math.inf, math.inf, 1)) == "-∞ to ∞"
    assert span(Estimate(0.5, 0.25, math.inf, 3)) == "0.25 to ∞"
