"""Compiles what a world runs, before something waits for its first frame."""

from __future__ import annotations

from collections.abc import Callable

from interplay.env.world import Action, Start, World


def warm_up(world: World, log: Callable[[str], None]) -> None:
    """Resets a world, runs one frame or step and draws its pictures, so that numba compiles what they call, or loads
    it from its cache. `log` gets a line before and one afterwards."""
    spec = world.spec
    log(f"preparing the world {spec.name} (up to a minute the first time on a machine)")
    world.reset(Start(seed=0))
    if world.runs_frames:
        world.frame({role: spec.rest()[0] for role in spec.roles})
    else:
        world.step({role: Action(spec.rest()) for role in spec.roles})
    if spec.image is not None:
        for role in spec.roles:
            world.picture(role, *spec.image[:2])
    log(f"the world {spec.name} is ready")
