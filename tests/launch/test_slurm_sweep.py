"""Sweeps on Slurm: one array of tasks is submitted and waited for, whatever happens to them, and never twice."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from interplay.launch import slurm_sweep
from interplay.launch.cli import main
from interplay.launch.slurm_sweep import JOB, LOG
from interplay.launch.sweep_task import OUTCOME, run_task, write_task

TINY = ("env=room", "collect.episodes=1", "collect.heldout=1", "collect.lanes=1", "collect.steps=2")
ON_SLURM = ("hydra/launcher=slurm", "hydra.launcher.cpus_per_task=1", "hydra.launcher.mem=1G")

# Stand-ins that refuse what Slurm refuses. `sbatch` runs the tasks of an array at once, in the background.
SBATCH = """#!/usr/bin/env bash
while [[ "$1" == --* ]]; do
    echo "$1" >> "$TOLD/options"
    case "$1" in
        --partition=nowhere) echo "sbatch: error: invalid partition specified: nowhere" >&2; exit 1;;
        --array=0-*) tasks=${1#--array=0-}; tasks=${tasks%%%*};;
        --output=*) output=${1#--output=};;
        --parsable|--cpus-per-task=*|--mem=*|--time=*|--job-name=*|--nodelist=*|--exclusive) ;;
        *) echo "sbatch: unrecognized option '$1'" >&2; exit 1;;
    esac
    shift
done
[ -z "${INTERPLAY_ENV:-}${SBATCH_PARTITION:-}" ] || exit 65
script=$1
shift
for task in $(seq 0 "$tasks"); do
    file=${output//%a/$task} file=${file//%%/%}
    SLURM_JOB_ID=$((8 + task)) SLURM_ARRAY_JOB_ID=7 SLURM_ARRAY_TASK_ID=$task \\
        setsid bash "$script" "$@" >> "$file" 2>&1 < /dev/null &  # which makes no folders
    echo $! >> "$TOLD/tasks"
done
echo "7;main"
"""
# FAILS: how many calls get no answer. INTERRUPT: the command receives a Ctrl-C.
SQUEUE = """#!/usr/bin/env bash
[ "$*" = "--noheader --format=%F --jobs=7" ] || exit 64
echo >> "$TOLD/asked"
if [ "$(wc -l < "$TOLD/asked")" -le "${FAILS:-0}" ]; then
    echo "slurm_load_jobs error: Unable to contact slurm controller (connect failure)" >&2
    exit 1
fi
[ -z "${INTERRUPT:-}" ] || kill -INT "$PPID"
alive=
for task in $(cat "$TOLD/tasks"); do ! kill -0 "$task" 2> /dev/null || alive=yes; done
[ -z "$alive" ] || { echo 7; exit 0; }
[ -z "${PURGED:-}" ] || { echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1; }
"""
# In place of Python, for speed: run 0 is done, run 1 is killed. It waits for the file `go`.
PYTHON = """#!/usr/bin/env bash
[ "$1 $2" = "-m interplay.launch.slurm_task" ] || exit 64
while [ ! -e "$TOLD/go" ]; do sleep 0.05; done
echo "plays"
[ "$4" = 0 ] || kill -KILL $$
echo '{"run": "", "code": 0}' > "$3/$4/outcome.json"
"""


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which the stand-ins write down how they were called."""
    commands, told = tmp_path / "bin", tmp_path / "told"
    for folder in (commands, told, tmp_path / "100% runs"):
        folder.mkdir()
    for name, text in {"sbatch": SBATCH, "squeue": SQUEUE, "python": PYTHON}.items():
        (commands / name).write_text(text)
        (commands / name).chmod(0o755)
    (told / "go").touch()
    monkeypatch.setenv("PATH", f"{commands}:{os.environ['PATH']}")
    monkeypatch.setenv("TOLD", str(told))
    monkeypatch.setenv("INTERPLAY_ENV", "another")  # meant for slurm.sbatch, typed by hand
    monkeypatch.setenv("SBATCH_PARTITION", "another")
    monkeypatch.setattr(sys, "executable", str(commands / "python"))
    monkeypatch.setattr(slurm_sweep, "POLL_SECONDS", 0.05)
    return told


def typed(tmp_path: Path, *more: str) -> list[str]:
    return ["sweep", "collect", *TINY, f"run.dir='{tmp_path}/100% runs'", "run.seed=1,2", *ON_SLURM, *more]


def folder_of(tmp_path: Path) -> Path:
    (folder,) = (tmp_path / "100% runs" / ".sweeps").iterdir()
    return folder


def test_every_run_is_a_task_and_one_that_is_killed_is_named(
    told: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ("+hydra.launcher.nodelist=node7", "+hydra.launcher.exclusive=true", "hydra.launcher.array_parallelism=1")
    assert main(typed(tmp_path, *more)) == 1
    folder, said = folder_of(tmp_path), capsys.readouterr().out
    assert "  run-seed-1: done\n" in said
    assert f"  run-seed-2: did not end; its output is in {folder / '1' / LOG}\n" in said
    assert (folder / "0" / LOG).read_text() == "plays\n" and "plays" in (folder / "1" / LOG).read_text()
    assert json.loads((folder / "1" / "task.json").read_text())["words"][-1] == "run.name=run-seed-2"
    options = (told / "options").read_text().splitlines()
    assert {"--cpus-per-task=1", "--mem=1G", "--time=24:00:00", "--array=0-1%1", "--nodelist=node7"} <= {*options}
    assert "--exclusive" in options and not any("partition" in option for option in options)


def test_what_slurm_refuses_is_said(told: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(typed(tmp_path, "hydra.launcher.partition=nowhere")) == 2
    assert "invalid partition specified: nowhere" in capsys.readouterr().err
    assert main(typed(tmp_path, "+hydra.launcher.array=1-9")) == 2
    assert "hydra.launcher.array is set by the sweep itself; leave it out" in capsys.readouterr().err
    assert main(typed(tmp_path, "hydra.launcher.partitions=gpu")) == 2
    assert not (told / "tasks").exists()


@pytest.mark.parametrize("purged", ["", "yes"])
def test_a_sweep_waits_while_slurm_does_not_answer(
    told: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    purged: str,
) -> None:
    monkeypatch.setenv("FAILS", "2")
    monkeypatch.setenv("PURGED", purged)
    assert main(typed(tmp_path)) == 1
    assert "run-seed-1: done" in capsys.readouterr().out
    (warned,) = [each.getMessage() for each in caplog.records if "still waiting" in each.getMessage()]
    assert "squeue fails: slurm_load_jobs error: Unable to contact slurm controller" in warned


def test_a_sweep_that_is_queued_already_is_not_submitted_again(
    told: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (told / "go").unlink()
    monkeypatch.setenv("INTERRUPT", "yes")
    before = signal.signal(signal.SIGINT, lambda number, frame: sys.exit(1))  # as that of a command that has just begun
    try:
        assert main(typed(tmp_path)) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert "no longer waiting; job 7 continues under Slurm" in capsys.readouterr().err
    assert (folder_of(tmp_path) / JOB).read_text() == "7"
    monkeypatch.delenv("INTERRUPT")
    monkeypatch.setenv("FAILS", "100")
    assert main(typed(tmp_path)) == 1  # whether it is queued is not known
    assert "squeue fails" in capsys.readouterr().err
    monkeypatch.delenv("FAILS")
    assert main(typed(tmp_path, "collect.steps=3")) == 2
    assert "these runs are job 7 of Slurm, with other settings" in capsys.readouterr().err
    (told / "go").touch()
    assert main(typed(tmp_path)) == 1
    assert "run-seed-1: done" in capsys.readouterr().out
    assert len((told / "tasks").read_text().split()) == 2
    assert main(typed(tmp_path)) == 1  # it has ended
    assert len((told / "tasks").read_text().split()) == 4


def test_a_task_writes_its_outcome(tmp_path: Path) -> None:
    write_task(tmp_path / "0", "mine", ["collect", "run.name=mine"])
    said: list[list[str]] = []
    assert run_task(tmp_path / "0", lambda words: said.append([*words]) or 130) == 130
    assert said == [["collect", "run.name=mine"]]
    assert json.loads((tmp_path / "0" / OUTCOME).read_text()) == {"run": "mine", "code": 130}
    write_task(tmp_path / "0", "mine", ["collect", "run.name=mine"])
    assert not (tmp_path / "0" / OUTCOME).exists()


@pytest.mark.slow
def test_the_tasks_of_a_sweep_make_its_runs(
    told: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "executable", f"{sys.prefix}/bin/python")
    assert main(typed(tmp_path, "reinforce.actor.until=time,done", "reinforce.actor.hold_steps=4")) == 0, (
        capsys.readouterr()
    )
    assert "sweep: 4 of 4 runs done" in capsys.readouterr().out
    assert len([*(tmp_path / "100% runs").glob("run-*/collect/stage.json")]) == 4


@pytest.mark.parametrize(("there", "missing"), [((), "no sbatch and no squeue"), (("sbatch",), "no squeue")])
def test_slurm_is_refused_without_its_commands(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    there: tuple[str, ...],
    missing: str,
) -> None:
    commands = tmp_path / "bin"
    commands.mkdir()
    for command in there:
        (commands / command).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(commands))
    assert main(typed(tmp_path)) == 2
    said = capsys.readouterr().err
    assert f"there is {missing} on the PATH here" in said and "hydra/launcher=laptop" in said
    assert not (tmp_path / "100% runs").exists()
