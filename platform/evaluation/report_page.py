"""The report as one HTML document: fills `templates/report.html.j2` with tables and figures of the results."""

from __future__ import annotations

import base64
import io
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from PIL import Image as Pillow

from interplay.core.counted import counted
from interplay.env.arrays import Image
from interplay.evaluation import figures, findings, orderings
from interplay.evaluation.estimates import Estimate
from interplay.evaluation.figures import SvgFigure
from interplay.evaluation.filmstrip import step_time
from interplay.evaluation.headlines import headlines, percent, span, times, with_interval
from interplay.evaluation.report_data import (
    LEARNED,
    ChanceLevel,
    KindTraining,
    ProbeResults,
    ReportData,
    RewardModelResults,
    UtilityTrace,
)
from interplay.evaluation.report_tables import (
    DASH,
    answer_rows,
    difference_cells,
    free_play_rows,
    legend,
    listening_rows,
    measure_table,
    render_judged,
    render_live,
    render_scenarios,
    request_kind_table,
    round_table,
)

FRAME_LETTERS = "abcdefghijklmnopqrstuvwxyz"
INTERVAL = re.compile(r"\d+% \(\d+–\d+\)")  # as `with_interval` writes it; its dash would be a place to break the line
VERDICTS = {1: "yes", -1: "no, the opposite", 0: "not clear", None: "not run"}


def render_page(data: ReportData) -> str:
    """Renders the whole report, without scripts and without requests to the network.

    Every text is escaped (Jinja's autoescape), because instructions and answers are written by people.
    """
    probes = data.probes
    return page_environment().get_template("report.html.j2").render(
        data=data,
        headlines=headlines(data),
        orderings=[(found.claim, VERDICTS[found.verdict], found.seen) for found in orderings.orderings(data)],
        probes=_probes(probes) if probes is not None and probes.tasks else None,
        measures=measure_table(data.measures, probes.chance if probes is not None else {}) if data.measures else None,
        rounds=_probes(data.rounds) if data.rounds is not None else None,
        round_table=round_table(data.round_records, data.rounds) if data.round_records else None,
        free_play=free_play_rows(data.free_play),
        request_kinds=request_kind_table(data.free_play_kinds),
        scenarios=render_scenarios(data.scenarios) if data.scenarios is not None else None,
        judged=render_judged(data.judged) if data.judged is not None else None,
        live=render_live(data.live) if data.live is not None else None,
        reward_curve=_reward_curve(data),
        kind_rows=[_kind_row(each) for each in data.kinds],
        traces=[_trace(trace) for trace in data.traces],
        learned_reward=data.reward_source == LEARNED or data.reward_model is not None,
        answers=answer_bars(findings.answer_rewards(data.answer_rewards)),
        reward_model=_reward_model(data.reward_model) if data.reward_model is not None else None,
        learning={
            stage: [figures.learning_curve(name, curve) for name, curve in metrics.items()]
            for stage, metrics in data.curves.items()
            if metrics
        },
        throughput=[(item.stage, _number(item.steps_per_second)) for item in data.throughput],
        stages=_stages(data),
    )  # fmt: skip


def png_url(picture: Image) -> str:
    """A uint8 [H, W, 3] picture as a PNG in a data URL, at its own size; the browser enlarges it."""
    file = io.BytesIO()
    Pillow.fromarray(picture).save(file, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode("ascii")


def page_environment() -> Environment:
    """The templates of pages, in which every text is escaped."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["png_url"] = png_url
    environment.tests["interval"] = lambda cell: INTERVAL.fullmatch(str(cell)) is not None
    return environment


def _probes(probes: ProbeResults) -> dict[str, Any]:
    agents = list(probes.success_step)
    return {
        "chance": probes.chance,
        "candidate": probes.name(probes.candidate),
        "baseline": probes.name(probes.baseline),
        "legend": legend(map(probes.name, agents)),
        "bars": _success_bars(probes),
        "curves": _success_curves(probes),
        "share_head": (
            "task", *map(probes.name, agents), "at rest", "at random", "commonest answer", "n",
        ),
        "share_rows": _share_rows(probes),
        "comparison_rows": _comparison_rows(probes),
        "listening_rows": listening_rows(probes),
        "answer_rows": answer_rows(probes),
    }  # fmt: skip


def _success_bars(probes: ProbeResults) -> SvgFigure:
    shares = findings.shares(probes)
    counts = [share.n for bars in shares.values() for share in bars.values()]
    return figures.grouped_bars(
        {
            probes.name(task): {probes.name(agent): share for agent, share in bars.items()}
            for task, bars in shares.items()
        },
        {probes.name(task): level.best_guess for task, level in probes.chance.items()},
        "Success by task",
        f"Share of probe episodes solved within {_limits(probes)}{_held(probes)}; whiskers: Wilson's "
        f"95% interval; dashed: guessing; n = {_episodes(counts)} a task, the same for every agent.",
    )


def _success_curves(probes: ProbeResults) -> list[SvgFigure]:
    panels = {"All tasks": probes.tasks} if len(probes.tasks) > 1 else {}
    panels |= {probes.name(task): (task,) for task in probes.tasks}
    drawings = []
    for title, tasks in panels.items():
        curves = findings.curves(probes, tasks)
        drawings.append(figures.success_curves(
            {probes.name(agent): curve for agent, curve in curves.items()},
            title,
            f"n = {_episodes([curve.n for curve in curves.values()])} an agent; bands: Wilson's 95% interval at "
            "each step.",
        ))  # fmt: skip
    return drawings


def _share_rows(probes: ProbeResults) -> list[tuple[str, ...]]:
    rows = []
    for task, bars in findings.shares(probes).items():
        cells = [with_interval(bars[agent]) if agent in bars else "not run" for agent in probes.success_step]
        counts = [share.n for share in bars.values()]
        rows.append((probes.name(task), *cells, *_chance_cells(probes.chance.get(task)), _range(counts)))
    return rows


def _chance_cells(chance: ChanceLevel | None) -> tuple[str, str, str]:
    if chance is None:
        return DASH, DASH, DASH
    moving = percent(chance.random)
    if chance.interval is not None:
        moving = with_interval(Estimate(chance.random, *chance.interval, n=0))
    answer = chance.most_common_answer
    return percent(chance.resting), moving, DASH if answer is None else f"{answer[0]}: {percent(answer[1])}"


def _comparison_rows(probes: ProbeResults) -> list[tuple[str, ...]]:
    """Candidate against baseline: each task on its own, then the joint movement tasks."""
    single = [findings.compare(probes, (task,)) for task in probes.compared]
    found = {item.tasks: item for item in (*single, findings.joint_comparison(probes)) if item is not None}
    return [
        (
            " + ".join(probes.name(task) for task in item.tasks),
            times(item.ratio.value),
            span(item.ratio),
            difference,
            interval,
            f"{item.p_value:.2g}",
            pairs,
        )
        for item in found.values()
        for difference, interval, pairs in [difference_cells(item.difference)]
    ]


def _limits(probes: ProbeResults) -> str:
    """The common time limit, and those of the tasks whose limit differs."""
    others = "; ".join(
        f"{probes.name(task)}: {probes.limit(task) * probes.seconds_per_step:.1f} s"
        for task in probes.tasks
        if probes.limit(task) != probes.steps
    )
    return f"{probes.steps * probes.seconds_per_step:.1f} s{f' ({others})' if others else ''}"


def _held(probes: ProbeResults) -> str:
    return f", and held for {probes.hold * probes.seconds_per_step:.1f} s unless a question" if probes.hold else ""


def _reward_curve(data: ReportData) -> SvgFigure | None:
    if not data.reward_points:
        return None
    samples = [sample for point in data.reward_points for sample in (point.training, point.heldout)]
    counts = [len(sample) for sample in samples if len(sample)]  # no point is drawn without episodes
    return figures.reward_curve(
        data.reward_points,
        f"Return of an episode, given by {data.reward_source}",
        f"Means with bands of two standard errors; n = {_episodes(counts)} a point.",
    )


def _kind_row(kind: KindTraining) -> tuple[str, ...]:
    answered = DASH if kind.answered is None else " → ".join(map(percent, kind.answered))
    returns = " → ".join(map(_number, kind.returns))
    return kind.kind, f"{kind.tasks:,}", " → ".join(map(percent, kind.success)), answered, returns


def _trace(trace: UtilityTrace) -> dict[str, Any]:
    pictures = sorted(trace.pictures, key=lambda shot: shot[0])
    lettered = list(zip(pictures, FRAME_LETTERS, strict=False))
    drawing = figures.utility_trace(
        trace,
        [(row, letter) for (row, _), letter in lettered],
        f"Utility U after each of {counted(len(trace.utility) - 1, 'step')}; the reward of a step is its rise. "
        f"{counted(len(trace.marks), 'mark')} by the rater"
        + ("; letters: where the pictures above were taken." if lettered else "."),
    )
    frames = [(picture, f"{letter}  {step_time(row, trace.seconds_per_step)}") for (row, picture), letter in lettered]
    return {"title": trace.title, "instruction": trace.instruction, "frames": frames, "drawing": drawing}


def answer_bars(rewards: Mapping[str, Estimate], of_which: str = "") -> SvgFigure | None:
    """The mean reward by kind of answer; None without answers. `of_which` names the step in the caption."""
    listed = ", ".join(f"{kind} n = {estimate.n}" for kind, estimate in rewards.items())
    caption = f"Mean reward of the step{of_which}; whiskers: Student's 95% interval; {listed}."
    return figures.reward_bars(rewards, "Reward after an answer", caption) if rewards else None


def _reward_model(results: RewardModelResults) -> dict[str, Any]:
    found = findings.reward_model_figures(results)
    pairs, auc, swap = found.pair_accuracy, found.auc, found.swap_loss
    samples = {
        name: sample
        for name, done in (("solved", 1), ("failed", 0))
        if len(sample := results.returns[results.success == done])
    }
    rows = [
        (
            "pairs ordered as the rater marked them",
            percent(pairs.value),
            span(pairs, share=True),
            counted(pairs.n, "episode"),
        ),
        (
            "AUC of return against true success",
            _number(auc.value),
            span(auc),
            counted(auc.n, "episode"),
        ),
    ]
    histograms = []
    if samples:
        caption = "Solved or failed in truth; held-out episodes."
        histograms.append(figures.return_histograms(samples, "Return, solved or failed", caption))
    if swap is not None and (both := results.under_both) is not None:
        rows.append(
            ("return lost to a swapped instruction", _number(swap.value), span(swap), counted(swap.n, "episode"))
        )
        histograms.append(
            figures.return_histograms(
                dict(zip(("own instruction", "swapped"), both, strict=True)),
                "Return, instruction swapped",
                "The same episodes, with the instruction of another episode.",
            )
        )
    return {"rows": rows, "histograms": histograms}


def _stages(data: ReportData) -> list[tuple[str, str, str]]:
    rows = [
        (
            stage.name,
            _duration(stage.seconds) + ", not finished" * (not stage.finished),
            ", ".join(f"{key} {_cell(value)}" for key, value in stage.numbers.items()),
        )
        for stage in data.stages
    ]
    return [*rows, ("all", _duration(sum(stage.seconds for stage in data.stages)), "")] if rows else []


def _cell(value: float | int | str) -> str:
    if isinstance(value, float | np.floating):
        return _number(float(value))
    return f"{value:,}" if isinstance(value, int) else str(value)


def _number(value: float) -> str:
    return DASH if math.isnan(value) else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _range(counts: Sequence[int]) -> str:
    """Sample sizes as text: "50", or "48 to 50" where they differ."""
    low, high = min(counts, default=0), max(counts, default=0)
    return str(low) if low == high else f"{low} to {high}"


def _episodes(counts: Sequence[int]) -> str:
    return f"{_range(counts)} episode{'s' * (set(counts) != {1})}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60:,} h {minutes % 60:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{seconds:.1f} s"
