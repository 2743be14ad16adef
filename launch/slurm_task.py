"""Carries out one run of a sweep on Slurm: python -m interplay.launch.slurm_task FOLDER NUMBER"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from interplay.launch.cli import console, main
from interplay.launch.sweep_task import run_task

if __name__ == "__main__":
    console(partial(run_task, Path(sys.argv[1]) / sys.argv[2], partial(main, swept=True)))
