"""Things of the solver's room, which short questions are about."""

from __future__ import annotations

from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.sampling import room_of_player
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Thing


def objects_here(context: TaskContext) -> list[Thing]:
    """Returns the loose objects of the solver's room."""
    room = room_of_player(context.facts, context.solver)
    return [thing for thing in predicates.matching(context.facts, room=room) if not thing.furniture]


def nameable_things_here(context: TaskContext) -> list[Thing]:
    """Returns the nameable things of the solver's room, furniture and objects that nobody holds."""
    room = room_of_player(context.facts, context.solver)
    return [thing for thing in context.nameable_things() if thing.room == room and thing.held_by is None]
