"""Tables and the figure of the report about live evaluations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from interplay.evaluation import figures
from interplay.evaluation.headlines import percent, span, with_interval
from interplay.evaluation.live_judgements import LiveResults, by_setter


def render_live(results: LiveResults) -> dict[str, Any]:
    """What the template shows: a row for each agent, one for each pair of agents, and success against time."""
    agents = list(results.requests)
    pairs = [(one, other) for i, one in enumerate(agents) for other in agents[i + 1 :]]
    differences = [(one, other, results.difference(one, other)) for one, other in pairs]
    return {
        "legend": list(zip(agents, figures.COLORS, strict=False)),
        "rows": [_row(results, agent) for agent in agents],
        "difference_rows": [
            (f"{one} − {other}", f"{100 * each.value:+.0f} points", span(each, points=True), str(each.n))
            for one, other, each in differences
            if each is not None
        ],
        "curve": figures.success_curves(
            results.curves(), "Requests done", "Seconds from the request to the verdict; bands: Wilson's 95% intervals."
        ),
    }


def _row(results: LiveResults, agent: str) -> tuple[str, ...]:
    rows = results.requests[agent]
    times = [row.seconds for row in rows if row.done]
    median = f"{float(np.median(times)):.0f} s" if times else percent(math.nan)
    return agent, with_interval(results.share(agent)), str(len(rows)), str(len(by_setter(rows))), median
