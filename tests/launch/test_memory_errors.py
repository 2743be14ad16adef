"""The last line after an error that lack of memory caused."""

from __future__ import annotations

import mmap
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_runs import tiny

from interplay.launch.cli import main
from interplay.launch.memory_errors import out_of_memory_line

TOO_MANY = 2**56  # numbers, or bytes, for which no machine has memory
TOWER = f"""
import numpy as np
from interplay.agent.image_tower import ImageTower

class Huge(ImageTower):
    def __init__(self, config, image, text_width):
        super().__init__()
        np.ones({TOO_MANY})

    def forward(self, image, text, plain=True):
        pass
"""


def refuse_while_handled() -> None:
    try:
        np.ones(TOO_MANY)
    except MemoryError:
        raise ValueError("the world can't be made") from None


def multiply() -> None:
    raise RuntimeError("could not create a primitive")  # oneDNN, which torch calls


@pytest.mark.parametrize(
    "allocates",
    [
        multiply,
        lambda: np.ones(TOO_MANY),
        lambda: torch.ones(TOO_MANY),
        lambda: mmap.mmap(-1, TOO_MANY),
        refuse_while_handled,
    ],
)
def test_errors_of_libraries_are_recognized(allocates: Callable[[], object]) -> None:
    with pytest.raises((MemoryError, RuntimeError, OSError, ValueError)) as raised:
        allocates()
    line = out_of_memory_line("interplay clone", raised.value, "lower clone.dataset.lanes")
    assert line.startswith("interplay clone: memory ran out") and line.endswith(", lower clone.dataset.lanes\n")


def test_other_errors_get_no_line() -> None:
    assert out_of_memory_line("interplay clone", ValueError("lanes must be at least 1, got 0")) == ""


def test_a_stage_that_runs_out_of_memory_ends_with_what_to_lower(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "huge_tower.py").write_text(TOWER)
    monkeypatch.syspath_prepend(tmp_path)
    assert main(["clone", *tiny(tmp_path, "agent.image_tower=huge_tower:Huge")]) == 1
    error, line = capsys.readouterr().err.splitlines()
    assert "huge_tower:Huge can't be created: MemoryError: Unable to allocate" in error
    assert line.startswith("interplay clone: memory ran out") and "lower clone.dataset.lanes" in line


def test_a_command_whose_libraries_do_not_fit_says_so() -> None:
    little = 4 * 10**8  # torch alone takes more

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (little, little))

    command = [sys.executable, "-c", "from interplay.launch.entry import console; console()", "doctor"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, env=environment, preexec_fn=limit, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("interplay: memory ran out (ulimit -v allows a process 0.4 GB")
