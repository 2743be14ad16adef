"""The process of the command at its start and at its end: Ctrl-C leaves a line or nothing, and the end is quick."""

from __future__ import annotations

import signal
import subprocess
import sys
from bdb import BdbQuit
from pathlib import Path

import pytest
from tiny_runs import refused, tiny

from interplay.launch import verbs
from interplay.launch.verbs import Verb
from interplay.runtime.interruption import INTERRUPTED
from interplay.stages.config import Config

AT_THE_START = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background of a script

class Interrupts:
    def find_spec(self, name, *rest):
        if name == "MODULE":
            os.kill(os.getpid(), signal.NUMBER)

sys.argv.append("doctor")
sys.meta_path.insert(0, Interrupts())
from interplay.launch import entry
entry.console()
"""
AT_THE_END = """
import atexit, gc, os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from interplay.launch import cli
atexit.register(os.kill, os.getpid(), signal.SIGINT)
atexit.register(lambda: print(len(gc.get_objects()), "objects", flush=True))
cli.main = lambda: 130
cli.console()
"""


def ran(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize(
    ("module", "number"),
    [
        ("interplay.runtime", "SIGINT"),
        ("interplay.launch.cli", "SIGINT"),
        ("interplay.launch.cli", "SIGTERM"),
        ("interplay.launch.usage", "SIGHUP"),
    ],
)
def test_a_signal_while_the_command_is_imported_is_a_line(module: str, number: str) -> None:
    result = ran(AT_THE_START.replace("MODULE", module).replace("NUMBER", number))
    assert (result.returncode, result.stderr) == (INTERRUPTED, "interplay: stopped\n")


def test_a_command_without_streams_ends_as_one_with_them() -> None:
    script = "from interplay.launch import entry; entry.console()"
    closed = ["sh", "-c", '"$0" -c "$1" --version <&- >&- 2>&-', sys.executable, script]
    assert subprocess.run(closed, timeout=300).returncode == 0


def test_the_exit_searches_no_garbage_and_ends_at_once_on_another_interrupt() -> None:
    result = ran(AT_THE_END)
    assert (result.returncode, result.stderr) == (-signal.SIGINT, "")
    objects, _ = result.stdout.split()
    assert int(objects) < 1000


def test_a_debugger_that_is_left_ends_the_command_with_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def debugged(config: Config) -> int:
        raise BdbQuit

    monkeypatch.setitem(verbs.VERBS, "look", Verb("debug", debugged))
    said = refused("look", tiny(tmp_path), capsys, code=INTERRUPTED)
    assert said == "interplay look: left in the debugger; the same command makes again what was not saved\n"
