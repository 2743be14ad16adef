"""Base class of the tasks in the grid world.

A task removes the objects that it placed or lent when it ends.
"""

from __future__ import annotations

import random
import string
from collections.abc import Iterator
from typing import Any

from interplay.env.commai.task import World, on_ended, on_init, on_start, on_timeout
from interplay.env.commai.tasks.competition import messages
from interplay.env.commai.tasks.competition.base import BaseTask
from interplay.env.commai.tasks.competition.baskets import all_objects
from interplay.env.commai.worlds.grid_world import GridWorld, GWEntity, Point

objects = all_objects


class GridTask(BaseTask):
    """A task in a grid world, by default a new one. limit: bits.

    Subclasses implement `prepare`, which sets up the world, and state the instruction as `form`, a format of `task`.
    """

    limit = 1000
    form = ""
    spoken = f"{string.ascii_lowercase}I ."

    def __init__(self, world: World | None = None) -> None:
        super().__init__(max_time=self.limit, world=GridWorld() if world is None else world)
        if not isinstance(self.get_world(), GridWorld):
            raise ValueError(f"{self.get_name()} takes place in a GridWorld, got {world!r}")
        self.target_obj = ""
        self.laid: tuple[Point, GWEntity, GWEntity | None] | None = None  # position, object, previous content
        self.lent = False  # until the end

    @property
    def grid(self) -> GridWorld:
        """The world of this task."""
        world = self.get_world()
        assert isinstance(world, GridWorld), "checked when the task is made"
        return world

    def prepare(self) -> None:
        """Draws the goal and sets up the world. Changes of the world do not raise events yet."""
        raise NotImplementedError

    def instruction(self) -> str:
        """The instruction."""
        return self.form.format(task=self)

    @on_init()
    def on_init(self, event: Any) -> None:
        self.laid, self.lent = None, False
        self.target_obj = self.rng.choice(objects)
        self.prepare()

    @on_start()
    def on_start(self, event: Any) -> None:
        self.set_message(self.instruction())

    @on_timeout()
    def on_timeout(self, event: Any) -> None:
        self.set_reward(0, self.rng.choice(messages.timeout))

    @on_ended()
    def on_ended(self, event: Any) -> None:
        state = self.grid.state
        if self.laid is not None:
            position, laid, before = self.laid
            if self.grid.get_entity(position) == laid:
                self.grid.remove_entity(position)
            if before is not None:
                self.grid.put_entity(position, *before)
        if self.lent and state.learner_inventory[self.target_obj]:
            state.learner_inventory[self.target_obj] -= 1
        state.teacher_accepts.discard(self.target_obj)

    def lay(self, position: Point) -> None:
        """Places the target in a cell until the end of the task."""
        before = self.grid.get_entity(position)
        self.grid.put_entity(position, self.target_obj, True, True)
        self.laid = position, GWEntity(self.target_obj, True, True), before

    def lend(self) -> None:
        """Gives the target to the learner until the end of the task."""
        self.grid.state.learner_inventory[self.target_obj] += 1
        self.lent = True

    def held(self) -> int:
        """Number of targets in the learner's inventory."""
        return int(self.grid.state.learner_inventory[self.target_obj])

    @property
    def target(self) -> str:
        """The target with its article."""
        return messages.indef_article(self.target_obj)

    @property
    def targets(self) -> str:
        """Several targets, in words."""
        return messages.pluralize(self.target_obj, 2)

    def facing(self, direction: str) -> Iterator[str]:
        """Yields the commands that turn the learner to a direction."""
        while (now := self.grid.state.learner_direction) != direction:
            side = "left" if self.grid.get_clockwise_direction(-1) == direction else "right"
            yield f"I turn {side}."
            if self.grid.state.learner_direction == now:
                return  # the task has ended, so commands have no effect

    def other_object(self, rng: random.Random) -> str:
        """Draws an object other than the target."""
        return rng.choice([name for name in objects if name != self.target_obj])

    def expert(self) -> Iterator[str]:
        """Yields the messages that solve the task."""
        raise NotImplementedError

    def confused(self, rng: random.Random) -> Iterator[str]:
        """Yields messages with a wrong side, object or number."""
        raise NotImplementedError
