"""The script of `interplay completion`, executed by bash."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from interplay.launch.cli import main

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        (["interplay", "re"], ["reward ", "reinforce ", "report ", "replay ", "reindex "]),
        (["interplay", "sweep", "st"], []),
        (["interplay", "sweep", "reinf"], ["reinforce "]),
        (["interplay", "clone", "experi"], ["experiment="]),
        (["interplay", "clone", "run.n"], ["run.name="]),
        (["interplay", "clone", "run.ty"], []),
        (["interplay", "look", "env.control"], ["env.control="]),  # of the world that is typed
        (["interplay", "clone", "run.name", "=", "run."], []),
        (["interplay", "clone", "run.name", "="], []),
    ],
)
def test_a_line_is_completed(line: list[str], completed: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "env=voxel"]) == 0
    script = f"""{capsys.readouterr().out}
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_interplay
complete -p interplay > /dev/null && printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(["bash", "-c", script, "bash", *line], capture_output=True, text=True, check=True)
    assert not done.stderr
    assert sorted(done.stdout.splitlines()) == sorted(completed or [""])
