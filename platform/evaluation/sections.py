"""The sections of a report as HTML, in reading order; each says so where its stage has not run."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from interplay.evaluation import figures, findings, orderings
from interplay.evaluation.figures import Drawing
from interplay.evaluation.filmstrip import filmstrip_html, picture_html
from interplay.evaluation.findings import percent, span, times
from interplay.evaluation.material import Chance, ProbeResults, ReportMaterial, UtilityTrace

CHANCE_NOTE = (
    "What the same probes yield without listening. At rest: who does and says nothing. At random: who draws every "
    "movement, or says one of the right answers of the kind, each as often as it is right. Commonest answer: the one "
    "that is right most often."
)
LETTERS = "abcdefghijklmnopqrstuvwxyz"
Rows = Iterable[Sequence[str]]


def headline_section(material: ReportMaterial) -> str:
    """The big numbers."""
    cards = "".join(
        f'<article class="card{"" if found.number else " missing"}"><p class="label">{html.escape(found.label)}</p>'
        f'<p class="number">{html.escape(found.number or "not run")}</p><p>{html.escape(found.sentence)}</p></article>'
        for found in findings.headlines(material)
    )
    return f'<section class="cards">{cards}</section>'


def orderings_section(material: ReportMaterial) -> str:
    """What the method's paper found, and whether this run finds the same."""
    words = {1: "yes", -1: "no, the opposite", 0: "not clear", None: "not run"}
    rows = [(found.claim, words[found.verdict], found.seen) for found in orderings.orderings(material)]
    table = _table(("finding of the paper (arXiv 2211.11602)", "here", "seen"), rows)
    return _section("The paper's findings, and this run's", table)


def episodes_section(material: ReportMaterial) -> str:
    """Filmstrips."""
    body = "".join(filmstrip_html(strip) for strip in material.filmstrips)
    return _section("Episodes, as the solver saw them", body, "No episodes were recorded.")


def probes_section(material: ReportMaterial) -> str:
    """Success on each probe task, and the paired comparison (the paper's Fig. 5)."""
    probes = material.probes
    if probes is None or not probes.tasks:
        return _section("Success on probe tasks", "", "No agent was evaluated on probe tasks.")
    shares = findings.shares(probes)
    counts = sorted({share.n for bars in shares.values() for share in bars.values()})
    drawing = figures.grouped_bars(
        {
            probes.name(task): {probes.name(agent): share for agent, share in bars.items()}
            for task, bars in shares.items()
        },
        {probes.name(task): level.guessing for task, level in probes.chance.items()},
        "Success by task",
        f"Share of probe episodes solved within {_limits(probes)}; whiskers: Wilson's "
        f"95% interval; dashed: guessing; n = {_range(counts)} episodes a task, the same for every agent.",
    )
    return _section(
        "Success on probe tasks",
        _legend(probes) + _figures([drawing]) + _share_table(probes) + _comparison_table(probes),
    )


def speed_section(material: ReportMaterial) -> str:
    """Success against time (the paper's Fig. 6B)."""
    probes = material.probes
    if probes is None or not probes.tasks:
        return _section("Success against time", "", "No agent was evaluated on probe tasks.")
    drawings = []
    panels = {"All tasks": probes.tasks} if len(probes.tasks) > 1 else {}
    panels |= {probes.name(task): (task,) for task in probes.tasks}
    for title, tasks in panels.items():
        curves = findings.curves(probes, tasks)
        counts = sorted({curve.n for curve in curves.values()})
        drawings.append(figures.success_curves(
            {probes.name(agent): curve for agent, curve in curves.items()},
            title,
            f"n = {_range(counts)} episodes an agent; bands: Wilson's 95% interval at each step.",
        ))  # fmt: skip
    return _section("Success against time", _legend(probes, chance=False) + _figures(drawings))


def reward_curve_section(material: ReportMaterial) -> str:
    """Modelled return through reinforcement (the paper's Fig. 4)."""
    title = "Modelled return through reinforcement"
    if not material.reward_points:
        return _section(title, "", "Reinforcement has not run.")
    counts = sorted({len(sample) for point in material.reward_points for sample in (point.training, point.heldout)})
    drawing = figures.reward_curve(
        material.reward_points,
        "Return of an episode, as the reward model sees it",
        f"Means with bands of two standard errors; n = {_range(counts)} episodes a point.",
    )
    return _section(title, _figures([drawing]))


def utility_section(material: ReportMaterial) -> str:
    """Utility along single episodes, and the reward of answers (the paper's Fig. 3)."""
    traces = "".join(_trace(trace) for trace in material.traces)
    rewards = findings.answer_rewards(material)
    bars = ""
    if rewards:
        listed = ", ".join(f"{kind} n = {estimate.n}" for kind, estimate in rewards.items())
        bars = _figures([
            figures.reward_bars(
                rewards, "Reward after an answer", f"Mean reward of the step; whiskers: bootstrapped 95%; {listed}."
            )
        ])  # fmt: skip
    missing = "" if rewards else _missing("No answers have been scored.")
    body = traces + bars + missing if traces or bars else ""
    return _section("What the reward model thinks", body, "No reward model has scored an episode.")


def reward_model_section(material: ReportMaterial) -> str:
    """Agreement with raters and with the truth."""
    results = material.reward_model
    if results is None:
        return _section("How far the reward model can be trusted", "", "No reward model has been evaluated.")
    found = findings.reward_model_figures(results)
    pairs, swap = found.pair_accuracy, found.swap_loss
    table = _table(
        ("measure", "value", "95% interval", "n"),
        (
            (
                "pairs ordered as the rater marked them",
                percent(pairs.value),
                span(pairs, share=True),
                f"{pairs.n} episodes",
            ),
            ("AUC of return against true success", _number(found.auc), "", f"{len(results.returns)} episodes"),
            ("return lost to a swapped instruction", _number(swap.value), span(swap), f"{swap.n} episodes"),
        ),
    )
    success = results.success.astype(bool)
    samples = {"solved": results.returns[success], "failed": results.returns[~success]}
    drawings = [
        figures.histograms(
            {name: sample for name, sample in samples.items() if len(sample)},
            "Return, solved or failed",
            "modeled return",
            "Solved or failed in truth; held-out episodes.",
        ),
        figures.histograms(
            {"own instruction": results.returns, "swapped": results.swapped_returns},
            "Return, instruction swapped",
            "modeled return",
            "The same episodes, with the instruction of another episode.",
        ),
    ]
    return _section("How far the reward model can be trusted", table + _figures(drawings))


def learning_section(material: ReportMaterial) -> str:
    """Losses and other metrics, a block a stage."""
    body = "".join(
        f"<details{' open' if place == 0 else ''}><summary>{html.escape(stage)} ({len(metrics)} metrics)</summary>"
        + _figures([figures.learning_curve(name, curve) for name, curve in metrics.items()])
        + "</details>"
        for place, (stage, metrics) in enumerate(material.curves.items())
    )
    return _section("Learning curves", body, "No training has been recorded.")


def throughput_section(material: ReportMaterial) -> str:
    """Speed, and where the time went."""
    rows = [
        (
            item.stage,
            f"{item.steps_per_second:,.0f}",
            ", ".join(f"{part} {percent(share)}" for part, share in item.shares.items()),
        )
        for item in material.throughput
    ]
    body = _table(("stage", "steps a second", "share of time"), rows) if rows else ""
    return _section("Throughput", body, "No stage has been timed.")


def provenance_section(material: ReportMaterial) -> str:
    """What was run: stages, seeds, versions, machine, configuration."""
    total = sum(stage.seconds for stage in material.stages)
    rows = [
        (
            stage.name,
            _duration(stage.seconds),
            ", ".join(f"{key} {_cell(value)}" for key, value in stage.numbers.items()),
        )
        for stage in material.stages
    ]
    parts = [
        _table(("stage", "took", "numbers"), [*rows, ("all", _duration(total), "")]) if rows else _missing("No stage.")
    ]
    for title, pairs in (("Machine", material.machine), ("Seeds", material.seeds), ("Versions", material.versions)):
        if pairs:
            listed = _table(("", ""), [(key, str(value)) for key, value in pairs.items()])
            parts.append(f"<details><summary>{title}</summary>{listed}</details>")
    if material.config:
        parts.append(f"<details><summary>Configuration</summary><pre>{html.escape(material.config)}</pre></details>")
    return _section("What was run", "".join(parts))


SECTIONS: tuple[Callable[[ReportMaterial], str], ...] = (
    headline_section,
    orderings_section,
    episodes_section,
    probes_section,
    speed_section,
    reward_curve_section,
    utility_section,
    reward_model_section,
    learning_section,
    throughput_section,
    provenance_section,
)


def _trace(trace: UtilityTrace) -> str:
    lettered = list(zip(sorted(trace.pictures, key=lambda shot: shot[0]), LETTERS, strict=False))
    frames = "".join(
        picture_html(picture, f"{letter}  {row * trace.seconds_per_step:.1f} s") for (row, picture), letter in lettered
    )
    drawing = figures.utility_trace(
        trace,
        [(row, letter) for (row, _), letter in lettered],
        "",
        f"Utility U after each of {len(trace.utility) - 1} steps; the reward of a step is its rise. "
        f"{len(trace.marks)} marks by the rater"
        + ("; letters: where the pictures above were taken." if lettered else "."),
    )
    return (
        f'<article class="episode"><h3>{html.escape(trace.title)}</h3>'
        f'<p class="speech">“{html.escape(trace.instruction)}”</p>'
        f'<div class="strip">{frames}</div>{_figures([drawing])}</article>'
    )


def _share_table(probes: ProbeResults) -> str:
    shares = findings.shares(probes)
    agents = list(probes.success_step)
    rows = []
    for task, bars in shares.items():
        cells = [
            f"{percent(bars[agent].value)} ({100 * bars[agent].low:.0f}–{100 * bars[agent].high:.0f})"
            if agent in bars
            else "not run"
            for agent in agents
        ]
        counts = sorted({share.n for share in bars.values()})
        rows.append((probes.name(task), *cells, *_chance_cells(probes.chance.get(task)), _range(counts)))
    heads = (probes.name(agent) for agent in agents)
    return _table(("task", *heads, "at rest", "at random", "commonest answer", "n"), rows) + (
        f'<p class="caption">{CHANCE_NOTE}</p>' if probes.chance else ""
    )


def _chance_cells(chance: Chance | None) -> tuple[str, str, str]:
    if chance is None:
        return "–", "–", "–"
    commonest = f"{chance.commonest[0]}: {percent(chance.commonest[1])}" if chance.commonest else "–"
    return percent(chance.resting), percent(chance.random), commonest


def _limits(probes: ProbeResults) -> str:
    """The time limit, and those of the tasks that have others."""
    others = "".join(
        f"; {probes.name(task)}: {probes.limit(task) * probes.seconds_per_step:.1f} s"
        for task in probes.tasks
        if probes.limit(task) != probes.steps
    )
    return f"{probes.steps * probes.seconds_per_step:.1f} s{f' ({others[2:]})' if others else ''}"


def _comparison_table(probes: ProbeResults) -> str:
    candidate, baseline = probes.name(probes.candidate), probes.name(probes.baseline)
    joint = findings.joint_comparison(probes)
    single = [findings.compare(probes, (task,)) for task in probes.compared]
    found = list({item.tasks: item for item in (*single, joint) if item is not None}.values())
    if not found:
        return _missing(f"{candidate} and {baseline} have not both been evaluated.")
    rows = [
        (
            " + ".join(probes.name(task) for task in item.tasks),
            times(item.ratio.value),
            span(item.ratio),
            f"{100 * item.difference.value:+.0f} points",
            span(item.difference, points=True),
            f"{item.p_value:.2g}",
            str(item.difference.n),
        )
        for item in found
    ]
    head = (
        "task",
        f"{candidate} / {baseline}",
        "95% interval",
        f"{candidate} − {baseline}",
        "95% interval",
        "p",
        "pairs",
    )
    note = (
        "Paired bootstrap over the same episodes, each task resampled on its own; p: exact sign test over the episodes "
        "that only one of the two solves. A difference counts as clear where both say so."
    )
    return (
        f"<h3>{html.escape(candidate)} against {html.escape(baseline)}</h3>"
        + _table(head, rows)
        + f'<p class="caption">{note}</p>'
    )


def _legend(probes: ProbeResults, *, chance: bool = True) -> str:
    keys = "".join(
        f'<span class="key"><i style="background:{color}"></i>{html.escape(probes.name(agent))}</span>'
        for agent, color in zip(probes.success_step, figures.COLORS, strict=False)
    )
    guessing = '<span class="key"><i class="dashed"></i>guessing</span>' if chance and probes.chance else ""
    return f'<p class="legend">{keys}{guessing}</p>'


def _section(title: str, body: str, missing: str = "") -> str:
    return f"<section><h2>{html.escape(title)}</h2>{body or _missing(missing)}</section>"


def _missing(sentence: str) -> str:
    return f'<p class="missing"><b>Not run.</b> {html.escape(sentence)}</p>'


def _figures(drawings: Sequence[Drawing]) -> str:
    cells = "".join(
        f'<figure class="plot{" wide" if drawing.wide else ""}">{drawing.svg}'
        + (f"<figcaption>{html.escape(drawing.caption)}</figcaption>" if drawing.caption else "")
        + "</figure>"
        for drawing in drawings
    )
    return f'<div class="plots">{cells}</div>'


def _table(head: Sequence[str], rows: Rows) -> str:
    cells = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
    top = f"<thead><tr>{cells}</tr></thead>" if any(head) else ""
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table>{top}<tbody>{body}</tbody></table></div>'


def _cell(value: float | int | str) -> str:
    if isinstance(value, float | np.floating):
        return _number(float(value))
    return f"{value:,}" if isinstance(value, int) else str(value)


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _range(counts: Sequence[int]) -> str:
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}" if counts else "0"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{seconds:.1f} s"
