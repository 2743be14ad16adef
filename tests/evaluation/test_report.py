"""The report: its page is self-contained and says what is missing, and its summary is strict JSON."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from report_material import material, picture, probes, reward_model

from interplay.evaluation import findings, orderings
from interplay.evaluation.figures import COLORS, learning_curve
from interplay.evaluation.filmstrip import evenly_spaced_rows, make_filmstrip
from interplay.evaluation.probe_player import Film
from interplay.evaluation.probes import Probe, ProbeResult
from interplay.evaluation.report import computed_results as results_of
from interplay.evaluation.report import to_json, write_report
from interplay.evaluation.report_data import (
    ChanceLevel,
    Filmstrip,
    MetricCurve,
    ProbeResults,
    ReportData,
    RewardPoint,
    StageRecord,
    StageThroughput,
    UtilityTrace,
    title_of,
)
from interplay.evaluation.report_page import render_page
from interplay.evaluation.report_tables import measure_table

VOID = {"meta", "img", "br", "path", "use", "rect", "line"}


class Balance(HTMLParser):
    """Records the open tags and everything that would make a browser load from the network."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.outside: list[str] = []
        self.pictures = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag != "script"
        for key, value in attrs:
            if key in ("src", "href", "xlink:href") and value and not value.startswith(("data:", "#")):
                self.outside.append(value)
        self.pictures += tag == "img"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "use":
            assert dict(attrs)["xlink:href"]

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


@pytest.fixture(scope="module")
def whole() -> str:
    return render_page(material())


def test_episodes_whose_success_is_unknown_do_not_count_as_failed() -> None:
    known = reward_model()
    unknown = [
        replace(known, success=np.where(np.arange(20) == 0, np.nan, known.success)),
        replace(known, success=np.full(20, np.nan)),
    ]
    assert [findings.reward_model_figures(each).auc.value for each in (known, unknown[0])] == [1.0, 1.0]
    assert math.isnan(findings.reward_model_figures(unknown[1]).auc.value)
    pages = [render_page(replace(material(), reward_model=each)) for each in (known, *unknown)]
    truth = "<td>AUC of return against true success</td>"
    rows = [page[page.index(truth) :].partition("</tr>")[0] for page in pages]
    assert "<td>0.72 to 1.00</td>" in rows[0], "Wilson's over the 10 solved ones"
    assert ["20 episodes" in rows[0], "19 episodes" in rows[1], "0 episodes" in rows[2]] == [True] * 3
    assert "failed (n = 9)" in pages[1] and "Return, solved or failed" not in pages[2]


def test_the_page_is_balanced_and_loads_nothing_from_the_network(whole: str) -> None:
    reader = Balance()
    reader.feed(whole)
    assert reader.open == []
    assert reader.outside == []
    assert reader.pictures == 3
    assert "url(http" not in whole
    assert "@import" not in whole


@pytest.mark.parametrize(
    ("kind", "printed"), [("place_near", "Place near"), ("Repeat3V1L", "Repeat3V1L"), ("go", "Go"), ("", "")]
)
def test_a_kind_of_task_keeps_its_capitals(kind: str, printed: str) -> None:
    assert title_of(kind) == printed


def test_utterances_are_escaped(whole: str) -> None:
    assert "lift the &lt;b&gt;ball&lt;/b&gt;" in whole
    assert "<b>ball" not in whole
    assert "A &lt;run&gt; &amp; more" in whole
    assert "Settings of clone" in whole and "&lt;nano&gt;" in whole


def test_a_script_in_any_text_is_inert() -> None:
    attack = "<img src=x onerror=alert(1)>"
    strip = Filmstrip(attack, attack, attack, [picture(9)], [attack])
    trace = UtilityTrace(attack, attack, np.array([0.0, 1.0]), 0.5, said=[(1, attack)], pictures=[(0, picture(1))])
    named = replace(
        probes(0.4, 0.8), names={"go": attack, "BC": attack}, chance={"go": ChanceLevel(0, 0.1, {attack: 0.5})}
    )
    shown = render_page(
        ReportData(
            title=attack,
            settings={attack: attack},
            filmstrips=[strip],
            traces=[trace],
            probes=named,
            answer_rewards={attack: [0.5]},
            stages=[StageRecord(attack, 1.0, {attack: attack})],
            machine={attack: attack},
            curves={attack: {attack: MetricCurve(np.arange(3.0), np.arange(3.0))}},
            throughput=[StageThroughput(attack, 1.0)],
        )
    )
    assert "<img src=x" not in shown
    assert shown.count("&lt;img src=x onerror=alert(1)&gt;") > 20


@pytest.mark.parametrize(
    ("seconds", "told"), [(9.96, "10.0 s"), (125.0, "2 min 05 s"), (3600.0, "1 h 00 min"), (4e6, "1,111 h 06 min")]
)
def test_durations_are_in_units_of_their_size(seconds: float, told: str) -> None:
    page = render_page(ReportData(stages=[StageRecord("reinforce", seconds, {})]))
    assert f">{told}<" in page


def test_a_slow_stage_is_not_said_to_make_no_steps() -> None:
    rates = [StageThroughput("clone", 0.34), StageThroughput("collect", 4.6), StageThroughput("reward", 81234.4)]
    page = render_page(ReportData(throughput=rates))
    assert all(f">{told}<" in page for told in ("0.34", "4.6", "81,234"))


@pytest.mark.parametrize(("values", "is_marked"), [([0.5], True), ([0.5, 0.7], False)])
def test_a_curve_of_a_single_value_shows_a_point(values: list[float], is_marked: bool) -> None:
    curve = MetricCurve(np.arange(float(len(values))), np.array(values))
    assert (f"fill: {COLORS[0]}" in learning_curve("heldout_listening", curve).svg) == is_marked


def test_figures_take_their_ink_from_the_page(whole: str) -> None:
    assert "var(--ink)" in whole
    assert "#102030" not in whole
    assert "#c0d0e0" not in whole


def test_every_section_of_an_empty_report_says_so() -> None:
    empty = render_page(ReportData())
    assert empty.count("Not run.") == 11
    assert empty.count('class="card missing"') == 6
    assert all(found.verdict is None for found in orderings.orderings(ReportData()))


def test_a_world_without_pictures_and_words_has_none_to_show() -> None:
    mute = replace(probes(0.4, 0.8), pairs={})
    page = render_page(ReportData(probes=mute, shows_pictures=False, says_tasks=False))
    assert "This world has no pictures." in page and "the solver hears no tasks" in page
    assert not any(text in page for text in ("No agent was evaluated", "was filmed", "counterfactuals"))


def test_probes_without_films_and_other_words_are_not_said_to_be_missing() -> None:
    page = render_page(ReportData(probes=replace(probes(0.4, 0.8), pairs={})))
    assert "No probe episode of BC or BC+RL was filmed." in page
    assert "evaluate.counterfactuals=0, no task differs from a probe&#39;s own, or" in page
    assert "No agent was evaluated" not in page


def test_ten_agents_have_ten_colors() -> None:
    """As many as the run of a seed of `interplay orderings` has."""
    steps = {f"agent{number}": {"go": np.array([1.0, np.nan])} for number in range(10)}
    page = render_page(ReportData(probes=ProbeResults(steps, steps=4, seconds_per_step=0.5)))
    keys = re.findall(r'class="key"><i style="background:(#\w+)"></i>(agent\d)', page)
    assert len({color for color, _ in keys}) == len({agent for _, agent in keys}) == 10


def test_a_full_report_has_every_section(whole: str) -> None:
    assert "Not run." not in whole
    assert "not run" not in whole


def test_what_tasks_measure_has_a_row_per_kind_and_measure_and_a_cell_per_agent() -> None:
    f1 = {"end": 0.25, "low": 0.125, "high": 0.5, "n": 40, "best": 0.5}
    once = {"end": 12.0, "n": 1, "best": 12.0}
    random = {"end": 3.0, "low": 2.0, "high": 4.0, "n": 40, "best": 3.0}
    table = measure_table(
        {"BC": {"row": {"f1": f1}}, "BC+RL": {"row": {"f1": f1}, "mission": {"return": once}}},
        {"mission": ChanceLevel(0.0, 0.0, measures={"random": {"return": random}}), "row": ChanceLevel(0.0, 0.0)},
    )
    assert table.head == ("task", "measure", "BC", "BC+RL", "at rest", "at random", "n")
    assert table.rows == [
        ("Row", "f1", *["0.25 (0.12 to 0.50), best 0.50"] * 2, "–", "–", "40"),
        ("Mission", "return", "not run", "12.00", "–", "3.00 (2.00 to 4.00)", "1"),
    ]
    assert "What the tasks measure" not in render_page(ReportData())


def test_material_that_does_not_fit_together_is_refused() -> None:
    with pytest.raises(ValueError, match="1 pictures and 2 captions"):
        Filmstrip("A", "go", "solved", [picture(1)], ["0 s", "1 s"])
    with pytest.raises(ValueError, match="got 20, 20, 20, 20 and 3"):
        replace(reward_model(), swapped_returns=np.zeros(3))


def test_probe_results_refuse_unpaired_episodes() -> None:
    with pytest.raises(ValueError, match=r"'go': \[1, 2\]"):
        ProbeResults({"BC": {"go": np.zeros(1)}, "BC+RL": {"go": np.zeros(2)}}, steps=3, seconds_per_step=1.0)


def test_the_summary_has_the_return_measured_before_the_first_update() -> None:
    points = [RewardPoint(0, np.zeros(0), np.array([1.0, 2.0])), RewardPoint(9, np.ones(4), np.ones(2))]
    assert "n = 2 to 4 episodes a point" in render_page(ReportData(reward_points=points)), "no point has no episodes"
    assert "n = 1 episode a point" in render_page(ReportData(reward_points=[RewardPoint(0, np.zeros(0), np.ones(1))]))
    below = [RewardPoint(0, np.zeros(0), np.full(2, -0.001)), RewardPoint(9, np.ones(4), np.full(2, -0.002))]
    assert "0.00 → 0.00" in (page := render_page(ReportData(reward_points=below))) and "-0.00 →" not in page
    found = results_of(ReportData(reward_points=points))["modeled_return"]
    assert found == [{"update": 0, "training": None, "heldout": 1.5}, {"update": 9, "training": 1.0, "heldout": 1.0}]


def test_the_summary_holds_the_same_numbers_and_is_strict_json(tmp_path: Path, whole: str) -> None:
    path = write_report(tmp_path / "run", {"seed": np.int64(7), "worst": math.inf}, material())
    text = (tmp_path / "run" / "summary.json").read_text(encoding="utf-8")
    summary = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    written = path.read_text(encoding="utf-8")
    assert written.startswith("<!doctype html>")
    assert written == whole, "the same material writes the same page"
    assert (summary["seed"], summary["worst"]) == (7, None)
    assert summary["results"]["joint"]["ratio"]["value"] == pytest.approx(2)
    assert summary["results"]["reward_model"]["pair_accuracy"]["value"] == pytest.approx(0.8)
    assert summary["results"]["reward_model"]["auc"]["value"] == 1
    assert [file.name for file in sorted(path.parent.iterdir())] == ["report.html", "summary.json"]


def test_the_summary_refuses_a_key_it_computes_itself(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'results'"):
        write_report(tmp_path, {"results": 1}, ReportData())


def test_plain_refuses_values_without_json() -> None:
    with pytest.raises(ValueError, match="got set"):
        to_json({"tags": {1}})


def test_a_film_becomes_a_strip_from_its_first_to_its_last_picture() -> None:
    probe = Probe("color", 3, 11, {"kind": "color"}, 10)
    film = Film(probe, [picture(level) for level in range(11)])
    with pytest.raises(ValueError, match="color 3 has not been played"):
        make_filmstrip(film, title="A", seconds_per_step=0.5)
    film.result = ProbeResult("color", 3, 11, "what color is the cup", 6, ("red",), 10)  # held for 4 steps
    strip = make_filmstrip(film, title="A", seconds_per_step=0.5, frames=3)
    assert [int(shot[0, 0, 0]) for shot in strip.pictures] == [0, 5, 10]
    assert list(strip.captions) == ["0.0 s", "2.5 s", "5.0 s"]
    assert strip.outcome == "solved at 3.0 s, said “red”"
    short = make_filmstrip(film, title="A", seconds_per_step=0.05, frames=4)
    assert (list(short.captions), short.outcome[:16]) == (["0.00 s", "0.15 s", "0.35 s", "0.50 s"], "solved at 0.30 s")
    assert evenly_spaced_rows(2, 8) == [0, 1]


def test_the_training_of_each_kind_of_task_has_a_row(whole: str) -> None:
    for cell in ("count", "1,234", "25% → 50%", "100% → 75%", "-0.1 → –"):
        assert f"<td>{cell}</td>" in whole, cell


def test_the_report_shows_each_tasks_score_without_listening() -> None:
    levels = {
        "go": ChanceLevel(0.02, 0.31, draws=5, interval=(0.25, 0.37)),
        "lift": ChanceLevel(0.0, 0.4, {"yes": 0.55, "no": 0.45}),
    }
    results = replace(probes(0.4, 0.8), chance=levels, limits={"lift": 24})
    shown = render_page(ReportData(probes=results))
    assert "<th>at rest</th><th>at random</th><th>commonest answer</th>" in shown
    assert '<td>2%</td><td>31% <span class="whole">(25–37)</span></td><td>–</td>' in shown
    assert ".whole { white-space: nowrap; }" in shown, "the interval stays on its line"
    assert "<td>0%</td><td>40%</td><td>yes: 55%</td>" in shown
    assert "solved within 5.0 s (Lift: 12.0 s)" in shown
    written = to_json(results_of(ReportData(probes=results)))
    assert written["chance"]["lift"]["answers"] == {"yes": 0.55, "no": 0.45}
    assert written["chance"]["go"] == {
        "resting": 0.02, "random": 0.31, "answers": {}, "draws": 5, "interval": [0.25, 0.37], "hold": 0, "limit": 0,
        "probes": "", "measures": {}, "world_version": 0,
    }  # fmt: skip
