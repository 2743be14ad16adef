"""What an actor of the Playhouse spends on a row: with pictures that it draws, and with poses for a GPU that draws.

    python benchmarks/live_views.py                # CPU time and bytes of a row, without and with its share of a house
    python benchmarks/live_views.py --json -       # also write the numbers as JSON to stdout (or a file)

Both take turns in one process. Deciding is left out: it is the same for both, on the inference server.
"""

from __future__ import annotations

import argparse
import itertools
import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from reporting.json_numbers import add_json_option, write_json

from interplay.agent.inputs import LaneInputs
from interplay.agent.observation import Layout
from interplay.agent.unroll import allocate_rollout
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.world import Playhouse
from interplay.env.world import Action, Start
from interplay.episodes.vocabulary import Vocabulary
from interplay.gpu_render.live_views import LiveViews, UndrawnPlayhouse


@dataclass(frozen=True)
class Row:
    """Means of one turn."""

    drawn_by: str
    row_us: float  # microseconds of CPU of a row, without new houses
    house_us: float  # of a new house, and of its first row
    mean_us: float  # of all rows, new houses among them
    request_bytes: float  # of a row, for the decision
    unroll_bytes: float  # of a row of the unroll, with its share of the houses


def turn(drawn_by: str, lanes: int, steps: int, episode: int) -> Row:
    """Plays one unroll, after one that warms up; every lane enters another house after `episode` steps."""
    config = PlayhouseConfig()
    kind = Playhouse if drawn_by == "actor" else UndrawnPlayhouse
    worlds = [kind(config) for _ in range(lanes)]
    spec = worlds[0].spec
    layout = Layout(spec, 16, 8)
    views = (
        LiveViews([each for each in worlds if isinstance(each, UndrawnPlayhouse)], spec.solver)
        if drawn_by == "gpu"
        else None
    )
    inputs = LaneInputs(layout, Vocabulary([], "words"), lanes, views)
    block = allocate_rollout(layout, steps, lanes, 0 if views is None else views.length)
    rng, seeds, observers = np.random.default_rng(0), itertools.count(), (spec.solver,)
    bins = [component.bins for component in spec.movement]
    played, houses, stored = list[float](), list[float](), list[float]()
    sent, known = 0, set[int]()
    for measured in (False, True):
        if views is not None:
            views.begin()
        for step in range(steps):
            moves = rng.integers(bins, size=(lanes, len(bins))).astype(np.int8)
            actions = [{spec.solver: Action(np.tile(move, (spec.frames_per_step, 1)))} for move in moves]
            for lane, world in enumerate(worlds):
                enters = (step + lane * episode // lanes) % episode == 0 or (step == 0 and not measured)
                began = time.process_time()
                if enters:
                    seen = world.reset(Start(seed=next(seeds)), observers)
                else:
                    seen = world.step(actions[lane], observers).views
                inputs.observe(lane, seen[spec.solver])
                if views is not None and enters:
                    views.house_of(lane)  # packed once, here and not with the row
                (houses if enters else played).append(time.process_time() - began)
            began = time.process_time()
            inputs.store(block, step)
            stored.append(time.process_time() - began)
            sent += sum(array.nbytes for array in inputs.arrays.values())
            if views is not None:
                parts = views.scenes()[0].scenes.parts(inputs.arrays["view"][0])
                sent += sum(part.nbytes for key, part in parts.items() if key not in known)
                known = set(parts)
            if not measured:
                played, houses, stored, sent = [], [], [], 0
    kept = sum(array.nbytes for array in block.values()) * steps / (steps + 1)
    kept += 0 if views is None else views.scenes()[0].scenes.nbytes
    rows = steps * lanes
    packed = sum(stored) / rows
    row, house = float(np.mean(played)) + packed, float(np.mean(houses)) + packed
    mean = (sum(played) + sum(houses) + sum(stored)) / rows
    return Row(drawn_by, row * 1e6, house * 1e6, mean * 1e6, sent / rows, kept / rows)


def print_rows(rows: Sequence[Row]) -> None:
    """Prints the best turn of each, and the ratio."""
    columns = {
        "row_us": "a row, us",
        "house_us": "in a new house, us",
        "mean_us": "mean, us",
        "request_bytes": "a request, bytes",
        "unroll_bytes": "an unroll, bytes",
    }
    print(f"{'drawn_by':10}" + "".join(f"{title:>20}" for title in columns.values()))
    found = []
    for by in ("actor", "gpu"):
        row = min((each for each in rows if each.drawn_by == by), key=lambda each: each.mean_us)
        found.append([getattr(row, name) for name in columns])
        print(f"{by:10}" + "".join(f"{value:20,.0f}" for value in found[-1]))
    ratios = (actor / gpu for actor, gpu in zip(*found, strict=True))
    print(f"{'ratio':10}" + "".join(f"{ratio:20.1f}" for ratio in ratios), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lanes", type=int, default=16, help="of an actor (%(default)s)")
    parser.add_argument("--steps", type=int, default=50, help="of an unroll (%(default)s)")
    parser.add_argument("--episode", type=int, default=40, help="steps of an episode (%(default)s)")
    parser.add_argument("--turns", type=int, default=3, help="of each (%(default)s)")
    add_json_option(parser)
    options = parser.parse_args()
    rows = [
        turn(by, options.lanes, options.steps, options.episode) for _ in range(options.turns) for by in ("actor", "gpu")
    ]
    print_rows(rows)
    write_json(options.json, {"settings": vars(options), "rows": [asdict(row) for row in rows]})


if __name__ == "__main__":
    main()
