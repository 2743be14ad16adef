"""Benchmarks of the agents of a run: their command line, and a table with a row for each."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence

from reporting.json_numbers import add_json_option

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
