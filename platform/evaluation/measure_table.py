"""Table of the report about what tasks measure apart from success, as the F1 of the blocks built."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from interplay.evaluation.report_data import Measures


class MeasureTable(NamedTuple):
    """A head and one row per kind of task and measure, a cell per agent."""

    head: tuple[str, ...]
    rows: list[tuple[str, ...]]


def measure_table(measures: Mapping[str, Measures]) -> MeasureTable:
    """The means of every agent at the end of a probe, in parentheses those at its best step; "not run" where an agent
    has not played a kind."""
    kinds = dict.fromkeys(kind for by_kind in measures.values() for kind in by_kind)
    rows = []
    for kind in kinds:
        named = dict.fromkeys(name for by_kind in measures.values() for name in by_kind.get(kind, {}))
        for name in named:
            cells = [_cell(by_kind.get(kind, {}).get(name)) for by_kind in measures.values()]
            rows.append((kind.replace("_", " ").capitalize(), name, *cells))
    return MeasureTable(("task", "measure", *measures), rows)


def _cell(means: Mapping[str, float] | None) -> str:
    return f"{means['end']:.2f} ({means['best']:.2f})" if means is not None else "not run"
