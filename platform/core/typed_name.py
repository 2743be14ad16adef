"""The settings that name a run, for messages that say what to type."""

from __future__ import annotations

import shlex
from pathlib import Path

RUNS = "runs"  # the default of run.dir


def typed_name(root: Path) -> str:
    """The settings that name the run in the folder `root`, as they are typed in a shell."""
    folder = "" if root.parent.resolve() == Path(RUNS).resolve() else f" run.dir={shlex.quote(str(root.parent))}"
    return f"run.name={root.name}{folder}"
