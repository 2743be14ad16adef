"""Benchmarks of the agents of a run: their command line, and a table with a row for each."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from reporting.json_numbers import add_json_option, write_json

NAME_WIDTH = 32  # columns


def parser_of_agents(description: str | None, agents: Sequence[str]) -> argparse.ArgumentParser:
    """A parser of the settings of a run, of `--agents` with this default, and of `--json`."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("overrides", nargs="+", help="settings of the run, such as experiment=orderings run.name=NAME")
    parser.add_argument("--agents", nargs="+", default=list(agents), help="stages of the run, or paths of checkpoints")
    add_json_option(parser)
    return parser


def print_row(agent: str, cells: Iterable[str], width: int) -> None:
    """Prints a row; of a long path its end."""
    shown = agent if len(agent) < NAME_WIDTH else "..." + agent[4 - NAME_WIDTH :]
    print(f"{shown:{NAME_WIDTH}}" + "".join(f"{cell:>{width}}" for cell in cells), flush=True)


def print_table(
    options: argparse.Namespace,
    columns: Sequence[str],
    width: int,
    measure: Callable[[str], Mapping[str, Any]],
    show: Callable[..., str],
) -> None:
    """Measures each agent, prints a row of what `show` makes of its values, and writes all as JSON.

    Args:
        columns: the name of the row's kind, and those of the values.
        measure: the values of an agent by name, each a tuple.
        show: the text of a value, from the items of its tuple.
    """
    rows: list[dict[str, Any]] = []
    print_row(columns[0], columns[1:], width)
    for agent in options.agents:
        found = measure(agent)
        rows.append({"agent": agent, **found})
        print_row(agent, (show(*value) for value in found.values()), width)
    write_json(options.json, {"settings": vars(options), "rows": rows})
