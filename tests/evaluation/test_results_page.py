"""What the results page claims from the results of seeds, and what it leaves open."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from interplay.evaluation.estimates import Estimate, student_mean, wilson
from interplay.evaluation.results_figures import _bars, _minus_bc_rl, results_figures
from interplay.evaluation.results_page import added_seeds, read_seeds, render_results, verdict, write_results_page
from interplay.evaluation.seed_results import HOUSES_AND_WORDS, SeedResults

KINDS = ("go", "position")
SEED = SeedResults(
    seed=1,
    success={
        "bc": {"go": 0.2, "position": 0.1},
        "bc_long": {"go": 0.4, "position": 0.2},
        "bc_rl": {"go": 0.9, "position": 0.3},
    },
    early={"bc_long": {"go": 0.2, "position": 0.1}, "bc_rl": {"go": 0.8, "position": 0.1}},
    listening={"bc_rl": {"go": 0.5, "position": 0.0}},
    probes={"go": 50, "position": 50},
    chance={"go": 0.1, "position": 0.05},
    heldout_returns=[(0, 1.0), (10, 0.5), (20, 2.5)],
    answers={"correct": 0.5, "plausible but wrong": -0.1, "incoherent": -0.4},
    budget={"demonstrations": 8000, "updates of cloning": 60},
)  # fmt: skip
SETTINGS = {
    "evaluate.seed": 7,
    "evaluate.greedy": False,
    "evaluate.hold_steps": 4,
    "time limits": {"go": 40, "position": 40},
    HOUSES_AND_WORDS: {"go": "a", "position": "b"},
}
DAMAGED = json.dumps([asdict(SEED) | {"success": 3}])


def line(page: str, start: str) -> str:
    return next(row for row in page.splitlines() if row.startswith(f"| {start}"))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([], "not tested"),
        ([0.5], "not tested: 1 seed, 3 are needed"),
        ([0.5, 0.5], "not tested: 2 seeds, 3 are needed"),
        ([0.4, 0.5, 0.6], "holds"),
        ([-0.4, -0.5, -0.6], "does not hold"),
        ([-0.4, 0.1, 0.6], "unclear"),
        ([0.02, 0.02, 0.02], "unclear"),  # one probe of fifty with each seed: no spread to judge by
    ],
)
def test_a_claim_needs_three_seeds_whose_interval_excludes_zero(values: list[float], said: str) -> None:
    assert verdict(by_seed(only=values)) == said


def by_seed(**parts: list[float]) -> list[dict[str, float]]:
    """The parts of each seed, from the values of each part."""
    longest = max(map(len, parts.values()))
    return [{name: values[seed] for name, values in parts.items() if seed < len(values)} for seed in range(longest)]


def test_a_finding_of_several_parts_holds_with_all_of_them_and_fails_with_one() -> None:
    above, open_, below = [0.4, 0.5, 0.6], [-0.4, 0.1, 0.6], [-0.40, -0.41, -0.42]
    assert verdict(by_seed(go=above, lift=above)) == "holds"
    assert verdict(by_seed(go=above, lift=open_)) == "unclear"
    assert verdict(by_seed(go=above, lift=below)) == "does not hold"
    assert verdict(by_seed(first=[0.26, 0.44, 0.13], second=[0.12, 0.11, 0.09])) == "holds", "one part varies alone"
    little = [-0.4, -0.5, -0.6]  # below 0 with the interval of one, not with those of six
    assert verdict(by_seed(go=little)) == "does not hold"
    assert verdict(by_seed(go=little, **{str(other): above for other in range(5)})) == "unclear"
    assert verdict(by_seed(go=above, lift=above[:2])) == "holds", "of the parts that three seeds have"
    assert verdict(by_seed(go=below, lift=above[:1])) == "does not hold"
    assert verdict(by_seed(go=above[:2], lift=above[:1])).startswith("not tested: 2 seeds")


def test_noise_alone_is_not_evidence_against_a_finding_of_six_parts() -> None:
    """The mean of the lowest of six equal shares is below 0 in nearly all sets of six seeds."""
    rng = np.random.default_rng(0)
    said = []
    for _ in range(200):
        ours, theirs = rng.binomial(50, 0.65, (2, 6, 6)) / 50  # [seeds, kinds]
        said.append(verdict([dict(zip("abcdef", seed, strict=True)) for seed in ours - theirs]))
    assert said.count("does not hold") <= 10 and "holds" not in said


def test_the_findings_compare_with_the_longer_clone() -> None:
    page = render_results([SEED], {})
    assert "| -0.10 |" in line(page, "Reinforcement about doubles"), "0.3 is not twice 0.2"
    assert "| +0.10 |" in line(page, "Reinforcement beats cloning"), "the difference is least on position"
    assert "| +0.30 |" in line(page, "Reinforcement succeeds sooner")
    assert "| +1.50 |" in line(page, "The modeled return rises")
    assert "| +0.30 |" in line(page, "A correct answer"), "the step from plausible to incoherent is the smallest"
    assert "on every probe" in line(page, "Reinforcement beats cloning"), "of two kinds here"
    assert line(page, "A 71M").endswith("| – | not tested |"), "no larger agent has played"
    larger = replace(SEED, success=SEED.success | {"bc_large": {"go": 0.5, "position": 0.4}})
    assert "| +0.15 |" in line(render_results([larger], {}), "A 71M")
    assert line(page, "IBT beats AR").endswith("| – | not tested |"), "no AR agent has played"


@pytest.mark.parametrize(
    ("go", "position", "value"),
    [
        (0.6, 0.2, "+0.10"),  # gains 0.2 on go; BC+RL is 0.1 better on position
        (0.45, 0.1, "+0.05"),
        (0.9, 0.4, "-0.10"),  # as good on what it was not paid for
        (0.3, 0.1, "-0.10"),  # worse on what it was paid for
    ],
)
def test_a_scripted_reward_shall_help_on_its_probes_and_not_beyond_them(go: float, position: float, value: str) -> None:
    success = SEED.success | {"scripted_probes": {"go": go, "position": position}}
    seed = replace(SEED, success=success, scripted_kinds={"scripted_probes": ["go"]})
    assert f"| {value} |" in line(render_results([seed], {}), "Reinforcement on scripted")
    assert line(render_results([replace(seed, scripted_kinds={})], {}), "Reinforcement on scripted").endswith(
        "not tested |"
    )


def test_kinds_with_a_scripted_reward_that_are_not_probes_do_not_count() -> None:
    seed = replace(SEED, success=SEED.success | {"scripted_probes": {"go": 0.6, "position": 0.2}})
    more = replace(seed, scripted_kinds={"scripted_probes": ["go", "touch"]})
    assert "| +0.10 |" in line(render_results([more], {}), "Reinforcement on scripted")
    none = replace(seed, scripted_kinds={"scripted_probes": ["touch"]})
    assert line(render_results([none], {}), "Reinforcement on scripted").endswith("not tested |")


def test_rounds_are_compared_with_the_one_before() -> None:
    shares = {"clone": 0.3, "round 1": 0.6, "round 2": 0.7}
    rounds = {name: {"go": share, "position": share + 0.1} for name, share in shares.items()}
    page = render_results([replace(SEED, rounds=rounds)], {})
    assert "| +0.10 |" in line(page, "Each round"), "the step to round 2 is the smallest"
    assert line(page[page.index("## Success by round") :], "round 1") == "| round 1 | 0.60 | 0.70 | 0.65 |"
    alone = render_results([SEED], {})
    assert line(alone, "Each round").endswith("not tested |") and "Success by round" not in alone


def test_without_a_longer_clone_the_page_names_the_clone() -> None:
    page = render_results([replace(SEED, success={name: SEED.success[name] for name in ("bc", "bc_rl")})], {})
    assert "| BC+RL minus twice BC | +0.10 |" in line(page, "Reinforcement about doubles")
    assert "longer" not in page


def test_seeds_without_the_longer_clone_do_not_mix_another_baseline_into_the_findings() -> None:
    """As a seed of another machine, whose command named other baselines."""
    without = {name: shares for name, shares in SEED.success.items() if name != "bc_long"}
    page = render_results([SEED, replace(SEED, seed=2, success=without)], {})
    row = line(page, "Reinforcement beats cloning on every probe")
    assert "| +0.10 |" in row and "not tested: 1 seed" in row, "against the longer clone, of seed 1 alone"


def test_seeds_are_averaged_by_agent_and_kind() -> None:
    other = replace(SEED, seed=2, success={**SEED.success, "bc_rl": {"go": 0.7, "position": 0.3}})
    page = render_results([SEED, other], {})
    assert line(page, "bc_rl").startswith("| bc_rl | 0.80 | 0.30 |"), "two seeds bound nothing"
    third = replace(SEED, seed=3, success={**SEED.success, "bc_rl": {"go": 0.8, "position": 0.3}})
    assert line(render_results([SEED, other, third], {}), "bc_rl").startswith("| bc_rl | 0.80 (0.55 to 1.00) | 0.30 |")
    assert line(render_results([SEED, other, third], {}), "chance") == "| chance | 0.10 | 0.05 |  |", "no 0.10 to 0.10"
    assert line(page, "chance").startswith("| chance | 0.10 ")
    assert "Seeds of training: 1, 2." in page and "50 go, 50 position" in page
    assert "Budget of a seed: demonstrations 8,000, updates of cloning 60." in page


def test_the_page_shows_figures_that_lie_beside_it(tmp_path: Path) -> None:
    page = write_results_page(tmp_path, [SEED]).read_text()
    named = re.findall(r"\]\((results_\w+\.svg)\)", page)
    assert named == [
        f"results_{name}.svg" for name in ("returns", "answers", "success", "early", "differences", "listening")
    ]
    assert sorted(path.name for path in tmp_path.glob("*.svg")) == sorted(named)
    success = (tmp_path / "results_success.svg").read_text()
    assert all(agent in success for agent in ("bc_long", "bc_rl", "position")) and "var(--" not in success
    assert "One seed" in page


def test_a_figure_without_data_is_left_out(tmp_path: Path) -> None:
    silent = replace(SEED, answers={}, heldout_returns=[], listening={})
    assert "results_answers" not in write_results_page(tmp_path, [silent]).read_text()
    assert sorted(path.name for path in tmp_path.glob("*.svg")) == [
        "results_differences.svg",
        "results_early.svg",
        "results_success.svg",
    ]


def test_a_single_seed_has_the_error_of_its_probes_and_several_have_that_of_seeds() -> None:
    one = results_figures([SEED])["success"]
    three = results_figures([SEED, replace(SEED, seed=2), replace(SEED, seed=3)])
    assert "Wilson" in one.caption and "Mean of 3 seeds" in three["success"].caption
    assert three["returns"].svg.count("seed ") >= 3
    bars = _bars([SEED, replace(SEED, success={"bc_rl": {"go": 0.7}})], lambda seed: seed.success)
    assert bars["go"]["bc_rl"] == student_mean([0.9, 0.7], within=(0, 1)) == Estimate(pytest.approx(0.8), 0, 1, 2)
    assert bars["go"]["bc"].value == 0.2 and math.isnan(bars["go"]["bc"].low), "of a single seed's agent"
    assert _bars([SEED], lambda seed: seed.success)["go"]["bc"] == wilson(10, 50)
    assert math.isnan(_bars([SEED], lambda seed: seed.listening, lowest=-1.0)["go"]["bc_rl"].low)


def test_agents_are_compared_with_bc_rl_in_the_mean_over_kinds() -> None:
    one = _minus_bc_rl([SEED])
    assert list(one) == ["bc", "bc_long"] and one["bc"].value == pytest.approx((0.2 - 0.9 + 0.1 - 0.3) / 2)
    shares = [(wins + 1) / 52 for wins in (10, 5, 45, 15)]
    variance = sum(share * (1 - share) for share in shares) / 52 / 4
    assert one["bc"].high - one["bc"].value == pytest.approx(1.96 * math.sqrt(variance))
    sure = replace(SEED, success={agent: dict.fromkeys(KINDS, 1.0) for agent in ("bc", "bc_rl")})
    assert _minus_bc_rl([sure])["bc"].low < -0.02 and _minus_bc_rl([sure])["bc"].high > 0.02, "all solved by both"
    other = replace(SEED, success={**SEED.success, "bc": {"go": 0.4, "position": 0.1}})
    assert _minus_bc_rl([SEED, other])["bc"].value == pytest.approx(-0.4)
    assert _minus_bc_rl([SEED, other])["bc"].low == pytest.approx(student_mean([-0.45, -0.35]).low)
    assert line(render_results([SEED], {}), "bc_rl").endswith("| 0.60 |"), "the table has the mean over kinds"


def test_seeds_of_several_machines_are_joined(tmp_path: Path) -> None:
    measured = {"bc_rl": {"heldout_pair_accuracy": 0.8}, "ar": {"heldout_mark_auc": 0.7}}
    elsewhere = [
        replace(SEED, seed=number, reward_models=measured, heldout_returns=[(0, 1.0), (20, 2.0 + number / 10)])
        for number in (9, 2)
    ]
    write_results_page(tmp_path, elsewhere)
    path = tmp_path / "results.json"
    found = [SEED, *added_seeds([path], [1], SEED.budget, SEED.probes, SETTINGS)]
    assert [seed.seed for seed in found] == [1, 9, 2]
    page = render_results(found, {})
    assert line(page, "The modeled return rises").endswith("| holds |")
    assert line(page, "ar ") == "| ar | – | 0.70 | – |"
    with pytest.raises(ValueError, match="has seed 2, which is there already"):
        added_seeds([path], [2], SEED.budget, SEED.probes, SETTINGS)
    with pytest.raises(ValueError, match="has seed 9, which is there already"):
        added_seeds([path, path], [1], SEED.budget, SEED.probes, SETTINGS)
    with pytest.raises(ValueError, match="other budgets"):
        added_seeds([path], [1], {"demonstrations": 1}, SEED.probes, SETTINGS)


def test_seeds_of_other_probes_are_not_joined(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps([asdict(replace(SEED, seed=2, probes={"go": 50, "lift": 50}))]))
    with pytest.raises(ValueError, match=r"other probes than this .* \(50 go, 50 lift; here 50 go, 50 position\)"):
        added_seeds([path], [1], SEED.budget, SEED.probes, SETTINGS)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"evaluate.seed": 8, HOUSES_AND_WORDS: {"go": "c", "position": "d"}}, "evaluate.seed=8 (here 7). All"),
        ({"evaluate.hold_steps": 0}, "evaluate.hold_steps=0 (here 4)"),
        ({HOUSES_AND_WORDS: {"go": "c", "position": "b"}}, "other houses and words of go, by other settings"),
    ],
)
def test_seeds_that_played_other_probes_are_not_joined(tmp_path: Path, other: Mapping[str, Any], said: str) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps([asdict(replace(SEED, seed=2, probe_settings={**SETTINGS, **other}))]))
    with pytest.raises(ValueError, match=re.escape(said)):
        added_seeds([path], [1], SEED.budget, SEED.probes, SETTINGS)


def test_seeds_of_older_versions_are_joined_with_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "results.json"
    for settings in (SETTINGS, {}):
        assert not caplog.text
        path.write_text(json.dumps([asdict(replace(SEED, seed=2, probe_settings=settings))]))
        assert len(added_seeds([path], [1], SEED.budget, SEED.probes, SETTINGS)) == 1
    assert "does not state how its probes were drawn" in caplog.text and "evaluate.seed was 7" in caplog.text


@pytest.mark.parametrize("content", [None, "not json", '[{"seed": 1}]', "[3]", DAMAGED])
def test_a_file_that_holds_no_seeds_is_refused(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "results.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ValueError, match=r"is not a results\.json of interplay orderings"):
        read_seeds(path)


def test_captions_name_agents_of_fewer_seeds_and_whiskers_that_leave_the_frame() -> None:
    other = replace(SEED, seed=2, success={"bc": {"go": 0.2, "position": 0.1}, "bc_rl": {"go": 0.7, "position": 0.3}})
    found = results_figures([SEED, other])
    assert "Mean of 2 seeds, with Student's 95% interval over seeds. bc_long: 1 of them." in found["success"].caption
    assert "outside the frame" not in found["success"].caption, "0.80 (0.00 to 1.00)"
    less = replace(SEED, seed=2, listening={"bc_rl": {"go": 0.2, "position": -0.1}})
    listening = results_figures([SEED, less])["listening"]
    assert listening.caption.endswith("go on outside the frame."), "-0.05 (-0.69 to 0.59)"
    assert "outside the frame" not in results_figures([SEED])["success"].caption
    assert "difference of success" in found["listening"].svg and "Probes" not in found["answers"].caption
