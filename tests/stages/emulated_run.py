"""Runs verbs of the command line on an emulated GPU, as in `python emulated_run.py clone,reward SETTINGS`.

A script, with TRITON_INTERPRET=1, because whether kernels are interpreted is decided when they are imported.
"""

from __future__ import annotations

import sys

from emulated_gpu import emulated_gpu

from interplay.launch.cli import main

if __name__ == "__main__":
    verbs, *settings = sys.argv[1:]
    with emulated_gpu():
        sys.exit(max(main([verb, *settings]) for verb in verbs.split(",")))
