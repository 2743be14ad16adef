"""The option `--json` of the benchmarks."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """Adds `--json PATH` to a benchmark's command line."""
    parser.add_argument("--json", metavar="PATH", help="also write the numbers to this file; - for stdout")


def write_json(path: str | None, numbers: Any) -> None:
    """Writes what was measured where `--json` says: into a file, to stdout, or nowhere without the option."""
    if path is not None:
        text = json.dumps(numbers, indent=1)
        print(text) if path == "-" else Path(path).write_text(text + "\n")
