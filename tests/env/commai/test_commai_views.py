"""The views on a terminal: what they show, their keys, small and resized windows, and errors."""

from __future__ import annotations

import json
import re
import signal
import sys
from pathlib import Path

import pytest
from commai_terminal import Terminal

LEARNERS = """
class Zeros:
    def next(self, token):
        return "0"


class Crash:
    def next(self, token):
        raise RuntimeError("this learner is broken")
"""
MEMORIZING = "learners.sample_learners.SampleMemorizingLearner"
TASK = """
from core.scheduler import SequentialTaskScheduler
from core.task import Task, on_message, on_start


class Breaking(Task):
    def __init__(self, world=None):
        super(Breaking, self).__init__(max_time=100000, world=world)

    @on_start()
    def begin(self, event):
        self.count = 0
        self.set_message("hello.")

    @on_message()
    def fail(self, event):
        self.count += 1
        if self.count == 50:
            raise RuntimeError("this task is broken")


def create_tasks():
    return SequentialTaskScheduler([Breaking()])
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with configurations and learners."""
    for name, task in (
        ("micro", "micro.micro.Repeat1V1L"),
        ("two", "micro.micro.Repeat3V2L"),
        ("grid", "competition.navigation.MovingTask"),
    ):
        content = {
            "tasks": {"one": {"type": f"tasks.{task}"}},
            "scheduler": {"type": "core.scheduler.SequentialTaskScheduler", "args": {"tasks": ["one"]}},
        }
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    (tmp_path / "breaking.py").write_text(TASK)
    (tmp_path / "of_mine.py").write_text(LEARNERS)
    return tmp_path


def session(folder: Path, *options: str, rows: int = 24, columns: int = 80) -> Terminal:
    """The command line on a terminal."""
    return Terminal([sys.executable, "-m", "interplay.env.commai", *options], folder, rows, columns)


def test_a_person_answers_in_the_console(folder: Path) -> None:
    with session(folder, "two.json", "--seed", "1") as terminal:
        asked = re.search(r"teacher: +repeat: (\w)(\w?)\.", terminal.until("you:"))
        assert asked is not None
        terminal.type(f"X\x7f{asked[1]}")
        terminal.until(f"you: {asked[1]}")
        terminal.resize(9, 60)
        assert "time" in terminal.until(rf"you: {asked[1]}$")
        terminal.type(f"{asked[2]}.\n")
        terminal.until(r"reward 1 [^$]+last Repeat3V2L 1[^$]+you:$")
        terminal.type("A\n")
        terminal.until("answers end in a full stop")
        terminal.until(r"you:$")
        terminal.type("SKIP\n")
        terminal.until(r"last Repeat3V2L 0")
        terminal.type("\x03")
        assert terminal.end() == 0
        assert terminal.is_as_before()
    results = (folder / "results.out").read_text()
    assert "total reward: 1\n" in results
    assert "trials: 2\n" in results


def test_keys_change_the_speed(folder: Path) -> None:
    with session(folder, "micro.json", "-l", MEMORIZING, "-v", "BaseView", "-d", "0.01") as terminal:
        terminal.until(r"time \d+ +reward 0 +pause 0\.010 s")
        terminal.until(r"task Repeat1V1L \(1\)")
        for keys, pause in (("+", "0.009"), ("--", "0.011"), ("0", "0.010"), ("++++", "0.006")):
            terminal.type(keys)
            terminal.until(rf"pause {re.escape(pause)}")
        terminal.resize(3, 20)
        terminal.until(r"time \d+")
        terminal.type("\x03")
        assert terminal.end() == 0
        assert terminal.is_as_before()
    assert "trials" in (folder / "results.out").read_text()


@pytest.mark.parametrize("view", ["BaseView", "ConsoleView", "PlainView"])
def test_an_error_of_a_task_is_shown_on_a_terminal_as_before(folder: Path, view: str) -> None:
    with session(folder, "breaking.py", "-l", MEMORIZING, "-v", view) as terminal:
        assert terminal.end() == 1
        assert terminal.is_as_before()
        after = terminal.written.rpartition("\x1b[24;1H")[2]  # where curses leaves the screen
        assert "Traceback" in after
        assert "RuntimeError: this task is broken" in after
        assert "breaking.py" in after
    assert re.search(r"total time: [1-9]", (folder / "results.out").read_text())


def test_an_error_of_a_learner_is_shown(folder: Path) -> None:
    with session(folder, "micro.json", "-l", "of_mine.Crash", "-v", "ConsoleView") as terminal:
        assert terminal.end() == 1
        assert terminal.is_as_before()
        assert "RuntimeError: this learner is broken" in terminal.written
    assert "trials: 0" in (folder / "results.out").read_text()


def test_characters_that_cannot_be_shown(folder: Path) -> None:
    with session(folder, "micro.json", "-l", "of_mine.Zeros", "-v", "ConsoleView", "-d", "0.002") as terminal:
        terminal.until(r"learner: +\?\?\?")
        terminal.type("\x03")
        assert terminal.end() == 0


def test_the_map_and_a_window_too_small_for_it(folder: Path) -> None:
    with session(folder, "grid.json", "-w", "--seed", "1") as terminal:
        assert re.search(r"\. \^ \.", terminal.until("you:"))
        terminal.resize(4, 12)
        terminal.until(r"^time")
        terminal.type("I move forward.\n")
        terminal.until(r"you:$")
        terminal.resize(24, 80)
        terminal.until(r"last MovingTask 1[^$]+you:")  # before, a key is one for the speed
        terminal.type("\x04")
        assert terminal.end() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_stopped_session_writes_its_results(folder: Path, number: signal.Signals) -> None:
    with session(folder, "micro.json", "-l", MEMORIZING, "-v", "PlainView") as terminal:
        terminal.until("task Repeat1V1L")
        terminal.process.send_signal(number)
        assert terminal.end() == 0
    assert re.search(r"trials: [1-9]", (folder / "results.out").read_text())
