"""Questions about places: what is nearest to a thing, what is on it, in which room it is, where it is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from interplay.env.playhouse.house.rooms import ROOM_KINDS
from interplay.env.playhouse.language.referring import post_modifiers, ternary_predicates
from interplay.env.playhouse.language.referring.post_modifiers import PostModifier, landmarks
from interplay.env.playhouse.language.templates import choose, fill_template
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.questions.question import Answers, Question, question, without_articles
from interplay.env.playhouse.tasks.questions.view_questions import absent_names, wrong_names
from interplay.env.playhouse.tasks.sampling import answers_naming, nameable_things_here, sample_one
from interplay.env.playhouse.tasks.task_kind import TaskKind
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Body, HouseFacts, Thing

NEAREST_WORDINGS = (
    "what is nearest to the {thing}?",
    "which thing is closest to the {thing}?",
    "what is the nearest thing to the {thing}?",
)
ON_TOP_WORDINGS = (
    "what is on top of the {thing}?", "what is on the {thing}?", "what lies on top of the {thing}?",
)  # fmt: skip
WHERE_WORDINGS = (
    "in which room is the {thing}?", "which room is the {thing} in?", "what room do you find the {thing} in?",
)  # fmt: skip
WHEREABOUTS_WORDINGS = (
    "where is the {thing}?", "describe where the {thing} is", "tell me where the {thing} is",
    "can you tell me where the {thing} is?", "where can i find the {thing}?", "where do you see the {thing}?",
    "please say where the {thing} is",
)  # fmt: skip
CLEARLY_NEARER_M = 0.3  # meters by which the nearest thing is nearer than the next, so that the answer is beyond doubt
NOTHING = "nothing"
NEXT_TO_PREPOSITIONS = ("next to", "beside", "by", "near", "close to")  # all true of a thing next to another
NEAR_PREPOSITIONS = ("near", "close to")
OUTSIDE = ("outside",)  # a wrong answer if no other is plausible


def sample_nearest(context: TaskContext, rng: np.random.Generator) -> Question:
    """Draws a thing of the solver's room that has a clearly nearest neighbor."""
    facts = context.facts
    choices = []
    for thing in nameable_things_here(context):
        others = predicates.neighbors(facts, thing)
        if len(others) >= 2 and predicates.gap(thing, others[1]) >= predicates.gap(thing, others[0]) + CLEARLY_NEARER_M:
            choices.append((thing, others))
    reason = "nothing here has a clearly nearest neighbor"
    thing, (nearest, *others) = sample_one(choices, rng, "nearest", reason)
    text = fill_template(NEAREST_WORDINGS, rng, thing=context.name(thing, rng))
    accepted = answers_naming(facts, [nearest])
    mistakes = wrong_names(others, accepted) or absent_names(facts)
    return question(context, "nearest", text, Answers(nearest.name, mistakes, accepted), (thing.index,))


def sample_on_top(context: TaskContext, rng: np.random.Generator) -> Question:
    """Draws a thing of the solver's room; something and nothing on it have the same probability, and must both be
    possible there."""
    facts = context.facts
    loads = [(thing, predicates.things_on(facts, thing)) for thing in nameable_things_here(context)]
    laden = [(thing, load) for thing, load in loads if load]
    bare = [(thing, load) for thing, load in loads if not load and not predicates.contents(facts, thing)]
    choices = (laden if rng.random() < 0.5 else bare) if laden and bare else []
    reason = "nothing here stands on what can be named, or all has something on it"
    thing, load = sample_one(choices, rng, "on_top", reason)
    text = fill_template(ON_TOP_WORDINGS, rng, thing=context.name(thing, rng))
    accepted = answers_naming(facts, load) if load else (NOTHING,)
    others = predicates.matching(facts, room=thing.room)
    loose = [other for other in others if not other.furniture and other.index != thing.index]
    mistakes = (*wrong_names(loose, accepted), *((NOTHING,) if load else ())) or absent_names(facts)
    answer = sample_one(load, rng, "on_top", "").name if load else NOTHING
    return question(context, "on_top", text, Answers(answer, mistakes, accepted), (thing.index,))


def sample_where(context: TaskContext, rng: np.random.Generator) -> Question:
    """Draws an object of the house; the answer is the kind of its room."""
    kinds = {room.name: room.kind for room in context.facts.rooms}
    placed = [(thing, kinds[thing.room]) for thing in context.nameable_objects() if thing.room is not None]
    thing, kind = sample_one(placed, rng, "where", "no loose thing can be named")
    others = sorted({*kinds.values()} - {kind}) or [other for other in ROOM_KINDS if other != kind]
    text = fill_template(WHERE_WORDINGS, rng, thing=context.name(thing, rng))
    return question(context, "where", text, Answers(kind, tuple(others), (kind, f"in {kind}")), (thing.index,))


def sample_whereabouts(context: TaskContext, rng: np.random.Generator) -> Question:
    """Draws a thing whose name does not contain the answer; whatever is true of its place is a right one."""
    facts, things = context.facts, context.nameable_things()
    for index in rng.permutation(len(things)).tolist():
        thing, name = things[index], context.name(things[index], rng)
        places = _places(facts, thing)
        true_places = [place for place in places if thing.index in place.certain]
        informative = [place for place in true_places if not _is_in_name(facts, place, name)]
        if informative and thing.held_by is None:
            break
    else:
        return sample_one([], rng, "whereabouts", "nothing that can be named is anywhere in particular")
    # A place by a landmark says the most.
    best = informative[0] if informative[0].landmarks else informative[int(rng.integers(len(informative)))]
    accepted = _right_answers(facts, facts.bodies[context.solver], thing, true_places)
    wrong = [choose(place.phrases, rng) for place in places if _is_plausible_mistake(place, thing)]
    mistakes = tuple(dict.fromkeys(text for text in wrong if not {*without_articles([text])} & {*accepted}))
    text = fill_template(WHEREABOUTS_WORDINGS, rng, thing=name)
    answers = Answers(best.phrases[0], mistakes or OUTSIDE, accepted)
    return question(context, "whereabouts", text, answers, (thing.index,), scope="house")


def _places(facts: HouseFacts, thing: Thing) -> list[PostModifier]:
    """Returns the places where a thing may be said to be, the most informative first."""
    marks = [mark for mark in landmarks(facts) if mark.thing.index != thing.index and mark.thing.room == thing.room]
    marks.sort(key=lambda mark: predicates.gap(thing, mark.thing))
    furniture = [mark for mark in marks if mark.thing.furniture]
    objects = [mark for mark in marks if not mark.thing.furniture]
    return [
        *post_modifiers.supports(facts, marks),
        *(post_modifiers.relative(facts, NEXT_TO_PREPOSITIONS, mark, ternary_predicates.next_to) for mark in furniture),
        *(post_modifiers.relative(facts, NEXT_TO_PREPOSITIONS, mark, ternary_predicates.next_to) for mark in objects),
        *(post_modifiers.relative(facts, NEAR_PREPOSITIONS, mark, ternary_predicates.near) for mark in furniture),
        *post_modifiers.rooms(facts),
        post_modifiers.floor(facts),
    ]


def _is_plausible_mistake(place: PostModifier, thing: Thing) -> bool:
    """Tests whether a thing certainly is not at a place, though it could be."""
    return thing.index not in place.possible and not (thing.furniture and place.loose_only)


def _is_in_name(facts: HouseFacts, place: PostModifier, name: str) -> bool:
    """Tests whether the name of a thing contains a place."""
    said = name.split()
    return any(phrase in name for phrase in place.phrases) or any(
        facts.things[index].category.split()[-1] in said for index in place.landmarks
    )


def _right_answers(facts: HouseFacts, viewer: Body, thing: Thing, places: Sequence[PostModifier]) -> tuple[str, ...]:
    """Returns every way to say where a thing is: a place; a place and the room; "on the floor" and a place."""
    ways = [text for place in places for text in (*place.phrases, *_with_colors(facts, place))]
    room = next((room.kind for room in facts.rooms if room.name == thing.room), None)
    in_room = [] if room is None else [f"in the {room}"]
    on_floor = [text for text in ways if text != "on the floor"] if "on the floor" in ways else []
    combined = [f"{text} {where}" for text in ways for where in in_room if where not in text]
    rooms = [room] if room is not None else []
    here = ["here", "in this room"] if viewer.room == thing.room else []
    return without_articles([*ways, *combined, *(f"on the floor {text}" for text in on_floor), *in_room, *rooms, *here])


def _with_colors(facts: HouseFacts, place: PostModifier) -> list[str]:
    """Returns "next to the brown table" for "next to the table"."""
    for index in place.landmarks:
        thing = facts.things[index]
        return [text.replace(f"the {thing.category}", f"the {thing.name}") for text in place.phrases]
    return []


KINDS = (
    TaskKind(name="nearest", task=Question, sample=sample_nearest, wordings=NEAREST_WORDINGS),
    TaskKind(name="on_top", task=Question, sample=sample_on_top, wordings=ON_TOP_WORDINGS),
    TaskKind(name="where", task=Question, sample=sample_where, wordings=WHERE_WORDINGS),
)
WHEREABOUTS_KIND = TaskKind(name="whereabouts", task=Question, sample=sample_whereabouts, wordings=WHEREABOUTS_WORDINGS)
