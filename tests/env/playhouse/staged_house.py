"""One real, bare room of the Playhouse in which a test puts things where it wants them and lets physics go on."""

from __future__ import annotations

import math

from interplay.env.playhouse.house.action_codec import FORWARD, GRASP, PITCH, THROW, YAW
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.physics.simulation import NOOP_MOVE
from interplay.env.playhouse.truth.facts import HouseFacts
from interplay.env.playhouse.world import Playhouse
from interplay.env.world import Start

COLUMNS = {"forward": FORWARD, "yaw": YAW, "pitch": PITCH, "grasp": GRASP, "throw": THROW}
PLAYERS = {"setter": 0, "solver": 1}


class Stage:
    """A room with one thing of each of these categories, in this order, and two players."""

    def __init__(self, *categories: str) -> None:
        count = len(categories)
        config = PlayhouseConfig(
            rooms=(1, 1), furniture=(0, 0), objects=(count, count), categories=categories, sizes=("medium",)
        )
        self.world = Playhouse(config)
        for seed in range(1000):
            self.world.reset(Start(seed=seed), observers=())
            if {thing.category for thing in self.world.facts().things} == set(categories):
                break
        found = [thing.category for thing in self.world.facts().things]
        self.index = {category: found.index(category) for category in categories}
        room = self.world.house.rooms[0]
        self.middle = ((room.low[0] + room.high[0]) / 2, (room.low[1] + room.high[1]) / 2)

    @property
    def facts(self) -> HouseFacts:
        self.world.state()  # what was moved by hand is seen only once the world was saved
        return self.world.facts()

    def put(self, category: str, x: float, y: float, z: float) -> None:
        """Puts a thing's middle at meters from the middle of the room, and meters above the floor, upright."""
        data, index = self.world.simulation.data, self.index[category]
        qpos = data.qpos[4:].reshape(-1, 7)
        qpos[index] = (self.middle[0] + x, self.middle[1] + y, z, 1.0, 0.0, 0.0, 0.0)
        data.qvel[4:].reshape(-1, 6)[index] = 0.0
        data.xfrc_applied[:, 2] = 1e-9  # what a force acts on wakes up
        self.world.simulation.frame((NOOP_MOVE, NOOP_MOVE))
        data.xfrc_applied[:, 2] = 0.0

    def stand(self, role: str, x: float, y: float, at: str) -> None:
        """Stands a player at meters from the middle of the room, looking at a thing."""
        simulation, player = self.world.simulation, PLAYERS[role]
        start, target = simulation.house.starts[player], self.facts.things[self.index[at]].position
        x, y = self.middle[0] + x, self.middle[1] + y
        pitch = math.atan2(target[2] - 1.45, math.dist((x, y), target[:2]))
        simulation.poses[player] = x, y, math.atan2(target[1] - y, target[0] - x), pitch
        simulation.data.qpos[2 * player : 2 * player + 2] = x - start[0], y - start[1]
        self.world.state()

    def play(self, frames: int, role: str = "solver", **move: float) -> None:
        """So many frames of one player's floats; the other rests with its hand open."""
        row = list(NOOP_MOVE)
        for name, value in move.items():
            row[COLUMNS[name]] = value
        moves = (row, NOOP_MOVE) if role == "setter" else (NOOP_MOVE, row)
        for _ in range(frames):
            self.world.simulation.frame(moves)
