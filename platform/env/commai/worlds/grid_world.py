"""An unbounded grid with objects, in which the learner moves, turns, looks, picks up and gives by messages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from interplay.env.commai.task import World, on_message, on_world_init
from interplay.env.commai.tasks.competition.messages import indef_article


class Span(NamedTuple):
    """A displacement; north is -y."""

    dx: int
    dy: int


class Point(NamedTuple):
    """A cell."""

    x: int
    y: int

    def __add__(self, span: tuple[Any, ...]) -> Point:
        return Point(self.x + span[0], self.y + span[1])

    def __sub__(self, span: tuple[Any, ...]) -> Point:
        return Point(self.x - span[0], self.y - span[1])

    def __str__(self) -> str:
        return f"({self.x}, {self.y})"


class GWEntity(NamedTuple):
    """An object in a cell."""

    name: str
    pickable: bool
    traversable: bool

    def __str__(self) -> str:
        return self.name


class GridWorld(World):
    """A learner on a grid that starts at `init_pos` and faces `init_direction`.

    state: `learner_pos` (Point), `learner_direction`, `entities` {Point: GWEntity}, `learner_inventory` and
    `teacher_inventory` (name: count), and `teacher_accepts`, the names of what the teacher accepts. The state lasts
    from task to task, as long as each takes place in this world.
    """

    valid_directions: Mapping[str, Span] = MappingProxyType(
        {"north": Span(0, -1), "east": Span(1, 0), "south": Span(0, 1), "west": Span(-1, 0)}
    )
    clockwise_directions: Sequence[str] = tuple(valid_directions)

    def __init__(self, init_pos: tuple[int, int] = (0, 0), init_direction: str = "north") -> None:
        super().__init__()
        if init_direction not in self.valid_directions:
            known = ", ".join(self.valid_directions)
            raise ValueError(f"a learner faces {known}, not {init_direction!r}: set init_direction to one of these")
        if not isinstance(init_pos, list | tuple) or [type(at) for at in init_pos] != [int, int]:
            raise ValueError(f"init_pos must be a pair of whole numbers, got {init_pos!r}")
        self._init_pos = init_pos
        self._init_direction = init_direction

    @on_world_init()
    def on_world_init(self, event: Any) -> None:
        self.state.learner_pos = Point(*self._init_pos)
        self.state.learner_direction = self._init_direction
        self.state.entities = {}
        self.state.learner_inventory = defaultdict(int)
        self.state.teacher_inventory = defaultdict(int)
        self.state.teacher_accepts = set()

    @on_message(r"I turn (left|right)\.$")
    def on_turn(self, event: Any) -> None:
        side = event.get_match(1)
        self.turn(-1 if side == "left" else 1)
        self.set_message(f"You turned {side}, you are now facing {self.state.learner_direction}.")

    @on_message(r"I move forward\.$")
    def on_move_forward(self, event: Any) -> None:
        self.move_forward(1)

    @on_message(r"I look\.$")
    def on_look(self, event: Any) -> None:
        found = self.get_entity(self.ahead())
        self.set_message("There is nothing here." if found is None else f"There is a {found.name}.")

    @on_message(r"I pick up the (\w+)\.$")
    def on_pick_up(self, event: Any) -> None:
        name, found = event.get_match(1), self.get_entity(self.ahead())
        if found is None or found.name != name:
            self.set_message(f"There is no {name} here.")
        elif not found.pickable:
            self.set_message(f"You can't pick up the {name}.")
        else:
            self.remove_entity(self.ahead())
            self.state.learner_inventory[name] += 1
            self.set_message(f"You picked up the {name}.")

    @on_message(r"I give you an? (\w+)\.$")
    def on_give(self, event: Any) -> None:
        name = event.get_match(1)
        if self.state.learner_inventory[name] < 1:
            self.set_message(f"You have no {name}.")
        elif name not in self.state.teacher_accepts:
            self.set_message(f"I haven't asked you for {indef_article(name)}.")
        else:
            self.state.learner_inventory[name] -= 1
            self.state.teacher_inventory[name] += 1
            self.set_message(f"You gave me {indef_article(name)}.")

    def put_entity(self, position: tuple[int, int], name: str, pickable: bool, traversable: bool) -> None:
        """Places an object in a cell, in place of its content."""
        self.state.entities[Point(*position)] = GWEntity(name, pickable, traversable)

    def get_entity(self, position: tuple[int, int]) -> GWEntity | None:
        """The content of a cell."""
        entity: GWEntity | None = self.state.entities.get(Point(*position))
        return entity

    def remove_entity(self, position: tuple[int, int]) -> None:
        """Empties a cell."""
        if Point(*position) in self.state.entities:
            del self.state.entities[Point(*position)]

    def ahead(self) -> Point:
        """The cell in front of the learner."""
        position: Point = self.state.learner_pos
        return position + self.valid_directions[self.state.learner_direction]

    def turn(self, direction: int | str) -> None:
        """Turns the learner to a direction, or clockwise by a number of quarter turns."""
        named = direction if isinstance(direction, str) else self.get_clockwise_direction(direction)
        self.state.learner_direction = named

    def get_clockwise_direction(self, quarters: int) -> str:
        """The direction a number of quarter turns clockwise from the learner's; -1 is to its left."""
        at = self.clockwise_directions.index(self.state.learner_direction)
        return self.clockwise_directions[(at + quarters) % 4]

    def move_forward(self, steps: int) -> None:
        """Moves the learner unless the cell is blocked, and replies with the result."""
        moved = 0
        while moved < steps and self.can_move_to(self.ahead()):
            self.state.learner_pos = self.ahead()
            moved += 1
        self.set_message("You moved." if moved == steps else "You can't move.")

    def can_move_to(self, position: tuple[int, int]) -> bool:
        """Whether the learner can enter a cell."""
        found = self.get_entity(position)
        return found is None or found.traversable

    def __str__(self) -> str:
        """A map of the cells around the learner, for people: things by their first letters, the learner as an arrow."""
        center, reach = self.state.learner_pos, 3
        arrow = dict(zip(self.clockwise_directions, "^>v<", strict=True))[self.state.learner_direction]
        rows = []
        for y in range(center.y - reach, center.y + reach + 1):
            cells = [self.get_entity((x, y)) for x in range(center.x - reach, center.x + reach + 1)]
            names = ["." if found is None else found.name[:4] for found in cells]
            if y == center.y:
                names[reach] = arrow
            rows.append(f"{y:>4} " + " ".join(f"{name:^4}" for name in names).rstrip())
        columns = " ".join(f"{x:^4}" for x in range(center.x - reach, center.x + reach + 1)).rstrip()
        held = ", ".join(f"{count} {name}" for name, count in sorted(self.state.learner_inventory.items()) if count)
        return "\n".join([f"     {columns}", *rows, f"holds: {held or 'nothing'}"])
