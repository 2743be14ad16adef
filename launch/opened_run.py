"""Opening the run of a verb."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import torch

from interplay.core.settings_validation import did_you_mean
from interplay.runtime.allocator import retain_freed_memory
from interplay.stages.config import Config
from interplay.stages.run import Run, open_run, recorded_env


def opened(config: Config) -> Run:
    """The run, made if necessary, and this process set up for work in it. Raises as `open_run`."""
    retain_freed_memory()
    torch.set_num_threads(config.runtime.learner_threads)
    return open_run(config)


def existing(config: Config) -> Run:
    """The run with its own world, whatever else is typed, for verbs that only read it. Raises ValueError as
    `refuse_missing`."""
    refuse_missing(config)
    return opened(replace(config, env=recorded_env(config.run.root) or config.env))


def refuse_missing(config: Config) -> None:
    """Refuses a run that does not exist, so that a mistyped name makes no folder.

    Raises:
        ValueError: there is no such run.
    """
    root = config.run.root
    if not any((root / part).exists() for part in ("config.json", "store")):  # a damaged config.json may be removed
        raise ValueError(
            f"there is no run in {root}; name one with run.name=NAME and, if it is not in runs/, "
            f"run.dir=FOLDER.{did_you_mean(root.name, names_of_runs(root.parent))}"
        )


def names_of_runs(folder: Path) -> list[str]:
    """The names of the runs in a folder, sorted."""
    return sorted(file.parent.name for file in folder.glob("*/config.json"))
