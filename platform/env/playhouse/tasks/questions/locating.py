"""Questions about where things are: what is nearest to one, what is on one, in which room is one, what is in view."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from interplay.env.playhouse.house.catalog import COLORS
from interplay.env.playhouse.house.rooms import ROOM_KINDS
from interplay.env.playhouse.language.templates import phrase
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.questions.question import OpenQuestion
from interplay.env.playhouse.tasks.sampling import answers_for, one_of, room_of
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing

CLEARLY_NEARER = 0.3  # meters by which the nearest thing is nearer than the next, for nobody to argue
NOTHING = "nothing"


def ask_nearest(asking: TaskContext, rng: np.random.Generator) -> OpenQuestion:
    """What is nearest to a thing of the solver's room; one that has a clearly nearest neighbor."""
    facts, solver = asking.facts, asking.solver
    clear = []
    for thing in _here(asking):
        others = predicates.neighbors(facts, thing)
        if len(others) >= 2 and predicates.gap(thing, others[1]) >= predicates.gap(thing, others[0]) + CLEARLY_NEARER:
            clear.append((thing, others))
    thing, (nearest, *others) = one_of(clear, rng, "nearest", "nothing here has a clearly nearest neighbor")
    words = phrase("nearest", rng, thing=asking.call(thing, rng))
    right = answers_for(facts, [nearest])
    mistakes = _names(others, right) or _absent(facts)
    return OpenQuestion("nearest", words, solver, nearest.name, mistakes, (thing.index,), right)


def ask_on_top(asking: TaskContext, rng: np.random.Generator) -> OpenQuestion:
    """What is on top of a thing of the solver's room. Something and nothing are as likely, and possible here."""
    facts, solver = asking.facts, asking.solver
    loads = [(thing, predicates.things_on(facts, thing)) for thing in _here(asking)]
    laden = [(thing, load) for thing, load in loads if load]
    bare = [(thing, load) for thing, load in loads if not load and not predicates.contents(facts, thing)]
    choices = (laden if rng.random() < 0.5 else bare) if laden and bare else []
    thing, load = one_of(choices, rng, "on_top", "nothing here stands on what can be named, or all has something on it")
    words = phrase("on_top", rng, thing=asking.call(thing, rng))
    right = answers_for(facts, load) if load else (NOTHING,)
    others = predicates.matching(facts, room=thing.room)
    loose = [other for other in others if not other.furniture and other.index != thing.index]
    mistakes = (*_names(loose, right), *((NOTHING,) if load else ())) or _absent(facts)
    answer = one_of(load, rng, "on_top", "").name if load else NOTHING
    return OpenQuestion("on_top", words, solver, answer, mistakes, (thing.index,), right)


def ask_where(asking: TaskContext, rng: np.random.Generator) -> OpenQuestion:
    """In which room is a loose thing, wherever in the house."""
    facts, solver = asking.facts, asking.solver
    kinds = {room.name: room.kind for room in facts.rooms}
    placed = [(thing, kinds[thing.room]) for thing in asking.nameable() if thing.room is not None]
    thing, kind = one_of(placed, rng, "where", "no loose thing can be named")
    others = sorted({*kinds.values()} - {kind}) or [other for other in ROOM_KINDS if other != kind]
    words = phrase("where", rng, thing=asking.call(thing, rng))
    return OpenQuestion("where", words, solver, kind, tuple(others), (thing.index,), (kind, f"in {kind}"))


def ask_seen(asking: TaskContext, rng: np.random.Generator) -> OpenQuestion:
    """What does the solver see: any thing that is in its view when it is asked."""
    facts, solver = asking.facts, asking.solver
    seen = predicates.visible(facts, solver, *asking.view)
    first = one_of(seen[:1], rng, "seen", "no thing is in the solver's view")
    right = tuple(dict.fromkeys((*answers_for(facts, seen), *(thing.category for thing in seen))))
    words = phrase("seen", rng)
    mistakes = _names(facts.things, right) or _absent(facts)
    return OpenQuestion("seen", words, solver, first.name, mistakes, (first.index,), right)


def _here(asking: TaskContext) -> list[Thing]:
    """What can be named in the solver's room, furniture and loose things that nobody holds."""
    room = room_of(asking.facts, asking.solver)
    return [thing for thing in asking.told_apart() if thing.room == room and thing.held_by is None]


def _names(things: Iterable[Thing], right: Sequence[str]) -> tuple[str, ...]:
    """The names of those things whose name is no right answer."""
    return tuple(dict.fromkeys(thing.name for thing in things if thing.name not in right))


def _absent(facts: HouseFacts) -> tuple[str, ...]:
    """Names of things that are not in this house, of its own categories."""
    names = {thing.name for thing in facts.things}
    categories = dict.fromkeys(thing.category for thing in facts.things)
    return tuple(name for name in (f"{c} {k}" for c in COLORS for k in categories) if name not in names)
