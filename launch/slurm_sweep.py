"""Sweeps on Slurm: a job array with a task for each run, which saves and queues itself again before its time limit."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from interplay.core.files import write_whole
from interplay.core.settings_validation import SettingsError

logger = logging.getLogger(__name__)

COMMANDS = ("sbatch", "squeue")
SCRIPT = Path(__file__).parent / "cluster" / "slurm.sbatch"
JOB = "slurm-job"  # a file of the sweep: the number of its job
LOG = "job.log"  # a file of each run: the output of its task
PARALLEL = "array_parallelism"  # the one setting that is not an option of sbatch
SET_HERE = ("array", "output", "parsable", "wrap")  # options of sbatch
POLL_SECONDS = 10.0
COMMAND_SECONDS = 120.0  # that a busy Slurm may take to answer


class SlurmFailure(OSError):
    """A command of Slurm failed. The message has what it printed."""


def queued_job(folder: Path) -> str | None:
    """The job of an earlier command for the sweep of this folder, if it still waits or runs.

    Raises:
        SlurmFailure: Slurm does not answer.
    """
    file = folder / JOB
    job = file.read_text() if file.exists() else ""
    return job if job and is_queued(job) else None


def submit(folder: Path, options: Mapping[str, object], count: int) -> str:
    """Submits the tasks 0 to `count` - 1 of a sweep; returns the number of the job.

    Args:
        folder: of the sweep, an absolute path, with a folder for each task.
        options: those of sbatch, with _ for -; one that is null or false is left out.

    Raises:
        SettingsError: Slurm refuses the options.
        SlurmFailure: Slurm does not answer.
    """
    if wrong := [name for name in SET_HERE if name in options]:
        raise SettingsError([f"hydra.launcher.{name} is set by the sweep itself; leave it out" for name in wrong])
    array = f"0-{count - 1}" + (f"%{options[PARALLEL]}" if options.get(PARALLEL) else "")
    words = [
        *(_option(name, value) for name, value in options.items() if name != PARALLEL and value not in (None, False)),
        f"--array={array}",
        f"--output={str(folder).replace('%', '%%')}/%a/{LOG}",
    ]
    told = _run("sbatch", "--parsable", *words, str(SCRIPT), "--sweep", sys.executable, str(folder))
    if told.returncode:
        raise SettingsError([f"sbatch refuses {' '.join(words)}: {told.stderr.strip()}"])
    job = told.stdout.strip().partition(";")[0]  # of several clusters, the second part names one
    write_whole(folder / JOB, job)
    return job


def wait_until_ended(job: str) -> None:
    """Waits while any task of the job is queued or runs, also while Slurm does not answer."""
    silent = False
    while True:
        try:
            if not is_queued(job):
                return
            silent = False
        except SlurmFailure as failure:
            if not silent:
                logger.warning("%s; still waiting", failure)
            silent = True
        time.sleep(POLL_SECONDS)


def is_queued(job: str) -> bool:
    """Whether a task of the job waits, runs or ends.

    Raises:
        SlurmFailure: Slurm does not answer.
    """
    told = _run("squeue", "--noheader", "--format=%F", f"--jobs={job}")
    if told.returncode and "Invalid job id" not in told.stderr:  # it has ended minutes ago
        raise SlurmFailure(f"squeue fails: {told.stderr.strip()}")
    return not told.returncode and bool(told.stdout.strip())


def _option(name: str, value: object) -> str:
    option = f"--{name.replace('_', '-')}"
    return option if value is True else f"{option}={value}"


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    """The output of a command of Slurm, without the options that the environment has for it."""
    theirs = ("SBATCH_", "SQUEUE_", "SLURM_ARRAY_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(theirs)}
    environment.pop("INTERPLAY_ENV", None)  # its runs have the interpreter of the sweep
    try:
        return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=COMMAND_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise SlurmFailure(f"{words[0]} did not answer in {COMMAND_SECONDS:g} seconds") from error
