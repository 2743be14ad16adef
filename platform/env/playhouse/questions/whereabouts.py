"""Where is a thing: on the table, in the bedroom, next to the sofa, on the floor. Whatever of it is true will do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from interplay.env.playhouse import queries
from interplay.env.playhouse.asking import Asking
from interplay.env.playhouse.choosing import one_of
from interplay.env.playhouse.facts import Body, HouseFacts, Thing
from interplay.env.playhouse.manners import clauses, judgement
from interplay.env.playhouse.manners.clauses import Clause, landmarks, pick
from interplay.env.playhouse.phrases import PHRASES, phrase
from interplay.env.playhouse.questions.inquiry import Inquiry, without_articles

PHRASES |= {
    "whereabouts": (
        "where is the {thing}?",
        "describe where the {thing} is",
        "tell me where the {thing} is",
        "can you tell me where the {thing} is?",
        "where can i find the {thing}?",
        "where do you see the {thing}?",
        "please say where the {thing} is",
    ),
}
BESIDE = ("next to", "beside", "by", "near", "close to")  # all true of what is next to it
NEAR = ("near", "close to")
NOWHERE = ("outside",)


def ask_whereabouts(asking: Asking, rng: np.random.Generator) -> Inquiry:
    """Of a thing whose name does not give it away."""
    things = asking.told_apart()
    for index in rng.permutation(len(things)).tolist():
        thing, name = things[index], asking.call(things[index], rng)
        places = _places(asking.facts, thing)
        told = [place for place in places if thing.index in place.surely]
        new = [place for place in told if not _given_away(asking.facts, place, name)]
        if new and thing.held_by is None:
            break
    else:
        return one_of([], rng, "whereabouts", "nothing that can be named is anywhere in particular")
    best = new[0] if new[0].marks else new[int(rng.integers(len(new)))]  # by other things one says the most
    accepted = _right(asking.facts, asking.facts.bodies[asking.solver], thing, told)
    wrong = [pick(place.words, rng) for place in places if _may_be_thought(place, thing)]
    mistakes = tuple(dict.fromkeys(words for words in wrong if not {*without_articles([words])} & {*accepted}))
    words = phrase("whereabouts", rng, thing=name)
    return Inquiry(
        "whereabouts", words, asking.solver, best.words[0], mistakes or NOWHERE, (thing.index,), accepted, None
    )


def _places(facts: HouseFacts, thing: Thing) -> list[Clause]:
    """Where it may be said to be, the most telling first."""
    marks = [mark for mark in landmarks(facts) if mark.thing.index != thing.index and mark.thing.room == thing.room]
    marks.sort(key=lambda mark: queries.gap(thing, mark.thing))
    furniture = [mark for mark in marks if mark.thing.furniture]
    return [
        *clauses.supports(facts, marks),
        *(clauses.relative(facts, BESIDE, mark, judgement.next_to) for mark in furniture),
        *(clauses.relative(facts, BESIDE, mark, judgement.next_to) for mark in marks if not mark.thing.furniture),
        *(clauses.relative(facts, NEAR, mark, judgement.near) for mark in furniture),
        *clauses.rooms(facts),
        clauses.floor(facts),
    ]


def _may_be_thought(place: Clause, thing: Thing) -> bool:
    """Is it surely not there, though it could be?"""
    return thing.index not in place.perhaps and not (thing.furniture and place.of_loose)


def _given_away(facts: HouseFacts, place: Clause, name: str) -> bool:
    """Does its name tell as much?"""
    said = name.split()
    return any(words in name for words in place.words) or any(
        facts.things[mark].category.split()[-1] in said for mark in place.marks
    )


def _right(facts: HouseFacts, viewer: Body, thing: Thing, told: Sequence[Clause]) -> tuple[str, ...]:
    """Every way to say it: by one place; by one and the room; "on the floor" and by one."""
    ways = [words for place in told for words in (*place.words, *_with_colours(facts, place))]
    room = next((room.kind for room in facts.rooms if room.name == thing.room), None)
    inside = [] if room is None else [f"in the {room}"]
    low = [words for words in ways if words != "on the floor"] if "on the floor" in ways else []
    combined = [f"{words} {where}" for words in ways for where in inside if where not in words]
    rooms = [room] if room is not None else []
    here = ["here", "in this room"] if viewer.room == thing.room else []
    return without_articles([*ways, *combined, *(f"on the floor {words}" for words in low), *inside, *rooms, *here])


def _with_colours(facts: HouseFacts, place: Clause) -> list[str]:
    """ "next to the brown table", for "next to the table"."""
    for mark in place.marks:
        thing = facts.things[mark]
        return [words.replace(f"the {thing.category}", f"the {thing.name}") for words in place.words]
    return []
