"""The verbs for the files of a run that use neither networks nor plots: `watch` and `reindex`."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path

from rich.console import Console

from interplay.episodes.repair import repair
from interplay.launch.opened_run import refuse_missing
from interplay.stages.config import Config
from interplay.stages.stage_folder import WORK_LOCK, StageFolder
from interplay.tracking.dashboard import watch
from interplay.tracking.run_summary import read_run_summary


def watch_run(config: Config) -> int:
    """Shows the progress of the run until it ends, Ctrl-C, or the reader of the output has ended."""
    root = _root(config)
    try:
        watch(lambda: read_run_summary(root), Console())
    except KeyboardInterrupt:
        sys.stderr.write("no longer watching; the run itself continues\n")
    except SystemExit:  # of rich, whose output goes to a program that has ended, as `head`
        return 0
    return 0


def reindex(config: Config) -> int:
    """Rebuilds the catalog of the run's store while no stage works in it."""
    root = _root(config)
    with ExitStack() as held:
        # Of stages that record, mark or evaluate, and of those of later rounds.
        for file in sorted([*root.glob(f"*/{WORK_LOCK}"), *root.glob(f"round-*/*/{WORK_LOCK}")]):
            held.enter_context(StageFolder(file.parent).locked(WORK_LOCK))
        sys.stdout.write("".join(f"{line}\n" for line in repair(root / "store").sentences()))
    return 0


def _root(config: Config) -> Path:
    """The folder of the run, which may have recorded nothing yet. Raises ValueError as `refuse_missing`."""
    if not config.run.root.is_dir():
        refuse_missing(config)
    return config.run.root
