"""What the results page claims from the results of seeds, and what it leaves open."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from interplay.evaluation.results_page import SeedResults, over_seeds, render_results, verdict

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


def line(page: str, start: str) -> str:
    return next(row for row in page.splitlines() if row.startswith(f"| {start}"))


def test_an_interval_over_seeds_is_students() -> None:
    found = over_seeds([1.0, 2.0, 3.0])
    assert found.value == 2.0 and found.high - found.value == pytest.approx(4.30 / math.sqrt(3))
    assert over_seeds([1.0]).low == -math.inf
    many = over_seeds([0.0, 1.0] * 10)
    assert many.high - many.value > 2.09 * float(np.std([0.0, 1.0] * 10, ddof=1)) / math.sqrt(20), "t of 19 is 2.09"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([], "not tested"),
        ([0.5], "not tested: 1 seed, 3 are needed"),
        ([0.5, 0.5], "not tested: 2 seeds, 3 are needed"),
        ([0.4, 0.5, 0.6], "holds"),
        ([-0.4, -0.5, -0.6], "does not hold"),
        ([-0.4, 0.1, 0.6], "unclear"),
    ],
)
def test_a_claim_needs_three_seeds_whose_interval_excludes_zero(values: list[float], said: str) -> None:
    assert verdict(values) == said


def test_the_findings_compare_with_the_longer_clone() -> None:
    page = render_results([SEED])
    assert "| -0.10 |" in line(page, "Reinforcement about doubles"), "0.3 is not twice 0.2"
    assert "| +0.10 |" in line(page, "Reinforcement beats cloning"), "the least difference is that of position"
    assert "| +0.30 |" in line(page, "Reinforcement succeeds sooner")
    assert "| +1.50 |" in line(page, "The modeled return rises")
    assert "| +0.30 |" in line(page, "A correct answer"), "the step from plausible to incoherent is the smallest"
    assert line(page, "A 71M").endswith("| – | – | not tested |")
    assert line(page, "IBT beats AR").endswith("| – | not tested |"), "no AR agent has played"


def test_without_a_longer_clone_the_page_names_the_clone() -> None:
    page = render_results([replace(SEED, success={name: SEED.success[name] for name in ("bc", "bc_rl")})])
    assert "| BC+RL minus twice BC | +0.10 |" in line(page, "Reinforcement about doubles")
    assert "longer" not in page


def test_seeds_are_averaged_by_agent_and_kind() -> None:
    other = replace(SEED, seed=2, success={**SEED.success, "bc_rl": {"go": 0.7, "position": 0.3}})
    page = render_results([SEED, other])
    assert line(page, "bc_rl").startswith("| bc_rl | 0.80 (-0.47 to 2.07) |")
    assert line(page, "chance").startswith("| chance | 0.10 ")
    assert "Seeds of training: 1, 2." in page and "50 go, 50 position" in page
    assert "Budget of a seed: demonstrations 8,000, updates of cloning 60." in page
