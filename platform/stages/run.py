"""A run: one folder in which every stage finds the results of the stages before it.

runs/<name>/
    config.json          the resolved configuration
    store/               episodes, marks, snapshots
    <stage>/             of each stage: stage.json, metrics.jsonl, ledger.jsonl, checkpoints/; status.json under Ray
    crashes/             workers that failed under Ray, and why
    report.html, summary.json
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from interplay.core.renamed_settings import with_current_names
from interplay.env import registry
from interplay.env.world import World
from interplay.episodes.store import EpisodeStore
from interplay.runtime.crashes import CrashReports, config_hash
from interplay.stages.config import Config
from interplay.stages.stage_folder import (
    StageConflict,
    StageFolder,
    damaged,
    read_json,
    setting_differences,
    write_json,
)

if TYPE_CHECKING:  # importing Ray takes half a second, and most runs never need it
    from interplay.runtime.ray.learner_context import LearnerContext

ReportActivity = Callable[[str], None]  # called during long work with the current activity


@dataclass(frozen=True)
class Run:
    """The folder of a run and its configuration."""

    root: Path
    config: Config
    context: LearnerContext | None = None  # in the learner's process under Ray

    @property
    def seed(self) -> int:
        return self.config.run.seed

    @property
    def crashes(self) -> CrashReports:
        """The dossiers of failed workers."""
        named, runtime = config_hash(asdict(self.config)), self.config.runtime
        return CrashReports(
            (self.root / "crashes").resolve(), self.seed, named, runtime.restarts, runtime.restart_window
        )

    def beat(self, what: str) -> None:
        """Reports the learner's current activity under Ray. A learner that reports nothing new for
        `runtime.stall_limit` seconds counts as stuck."""
        if self.context is not None:
            self.context.heartbeat.set_busy(what)

    @contextmanager
    def busy(self, what: str) -> Iterator[ReportActivity]:
        """Reports a long activity while entered; see `beat`. Yields a function to report its progress with."""
        if self.context is None:
            yield ignore_activity
            return
        with self.context.heartbeat.nested(what) as beat:
            yield beat

    def make_world(self) -> World:
        """A new world of this run."""
        settings = dict(self.config.env)
        return registry.make(settings.pop("name"), **settings)

    def store(self) -> EpisodeStore:
        """The run's episode store; one process at a time may hold it open."""
        return EpisodeStore(self.root / "store")

    def stage(self, name: str) -> StageFolder:
        """The folder of a stage."""
        return StageFolder(self.root / name)


def open_run(config: Config) -> Run:
    """Creates the run's folder if there is none, and records the configuration.

    Raises:
        ValueError: the folder can't be made.
        StageConflict: the run holds episodes of another world.
    """
    root = Path(config.run.dir) / config.run.name
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(
            f"the run's folder {root} can't be made ({error.strerror}); choose another with run.dir=..."
        ) from error
    _check_same_world(root, config)
    write_json(root / "config.json", asdict(config))
    return Run(root, config)


def ignore_activity(activity: str) -> None:
    """In process, nothing watches the learner."""


def _check_same_world(root: Path, config: Config) -> None:
    """Refuses a second world in one store: its episodes would be cloned as if they were of the first."""
    file = root / "config.json"
    if not file.exists() or not any((root / "store" / "episodes").glob("*/*.npz")):
        return
    before, now = read_json(file).get("env"), json.loads(json.dumps(dict(config.env)))
    if not isinstance(before, dict):
        raise damaged(file, f"its 'env' is {before!r}")
    before = with_current_names(before, "env")
    # A setting that is newer than the run had its default's effect then, so only settings of both are compared.
    both = before.keys() & now.keys()
    changed = setting_differences({key: before[key] for key in both}, {key: now[key] for key in both}, "env")
    if changed:
        raise StageConflict(
            f"{root} holds episodes of another world ({', '.join(changed)}). Keep the "
            f"old world, or give the new one a run of its own with run.name=..., or remove {root}"
        )
