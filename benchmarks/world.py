"""What the Playhouse costs, on one thread, against its goals.

    python benchmarks/world.py                 # a table
    python benchmarks/world.py --json -        # ... and the numbers as JSON on stdout (or to a file)

Each row is measured many times; the best says what the code costs, the median what this machine gave it.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from interplay.env.playhouse.config import PlayhouseConfig
from interplay.env.playhouse.scene import warm_up
from interplay.env.playhouse.world import Playhouse
from interplay.env.world import Action, Start

DEMO = PlayhouseConfig(
    rooms=(1, 1), furniture=(0, 0), objects=(4, 5), unique_colours=True, image=(48, 64), setter_visible=False
)
FULL = PlayhouseConfig()
MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Row:
    """One measurement: milliseconds, or megabytes where the name says so."""

    name: str
    best: float
    median: float
    goal: float | None


def measure(name: str, goal: float | None, run: Callable[[], object], times: int, share: float = 1.0) -> Row:
    """`share`: of what one call does, to be reported (1/8 for a frame of a step)."""
    run()
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        taken.append((time.perf_counter() - start) * 1e3 * share)
    return Row(name, min(taken), float(np.median(taken)), goal)


def wander(world: Playhouse, seed: int = 0) -> Iterator[dict[str, Action]]:
    """Endless actions of two players who walk about and grasp, as unpractised policies do."""
    rng = np.random.default_rng(seed)
    while True:
        actions = {}
        for role in world.spec.roles:
            movement = world.spec.rest()
            for column, component in enumerate(world.spec.movement):
                movement[:, column] = rng.integers(component.bins)
            actions[role] = Action(movement)
        yield actions


def steps(name: str, goal: float | None, config: PlayhouseConfig, see: tuple[str, ...], share: float = 1.0) -> Row:
    """Steps of 8 frames, over several houses, with views for these roles."""
    rows = []
    for seed in range(5):
        world = Playhouse(config)
        world.reset(Start(seed=seed))
        actions = wander(world, seed)
        rows.append(measure(name, goal, lambda w=world, a=actions: w.step(next(a), see), 150, share))  # type: ignore[misc]
    return Row(name, float(np.mean([r.best for r in rows])), float(np.mean([r.median for r in rows])), goal)


def frames_with_every_view(name: str, goal: float, see: tuple[str, ...]) -> Row:
    """A frame and its views, when every single frame is drawn: an eighth of a bare step, and the pictures."""
    bare = steps(name, None, FULL, (), share=1 / 8)
    pictures = views(name, None, see)
    return Row(name, bare.best + pictures.best, bare.median + pictures.median, goal)


def views(name: str, goal: float | None, see: tuple[str, ...], size: tuple[int, int] | None = None) -> Row:
    rows = []
    for seed in range(5):
        world = Playhouse(FULL)
        world.reset(Start(seed=seed))
        height, width = size or world.config.image
        draw = lambda w=world, h=height, v=width: [w.picture(role, h, v) for role in see]  # noqa: E731
        rows.append(measure(name, goal, draw, 40 if size else 200))
    return Row(name, float(np.mean([r.best for r in rows])), float(np.mean([r.median for r in rows])), goal)


def resets(config: PlayhouseConfig, name: str) -> Row:
    world, seeds = Playhouse(config), itertools.count(100)
    return measure(f"new house ({name})", 10.0, lambda: world.reset(Start(seed=next(seeds)), see=()), 60)


def restores() -> Row:
    world = Playhouse(FULL)
    world.reset(Start(seed=3))
    world.step(next(wander(world)))
    start = Start(state=world.state())
    return measure("restore in the same house", 0.3, lambda: world.reset(start, see=()), 200)


def resident() -> Row:
    """Memory of this process, after all of the above. Megabytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    size = pages * os.sysconf("SC_PAGE_SIZE") / MEGABYTE
    return Row("memory of a process, MB", size, size, 200.0)


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
    yield resets(FULL, "up to 3 rooms")
    yield resets(DEMO, "one bare room")
    yield restores()
    yield resident()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="PATH", help="also write the numbers here; - for stdout")
    path = parser.parse_args().json
    warm_up(lambda line: print(line, file=sys.stderr))
    print(f"{'':52}{'best':>9}{'median':>9}{'goal':>9}   ms unless said otherwise")
    rows = []
    for row in all_rows():
        rows.append(row)
        verdict = "" if row.goal is None or row.best <= row.goal else "   misses its goal"
        print(f"{row.name:52}{row.best:9.3f}{row.median:9.3f}{row.goal or float('nan'):9.2f}{verdict}", flush=True)
    if path is not None:
        text = json.dumps({"thread": 1, "rows": [asdict(row) for row in rows]}, indent=1)
        if path == "-":
            print(text)
        else:
            Path(path).write_text(text + "\n")


if __name__ == "__main__":
    main()
