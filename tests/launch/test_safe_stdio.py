"""A closed stdout: Ctrl-C also kills the `tee` of `| tee log`, and the run must still save and end."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tiny_runs import copied, tiny

from interplay.launch import safe_stdio as module
from interplay.launch.safe_stdio import lasting
from interplay.learner import checkpoint

INTERPLAY = "import sys; from interplay.launch.cli import main; sys.exit(main())"
LONG = 600.0  # seconds


def test_output_to_a_closed_pipe_is_dropped() -> None:
    reads, writes = os.pipe()
    with os.fdopen(writes, "w") as pipe:
        stream = lasting(pipe)
        stream.write("heard\n")
        assert os.read(reads, 100) == b"heard\n"
        os.close(reads)
        for _ in range(3):
            stream.write("unheard\n")
        stream.flush()
        assert Path(f"/proc/self/fd/{writes}").readlink() == Path(os.devnull)


def test_characters_that_the_encoding_lacks_are_escaped() -> None:
    reads, writes = os.pipe()
    with os.fdopen(writes, "w", encoding="ascii") as pipe:
        lasting(pipe).write("runs/m\u00fc\n")
        assert os.read(reads, 100) == b"runs/m\\xfc\n"
    os.close(reads)


def test_output_of_a_signal_handler_within_a_line_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    reads, writes = os.pipe()
    written, struck = module._SafeFile.write, []

    def strike(raw: Any, data: Any) -> int:
        if not struck:
            struck.append(True)
            os.kill(os.getpid(), signal.SIGUSR1)
        return written(raw, data)

    with os.fdopen(writes, "w") as pipe:
        stream = lasting(pipe)
        before = signal.signal(signal.SIGUSR1, lambda number, frame: stream.write("from the handler\n"))
        try:
            monkeypatch.setattr(module._SafeFile, "write", strike)
            stream.write("the line\n")
        finally:
            signal.signal(signal.SIGUSR1, before)
        assert sorted(os.read(reads, 100).splitlines()) == [b"from the handler", b"the line"]
    os.close(reads)


def test_another_error_is_raised(tmp_path: Path) -> None:
    file = (tmp_path / "read-only").open("w+")
    stream = lasting(file)
    descriptor = os.open(tmp_path / "read-only", os.O_RDONLY)
    os.dup2(descriptor, file.fileno())
    with pytest.raises(OSError) as raised:
        stream.write("words\n")
    assert raised.value.errno == errno.EBADF
    os.dup2(os.open(os.devnull, os.O_WRONLY), file.fileno())  # where what is left may go


@pytest.mark.slow
def test_a_run_whose_reader_dies_of_the_same_ctrl_c_saves_and_stops(cloned: Path, tmp_path: Path) -> None:
    stage = copied(cloned, tmp_path) / "run" / "clone"
    words = tiny(tmp_path, "clone.training.updates=100000", "clone.training.checkpoint_every=100000")
    command = [sys.executable, "-c", INTERPLAY, "clone", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as run:
        assert run.stdout is not None
        read = next((line for line in run.stdout if line.startswith("clone ")), "")
        run.stdout.close()
        run.send_signal(signal.SIGINT)
        assert run.wait(LONG) == 130, read
    found = checkpoint.latest(stage / "checkpoints")
    assert found is not None and found.step > 4
