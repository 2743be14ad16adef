"""The run that a studio serves, and its world."""

from __future__ import annotations

from dataclasses import replace

from interplay.stages.config import Config
from interplay.stages.run import Run, env_if_recorded, open_run
from interplay.studio.web.studio_context import ServedRun


def served_run(config: Config) -> ServedRun:
    """The run as its studio serves it."""
    root = config.run.root
    env = env_if_recorded(root)  # the world of the run's episodes, whatever else is typed here
    if env is None:
        run = open_run(config)
        run.record_config()  # before people record episodes of its world
        env = run.config.env
    world = Run(root, replace(config, env=env)).make_world()
    try:
        scripted = bool(world.tasks().kinds)
        return ServedRun(root, env, world.spec.frames_per_second, config.run.seed, config.studio, scripted)
    finally:
        world.close()
