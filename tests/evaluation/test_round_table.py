"""The table of rounds: one column an agent, each against the one before it on the same probes."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.evaluation.findings import steps_between_rounds
from interplay.evaluation.report_data import ProbeResults, ReportData, RewardModelResults, RoundRecord
from interplay.evaluation.report_page import render_page
from interplay.evaluation.report_tables import round_table

NAN = np.nan
MODEL = RewardModelResults(
    pairs_right=np.array([3.0, 4.0]),
    pairs=np.array([4, 4]),
    returns=np.array([0.0, 1.0]),
    success=np.array([False, True]),
    swapped_returns=None,
)


def record(name: str, model: RewardModelResults | None = MODEL, mix: dict[str, float] | None = None) -> RoundRecord:
    return RoundRecord(name, "clone", 1200, {"human-human@0": 2600, "human-agent@1": 1000}, mix or {}, 4321, model)


def played(**solved: list[float]) -> ProbeResults:
    steps = {agent: {"go": np.array(row)} for agent, row in solved.items()}
    return ProbeResults(steps, steps=40, seconds_per_step=0.25, baseline="one", candidate="two")


def test_every_agent_is_compared_with_the_one_before_it() -> None:
    found = steps_between_rounds(played(clone=[NAN] * 8, one=[NAN] * 4 + [3.0] * 4, two=[NAN] + [2.0] * 7))
    assert {agent: each.difference.value for agent, each in found.items()} == {"one": 0.5, "two": 3 / 8}
    assert found["two"].p_value == pytest.approx(2 / 2**3)  # three probes that only the second solves


def test_rounds_stand_side_by_side_with_the_clone_before_them() -> None:
    probes = played(clone=[NAN] * 8, one=[NAN] * 4 + [3.0] * 4, two=[NAN] + [2.0] * 7)
    table = round_table([record("one"), record("two", mix={"human-human": 0.4, "human-agent@2": 0.6})], probes)
    assert table.head == ("", "clone", "one", "two")
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["improves"] == ("–", "clone", "clone")
    assert rows["updates of reinforcement"] == ("–", "1,200", "1,200")
    assert rows["episodes of the reward model"][1] == "2,600 human-human@0, 1,000 human-agent@1"
    assert rows["data mix"] == ("–", "all alike", "human-human 40%, human-agent@2 60%")
    assert rows["marks"] == ("–", "4,321", "4,321")
    assert rows["pairs ordered as the rater marked them"][1].startswith("88% (")
    assert [cell.split(" ")[0] for cell in rows["AUC of return against true success"]] == ["–", "1.00", "1.00"]
    assert [cell.split(" ")[0] for cell in rows["success, all probes"]] == ["0%", "50%", "88%"]
    first, one, two = rows["against the agent before it"]
    assert first == "–" and one.startswith("+50 points (") and two.startswith("+38 points (")


def test_rounds_without_common_probes_or_reward_models_are_shown_without_them() -> None:
    table = round_table([record("one", None), record("two", None)], None)
    rows = {row[0]: row[1:] for row in table.rows}
    assert table.head == ("", "one", "two") and "success, all probes" not in rows
    assert rows["AUC of return against true success"] == rows["pairs ordered as the rater marked them"] == ("–", "–")
    page = render_page(ReportData(round_records=[record("one", None), record("two", None)]))
    assert "<h2>Rounds</h2>" in page and "1,000 human-agent@1" in page
    assert "<h2>Rounds</h2>" not in render_page(ReportData())
