"""Live evaluation: which requests count, and the intervals of what people judged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fake_world import LineWorld, record_episode

from interplay.episodes.episode import EpisodeMeta, Prompt, Utterance
from interplay.evaluation.estimates import success_share
from interplay.evaluation.live_judgements import JudgedRequest, LiveResults, judged_requests
from interplay.evaluation.report_tables import render_live


def meta() -> EpisodeMeta:
    said = [Utterance(0, "setter", "walk"), Utterance(60, "setter", "stop"), Utterance(90, "solver", "ok")]
    prompts = (
        Prompt(0, "ask", verdict="done", judged=45),
        Prompt(45, "ask", verdict="failed", judged=120),
        Prompt(120, "ask", verdict="failed", judged=121),  # nothing was asked
        Prompt(121, "ask"),  # nothing was judged
    )
    episode, _ = record_episode(LineWorld(), seed=1, steps=60)
    return replace(episode.meta, utterances=tuple(said), prompts=prompts, people={"setter": "p-1"})


def test_a_request_counts_from_its_words_to_its_verdict() -> None:
    found = judged_requests(meta(), "clone", 30.0)
    assert [(each.request, each.seconds, each.done) for each in found] == [("walk", 1.5, True), ("stop", 2.0, False)]
    assert {(each.agent, each.setter) for each in found} == {("clone", "p-1")}


def test_a_verdict_at_the_frame_of_the_words_came_before_them() -> None:
    prompts = (Prompt(0, "ask", verdict="failed", judged=60), Prompt(60, "ask", verdict="done", judged=75))
    said = (Utterance(60, "setter", "stop"),)
    found = judged_requests(replace(meta(), utterances=said, prompts=prompts), "clone", 30.0)
    assert [(each.request, each.seconds, each.done) for each in found] == [("stop", 0.5, True)], "it counts once"


def results(wins: dict[str, list[tuple[str, bool]]]) -> LiveResults:
    found = LiveResults.of(
        JudgedRequest(agent, setter, "walk", 3.0 + done, done) for agent, rows in wins.items() for setter, done in rows
    )
    assert found is not None
    return found


def test_intervals_resample_setters_and_not_requests() -> None:
    rng = np.random.default_rng(1)
    rows = [(f"p-{setter}", bool(rng.random() < 0.15 + 0.7 * (setter % 2))) for setter in range(6) for _ in range(40)]
    found = results({"clone": rows})
    share, naive = found.share("clone"), success_share([done for _, done in rows])
    assert share.value == pytest.approx(naive.value) and share.n == 6
    assert share.high - share.low > 2 * (naive.high - naive.low), "verdicts of one setter are alike"
    one = results({"clone": [("p-1", True), ("p-1", True)]}).share("clone")
    assert one.low < 1.0, "verdicts that are all alike still leave doubt"


def test_agents_are_compared_over_the_setters_that_judged_both() -> None:
    found = results(
        {
            "clone": [("p-1", False), ("p-2", False), ("p-3", True), ("p-4", True)],
            "reinforce": [("p-1", True), ("p-2", True), ("p-2", False)],
        }
    )
    difference = found.difference("reinforce", "clone")
    assert difference is not None and difference.n == 2 and difference.value == pytest.approx(0.75)
    assert results({"a": [("p-1", True)], "b": [("p-2", True)]}).difference("a", "b") is None
    shown = render_live(found)
    assert [row[0] for row in shown["rows"]] == ["clone", "reinforce"]
    assert shown["difference_rows"][0][1] == "-75 points" and "<svg" in str(shown["curve"])
    assert found.to_json()["reinforce"]["requests"] == 3 and found.to_json()["reinforce"]["setters"] == 2
    assert found.curves()["clone"].share.tolist() == [0, 0, 0, 0, 0.5]  # by each second


def test_nothing_judged_gives_no_results() -> None:
    assert LiveResults.of([]) is None
