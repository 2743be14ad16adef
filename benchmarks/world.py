"""The cost of the Playhouse on one thread, compared with its goals.

    python benchmarks/world.py                 # two tables: costs, and a profile
    python benchmarks/world.py --json -        # also write the numbers as JSON to stdout (or a file)

Each row is measured many times: the best is the cost of the code, the median that of this machine under its load.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from reporting.json_numbers import add_json_option, write_json

os.environ.setdefault("OMP_NUM_THREADS", "1")

import mujoco
import numpy as np

from interplay.env.playhouse.house.action_codec import MovementCodec
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.physics.free_motion import FreeMotion
from interplay.env.playhouse.physics.hand import Hand
from interplay.env.playhouse.physics.simulation import Simulation
from interplay.env.playhouse.render import scene
from interplay.env.playhouse.render.scene import Scene
from interplay.env.playhouse.truth.observe import GroundTruth
from interplay.env.playhouse.world import Playhouse
from interplay.env.warm_up import warm_up
from interplay.env.world import Action, Start

DEMO = PlayhouseConfig(
    rooms=(1, 1),
    room_size=(3.6, 3.6),  # one size, as in env=room: the physics of a new house reuse the model of an earlier one
    furniture=(0, 0),
    objects=(4, 5),
    unique_colors=True,
    image=(48, 64),
    setter_visible=False,
    track_contacts=False,
)
FULL = PlayhouseConfig()
SMOOTH = PlayhouseConfig(antialias=True)
MEGABYTE = 1 << 20
PROFILED = 150  # steps in each of five houses


@dataclass(frozen=True)
class Row:
    """One measurement: milliseconds, or megabytes if its name says so."""

    name: str
    best: float
    median: float
    goal: float | None


def measure(name: str, goal: float | None, run: Callable[[], object], times: int, share: float = 1.0) -> Row:
    """Times `run`; reports `share` of a call's time (1/8 for a frame of a step)."""
    run()
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        taken.append((time.perf_counter() - start) * 1e3 * share)
    return Row(name, min(taken), float(np.median(taken)), goal)


def wander(world: Playhouse, seed: int = 0) -> Iterator[dict[str, Action]]:
    """Endless random actions of two players, as of untrained policies."""
    rng = np.random.default_rng(seed)
    while True:
        actions = {}
        for role in world.spec.roles:
            movement = world.spec.rest()
            for column, component in enumerate(world.spec.movement):
                movement[:, column] = rng.integers(component.bins)
            actions[role] = Action(movement)
        yield actions


def steps(
    name: str, goal: float | None, config: PlayhouseConfig, observers: tuple[str, ...], share: float = 1.0
) -> Row:
    """Times steps of 8 frames in five houses, with views for these roles."""
    rows = []
    for seed in range(5):
        world = Playhouse(config)
        world.reset(Start(seed=seed))
        actions = wander(world, seed)
        rows.append(measure(name, goal, lambda w=world, a=actions: w.step(next(a), observers), 150, share))  # type: ignore[misc]
    return Row(name, float(np.mean([r.best for r in rows])), float(np.mean([r.median for r in rows])), goal)


def frames_with_every_view(name: str, goal: float, observers: tuple[str, ...]) -> Row:
    """Cost of a frame and its views if every frame is drawn: an eighth of a step without views, and the pictures."""
    bare = steps(name, None, FULL, (), share=1 / 8)
    pictures = views(name, None, observers)
    return Row(name, bare.best + pictures.best, bare.median + pictures.median, goal)


def views(
    name: str,
    goal: float | None,
    observers: tuple[str, ...],
    size: tuple[int, int] | None = None,
    config: PlayhouseConfig = FULL,
) -> Row:
    rows = []
    for seed in range(5):
        world = Playhouse(config)
        world.reset(Start(seed=seed))
        height, width = size or world.config.image
        draw = lambda w=world, h=height, v=width: [w.picture(role, h, v) for role in observers]  # noqa: E731
        rows.append(measure(name, goal, draw, 40 if size else 200))
    return Row(name, float(np.mean([r.best for r in rows])), float(np.mean([r.median for r in rows])), goal)


def resets(config: PlayhouseConfig, name: str) -> Row:
    world, seeds = Playhouse(config), itertools.count(100)
    return measure(f"new house ({name})", 10.0, lambda: world.reset(Start(seed=next(seeds)), observers=()), 60)


def restores() -> Row:
    world = Playhouse(FULL)
    world.reset(Start(seed=3))
    world.step(next(wander(world)))
    start = Start(state=world.state())
    return measure("restore in the same house", 0.3, lambda: world.reset(start, observers=()), 200)


def resident() -> Row:
    """Resident memory of this process after all other rows, megabytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    size = pages * os.sysconf("SC_PAGE_SIZE") / MEGABYTE
    return Row("memory of a process, MB", size, size, 200.0)


@dataclass(frozen=True)
class Share:
    """Mean time of one part of a step or of the facts."""

    whole: str
    part: str
    milliseconds: float
    share: float


class Stopwatch:
    """Times function calls by wrapping them, in CPU time of this thread."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._within: list[float] = []  # for each open call, the time of its nested calls

    def around(self, function: Callable[..., Any], part: str) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            self._within.append(0.0)
            start = time.thread_time()
            result = function(*args, **kwargs)
            took = time.thread_time() - start
            self.seconds[part] += took - self._within.pop()
            if self._within:
                self._within[-1] += took
            return result

        return timed


PARTS: tuple[tuple[Any, str, str], ...] = (
    (MovementCodec, "decode", "decoding of bins"),
    (mujoco, "mj_step", "MuJoCo, frames with contacts"),
    (Hand, "act", "hands of both players"),
    (FreeMotion, "advance", "moves, and frames without MuJoCo"),
    (Simulation, "frames", "other moves, and calls"),
    (Simulation, "moment", "poses copied out"),
    (scene, "place", "placing of things, parts and shadows"),
    (scene, "cull", "culling"),
    (scene, "cast", "ray-casting"),
    (scene, "shade", "shadows"),
    (scene, "paint_parts", "shading"),
    (scene, "paint_rooms", "shading"),
    (Scene, "draw", "camera, buffers and calls"),
    (Simulation, "looked_at", "what both look at"),
    (GroundTruth, "observe", "facts as objects"),
)


def where_time_goes() -> Iterator[Share]:
    """Profiles a step of 8 frames with one view, and the facts after it, in five houses."""
    watch = Stopwatch()
    kept = [(owner, name, getattr(owner, name)) for owner, name, _ in PARTS]
    for owner, name, part in PARTS:
        setattr(owner, name, watch.around(getattr(owner, name), part))
    try:
        for seed in range(5):
            world = Playhouse(FULL)
            world.reset(Start(seed=seed), observers=())
            actions = wander(world, seed)
            for _ in range(PROFILED):
                watch.around(world.step, "the rest of a step")(next(actions), ("solver",))
                watch.around(world.facts, "the rest of the facts")()
    finally:
        for owner, name, function in kept:
            setattr(owner, name, function)
    facts = ("what both look at", "facts as objects", "the rest of the facts")
    for whole, parts in (
        ("step of 8 frames, one view, 72x96", [part for part in watch.seconds if part not in facts]),
        ("facts of a moment", [part for part in watch.seconds if part in facts]),
    ):
        total = sum(watch.seconds[part] for part in parts)
        for part in sorted(parts, key=lambda part: -watch.seconds[part]):
            taken = watch.seconds[part]
            yield Share(whole, part, taken / (5 * PROFILED) * 1e3, taken / total)


def all_rows() -> Iterator[Row]:
    both, one = ("setter", "solver"), ("solver",)
    yield frames_with_every_view("frame with both views, 72x96", 0.45, both)
    yield frames_with_every_view("frame with the solver's view, 72x96", 0.25, one)
    yield steps("step of 8 frames, one view, 72x96", 1.1, FULL, one)
    yield steps("step of 8 frames, one view, 48x64, one bare room", 0.4, DEMO, one)
    yield steps("step of 8 frames, physics only", 0.6, FULL, ())
    yield views("one view, 72x96", 0.25, one)
    yield views("one view, 48x64", 0.12, one, (48, 64))
    yield views("one view, 480x640", 8.0, one, (480, 640))
    yield views("one view, 72x96, anti-aliased", 0.75, one, config=SMOOTH)
    yield resets(FULL, "up to 3 rooms")
    yield resets(DEMO, "one bare room")
    yield restores()
    yield resident()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_json_option(parser)
    path = parser.parse_args().json
    warm_up(Playhouse(FULL), lambda line: print(line, file=sys.stderr))
    print(f"{'':52}{'best':>9}{'median':>9}{'goal':>9}   ms unless stated otherwise")
    rows = []
    for row in all_rows():
        rows.append(row)
        verdict = "" if row.goal is None or row.best <= row.goal else "   misses its goal"
        print(f"{row.name:52}{row.best:9.3f}{row.median:9.3f}{row.goal or float('nan'):9.2f}{verdict}", flush=True)
    shares = list(where_time_goes())
    print(f"\n{'profile, mean':52}{'ms':>9}{'share':>9}   including the stopwatch")
    for whole in dict.fromkeys(share.whole for share in shares):
        print(f"{whole:52}{sum(share.milliseconds for share in shares if share.whole == whole):9.3f}")
        for share in shares:
            if share.whole == whole:
                print(f"  {share.part:50}{share.milliseconds:9.3f}{share.share:9.0%}")
    tables = {"rows": [asdict(row) for row in rows], "profile": [asdict(share) for share in shares]}
    write_json(path, {"thread": 1, **tables})


if __name__ == "__main__":
    main()
