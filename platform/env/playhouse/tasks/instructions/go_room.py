"""Go into another room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from interplay.env.playhouse.language.templates import fill_template
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.stand_at import StandAt
from interplay.env.playhouse.tasks.sampling import room_of_player, sample_one
from interplay.env.playhouse.tasks.task_kind import TaskKind
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Body, HouseFacts

INSIDE_MARGIN_M = 0.4  # from the walls, and so from a doorway's sill, at which a player is in a room

WORDINGS = (
    "go to the {room}", "go into the {room}", "walk to the {room}", "walk into the {room}", "enter the {room}",
    "move over to the {room}", "visit the {room}",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class GoRoom(StandAt):
    """Walk into a room, past its doorway."""

    room: str  # its name in `HouseFacts`

    def holds(self, facts: HouseFacts, body: Body) -> bool:
        room = next(room for room in facts.rooms if room.name == self.room)
        return predicates.outside(room, body.position) <= -INSIDE_MARGIN_M

    def misreadings(self, facts: HouseFacts) -> Sequence[Self]:
        """Any other room, except the one that the solver is in."""
        here = room_of_player(facts, self.solver)
        return [replace(self, room=room.name) for room in facts.rooms if room.name not in (self.room, here)]


def sample_go_room(context: TaskContext, rng: np.random.Generator) -> GoRoom:
    """Draws a room that the solver is not in and that is the only one of its kind."""
    facts = context.facts
    here, kinds = room_of_player(facts, context.solver), [room.kind for room in facts.rooms]
    others = [room for room in facts.rooms if room.name != here and kinds.count(room.kind) == 1]
    room = sample_one(others, rng, "go_room", "there is no other room that can be named")
    text = fill_template(WORDINGS, rng, room=room.kind)
    return GoRoom(kind="go_room", instruction=text, solver=context.solver, room=room.name)


KIND = TaskKind(name="go_room", task=GoRoom, sample=sample_go_room, wordings=WORDINGS, probe_steps=60)
