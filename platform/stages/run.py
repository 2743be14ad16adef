"""A run: one folder in which every stage finds what the stages before it left.

runs/<name>/
    config.json          the resolved configuration
    store/               episodes, marks, snapshots
    <stage>/             one a stage: stage.json, metrics.jsonl, ledger.jsonl, checkpoints/; status.json under Ray
    crashes/             what went down under Ray, and why
    report.html, summary.json
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from interplay.core.files import write_whole
from interplay.env import registry
from interplay.env.renamed_settings import with_current_names
from interplay.env.world import World
from interplay.episodes.store import EpisodeStore
from interplay.runtime.crashes import CrashReports, config_hash
from interplay.runtime.ledger import Ledger
from interplay.stages.config import Config

if TYPE_CHECKING:  # Ray takes half a second to import, and most runs never need it
    from interplay.runtime.ray.learner_context import LearnerContext

logger = logging.getLogger(__name__)

Beat = Callable[[str], None]  # told what is being done, as it gets on

# How long a stage trains, and how often it logs and saves: raised, it goes on; what it has learned stays true. And
# where and how its learner computes, for what was begun on a GPU may go on without one.
MAY_CHANGE = frozenset({"training", "device", "compile", "channels_last", "recompute"})

TRAINS, WORKS = ".lock", ".busy"  # what training stages lock, which can be watched by their metrics; what others do
LOCK_SECONDS = 10.0  # for which a stage that is being worked on is waited for: a killed process takes a moment to go
LOCK_POLL = 0.1


class StageConflict(ValueError):
    """A stage was begun with other settings than it is asked to go on with, or another process is at work on it."""


@dataclass(frozen=True)
class Run:
    """Where a run lives and what it was asked for."""

    root: Path
    config: Config
    context: LearnerContext | None = None  # in the learner's process under Ray: where its parts are placed

    @property
    def seed(self) -> int:
        return self.config.run.seed

    @property
    def crashes(self) -> CrashReports:
        """Where it is kept why a part went down."""
        named, runtime = config_hash(asdict(self.config)), self.config.runtime
        return CrashReports(
            (self.root / "crashes").resolve(), self.seed, named, runtime.restarts, runtime.restart_window
        )

    def beat(self, what: str) -> None:
        """Under Ray, the learner says that this is what it does now: whoever is still at one thing after
        `runtime.stall_limit` seconds is taken for stuck."""
        if self.context is not None:
            self.context.heartbeat.works(what)

    @contextmanager
    def busy(self, what: str) -> Iterator[Beat]:
        """While entered, the learner is busy with a long piece of what it does; see `beat`. What is yielded is called
        as it gets on, with how far it is."""
        if self.context is None:
            yield unseen
            return
        with self.context.heartbeat.within(what) as beat:
            yield beat

    def make_world(self) -> World:
        """A new world of this run."""
        settings = dict(self.config.env)
        return registry.make(settings.pop("name"), **settings)

    def store(self) -> EpisodeStore:
        """The run's episode store; one process at a time may hold it."""
        return EpisodeStore(self.root / "store")

    def stage(self, name: str) -> StageFolder:
        """The folder of a stage."""
        return StageFolder(self.root / name)


def open_run(config: Config) -> Run:
    """Makes the run's folder, or finds it again, and writes the configuration down.

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
    _same_world(root, config)
    write_json(root / "config.json", asdict(config))
    return Run(root, config)


@dataclass(frozen=True)
class StageFolder:
    """What one stage leaves behind."""

    path: Path

    @property
    def ledger(self) -> Ledger:
        return Ledger(self.path / "ledger.jsonl")

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints"

    def record(self) -> dict[str, Any]:
        """What `stage.json` says so far; empty where the stage has not begun."""
        file = self.path / "stage.json"
        return read_json(file) if file.exists() else {}

    @property
    def finished(self) -> bool:
        return bool(self.record().get("finished"))

    def finished_at(self, updates: int) -> bool:
        """Has a training stage finished, with this many updates or more?"""
        record = self.record()
        return bool(record.get("finished")) and record.get("updates", 0) >= updates

    @contextmanager
    def alone(self, file: str = TRAINS) -> Iterator[None]:
        """While entered, no other process may work on this stage: two learners in one folder would spoil both, and two
        that record would record the same.

        The lock on this file ends with the process, however that ends.

        Raises:
            StageConflict: another process is at it, and still is after `LOCK_SECONDS`, in which one that was killed
                has gone.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        with (self.path / file).open("a+") as held:
            deadline = time.monotonic() + LOCK_SECONDS
            while not _locked(held):
                if time.monotonic() >= deadline:
                    held.seek(0)
                    raise StageConflict(
                        f"{self.path} is being worked on by {held.read().strip() or 'another process'}; wait until "
                        "that is done or stop it, or give this one a run of its own with run.name=..."
                    )
                time.sleep(LOCK_POLL)
            held.truncate(0)
            held.write(f"process {os.getpid()} on {socket.gethostname()}\n")
            held.flush()
            yield

    def begin(self, settings: Mapping[str, Any]) -> StageClock:
        """Starts the stage, or goes on with it. Nothing is written down yet: see `StageClock.claim`.

        Raises:
            StageConflict: it was begun with other settings. Those in `MAY_CHANGE` are not compared.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        settings = json.loads(json.dumps(settings))  # tuples become lists, as they will when read back
        before = self.record()
        old = with_current_names(before.get("settings", {}))
        changed = _differences(_lasting(old), _lasting(settings)) if before else []
        if changed:
            raise StageConflict(
                f"{self.path} was begun with other settings ({', '.join(changed)}). Go on with the old ones, or give "
                "the new ones a run of their own with run.name=..."
            )
        return StageClock(self, {"seconds": 0.0, "finished": False, **before, "settings": settings})


class StageClock:
    """Keeps `stage.json`: the settings, the time taken over all resumes, and what the stage has to say."""

    def __init__(self, folder: StageFolder, record: dict[str, Any]) -> None:
        self._folder = folder
        self._record = record
        self._before = float(record["seconds"])
        self._started = time.monotonic()
        self._claimed = False

    def claim(self) -> None:
        """Writes the settings down, just before the first work done with them is kept.

        Until then a stage may be begun anew with others: one that was refused, or that failed at once.
        """
        if not self._claimed:
            self.save()

    def fact(self, name: str, default: Any) -> Any:
        """What was written down before."""
        return self._record.get(name, default)

    def save(self, **facts: Any) -> None:
        """Writes down the time so far, and these facts."""
        self._record |= {**facts, "seconds": self._before + time.monotonic() - self._started}
        write_json(self._folder.path / "stage.json", self._record)
        self._claimed = True

    def finish(self, **facts: Any) -> None:
        """The stage is done."""
        self.save(finished=True, **facts)


def unseen(what: str) -> None:
    """In process nobody watches."""


def _locked(file: TextIO) -> bool:
    """Takes the lock of an open file, unless another has it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def write_json(path: Path, value: Any) -> None:
    """Writes JSON atomically: the old file, or the whole new one."""
    write_whole(path, json.dumps(value, indent=1, sort_keys=True, default=str), durable=False)


def read_json(path: Path) -> dict[str, Any]:
    """Reads back what `write_json` wrote.

    Raises:
        ValueError: the file is damaged.
    """
    try:
        loaded: dict[str, Any] = json.loads(path.read_text())
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is damaged ({error}); remove it, and type the same command again") from error
    return loaded


def _same_world(root: Path, config: Config) -> None:
    """Episodes of two worlds in one store would be cloned as if they were of one."""
    file = root / "config.json"
    if not file.exists() or not any((root / "store" / "episodes").glob("*/*.npz")):
        return
    before, now = with_current_names(read_json(file)["env"], "env"), json.loads(json.dumps(dict(config.env)))
    # A setting that is newer than the run had its default's effect then, so only what both name is compared.
    changed = _differences({key: before[key] for key in before if key in now}, {k: now[k] for k in now if k in before})
    if changed:
        raise StageConflict(
            f"{root} holds episodes of another world ({', '.join('env.' + each for each in changed)}). Go on with the "
            f"old world, or give the new one a run of its own with run.name=..., or remove {root}"
        )


def _lasting(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings without those that may change between two attempts."""
    return {
        key: _lasting(value) if isinstance(value, dict) else value
        for key, value in settings.items()
        if key not in MAY_CHANGE
    }


def _differences(old: Any, new: Any, where: str = "") -> list[str]:
    """The leaves in which two nested mappings differ, as 'name: old -> new'."""
    if isinstance(old, dict) and isinstance(new, dict):
        found = []
        for key in sorted({*old, *new}):
            found += _differences(old.get(key), new.get(key), f"{where}.{key}" if where else key)
        return found
    return [] if old == new else [f"{where}: {old!r} -> {new!r}"]
