"""The script of `interplay completion`, executed by bash and by zsh."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
from pathlib import Path

import pytest

from interplay.launch.cli import main


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
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
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


@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh here")
def test_a_line_is_completed_in_zsh(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "env=voxel"]) == 0
    (tmp_path / "script").write_text(capsys.readouterr().out)
    (tmp_path / "some_file").touch()
    terminal, its_side = pty.openpty()
    shell = ["zsh", "-f", "-i"]
    environment = {**os.environ, "TERM": "dumb", "HOME": str(tmp_path), "PS1": "> "}
    with subprocess.Popen(
        shell, stdin=its_side, stdout=its_side, stderr=its_side, cwd=tmp_path, env=environment, start_new_session=True
    ) as process:
        os.close(its_side)
        try:
            types(terminal, "autoload -Uz compinit; compinit -u; eval \"$(cat script)\"; echo rea''dy\n", "ready")
            for typed, completed in (
                ("interplay reinf\t", "interplay reinforce "),
                ("sweep reinf\t", "sweep reinforce "),
                ("clone run.na\t", "clone run.name="),
                ("look env.contr\t", "look env.control="),
                ("score run.dir=som\t", "score run.dir=some_file"),
            ):
                line = typed if typed.startswith("interplay") else f"interplay {typed}"
                types(terminal, line, completed)
                types(terminal, "\x15", "")  # empties the line
        finally:
            process.kill()
            os.close(terminal)


def types(terminal: int, keys: str, expected: str) -> None:
    """Types into a terminal, and waits until it shows what is expected."""
    os.write(terminal, keys.encode())
    shown = ""
    while expected not in shown:
        assert select.select([terminal], [], [], 60)[0], f"{expected!r} is not in {shown!r}"
        shown += os.read(terminal, 4096).decode(errors="replace")
