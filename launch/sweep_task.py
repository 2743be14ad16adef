"""One run of a sweep: its command, as the sweep wrote it down, and its outcome."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from interplay.core.files import write_whole

OUTCOME = "outcome.json"
TASK = "task.json"
Act = Callable[[Sequence[str]], int]  # the command itself: words -> exit code


def write_task(folder: Path, run: str, words: Sequence[str]) -> None:
    """Writes the words of a run, as typed after `interplay`, into its folder in the sweep; removes its last outcome."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / OUTCOME).unlink(missing_ok=True)
    write_whole(folder / TASK, json.dumps({"run": run, "words": list(words)}))


def task_words(folder: Path) -> list[str]:
    """The words of the task of a folder."""
    words: list[str] = json.loads((folder / TASK).read_text())["words"]
    return words


def run_task(folder: Path, act: Act) -> int:
    """Carries out the task of a folder and writes its outcome there; returns the exit code."""
    task = json.loads((folder / TASK).read_text())
    code = act(task["words"])
    write_whole(folder / OUTCOME, json.dumps({"run": task["run"], "code": code}))
    return code
