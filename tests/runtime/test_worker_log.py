"""A worker's output is logged as it is printed, and the last process's output is distinguished from earlier ones."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

from interplay.runtime import crashes
from interplay.runtime.crashes import CrashReports, WorkerLog

# Prints from Python, to the file descriptors and from a C library, and is killed immediately.
SPEAKS = """
import ctypes, os, signal, sys
from pathlib import Path
from interplay.runtime.crashes import WorkerLog

WorkerLog(Path(sys.argv[1]), "actor-0").capture_output()
os.chdir("/")
print("from a plugin", flush=True)
print("to stderr", file=sys.stderr)
os.write(2, b"from beneath\\n")
ctypes.CDLL(None).perror(b"from C")
os.kill(os.getpid(), signal.SIGKILL)
"""


def said(folder: Path, text: str) -> WorkerLog:
    """The log of a worker that printed in consecutive processes."""
    kept = WorkerLog(folder, "actor-0")
    kept.write_header()
    with kept.file.open("a") as opened:
        opened.write(text)
    return kept


def test_the_last_output_of_a_killed_process_is_logged(tmp_path: Path) -> None:
    kept = said(tmp_path, "")
    ended = subprocess.run([sys.executable, "-c", SPEAKS, str(tmp_path)], capture_output=True, timeout=120, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert ended.stdout == ended.stderr == b""
    lines = kept.tail().splitlines()
    assert lines[:3] == ["from a plugin", "to stderr", "from beneath"] and lines[3].startswith("from C: ")


def test_the_words_of_an_earlier_life_are_kept_and_not_taken_for_its_own(tmp_path: Path) -> None:
    said(tmp_path, "the first life\n")
    assert said(tmp_path, "").tail() == ""
    assert said(tmp_path, "the third life\n=== a rule\n").tail() == "the third life\n=== a rule"
    text = (tmp_path / "actor-0.txt").read_text()
    assert text.count(" actor-0 starts\n") == 3 and "the first life" in text


def test_only_the_last_lines_are_reported(tmp_path: Path) -> None:
    kept = said(tmp_path, "".join(f"line {index} {'x' * 1000}\n" for index in range(100)))
    lines = kept.tail().splitlines()
    assert [line.split()[1] for line in lines] == [str(index) for index in range(80, 100)]
    assert {len(line) for line in lines} == {crashes.MAX_LINE_CHARACTERS}


def traceback_of(error: Exception) -> str:
    with pytest.raises(type(error)) as caught:
        raise error
    return "".join(traceback.format_exception(caught.value))


def noted() -> Exception:
    error = ValueError("shapes differ")
    error.add_note("  raised after 3 steps")
    return error


@pytest.mark.parametrize(
    ("cause", "line"),
    [
        (traceback_of(ValueError("shapes differ:\n[3, 4]\n\n[4, 4]")), "ValueError: shapes differ:"),
        (traceback_of(noted()), "ValueError: shapes differ"),
        (traceback_of(KeyError("cup")), "KeyError: 'cup'"),
        (f"RayTaskError(KeyError): ray::call()\n{traceback_of(KeyError('cup'))}\n", "KeyError: 'cup'"),
        ("has not answered\nin 3 s", "in 3 s"),
        ("", "no cause is known"),
    ],
)
def test_of_a_traceback_the_error_is_shown(cause: str, line: str) -> None:
    assert crashes.error_line(cause) == line


def test_a_file_does_not_grow_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crashes, "MAX_LOG_BYTES", 1000)
    kept = said(tmp_path, "old\n" * 100)
    before = kept.file.read_text()
    kept.truncate()
    assert kept.file.read_text() == before  # below the size limit
    with kept.file.open("a") as opened:
        for index in range(300):
            opened.write(f"{index}\n")
            opened.flush()
            kept.truncate()
            assert kept.file.stat().st_size <= 1000 + len("300\n")
    assert kept.tail().splitlines()[-3:] == ["297", "298", "299"]
    assert "old" not in kept.file.read_text()


def test_a_file_that_somebody_has_removed_is_not_a_reason_to_end(tmp_path: Path) -> None:
    kept = said(tmp_path, "words\n")
    kept.file.unlink()
    kept.truncate()
    assert kept.tail() == ""


def test_a_disk_that_fails_is_not_a_reason_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = said(tmp_path, "words\n" * 1000)

    def fails(path: Path, length: int) -> None:
        raise OSError(errno.ESTALE, "stale file handle")

    monkeypatch.setattr(crashes, "MAX_LOG_BYTES", 1000)
    monkeypatch.setattr(os, "truncate", fails)
    kept.truncate()
    assert kept.tail().endswith("words")


def test_a_worker_starts_even_if_its_log_is_not_writable(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "logs").write_text("in the way")
    WorkerLog(tmp_path / "logs", "actor-0").write_header()
    assert f"{tmp_path / 'logs' / 'actor-0.txt'} can't be written" in caplog.text


def test_a_crash_report_ends_with_the_last_output(tmp_path: Path) -> None:
    crashes = CrashReports(tmp_path, seed=7, config="abc", limit=2, window=3600.0)
    said(tmp_path / "logs", "\x1b[31mthe arm is out of reach\x1b[0m\n")
    file = crashes.record_failure("actor-0", 1, "it was killed", [])
    ends = f"it was killed\nThe last output of actor-0 ({tmp_path}/logs/actor-0.txt):\nthe arm is out of reach"
    assert file.read_text().strip().endswith(ends)
    exhausted = crashes.restarts_exhausted("actor-0", "it was killed", "killed", file)
    assert str(exhausted).endswith(f"{ends}\nThe cause: killed"), "the error is the last line on the screen"
    said(tmp_path / "logs", "")  # the next process, which has printed nothing
    assert crashes.record_failure("actor-0", 2, "it raised", []).read_text().strip().endswith("\nit raised")


def test_the_step_in_which_a_process_has_ended_again_and_again_is_named(tmp_path: Path) -> None:
    crashes = CrashReports(tmp_path, seed=7, config="abc", limit=2, window=60)
    for _ in range(3):
        crashes.begin_process("actor-0")
        assert "began" not in str(crashes.restarts_exhausted("actor-0", "killed", "killed", tmp_path))
        step = crashes.last_step("actor-0")  # as in the process, which does not close it
        for row in (9, 10):
            step.write(f"step {row} of episode abc")
        file = crashes.record_failure("actor-0", 1, "killed", [])
    assert file.read_text().count("killed\nThe last step that actor-0 began: step 10 of episode abc\n") == 3
    for error in (crashes.restarts_exhausted, crashes.repeated):
        said = str(error("actor-0", "killed", "killed", file))
        assert said.endswith("began: step 10 of episode abc (3 of its failures were in this step)\nThe cause: killed")


def test_a_disk_that_keeps_no_step_is_not_a_reason_to_end(tmp_path: Path) -> None:
    (tmp_path / "steps").write_text("in the way")
    step = CrashReports(tmp_path, seed=7, config="abc", limit=2, window=60).last_step("actor-0")
    step.clear()
    step.write("step 1")
    assert step.read() == ""
