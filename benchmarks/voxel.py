"""Speed of the voxel world on one core: matching, pictures, steps, and vectorized environments.

Rates are per second of processor time, so that other processes on the machine count little; what they still cost shows
in the last column, the rate of a fixed loop in plain Python, measured after each line.

.venv/bin/python benchmarks/voxel.py --seconds 1 --json voxel.json
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from reporting.json_numbers import add_json_option, write_json

from interplay.env import registry
from interplay.env.voxel.body import BuilderBody
from interplay.env.voxel.matching import Matcher
from interplay.env.voxel.picture import eye_of, picture
from interplay.env.voxel.random_tasks import RandomTasks
from interplay.env.voxel.space import Grid, empty_grid
from interplay.env.world import Action, Start

GRIDWORLD = 1360  # pictures of 64x64 a second that gridworld publishes


class Case(NamedTuple):
    """One measurement: what, how often a call does it, the goal per second, and the call."""

    name: str
    calls: int
    goal: float | None
    call: Callable[[], Any]


def scattered(blocks: int, rng: np.random.Generator) -> Grid:
    """Blocks of all colors in the middle of the zone, up to four high."""
    grid = empty_grid()
    while np.count_nonzero(grid) < blocks:
        y, x, z = rng.integers((0, 2, 1), (1 if blocks < 20 else 4, 9, 8)).tolist()
        grid[y, x, z] = rng.integers(1, 7)
    return grid


def drawn(blocks: int, height: int, width: int, goal: float, rng: np.random.Generator) -> Case:
    grid, body = scattered(blocks, rng), BuilderBody.at(0, 0, 4, 180, 20)
    camera, focus = eye_of(body, 80.0, height), body.gaze(grid).block
    return Case(
        f"picture {height}x{width}, {blocks} blocks", 1, goal, lambda: picture(grid, camera, height, width, focus)
    )


def matched(blocks: int, rng: np.random.Generator) -> Case:
    target = scattered(blocks, rng)
    matcher, built = Matcher(target), target.copy()
    built[0, 2] = 0
    return Case(f"Matcher.best, {blocks} blocks", 1, 100_000, lambda: matcher.best(built))


def stepped(control: str, rng: np.random.Generator) -> Case:
    world = registry.make("voxel", control=control, image=(64, 64), targets="own")
    world.reset(Start(seed=0), observers=())
    bins = [component.bins for component in world.spec.movement]
    shape = (200, world.spec.frames_per_step, len(bins))
    movements = iter([row for _ in range(2000) for row in rng.integers(0, bins, shape).astype(np.int8)])
    return Case(
        f"World.step {control}, picture 64x64",
        1,
        4000,
        lambda: world.step({"solver": Action(next(movements))}, observers=("solver",)),
    )


def vectorized(worlds: int, render: bool, goal: float) -> Case:
    envs = gymnasium.make_vec(
        "interplay.env.gymnasium_ids:interplay/SilentBuilder-v0",
        num_envs=worlds,
        tasks=RandomTasks(max_blocks=6, num_colors=3),
        action_space="walking",
        render=render,
        start_position=(0, 0, 3, 60, 180),
    )
    envs.reset(seed=0)
    envs.action_space.seed(0)
    actions = [envs.action_space.sample() for _ in range(64)]
    step = iter(range(10**9))
    pictures = "with pictures 64x64" if render else "without pictures"
    return Case(f"{worlds} vectorized worlds, {pictures}", worlds, goal, lambda: envs.step(actions[next(step) % 64]))


def rate(call: Callable[[], Any], count: int, seconds: float) -> float:
    """Best rate per second of processor time, in slices of some milliseconds."""
    best, spent, repeats = 0.0, 0.0, 1
    while spent < seconds:
        begun = time.process_time()
        for _ in range(repeats):
            call()
        took = time.process_time() - begun
        spent += took
        if took < 0.005:
            repeats *= 2
        else:
            best = max(best, repeats * count / took)
    return best


def reference() -> float:
    """A fixed loop in plain Python."""
    total = 0.0
    for i in range(20_000):
        total += i * 0.5
    return total


def cases(rng: np.random.Generator) -> list[Case]:
    return [
        matched(17, rng),
        matched(68, rng),
        Case("Matcher of 17 blocks, constructed", 1, 1000, partial(Matcher, scattered(17, rng))),
        drawn(17, 64, 64, 10_200, rng),
        drawn(68, 64, 64, 6500, rng),
        drawn(17, 72, 96, 6100, rng),
        drawn(68, 72, 96, 3900, rng),
        stepped("discrete", rng),
        stepped("human", rng),
        stepped("fly", rng),
        vectorized(64, True, 7000),
        vectorized(64, False, 60_000),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.0, help="of measurement per line")
    add_json_option(parser)
    options = parser.parse_args()
    rows = []
    print(f"{'':44} {'per second':>12} {'goal':>9} {'ratio':>6} {'reference':>10}")
    for case in cases(np.random.default_rng(0)):
        case.call()
        rate(case.call, case.calls, 0.1)
        found = rate(case.call, case.calls, options.seconds)
        busy = rate(reference, 1, 0.3)
        row = {"name": case.name, "per_second": found, "goal": case.goal, "reference_per_second": busy}
        if case.name.startswith("picture 64x64"):
            row["of_gridworld"] = found / GRIDWORLD
        rows.append(row)
        ratio = "" if case.goal is None else f"{found / case.goal:.2f}"
        print(f"{case.name:44} {found:12,.0f} {case.goal or 0:9,.0f} {ratio:>6} {busy:10,.0f}")
    write_json(options.json, rows)


if __name__ == "__main__":
    main()
