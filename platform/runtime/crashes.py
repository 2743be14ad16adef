"""Failures of workers: captured output, crash reports, and how many restarts are left.

The reports are one file per worker in the run's folder, which also keeps its output: the last lines may explain a
failure.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)

MAX_LOG_BYTES = 2**20  # of a worker's file; a longer one is cut to the newer half of this
TAIL_LINES = 20  # quoted in a crash report
MAX_LINE_CHARACTERS = 500  # of each of them
STEP_BYTES = 200  # of the file of a worker's last step
PROCESS_ENDED_TEXT = "its worker process has died"  # Ray's words, which name no exit code
UNKNOWN_END = (
    "it was killed, as for lack of memory, or code that it called ended it, as os._exit or exit in a C library"
)
# Of a line that Python or Ray prints where a signal ends a process, as a segmentation fault does.
FATAL_TEXTS = ("Fatal Python error: ", "*** SIG")

_TRUNCATION_LOCK = threading.Lock()  # a worker truncates between calls, and when its heartbeat is read


class WorkerLog:
    """`folder`/<name>.txt: the output of all processes of one worker, each after a line with its start time."""

    def __init__(self, folder: Path, name: str) -> None:
        self.file = folder / f"{name}.txt"
        self._name = name

    def write_header(self) -> None:
        """Appends the start line; called by the process that starts the worker, before it starts.

        It separates the output of the new process from that of earlier ones. If the file can't be written, as on a full
        disk, that is logged: the worker runs without it.
        """
        when = datetime.now(UTC).isoformat(timespec="seconds")
        try:
            _append(self.file, f"=== {when} {self._name} starts\n")
        except OSError as error:
            logger.error("%s can't be written (%s)", self.file, error)

    def capture_output(self) -> None:
        """Redirects stdout and stderr of this process to the file, including the output of C libraries.

        The file descriptors are replaced, so nothing is buffered and lost even if the process is killed next.
        """
        self.file = self.file.resolve()  # the process may change its working directory
        self.file.parent.mkdir(parents=True, exist_ok=True)
        opened = os.open(self.file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        for stream, descriptor in ((sys.stdout, 1), (sys.stderr, 2)):
            stream.flush()
            os.dup2(opened, descriptor)
        os.close(opened)

    def truncate(self) -> None:
        """Drops the oldest output if the file has grown too long; to be called from time to time."""
        with _TRUNCATION_LOCK, suppress(OSError):  # a failing disk must not end the worker
            if self.file.stat().st_size <= MAX_LOG_BYTES:
                return
            with self.file.open("rb") as opened:
                opened.seek(-MAX_LOG_BYTES // 2, os.SEEK_END)
                newer = opened.read()
            os.truncate(self.file, 0)
            with self.file.open("ab") as opened:  # append mode keeps output that arrives in between
                opened.write(newer)

    def newest_lines(self) -> list[str]:
        """The lines of the newest process, shortened; empty if it has printed none."""
        if not self.file.exists():
            return []
        text = self.file.read_text(encoding="utf-8", errors="replace")
        newest = re.split(rf"^=== \S+ {re.escape(self._name)} starts$", text, flags=re.MULTILINE)[-1]
        return [line[:MAX_LINE_CHARACTERS] for line in newest.strip().splitlines()]

    def tail(self) -> str:
        """Returns the last lines of the newest process; empty if it has printed none."""
        return "\n".join(self.newest_lines()[-TAIL_LINES:])


class LastStep:
    """`folder`/<name>.txt: the last step of a world that a worker began.

    The file remains if the step ends the process.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._file = folder / f"{name}.txt"
        self._descriptor: int | None = None

    def clear(self) -> None:
        """Forgets the step of an earlier process; called by the process that starts the worker, before it starts."""
        with suppress(OSError):
            self._file.unlink(missing_ok=True)

    def write(self, step: str) -> None:
        """Replaces the step, in some microseconds. A disk that fails must not end the worker."""
        with suppress(OSError):
            if self._descriptor is None:
                self._file.parent.mkdir(parents=True, exist_ok=True)
                self._descriptor = os.open(self._file, os.O_WRONLY | os.O_CREAT, 0o644)
            os.pwrite(self._descriptor, step.encode().ljust(STEP_BYTES)[:STEP_BYTES], 0)

    def read(self) -> str:
        """The step; empty if none was begun."""
        try:
            return self._file.read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return ""


def _append(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as opened:
        opened.write(text)


ANSI_COLORS = re.compile(r"\x1b\[[0-9;]*m")


def without_colors(text: str) -> str:
    """The text without the codes by which terminals color it, as in Ray's tracebacks."""
    return ANSI_COLORS.sub("", text)


def error_line(cause: str) -> str:
    """The line of a failure's cause that states the error, shortened: of a traceback, the first line of the error,
    which may have several lines and notes; of other causes, the last line."""
    lines = without_colors(cause).strip().splitlines()
    frames = [number for number, line in enumerate(lines) if line.startswith('  File "')]
    after = lines[frames[-1] + 1 :] if frames else []
    errors = [line for line in after if line and not line[0].isspace()]
    return (errors or lines[-1:] or ["no cause is known"])[0].strip()[:MAX_LINE_CHARACTERS]


class WorkerFailed(RuntimeError):
    """A worker failed more often than allowed, or a restart did not help. The message has its traceback and its last
    output, and ends with the line that states the error."""


@dataclass(frozen=True)
class CrashReports:
    """Writes `folder`/<worker>.txt."""

    folder: Path
    seed: int
    config: str  # `config_hash` of the run's configuration
    limit: int  # restarts of a worker within the window
    window: float  # seconds

    def record_failure(self, worker: str, number: int, cause: str, episodes: list[str]) -> Path:
        """Appends one failure to the worker's file, with the last step that it began; returns the file.

        If the file can't be written, as on a full disk, the report is logged: the disk must not hide the failure.

        Args:
            number: of the failure among those within the window, from 1.
            episodes: of the worker's last unroll; empty if it has made none.
        """
        file = self._file(worker)
        when = datetime.now(UTC).isoformat(timespec="seconds")
        named = f", episodes of its last unroll: {', '.join(episodes)}" if episodes else ""
        report = (
            f"{when}  {worker} went down, {number} of at most {self.limit} times in {self.window:g} s\n"
            f"seed {self.seed}, config {self.config}{named}\n"
            f"{self._with_output(worker, cause)}{self._step_line(worker)}\n\n"
        )
        try:
            _append(file, report)
        except OSError as error:
            logger.error("%s can't be written (%s); it would say:\n%s", file, error, report)
        return file

    def explained(self, worker: str, cause: str, problem: str = "") -> str:
        """The cause, after a line with what probably ended the process if Ray states only that it has ended.

        Args:
            problem: of the machine, that ends processes; empty if none is known.
        """
        if PROCESS_ENDED_TEXT not in cause:
            return cause
        log = self.worker_log(worker)
        fatal = [line for line in log.newest_lines() if line.startswith(FATAL_TEXTS)]
        reason = f"with '{fatal[-1].strip()}'" if fatal else f"without an error of Python: {problem or UNKNOWN_END}"
        return f"the process of {worker} ended {reason}; its last output is in {log.file}\n{cause}"

    def restarts_exhausted(self, worker: str, cause: str, line: str, file: Path) -> WorkerFailed:
        """Returns the error to raise when a worker has failed more often than allowed; `line` is the `error_line` of
        the cause."""
        return WorkerFailed(
            f"{worker} went down more often than runtime.restarts={self.limit} allows in runtime.restart_window="
            f"{self.window:g} seconds; the same command continues from the newest checkpoint. All failures: {file}. "
            f"The last one:\n{self._with_output(worker, cause)}{self._same_steps(worker)}\nThe cause: {line}"
        )

    def repeated(self, worker: str, cause: str, line: str, file: Path) -> WorkerFailed:
        """Returns the error to raise when a restarted worker has raised the error of its predecessor again."""
        return WorkerFailed(
            f"{worker} was restarted and raised the same error again before any result, so it is not restarted once "
            f"more; correct what raises it, and the same command continues from the newest checkpoint. All failures: "
            f"{file}. The last one:\n{self._with_output(worker, cause)}{self._same_steps(worker)}\nThe cause: {line}"
        )

    @property
    def stacks(self) -> Path:
        """Folder of the workers' stack dumps."""
        return self.folder / "stacks"

    def worker_log(self, worker: str) -> WorkerLog:
        """Captured output of a worker."""
        return WorkerLog(self.folder / "logs", worker)

    def last_step(self, worker: str) -> LastStep:
        """The last step of a world that a worker began."""
        return LastStep(self.folder / "steps", worker)

    def begin_process(self, worker: str) -> None:
        """To be called before a process of a worker starts."""
        self.worker_log(worker).write_header()
        self.last_step(worker).clear()

    def _file(self, worker: str) -> Path:
        return self.folder / f"{worker}.txt"

    def _step_line(self, worker: str) -> str:
        """A line with the last step that a worker began; empty without one."""
        step = self.last_step(worker).read()
        return f"\nThe last step that {worker} began: {step}" if step else ""

    def _same_steps(self, worker: str) -> str:
        """As `_step_line`, with the number of reports of failures in this step if there are several."""
        line, file = self._step_line(worker), self._file(worker)
        count = file.read_text(encoding="utf-8", errors="replace").count(f"{line}\n") if line and file.exists() else 0
        return f"{line} ({count} of its failures were in this step)" if count > 1 else line

    def _with_output(self, worker: str, cause: str) -> str:
        """The cause, followed by the worker's last output if there is any."""
        cause, log = without_colors(cause).strip(), self.worker_log(worker)
        tail = without_colors(log.tail())
        return f"{cause}\nThe last output of {worker} ({log.file}):\n{tail}" if tail else cause


def config_hash(config: Any) -> str:
    """Twelve hexadecimal digits that identify a configuration of plain values."""
    return hashlib.sha256(json.dumps(config, sort_keys=True, default=str).encode()).hexdigest()[:12]
