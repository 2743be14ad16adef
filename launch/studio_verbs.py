"""The verbs that serve a studio, or take part in it: `studio`, `studio-demo` and `crowd`."""

from __future__ import annotations

import os
import signal
import sys

from interplay.env import registry
from interplay.env.warm_up import warm_up
from interplay.launch.opened_run import names_of_runs, opened
from interplay.launch.served_run import served_run
from interplay.launch.studio_demo import studio_demo
from interplay.stages.config import Config
from interplay.stages.run import Run
from interplay.studio.crowd import crowd
from interplay.studio.web import server
from interplay.studio.web.studio_context import ServedRun


def serve(config: Config) -> int:
    """Serves the studio; replaces this process."""
    root = config.run.root
    if not (root / "config.json").exists() and (runs := names_of_runs(root.parent)):
        sys.stdout.write(
            f"{root.name} is a new run in {root.parent}. To serve another one of this folder, stop with Ctrl-C and "
            f"give run.name=NAME: {', '.join(runs)}\n"
        )
    served = served_run(config)
    _warm_up_world(served)
    signal.pthread_sigmask(signal.SIG_BLOCK, server.STOPS)  # while the new process imports, one would be a traceback
    os.execv(sys.executable, server.command(served))


def serve_demo(config: Config) -> int:
    """Serves a small run with synthetic people."""
    run = opened(config)
    served = served_run(config)
    _warm_up_world(served)
    _say(studio_demo(run, served, _say))
    return 0


def run_crowd(config: Config) -> int:
    """Runs synthetic people."""
    root = config.run.root
    found = crowd.crowd(Run(root, config))
    sys.stdout.write(f"The crowd of {root} ({config.crowd.players} players, {config.crowd.raters} raters):\n")
    sys.stdout.write(found.sentences())
    return 1 if found.errors or found.ended else 0


def _warm_up_world(served: ServedRun) -> None:
    """Compiles the renderer, for which processes of low priority and people in live sessions would otherwise wait."""
    world = registry.make(**served.env)
    try:
        warm_up(world, lambda line: _say(f"{line}\n"))
    finally:
        world.close()


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
