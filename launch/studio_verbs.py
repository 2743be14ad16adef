"""The verbs that serve a studio, or take part in it: `studio`, `studio-demo` and `crowd`."""

from __future__ import annotations

import os
import sys

from interplay.launch.opened_run import names_of_runs, opened
from interplay.launch.served_run import draw_once, served_run
from interplay.launch.studio_demo import studio_demo
from interplay.stages.config import Config
from interplay.stages.run import Run
from interplay.studio.crowd import crowd
from interplay.studio.web import server


def serve(config: Config) -> int:
    """Serves the studio; replaces this process."""
    root = config.run.root
    if not (root / "config.json").exists() and (runs := names_of_runs(root.parent)):
        sys.stdout.write(
            f"{root.name} is a new run in {root.parent}. To serve another one of this folder, stop with Ctrl-C and "
            f"give run.name=NAME: {', '.join(runs)}\n"
        )
    served = served_run(config)
    draw_once(served)
    sys.stdout.flush()
    os.execv(sys.executable, server.command(served))


def serve_demo(config: Config) -> int:
    """Serves a small run with synthetic people."""

    def say(text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    run = opened(config)
    served = served_run(config)
    draw_once(served)
    say(studio_demo(run, served, say))
    return 0


def run_crowd(config: Config) -> int:
    """Runs synthetic people."""
    root = config.run.root
    found = crowd.crowd(Run(root, config))
    sys.stdout.write(f"The crowd of {root} ({config.crowd.players} players, {config.crowd.raters} raters):\n")
    sys.stdout.write(found.sentences())
    return 1 if found.errors else 0
