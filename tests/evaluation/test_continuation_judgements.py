"""Verdicts of people on continuations: the file, the shares of agents, and agreement."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from interplay.evaluation.continuation_judgements import (
    JUDGEMENTS,
    ContinuationJudgement,
    JudgedContinuations,
    add_judgement,
    judged_continuations,
    keep_judgements,
    read_judgements,
)
from interplay.evaluation.report_tables import render_judged

OLD, NEW = "digest of the old one", "digest of the new one"
LABELS = {"bc": "BC", "bc_rl": "BC+RL", "expert": "scripted solver"}


def verdict(
    item: str,
    done: bool,
    *,
    agent: str = "bc",
    scenario: str = "go-0",
    number: int = 0,
    judge: str = "p-1",
    recording: str = NEW,
) -> ContinuationJudgement:
    return ContinuationJudgement(item, judge, "continue", agent, recording, scenario, number, done, 1.5)


def kept(root: Path, *verdicts: ContinuationJudgement) -> None:
    (root / JUDGEMENTS).parent.mkdir(exist_ok=True)
    for each in verdicts:
        add_judgement(root, each)


def test_verdicts_are_read_as_they_were_added(tmp_path: Path) -> None:
    assert read_judgements(tmp_path) == []
    first, second = verdict("a", True), verdict("b", False, judge="p-2")
    kept(tmp_path, first, second)
    assert read_judgements(tmp_path) == [first, second]
    keep_judgements(tmp_path, lambda each: each.judge != "p-1")
    assert read_judgements(tmp_path) == [second]
    assert (tmp_path / JUDGEMENTS).stat().st_mode & 0o777 == 0o600, "for its owner alone, also when written again"


def test_an_item_has_one_verdict(tmp_path: Path) -> None:
    """A kill between the verdict and the end of its item may have it sent twice."""
    kept(tmp_path, verdict("a", True), verdict("b", True), verdict("a", True))
    assert [each.item for each in read_judgements(tmp_path)] == ["a", "b"]


def test_a_damaged_line_is_left_out_with_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    kept(tmp_path, verdict("a", True))
    with (tmp_path / JUDGEMENTS).open("a") as file:
        file.write('no row\n{"at": 1.0}\n')
    with caplog.at_level(logging.WARNING):
        assert [each.item for each in read_judgements(tmp_path)] == ["a"]
    assert "2 damaged lines" in caplog.text


@pytest.mark.parametrize("rest", ['{"at": 1.0, "judge": "p-1"}\n', '{"item": "b", "judge": "p-1"'])
def test_a_deletion_leaves_no_name_in_damaged_lines(tmp_path: Path, rest: str) -> None:
    kept(tmp_path, verdict("a", True, judge="p-2"))
    with (tmp_path / JUDGEMENTS).open("a") as file:
        file.write(rest)
    keep_judgements(tmp_path, lambda each: each.judge != "p-1")
    assert "p-1" not in (tmp_path / JUDGEMENTS).read_text()
    assert [each.judge for each in read_judgements(tmp_path)] == ["p-2"]


def judged(
    verdicts: list[ContinuationJudgement], tested: dict[tuple[str, int], bool], *agents: str
) -> JudgedContinuations | None:
    """The verdicts on agents that have all the continuations of `tested`."""
    recordings = {agent: dict.fromkeys(tested, NEW) for agent in agents or ("bc",)}
    return judged_continuations(verdicts, recordings, dict.fromkeys(recordings, tested), LABELS)


def test_nothing_counts_of_recordings_that_were_replaced_or_removed() -> None:
    verdicts = [verdict("a", True), verdict("b", False, recording=OLD), verdict("c", True, agent="gone")]
    found = judged([*verdicts, verdict("d", True, number=7)], {("go-0", 0): True})
    assert found is not None and found.outdated == 3 and found.share("BC").n == 1 and list(found.verdicts) == ["BC"]
    assert judged([verdict("b", False, recording=OLD)], {("go-0", 0): True}) is None


def test_a_continuation_counts_by_the_mean_of_its_verdicts() -> None:
    """Two of three scenarios: (1 + 1/2) / 2 continuations of go-0, and 0 / 1 of go-1."""
    verdicts = [
        verdict("a", True),
        verdict("b", True, number=1),
        verdict("c", False, number=1, judge="p-2"),
        verdict("d", False, scenario="go-1"),
    ]
    tested = {("go-0", 0): True, ("go-0", 1): True, ("go-1", 0): True}
    found = judged(verdicts, tested)
    assert found is not None
    assert found.share("BC").value == pytest.approx(1.5 / 3) and found.share("BC").n == 2
    agreement = found.agreement_with_tests()
    assert agreement is not None and agreement.value == pytest.approx(2 / 4)
    alike = found.agreement_of_judges()
    assert alike is not None and alike.value == 0.0 and alike.n == 1
    assert found.judges == 2 and found.to_json()["agents"]["BC"]["continuations"] == 3


def test_a_person_has_one_verdict_on_a_continuation() -> None:
    """Two studies of the same continuations give it to a person twice; the first verdict counts."""
    found = judged([verdict("a", True), verdict("b", False), verdict("c", True, judge="p-2")], {("go-0", 0): True})
    assert found is not None and found.share("BC").value == 1.0 and found.counts("BC") == (1, 2)
    alike = found.agreement_of_judges()
    assert alike is not None and (alike.value, alike.n) == (1.0, 1)


def test_agents_are_compared_over_the_scenarios_in_which_both_were_judged() -> None:
    places = [("go-0", True, True), ("go-1", True, False), ("go-2", True, False)]
    ours = [verdict(f"a{n}", done, agent="bc_rl", scenario=name) for n, (name, done, _) in enumerate(places)]
    theirs = [verdict(f"b{n}", done, scenario=name) for n, (name, _, done) in enumerate(places)]
    alone = verdict("c", True, scenario="go-9")
    tested = {(name, 0): True for name in ("go-0", "go-1", "go-2", "go-9")}
    found = judged([*ours, *theirs, alone], tested, "bc", "bc_rl")
    assert found is not None
    difference = found.difference("BC+RL", "BC")
    assert difference is not None and difference.value == pytest.approx(2 / 3) and difference.n == 3
    assert difference.low < 0 < difference.high
    single = judged([ours[0], theirs[0]], tested, "bc", "bc_rl")
    assert single is not None and single.difference("BC+RL", "BC") is None


def test_the_report_shows_agents_differences_and_agreement() -> None:
    verdicts = [
        verdict(f"{agent}{scenario}", agent == "bc_rl", agent=agent, scenario=scenario)
        for agent in ("bc", "bc_rl")
        for scenario in ("go-0", "go-1", "go-2")
    ]
    tested = {("go-0", 0): True, ("go-1", 0): True, ("go-2", 0): True}
    found = judged(verdicts, tested, "bc", "bc_rl")
    assert found is not None
    shown = render_judged(found)
    assert [row[0] for row in shown["rows"]] == ["BC", "BC+RL"] and shown["rows"][0][2:] == ("3", "3")
    assert shown["with_tests"].startswith("50%") and shown["of_judges"] is None and shown["judges"] == 1
    assert shown["difference_rows"][0][0] == "BC − BC+RL"
