"""Go into another room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from interplay.env.playhouse.language.templates import PHRASES, phrase
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.stand_at import StandAt, spotted
from interplay.env.playhouse.tasks.sampling import one_of, room_of
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Body, HouseFacts

WELL_INSIDE = 0.4  # meters from the walls, and so from a doorway's sill, of one who is in a room

PHRASES["go_room"] = (
    "go to the {room}",
    "go into the {room}",
    "walk to the {room}",
    "walk into the {room}",
    "enter the {room}",
    "move over to the {room}",
    "visit the {room}",
)


@dataclass(frozen=True)
class GoRoom(StandAt):
    """Walk into a room, past its doorway."""

    room: str  # its name in `HouseFacts`

    def holds(self, facts: HouseFacts, body: Body) -> bool:
        room = next(room for room in facts.rooms if room.name == self.room)
        return predicates.outside(room, body.position) <= -WELL_INSIDE

    def mistaken(self, facts: HouseFacts) -> Sequence[Self]:
        """Another room, and not the one that the solver is in."""
        here = room_of(facts, self.solver)
        return [replace(self, room=room.name) for room in facts.rooms if room.name not in (self.room, here)]


def draw_go_room(asking: TaskContext, rng: np.random.Generator) -> StandAt:
    facts = asking.facts
    here, kinds = room_of(facts, asking.solver), [room.kind for room in facts.rooms]
    others = [room for room in facts.rooms if room.name != here and kinds.count(room.kind) == 1]
    room = one_of(others, rng, "go_room", "there is no other room that can be named")
    words = phrase("go_room", rng, room=room.kind)
    return spotted(GoRoom("go_room", words, asking.solver, 0.0, 0.0, 0.0, room.name), facts)
