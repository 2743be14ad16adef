"""The folder of one stage: its record, its lock, its checkpoints, and the check that its settings have not changed."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, asdict, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, TextIO, TypeVar

from interplay.core.files import write_whole
from interplay.core.renamed_settings import with_current_names
from interplay.core.settings_validation import build_config
from interplay.learner import checkpoint
from interplay.runtime.batch_sources import Ledger

T = TypeVar("T")

# Groups and fields that may differ when a stage is resumed: the length of training, how often it logs and saves, where
# and how its learner computes and draws, because a run that was begun on a GPU may continue without one, and the
# numbers of episodes to record.
CHANGEABLE_SETTINGS = frozenset(
    {"training", "device", "compile", "channels_last", "recompute", "accumulate", "check_lag", "cuda_graph", "drawn_by"}
    | {"collect.episodes", "collect.heldout"}
)

CONFIG_FILE = "config.json"  # the configuration of a run
MEASURING = ("evaluate", "continue")  # stages from whose results no other stage learns
TRAINING_LOCK, WORK_LOCK = ".lock", ".busy"  # of training stages, whose metrics can be watched; of all others
MAX_DIFFERENCES = 8  # of settings, in a message
LOCK_SECONDS = 10.0  # timeout of a lock: a killed process takes a moment to release it
LOCK_POLL_SECONDS = 0.1


class StageConflict(ValueError):
    """A stage is resumed with other settings than it was started with, another process is working on it, or its folder
    was removed."""


class MissingResults(ValueError):
    """A verb needs what an earlier one would have written into the run, as recordings or an agent."""


class MissingAgent(MissingResults, checkpoint.CheckpointError):
    """A verb needs an agent that no stage of the run has trained."""


@dataclass(frozen=True)
class StageFolder:
    """The files of one stage."""

    path: Path

    @property
    def ledger(self) -> Ledger:
        return Ledger(self.path / "ledger.jsonl")

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints"

    @property
    def has_agent(self) -> bool:
        """Whether it has a whole checkpoint; one that was stopped within its first save has none."""
        return bool(checkpoint.complete(self.checkpoints))

    def record(self) -> dict[str, Any]:
        """The content of `stage.json`, with current names of settings; empty if the stage has not begun.

        Raises:
            ValueError: the file is damaged.
        """
        file = self.path / "stage.json"
        if not file.exists():
            return {}
        record = read_json(file)
        for field, kind in (("settings", dict), ("finished", bool), ("seconds", float)):
            if not isinstance(record.get(field), kind):
                raise damaged(file, f"its {field!r} is {record.get(field)!r}")
        for field, value in record.items():
            if field not in ("settings", "finished") and not isinstance(value, int | float):
                raise damaged(file, f"its {field!r} is {value!r}, not a number")
        return {**record, "settings": with_current_names(record["settings"])}

    @property
    def finished(self) -> bool:
        return bool(self.record().get("finished"))

    def finished_at(self, updates: int) -> bool:
        """Whether a training stage has finished, with at least this many updates, and its agent is still here.

        Raises:
            CheckpointError: the newest checkpoint is damaged.
        """
        record = self.record()
        if not record.get("finished") or record.get("updates", 0) < updates:
            return False
        newest = checkpoint.latest(self.checkpoints)
        return newest is not None and newest.step >= updates

    @contextmanager
    def locked(self, file: str = TRAINING_LOCK) -> Iterator[None]:
        """Locks the stage against other processes while entered.

        Two learners in one folder would corrupt each other's checkpoints, and two recorders would record the same
        episodes. The operating system releases the lock when the process ends.

        Raises:
            StageConflict: another process still holds the lock after `LOCK_SECONDS`.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        with (self.path / file).open("a+") as held:
            deadline = time.monotonic() + LOCK_SECONDS
            while not _try_lock(held):
                if time.monotonic() >= deadline:
                    held.seek(0)
                    raise StageConflict(
                        f"{self.path} is being worked on by {held.read().strip() or 'another process'}; wait until "
                        "that is done or stop it, or give this one a run of its own with run.name=..."
                    )
                time.sleep(LOCK_POLL_SECONDS)
            held.truncate(0)
            held.write(_this_process())
            held.flush()
            yield

    def own_locks(self) -> list[str]:
        """The names of the locks that this process has taken and that are still in the folder."""
        files = [name for name in (TRAINING_LOCK, WORK_LOCK) if (self.path / name).exists()]
        return [name for name in files if (self.path / name).read_text() == _this_process()]

    def begin(self, settings: Mapping[str, Any], record_config: Callable[[], None]) -> StageClock:
        """Starts or resumes the stage. Nothing is written yet: see `StageClock`.

        Args:
            settings: dataclasses of settings and plain values, by name.
            record_config: records the configuration of the run.

        Raises:
            StageConflict, ValueError: see `refuse_other_settings`.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        self.refuse_other_settings(settings)
        record = {"seconds": 0.0, "finished": False, **self.record(), "settings": _plain(settings)}
        return StageClock(self, record, record_config)

    def refuse_other_settings(self, settings: Mapping[str, Any], remedy: str = "") -> None:
        """Compares settings with those that the stage was started with, if it was; see `begin`.

        `remedy` ends the message of the error. Settings that an older version did not have yet count as recorded with
        their default.

        Raises:
            StageConflict: the stage was started with other settings. Those in `CHANGEABLE_SETTINGS` are not compared.
            ValueError: its record is damaged.
        """
        record = self.record()
        if not record:
            return
        before = _with_newer_settings(record["settings"], settings)
        changed = setting_differences(_fixed(before), _fixed(_plain(settings)))
        if changed:
            if self.path.name in MEASURING:
                remedy = ", or move this folder out of the run, to measure again"
            raise StageConflict(
                f"{self.path} was started with other settings ({first_of(changed)}). Keep the old ones, or give "
                f"the new ones a run of their own with run.name=...{remedy}"
            )


class StageClock:
    """Writer of `stage.json`: the settings, the time taken over all resumes, and facts about the stage."""

    def __init__(self, folder: StageFolder, record: dict[str, Any], record_config: Callable[[], None]) -> None:
        self._folder = folder
        self._record = record
        self._record_config = record_config
        self._has_recorded_config = False
        self._before = float(record["seconds"])
        self._started = time.monotonic()
        self._claimed = False
        self._locks = folder.own_locks()

    def check_folder(self) -> None:
        """Raises `StageConflict` if the folder was removed, moved or replaced since the stage began: what this process
        saves would be part of a stage, or mixed with that of another process."""
        if self._folder.own_locks() != self._locks:
            raise StageConflict(
                f"{self._folder.path} was removed, moved or replaced while this command worked in it, which stops "
                "without saving. If it was moved, remove what has been written in its place since, and move it back; "
                "then type the same command again"
            )

    def record_config(self) -> None:
        """Records the configuration of the run, once.

        To be called before the work, when nothing can be refused any more, unless `save` is called then.
        """
        if not self._has_recorded_config:
            self._record_config()
            self._has_recorded_config = True

    def claim(self) -> None:
        """Records the settings; called, unless `save` is, just before the first result of the stage is stored.

        Until then the stage may be started with other settings, for example after it was refused.
        """
        if not self._claimed:
            self.save()

    def fact(self, name: str, default: Any) -> Any:
        """A fact that an earlier process recorded."""
        return self._record.get(name, default)

    def note(self, **facts: Any) -> None:
        """Keeps these facts, to be recorded when the first result is stored."""
        self._record |= facts

    def save(self, **facts: Any) -> None:
        """Records the time so far, and these facts."""
        self.check_folder()
        self.record_config()
        self._write(facts)

    def finish(self, **facts: Any) -> None:
        """Records that the stage is done, and these facts. The configuration is not recorded: there may have been
        nothing left to do, and a later stage of the same command may be refused."""
        self.check_folder()
        self._write({**facts, "finished": True})

    def _write(self, facts: Mapping[str, Any]) -> None:
        self._record |= {**facts, "seconds": self._before + time.monotonic() - self._started}
        write_json(self._folder.path / "stage.json", self._record)
        self._claimed = True


def write_json(path: Path, value: Any) -> None:
    """Writes JSON atomically: a reader finds the old file or the whole new one."""
    write_whole(path, json.dumps(value, indent=1, sort_keys=True, default=str), durable=False)


def read_json(path: Path) -> dict[str, Any]:
    """Reads the object that `write_json` wrote.

    Raises:
        OSError: it can't be read, for example because this user lacks the right to.
        ValueError: the file is damaged: it is not JSON, or holds something else than an object.
    """
    try:
        loaded = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise damaged(path, error) from error
    if not isinstance(loaded, dict):
        raise damaged(path, f"it holds a {type(loaded).__name__} instead of an object")
    return loaded


def read_rows(path: Path, row: type[T], name: str = "results", *, optional: bool = False) -> list[T]:
    """Reads the list `name` of a file of `write_json` as dataclasses; empty without the file, or if an `optional` list
    is missing.

    Raises:
        ValueError: the file is damaged.
    """
    if not path.exists():
        return []
    document = read_json(path)
    try:
        return [build_config(row, fields) for fields in (document.get(name, []) if optional else document[name])]
    except (KeyError, TypeError) as error:
        raise damaged(path, f"no list of results: {error!r}") from error
    except ValueError as error:
        raise damaged(path, error) from error


def damaged(path: Path, problem: object) -> ValueError:
    """The error for a file of a run that cannot be used."""
    remedy = "remove it, and type the same command again"
    if path.name == CONFIG_FILE:
        remedy = (
            "it records the settings of the run: restore it from a copy, or remove it and type the command of a stage "
            "with the env=..., agent=..., experiment=... and other settings of this run, which records them again"
        )
    return ValueError(f"{path} is damaged ({problem}); {remedy}")


def setting_differences(old: Any, new: Any, path: str = "") -> list[str]:
    """The leaves in which two nested mappings differ, as 'name: old -> new'."""
    if isinstance(old, dict) and isinstance(new, dict):
        found = []
        for key in sorted({*old, *new}):
            found += setting_differences(old.get(key), new.get(key), f"{path}.{key}" if path else key)
        return found
    return [] if old == new else [f"{path}: {old!r} -> {new!r}"]


def first_of(differences: Sequence[str]) -> str:
    """The first differences for a message, and the number of the others: another world or agent differs in dozens."""
    others = len(differences) - MAX_DIFFERENCES
    return ", ".join([*differences[:MAX_DIFFERENCES], *([f"and {others} more"] if others > 0 else [])])


def _this_process() -> str:
    """The content of a lock that this process holds."""
    return f"process {os.getpid()} on {socket.gethostname()}\n"


def _try_lock(file: TextIO) -> bool:
    """Takes the lock of an open file, unless another process holds it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _plain(settings: Any) -> Any:
    """Settings as JSON holds them: mappings instead of dataclasses, lists instead of tuples."""
    return json.loads(json.dumps(settings, default=asdict))


def _with_newer_settings(recorded: Mapping[str, Any], settings: Any) -> dict[str, Any]:
    """The recorded settings with the defaults of those fields of `settings` that they lack."""
    completed = dict(recorded)
    values = {f.name: getattr(settings, f.name) for f in fields(settings)} if is_dataclass(settings) else settings
    defaults = {f.name: f for f in fields(settings)} if is_dataclass(settings) else {}
    for name, value in values.items():
        if name not in completed and name in defaults:
            field = defaults[name]
            if field.default is not MISSING:
                completed[name] = _plain(field.default)
            elif field.default_factory is not MISSING:
                completed[name] = _plain(field.default_factory())
        elif is_dataclass(value) and isinstance(completed.get(name), dict):
            completed[name] = _with_newer_settings(completed[name], value)
    return completed


def _fixed(settings: Mapping[str, Any], group: str = "") -> dict[str, Any]:
    """The settings of a group without those that may change between two attempts."""
    return {
        key: _fixed(value, key) if isinstance(value, dict) else value
        for key, value in settings.items()
        if CHANGEABLE_SETTINGS.isdisjoint((key, f"{group}.{key}"))
    }
