"""Where is a thing: on the table, in the bedroom, next to the sofa, on the floor. Whatever of it is true will do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from interplay.env.playhouse.language.referring import post_modifiers, ternary_predicates
from interplay.env.playhouse.language.referring.post_modifiers import PostModifier, landmarks, pick
from interplay.env.playhouse.language.templates import PHRASES, phrase
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.questions.search_question import SearchQuestion, without_articles
from interplay.env.playhouse.tasks.sampling import one_of
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Body, HouseFacts, Thing

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


def ask_whereabouts(asking: TaskContext, rng: np.random.Generator) -> SearchQuestion:
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
    return SearchQuestion(
        "whereabouts", words, asking.solver, best.words[0], mistakes or NOWHERE, (thing.index,), accepted, None
    )


def _places(facts: HouseFacts, thing: Thing) -> list[PostModifier]:
    """Where it may be said to be, the most telling first."""
    marks = [mark for mark in landmarks(facts) if mark.thing.index != thing.index and mark.thing.room == thing.room]
    marks.sort(key=lambda mark: predicates.gap(thing, mark.thing))
    furniture = [mark for mark in marks if mark.thing.furniture]
    return [
        *post_modifiers.supports(facts, marks),
        *(post_modifiers.relative(facts, BESIDE, mark, ternary_predicates.next_to) for mark in furniture),
        *(
            post_modifiers.relative(facts, BESIDE, mark, ternary_predicates.next_to)
            for mark in marks
            if not mark.thing.furniture
        ),
        *(post_modifiers.relative(facts, NEAR, mark, ternary_predicates.near) for mark in furniture),
        *post_modifiers.rooms(facts),
        post_modifiers.floor(facts),
    ]


def _may_be_thought(place: PostModifier, thing: Thing) -> bool:
    """Is it surely not there, though it could be?"""
    return thing.index not in place.perhaps and not (thing.furniture and place.of_loose)


def _given_away(facts: HouseFacts, place: PostModifier, name: str) -> bool:
    """Does its name tell as much?"""
    said = name.split()
    return any(words in name for words in place.words) or any(
        facts.things[mark].category.split()[-1] in said for mark in place.marks
    )


def _right(facts: HouseFacts, viewer: Body, thing: Thing, told: Sequence[PostModifier]) -> tuple[str, ...]:
    """Every way to say it: by one place; by one and the room; "on the floor" and by one."""
    ways = [words for place in told for words in (*place.words, *_with_colors(facts, place))]
    room = next((room.kind for room in facts.rooms if room.name == thing.room), None)
    inside = [] if room is None else [f"in the {room}"]
    low = [words for words in ways if words != "on the floor"] if "on the floor" in ways else []
    combined = [f"{words} {where}" for words in ways for where in inside if where not in words]
    rooms = [room] if room is not None else []
    here = ["here", "in this room"] if viewer.room == thing.room else []
    return without_articles([*ways, *combined, *(f"on the floor {words}" for words in low), *inside, *rooms, *here])


def _with_colors(facts: HouseFacts, place: PostModifier) -> list[str]:
    """ "next to the brown table", for "next to the table"."""
    for mark in place.marks:
        thing = facts.things[mark]
        return [words.replace(f"the {thing.category}", f"the {thing.name}") for words in place.words]
    return []
