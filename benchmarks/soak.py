"""Plays houses at random for a long time, and checks the physics after every step.

    python benchmarks/soak.py                               # 1,000 steps in each of 10 houses, some ten seconds
    python benchmarks/soak.py --houses 50 --steps 10000     # half a million steps, some ten minutes
    python benchmarks/soak.py --json -                      # also write the numbers as JSON to stdout (or a file)

Both players act at random: they approach things, grasp, carry, push, turn, release and throw them. After every step
each thing must be inside the house, must have entered its room by a doorway, and must not be in a wall, in furniture
or in the floor. MuJoCo must not warn, neither by its counters nor in the log. Memory is measured after each house.
The exit code is 1 if a check failed.
"""

from __future__ import annotations

import argparse
import logging
import math
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from reporting.json_numbers import add_json_option, write_json

os.environ.setdefault("OMP_NUM_THREADS", "1")

import mujoco
import numpy as np
from numpy.typing import NDArray

from interplay.env.playhouse.house.action_codec import COMPONENTS, FORWARD, FRAMES_PER_STEP, PITCH, STRAFE, YAW
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.house.house_layout import PlacedThing
from interplay.env.playhouse.house.rooms import DOOR_WIDTH_M, WALL_HEIGHT_M, WALL_THICKNESS_M
from interplay.env.playhouse.physics.model import BOX, EYE_HEIGHT_M
from interplay.env.playhouse.world import Playhouse
from interplay.env.world import Action, Movement, Start

MEGABYTE = 1 << 20
FLAT = 3.0  # MB that memory may grow in the second half: houses differ in size, but nothing may accumulate
SUNK = 0.85  # of the lowest possible height of a thing's center: below it, the thing is sunk in the floor
STAYS = 8  # steps, 2 s: a thing that a hand or foot presses into something comes out sooner in nearly all houses
DIP = 0.05  # meters that the center of a thing thrown at the floor may be below it for a moment
BESIDE = 0.25  # meters of tolerance at a doorway: a thing that turns a corner within a step seems to pass there
KEEN = 0.7  # share of steps in which a player approaches a thing and grasps; in the others it acts uniformly


@dataclass(frozen=True)
class Soaked:
    """The results of one house."""

    seed: int
    steps: int
    objects: int
    grasps: int  # steps after which something is held, summed over both players
    spent: int  # steps after which something has just been thrown or lost
    fastest: float  # meters per second
    escaped: tuple[str, ...]  # name and step
    pressed: int  # longest time that a thing was pressed into something, in steps
    warnings: tuple[str, ...]
    seconds: float
    megabytes: float  # memory of this process afterwards


class Watch:
    """Checks one house after every step."""

    def __init__(self, world: Playhouse) -> None:
        house, model = world.house, world.simulation.model
        self._simulation = world.simulation
        self._low = np.array([room.low for room in house.rooms]) - WALL_THICKNESS_M
        self._high = np.array([room.high for room in house.rooms]) + WALL_THICKNESS_M
        self._doors = np.array([door.middle for door in house.doorways]).reshape(-1, 2)
        names = [f"{thing.color} {thing.category.name}" for thing in house.objects]
        self._names = (*names, "setter", "solver")
        self._least = np.array([SUNK * _lowest(thing) for thing in house.objects])
        self._low_for = self._within_for = np.zeros(len(names), dtype=int)  # steps
        self.pressed = 0  # longest so far, in steps
        solid = [g for g in range(model.ngeom) if model.geom_bodyid[g] == 0 and model.geom_type[g] == BOX]
        half = np.array([np.abs(_matrix(model.geom_quat[g])) @ model.geom_size[g] for g in solid])
        self._solid_low, self._solid_high = model.geom_pos[solid] - half, model.geom_pos[solid] + half
        self._before, self._rooms_before = self._spots()

    def _spots(self) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Positions of the objects and of both players [K + 2, 2], and whether each is in each room [K + 2, R]."""
        feet = [(x, y) for x, y, _, _ in self._simulation.poses.tolist()]
        spots = np.concatenate([self._simulation.data.qpos[4:].reshape(-1, 7)[:, :2], feet])
        inside = np.all((spots[:, None] >= self._low) & (spots[:, None] <= self._high), axis=2)
        return spots, inside

    def wrong(self) -> list[str]:
        """The things and players at impossible positions, with the position in words."""
        heights = self._simulation.data.qpos[4:].reshape(-1, 7)[:, 2]
        spots, inside = self._spots()
        middles = np.column_stack([spots[:-2], heights])
        within = ((middles[:, None] > self._solid_low) & (middles[:, None] < self._solid_high)).all(axis=2)
        self._low_for = np.where(heights < self._least, self._low_for + 1, 0)
        self._within_for = np.where(within.any(axis=1), self._within_for + 1, 0)
        self.pressed = max(self.pressed, int(self._low_for.max()), int(self._within_for.max()))
        found = {
            "outside": ~inside.any(axis=1),
            "through a wall": ~(inside & self._rooms_before).any(axis=1) & ~self._by_a_door(spots),
            "under the floor": ~(heights > -DIP),
            "above the ceiling": ~(heights < WALL_HEIGHT_M),
            "in a wall or in furniture": self._within_for >= STAYS,
            "sunk": self._low_for >= STAYS,
        }
        self._before, self._rooms_before = spots, inside
        return [f"{self._names[k]} {where}" for where, mask in found.items() for k in np.flatnonzero(mask)]

    def _by_a_door(self, spots: NDArray[np.float64]) -> NDArray[np.bool_]:
        """True for paths since the last step that lead through or close to a doorway; [K + 2]."""
        way = spots - self._before
        length = np.maximum((way * way).sum(axis=1), 1e-12)
        near = np.zeros(len(spots), dtype=bool)
        for door in self._doors:
            share = np.clip(((door - self._before) * way).sum(axis=1) / length, 0.0, 1.0)
            near |= np.linalg.norm(self._before + share[:, None] * way - door, axis=1) < DOOR_WIDTH_M / 2 + BESIDE
        return near


def _lowest(thing: PlacedThing) -> float:
    """The lowest height of a resting thing's center, meters; composite ones may lie lower than their bounds."""
    half = min(thing.half_extents)
    return half / 2 if thing.category.shape == "composite" else half


def _matrix(quaternion: NDArray[np.float64]) -> NDArray[np.float64]:
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(matrix, quaternion)
    return matrix.reshape(3, 3)


class Players:
    """Two random players. Each approaches one thing for a while, so that many things are grasped and thrown."""

    def __init__(self, world: Playhouse, rng: np.random.Generator) -> None:
        self._world = world
        self._rng = rng
        self._column = {component.name: k for k, component in enumerate(world.spec.movement)}
        self._bins = [component.bins for component in world.spec.movement]
        self._targets = [0, 0]

    def act(self) -> dict[str, Action]:
        return {role: Action(self._movement(player)) for player, role in enumerate(self._world.spec.roles)}

    def _movement(self, player: int) -> Movement:
        rng, column = self._rng, self._column
        rows = rng.integers(self._bins, size=(FRAMES_PER_STEP, len(self._bins))).astype(np.int8)
        if rng.random() < KEEN:
            rows[:] = self._world.codec.encode(self._approach(player))[0]
            rows[:, column["grasp"]] = rng.random() < 0.95
            rows[:, column["throw"]] = rng.random() < 0.05
            rows[:, column["rotate"]], rows[:, column["push"]] = rng.integers(3, size=2)
        return rows

    def _approach(self, player: int) -> NDArray[np.float64]:
        """One frame [1, 8] that turns a player to its thing and walks to it; a random walk while it holds one."""
        simulation, rng, move = self._world.simulation, self._rng, np.zeros((1, len(COMPONENTS)))
        move[0, FORWARD], move[0, STRAFE] = rng.integers(-1, 2, size=2)
        move[0, YAW], move[0, PITCH] = rng.normal(size=2) * (0.05, 0.02)
        if rng.random() < 0.02:
            self._targets[player] = int(rng.integers(len(self._world.house.objects)))
        if simulation.hands[player].holds is None:
            eye_x, eye_y, yaw, pitch = simulation.poses[player].tolist()
            thing = simulation.data.qpos[4:].reshape(-1, 7)[self._targets[player], :3]
            x, y, z = thing - (eye_x, eye_y, EYE_HEIGHT_M)
            away = math.hypot(x, y)
            move[0, YAW] = math.remainder(math.atan2(y, x) - yaw, math.tau) / FRAMES_PER_STEP
            move[0, PITCH] = (math.atan2(z, away) - pitch) / FRAMES_PER_STEP
            move[0, FORWARD] = 1.0 if away > 1.0 else 0.0
        return move


def soak(world: Playhouse, seed: int, steps: int) -> Soaked:
    """Makes `steps` random steps in the house of this seed."""
    world.reset(Start(seed=seed), observers=())
    simulation, rng, watch = world.simulation, np.random.default_rng(seed), Watch(world)
    players, data = Players(world, rng), simulation.data
    lost: list[str] = []
    grasps = spent = 0
    fastest = 0.0
    started = time.perf_counter()
    for step in range(steps):
        world.step(players.act(), observers=())
        grasps += sum(hand.holds is not None for hand in simulation.hands)
        spent += sum(hand.must_open for hand in simulation.hands)
        lost += [f"{name} at step {step}" for name in watch.wrong()]
        fastest = max(fastest, float(np.abs(data.qvel[4:].reshape(-1, 6)[:, :3]).max()))
    warned = [f"{mujoco.mjtWarning(k).name}: {int(w.number)}" for k, w in enumerate(data.warning) if w.number]
    return Soaked(
        seed=seed,
        steps=steps,
        objects=len(world.house.objects),
        grasps=grasps,
        spent=spent,
        fastest=fastest,
        escaped=tuple(lost),
        pressed=watch.pressed,
        warnings=tuple(warned),
        seconds=time.perf_counter() - started,
        megabytes=resident(),
    )


def resident() -> float:
    """Resident memory of this process, megabytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / MEGABYTE


def all_houses(config: PlayhouseConfig, houses: int, steps: int, first: int) -> Iterator[Soaked]:
    world = Playhouse(config)
    for seed in range(first, first + houses):
        yield soak(world, seed, steps)


class LoggedWarnings(logging.Handler):
    """Keeps the messages of what is logged as a warning or an error."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


def faults(rows: list[Soaked], logged: Sequence[str]) -> list[str]:
    """The failed checks, in words; `logged` are the messages of `LoggedWarnings`."""
    found = [f"house {row.seed}: {row.escaped[0]}" for row in rows if row.escaped]
    found += [f"house {row.seed}: MuJoCo warned of {', '.join(row.warnings)}" for row in rows if row.warnings]
    found += [f"logged: {message}" for message in logged]
    grown = rows[-1].megabytes - rows[len(rows) // 2].megabytes
    if grown > FLAT:
        found.append(f"memory grew by {grown:.1f} MB in the second half")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--houses", type=int, default=10)
    parser.add_argument("--steps", type=int, default=1_000, help="of 8 frames, in each house")
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="seed of the first house")
    add_json_option(parser)
    options = parser.parse_args()
    rows: list[Soaked] = []
    warnings = LoggedWarnings()
    logging.getLogger().addHandler(warnings)
    print(f"{'house':>6}{'objects':>9}{'held':>8}{'thrown':>8}{'fastest':>9}{'pressed':>9}{'ms/step':>9}{'MB':>8}")
    for row in all_houses(PlayhouseConfig(rooms=(1, 5)), options.houses, options.steps, options.first):
        rows.append(row)
        print(
            f"{row.seed:6}{row.objects:9}{row.grasps / row.steps / 2:8.0%}{row.spent:8}"
            f"{row.fastest:9.1f}{row.pressed:9}{row.seconds / row.steps * 1e3:9.2f}{row.megabytes:8.1f}",
            *row.escaped[:1], *row.warnings, flush=True,
        )  # fmt: skip
    found = faults(rows, warnings.messages)
    print("\n".join(found) or f"{sum(row.steps for row in rows):,} steps: nothing escaped, sank or warned")
    write_json(options.json, {"faults": found, "houses": [asdict(row) for row in rows]})
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
