"""The report's figures as SVG text; ink and grid colors are CSS variables of the page.

Each figure has one axes, so that the page can arrange the figures for narrow and wide screens. Nothing here uses pyplot
or other process-wide state.
"""

from __future__ import annotations

import html
import io
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from interplay.env.arrays import Float64Array
from interplay.evaluation.estimates import Estimate, SuccessCurve
from interplay.evaluation.metric_curves import smoothed
from interplay.evaluation.report_data import MetricCurve, RewardPoint, UtilityTrace

# Okabe and Ito's color-blind safe palette, lightened for dark pages, and further ones for runs with many agents
COLORS = (
    *("#3d8fd1", "#e0722a", "#1fa67a", "#c779a8", "#c99a1e", "#8b8b8b"),
    *("#7a5cc4", "#8f4b2e", "#35bccb", "#9ab02c", "#d1495b", "#4a5f9e"),
)
HIGHEST_SHARE = 1.05  # where an axis of shares ends
MAX_UTTERANCE_CHARACTERS = 32  # shown on a utility trace
LINE_STYLES = ("solid", "solid", (0, (5, 2)), (0, (1, 1.5)), (0, (4, 1, 1, 1)), (0, (2, 2)))
POSITIVE, NEGATIVE = COLORS[2], "#d1495b"
_INK, _GRID = "#102030", "#c0d0e0"  # placeholders, replaced by the page's CSS variables
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text: small files, sharp, searchable, accessible
    "svg.hashsalt": "interplay",  # the same data gives the same file
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "axes.edgecolor": _GRID,
    "axes.facecolor": "none",
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 9.5,
    "grid.color": _GRID,
    "grid.linewidth": 0.6,
    "xtick.color": _GRID,
    "ytick.color": _GRID,
    "xtick.labelcolor": _INK,
    "ytick.labelcolor": _INK,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 1.8,
    "errorbar.capsize": 2.5,
}


@dataclass(frozen=True)
class SvgFigure:
    """An SVG figure with its caption; `wide` figures take the whole width of the page."""

    svg: str
    caption: str
    wide: bool = False


def grouped_bars(
    groups: Mapping[str, Mapping[str, Estimate]],
    chance: Mapping[str, float],
    title: str,
    caption: str,
    lowest: float = 0.0,
    legend: bool = False,
    axis: str = "success",
) -> SvgFigure:
    """Shares as bars: one group per task, one bar per agent, whiskers for intervals, a line for guessing.

    The axis starts at `lowest`, below 0 for differences of shares. `legend` names the agents in the figure itself. The
    caption states if an interval is longer than the axis.
    """
    agents = list(dict.fromkeys(agent for bars in groups.values() for agent in bars))
    width = 0.8 / max(len(agents), 1)

    def draw(axes: Axes) -> None:
        for place, (task, bars) in enumerate(groups.items()):
            for slot, agent in enumerate(agents):
                if agent in bars:
                    at = place + (slot - (len(agents) - 1) / 2) * width
                    _bar(axes, at, width * 0.9, bars[agent], COLORS[slot % len(COLORS)], agent if place == 0 else "")
            if task in chance:
                axes.hlines(chance[task], place - 0.45, place + 0.45, color=_INK, linestyle=(0, (2, 2)), linewidth=1.2)
        _name_places(axes, list(groups))
        axes.set_ylim(lowest, HIGHEST_SHARE)
        _label(axes, None, axis, shares=True)
        if legend:
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=len(agents))

    found = [estimate for bars in groups.values() for estimate in bars.values()]
    cut = any(estimate.high > HIGHEST_SHARE or estimate.low < lowest for estimate in found)
    longer = " Whiskers without an end go on outside the frame." if cut else ""
    return SvgFigure(_svg(draw, title, wide=True), caption + longer, wide=True)


def differences(values: Mapping[str, Estimate], title: str, axis: str, caption: str) -> SvgFigure:
    """One row per name: a difference as a point with its interval, and a line at 0."""

    def draw(axes: Axes) -> None:
        axes.axvline(0, color=_INK, linewidth=0.9)
        for place, found in enumerate(values.values()):
            clear = found.low < found.high and found.excludes_zero  # without an interval nothing is clear
            color = _INK if not clear else POSITIVE if found.value > 0 else NEGATIVE
            axes.plot([found.low, found.high], [place, place], color=color, linewidth=1.2)
            axes.plot([found.value], [place], "o", color=color, markersize=5)
        axes.set_yticks(range(len(values)), list(values))
        axes.set_ylim(len(values) - 0.5, -0.5)
        axes.grid(visible=True, axis="x")
        axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        axes.set_xlabel(axis)

    return SvgFigure(_svg(draw, title, wide=True, height=0.9 + 0.22 * len(values)), caption, wide=True)


def success_curves(curves: Mapping[str, SuccessCurve], title: str, caption: str) -> SvgFigure:
    """The share of episodes solved against time, one line per agent, with the band of its interval."""

    def draw(axes: Axes) -> None:
        for slot, (agent, curve) in enumerate(curves.items()):
            color, style = COLORS[slot % len(COLORS)], LINE_STYLES[slot % len(LINE_STYLES)]
            axes.fill_between(curve.seconds, curve.low, curve.high, step="post", color=color, alpha=0.16, linewidth=0)
            axes.step(curve.seconds, curve.share, where="post", color=color, linestyle=style, label=agent)
        axes.set_ylim(0, 1.02)
        axes.set_xlim(left=0)
        _label(axes, "time since the start of the episode (s)", "solved by then", shares=True)

    return SvgFigure(_svg(draw, title), caption)


def reward_curve(points: Sequence[RewardPoint], title: str, caption: str) -> SvgFigure:
    """Mean return against updates, with bands of two standard errors."""
    updates = np.array([point.update for point in points], np.float64)
    lines = {"training": [point.training for point in points], "held-out": [point.heldout for point in points]}

    def draw(axes: Axes) -> None:
        for slot, (name, samples) in enumerate(lines.items()):
            kept = [place for place, sample in enumerate(samples) if len(sample)]
            if not kept:
                continue
            _means(
                axes, updates[kept], [samples[place] for place in kept], color=COLORS[slot], marker="os"[slot],
                linestyle=LINE_STYLES[2 * slot], label=f"{name} episodes",
            )  # fmt: skip
        axes.axhline(0, color=_GRID, linewidth=1)
        _label(axes, "updates of reinforcement", "return of an episode", integers=True)
        axes.legend(loc="best")

    return SvgFigure(_svg(draw, title, wide=True), caption, wide=True)


def seed_curves(
    curves: Mapping[str, Sequence[tuple[int, float]]], title: str, axes_names: tuple[str, str], caption: str
) -> SvgFigure:
    """A value against updates, one line for each seed; `axes_names`: horizontal, vertical."""

    def draw(axes: Axes) -> None:
        for slot, (name, points) in enumerate(curves.items()):
            color, style = COLORS[slot % len(COLORS)], LINE_STYLES[slot % len(LINE_STYLES)]
            axes.plot(*zip(*points, strict=True), color=color, linestyle=style, marker="o", markersize=3.5, label=name)
        axes.axhline(0, color=_GRID, linewidth=1)
        _label(axes, *axes_names, integers=True)
        axes.legend(loc="best")

    return SvgFigure(_svg(draw, title, wide=True), caption, wide=True)


def utility_trace(trace: UtilityTrace, letters: Sequence[tuple[int, str]], caption: str) -> SvgFigure:
    """Utility along one episode; triangles for marks, flags for utterances, letters at the pictures' times."""
    seconds = np.arange(len(trace.utility)) * trace.seconds_per_step

    def draw(axes: Axes) -> None:
        axes.plot(seconds, trace.utility, color=COLORS[0])
        for sign, shape, color, label in (
            (1, "^", POSITIVE, "marked as progress"),
            (-1, "v", NEGATIVE, "marked as a slip"),
        ):
            rows = [row for row, given in trace.marks if given == sign]
            if rows:
                axes.plot(
                    seconds[rows], trace.utility[rows], shape, color=color, markersize=8, linestyle="none", label=label
                )
        for row, text in trace.said:
            axes.axvline(seconds[row], color=COLORS[3], linewidth=1.2, linestyle=(0, (4, 2)))
            spoken = textwrap.shorten(text, MAX_UTTERANCE_CHARACTERS, placeholder=" …")
            axes.annotate(
                f"“{spoken}”", (seconds[row], 1), xycoords=("data", "axes fraction"), xytext=(-4, -2), color=COLORS[3],
                textcoords="offset points", fontsize=9, rotation=90, ha="right", va="top",
            )  # fmt: skip
        for row, letter in letters:
            axes.axvline(seconds[row], color=_GRID, linewidth=0.9)
            axes.annotate(
                letter, (seconds[row], 1), xycoords=("data", "axes fraction"), xytext=(0, 2),
                textcoords="offset points", fontsize=10, weight="bold", ha="center",
            )  # fmt: skip
        axes.set_xlim(0, seconds[-1])
        _label(axes, "time (s)", "utility U")
        if trace.marks:
            axes.legend(loc="best")

    return SvgFigure(_svg(draw, "", wide=True), caption, wide=True)


def reward_bars(rewards: Mapping[str, Estimate], title: str, caption: str) -> SvgFigure:
    """Mean reward after each kind of answer, with intervals; above zero and below it."""

    def draw(axes: Axes) -> None:
        for place, estimate in enumerate(rewards.values()):
            _bar(axes, place, 0.6, estimate, POSITIVE if estimate.value > 0 else NEGATIVE, "")
        axes.axhline(0, color=_INK, linewidth=0.9)
        _name_places(axes, [textwrap.fill(kind, 12) for kind in rewards])
        axes.margins(x=0.12, y=0.15)
        axes.set_ylabel("reward for the answer")

    return SvgFigure(_svg(draw, title), caption)


def pair_bars(shares: Mapping[str, Estimate], title: str, axis: str) -> SvgFigure:
    """Shares of pairs in the rater's order as bars with intervals, and a dashed line at guessing, a half; `axis`: the
    horizontal one."""

    def draw(axes: Axes) -> None:
        for place, estimate in enumerate(shares.values()):
            _bar(axes, place, 0.7, estimate, COLORS[0], "")
        axes.axhline(0.5, color=_INK, linestyle=(0, (2, 2)), linewidth=1.2)
        width = max(45 // len(shares), 1)  # characters
        _name_places(axes, [textwrap.fill(name, width, break_long_words=False) for name in shares])
        axes.set_ylim(0, 1.05)
        _label(axes, axis, "in the rater's order", shares=True)

    return SvgFigure(_svg(draw, title), f"n = {', '.join(str(share.n) for share in shares.values())} episodes.")


def calibration_curve(points: Sequence[tuple[float, float, float, float]], title: str, caption: str) -> SvgFigure:
    """Share of right predictions against their confidence; the dashed diagonal is perfect calibration.

    points: confidence, share, and the ends of its interval.
    """
    confidence, share, low, high = np.array(points, np.float64).T

    def draw(axes: Axes) -> None:
        axes.plot([0.5, 1], [0.5, 1], color=_INK, linestyle=(0, (2, 2)), linewidth=1.2)
        axes.errorbar(
            confidence, share, yerr=[share - low, high - share], color=COLORS[0], ecolor=_INK, elinewidth=1, marker="o",
            markersize=4,
        )  # fmt: skip
        _label(axes, "predicted probability of the likelier order", "in the rater's order", shares=True)

    return SvgFigure(_svg(draw, title), caption)


def true_success_curve(points: Sequence[RewardPoint], parted: int | None, title: str, caption: str) -> SvgFigure:
    """True success of held-out episodes against updates, with a line at the update `parted`."""
    kept = [point for point in points if np.isfinite(point.success).any()]

    def draw(axes: Axes) -> None:
        updates = np.array([point.update for point in kept], np.float64)
        _means(axes, updates, [point.success for point in kept], color=COLORS[1], marker="s")
        if parted is not None:
            axes.axvline(parted, color=NEGATIVE, linestyle=(0, (4, 2)))
        axes.set_ylim(0, 1.05)
        _label(axes, "updates of reinforcement", "tasks done in truth", shares=True, integers=True)

    return SvgFigure(_svg(draw, title, wide=True), caption, wide=True)


def return_histograms(samples: Mapping[str, Float64Array], title: str, caption: str) -> SvgFigure:
    """Distributions of modeled returns over common bins."""
    values = np.concatenate(list(samples.values()))
    edges = np.linspace(values.min(), values.max() + 1e-9, 25).tolist()

    def draw(axes: Axes) -> None:
        for slot, (name, sample) in enumerate(samples.items()):
            label = f"{name} (n = {len(sample)})"
            axes.hist(sample, edges, color=COLORS[slot], alpha=0.35, histtype="stepfilled")
            axes.hist(sample, edges, color=COLORS[slot], histtype="step", linewidth=1.6, label=label)
        _label(axes, "modeled return", "episodes")
        axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
        axes.margins(y=0.35)  # room for the legend
        axes.legend(loc="upper left")

    return SvgFigure(_svg(draw, title), caption)


def learning_curve(name: str, curve: MetricCurve) -> SvgFigure:
    """One metric over training, smoothed."""
    line = smoothed(curve)

    def draw(axes: Axes) -> None:
        marker = "o" if len(line.updates) == 1 else None  # a line needs two values
        axes.plot(line.updates, line.values, color=COLORS[0], linewidth=1.4, marker=marker)
        axes.xaxis.set_major_locator(MaxNLocator(4))
        axes.yaxis.set_major_locator(MaxNLocator(4))
        axes.set_xlabel("updates")

    return SvgFigure(_svg(draw, name, height=1.9), "")


def standalone(svg: str) -> str:
    """A figure as a file of its own: with the colors that a page would give it, on white."""
    colored = svg.replace("var(--ink)", "#1b1f24").replace("var(--grid)", "#c8ccd2")
    return colored.replace("<svg ", '<svg style="background: #fff" ', 1) + "\n"


def _label(axes: Axes, x: str | None, y: str, *, shares: bool = False, integers: bool = False) -> None:
    """Names the axes; `shares` are percentages on the vertical one, `integers` updates on the horizontal one."""
    if shares:
        axes.yaxis.set_major_formatter(PercentFormatter(1))
    if integers:
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    if x is not None:
        axes.set_xlabel(x)
    axes.set_ylabel(y)


def _name_places(axes: Axes, names: Sequence[str]) -> None:
    """Names the places 0, 1, ... of the horizontal axis, without tick marks."""
    axes.set_xticks(range(len(names)), names)
    axes.tick_params(axis="x", length=0)


def _means(axes: Axes, at: Float64Array, samples: Sequence[Float64Array], color: str, **line: Any) -> None:
    """A line of means with a band of two standard errors; values that were not measured are NaN."""
    measured = [values[~np.isnan(values)] for values in samples]
    middle = np.array([values.mean() for values in measured])
    error = np.array(
        [2 * values.std(ddof=1) / len(values) ** 0.5 if len(values) > 1 else np.nan for values in measured]
    )
    axes.fill_between(at, middle - error, middle + error, color=color, alpha=0.16, linewidth=0)
    axes.plot(at, middle, color=color, markersize=3.5, **line)


def _bar(axes: Axes, at: float, width: float, estimate: Estimate, color: str, label: str) -> None:
    axes.bar(at, estimate.value, width, color=color, label=label or None)
    below, above = estimate.value - estimate.low, estimate.high - estimate.value
    if below > 0 or above > 0:
        axes.errorbar(at, estimate.value, yerr=[[max(below, 0)], [max(above, 0)]], color=_INK, linewidth=1, fmt="none")


def _svg(draw: Callable[[Axes], None], title: str, *, wide: bool = False, height: float | None = None) -> str:
    """Draws onto new axes and returns inline SVG without a fixed size."""
    with matplotlib.rc_context(_STYLE):
        size = (7.6 if wide else 3.7, height or (3.0 if wide else 2.6))
        figure = Figure(figsize=size, layout="constrained")
        figure.patch.set_alpha(0)
        axes = figure.add_subplot()
        draw(axes)
        axes.set_title(title, pad=8)
        FigureCanvasSVG(figure)
        layout = figure.get_layout_engine()
        assert layout is not None
        layout.execute(figure)
        figure.set_layout_engine(None)  # with one, the figure would be laid out twice more, for the same result
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    svg = file.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    opening, rest = svg.split(">", 1)
    opening = re.sub(r' (width|height)="[^"]+"', "", opening)
    svg = f'{opening} role="img" aria-label="{html.escape(title)}">{rest}'
    return svg.replace(_INK, "var(--ink)").replace(_GRID, "var(--grid)")
