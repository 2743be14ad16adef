"""Questions about the solver's view (anything that it sees, or anything of a description), and about places: what is
nearest to a thing, what is on it, in which room it is, where it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from interplay.env.playhouse.house.catalog import COLORS
from interplay.env.playhouse.house.rooms import ROOM_KINDS
from interplay.env.playhouse.language.referring import post_modifiers, ternary_predicates
from interplay.env.playhouse.language.referring.nouns import Noun
from interplay.env.playhouse.language.referring.post_modifiers import PostModifier, landmarks
from interplay.env.playhouse.language.referring.styles import CLEARLY_NEARER_M, EVERYDAY
from interplay.env.playhouse.language.templates import choose, fill_template
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.playhouse_task import task_kind
from interplay.env.playhouse.tasks.questions.question import Answers, Question, question, without_articles
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Body, HouseFacts, Thing

SEEN_WORDINGS = ("what do you see?", "name something that you see", "what do you notice right now?")
NOTICED_WORDINGS = (
    "what are you looking at?", "what are you looking at right now?", "what do you see at the moment?",
    "what are you noticing right now?", "tell me what you are looking at", "name one thing that you see",
    "say what is before your eyes", "what is it that you see now?", "can you tell me what you see?",
    "what catches your eye?", "describe something that you see",
)  # fmt: skip
NOTICED_OF_A_NOUN_WORDINGS = (
    "name a {one} that you see", "what {one} do you see?", "tell me about a {one} that you see right now",
    "which {one} are you looking at?", "do you notice a {one}? say what it is", "look at a {one} and say what it is",
    "are you noticing some {group}? name one of them",
)  # fmt: skip
NO_THING = ("a wall", "wall", "walls", "floor", "nothing", "door", "doorway")  # right answers if no thing is in view
NOUN_PROBABILITY = 0.4  # of asking for things that a noun names, if the style does not require one


@task_kind("seen", Question, SEEN_WORDINGS)
def seen_kind(context: TaskContext, rng: np.random.Generator) -> Question:
    """Asks for any thing in the solver's view; something must be."""
    facts = context.facts
    seen = _things_in_view(context)
    first = context.sample_one(seen[:1], rng, "no thing is in the solver's view")
    accepted = _naming_any(context, seen)
    text = fill_template(SEEN_WORDINGS, rng)
    mistakes = wrong_names(facts.things, accepted) or absent_names(facts)
    return question(context, text, Answers(first.name, mistakes, accepted), (first.index,))


@task_kind("noticed", Question, NOTICED_WORDINGS, NOTICED_OF_A_NOUN_WORDINGS)
def noticed_kind(context: TaskContext, rng: np.random.Generator) -> Question:
    """Asks for any thing in view, or any that a noun names; the answer is a wall if no thing is in view."""
    facts = context.facts
    seen = _things_in_view(context)
    if context.style is not EVERYDAY or (seen and rng.random() < NOUN_PROBABILITY):
        return _sample_noticed_of_a_noun(context, rng)
    text = fill_template(NOTICED_WORDINGS, rng)
    if not seen:
        names = tuple(dict.fromkeys(thing.name for thing in facts.things))
        answers = Answers(NO_THING[0], names, without_articles(NO_THING))
        return question(context, text, answers, scope="house")
    accepted = _naming_any(context, seen)
    answers = Answers(seen[0].name, wrong_names(facts.things, accepted) or NO_THING[:1], accepted)
    return question(context, text, answers, (seen[0].index,), scope="house")


def _sample_noticed_of_a_noun(context: TaskContext, rng: np.random.Generator) -> Question:
    """Asks for any thing of the room that a noun phrase fits; at least one of them is in view."""
    facts, style = context.facts, context.style
    seen = _things_in_view(context)
    modifiers: list[PostModifier | None] = list(context.post_modifiers)
    modifiers = [None, *modifiers] if style.bare_nouns or not modifiers else modifiers
    general = [noun for noun in style.nouns(()) if noun.categories is None or len(noun.categories) > 1]
    choices = []
    for post in modifiers:
        for noun in general:
            fitting = [t for t in seen if noun.fits(t) and (post is None or t.index in post.certain)]
            if fitting and not (post is None and noun.color is None and noun.categories is None):
                choices.append((noun, post, fitting))
    noun, post, fitting = context.sample_one(choices, rng, "nothing in view is of a sort that can be asked for")
    room = facts.bodies[context.solver].room
    here = [t for t in facts.things if predicates.same_room(t.room, room) and noun.fits(t)]
    meant = [*fitting, *(t for t in here if post is None or t.index in post.certain)]
    accepted = _naming_any(context, meant)
    singular, plural = _noun_phrases(noun, post, rng)
    text = fill_template(NOTICED_OF_A_NOUN_WORDINGS, rng, one=singular, group=plural)
    mistakes = tuple(dict.fromkeys(t.name for t in facts.things if {t.name, t.category}.isdisjoint(accepted)))
    answers = Answers(fitting[0].name, mistakes or NO_THING[:1], accepted)
    return question(context, text, answers, (fitting[0].index,), scope="house")


def _noun_phrases(noun: Noun, post: PostModifier | None, rng: np.random.Generator) -> tuple[str, str]:
    """Draws "round thing on the table" and "round things on the table"."""
    singular, plural = choose(noun.singulars, rng), choose(noun.plurals, rng)
    if post is None:
        return singular, plural
    return post.attach_briefly(singular, rng), post.attach_briefly(plural, rng, many=True)


def _things_in_view(context: TaskContext) -> list[Thing]:
    return predicates.visible(context.facts, context.solver, *context.config.view)


def _naming_any(context: TaskContext, things: Sequence[Thing]) -> tuple[str, ...]:
    """Returns the answers that name any of the things, also by a category that others share."""
    return tuple(dict.fromkeys((*context.answers_naming(things), *(thing.category for thing in things))))


def wrong_names(things: Iterable[Thing], accepted: Sequence[str]) -> tuple[str, ...]:
    """Returns the names of the things that are not right answers."""
    return tuple(dict.fromkeys(thing.name for thing in things if thing.name not in accepted))


def absent_names(facts: HouseFacts) -> tuple[str, ...]:
    """Returns names of things that are not in this house, of its categories."""
    names = {thing.name for thing in facts.things}
    categories = dict.fromkeys(thing.category for thing in facts.things)
    return tuple(name for name in (f"{c} {k}" for c in COLORS for k in categories) if name not in names)


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
NOTHING = "nothing"
NEXT_TO_PREPOSITIONS = ("next to", "beside", "by", "near", "close to")  # all true of a thing next to another
NEAR_PREPOSITIONS = ("near", "close to")
OUTSIDE = ("outside",)  # a wrong answer if no other is plausible


@task_kind("nearest", Question, NEAREST_WORDINGS)
def nearest_kind(context: TaskContext, rng: np.random.Generator) -> Question:
    """Draws a thing of the solver's room that has a clearly nearest neighbor."""
    facts = context.facts
    choices = []
    for thing in context.nameable_things_here():
        others = predicates.neighbors(facts, thing)
        if len(others) >= 2 and predicates.gap(thing, others[1]) >= predicates.gap(thing, others[0]) + CLEARLY_NEARER_M:
            choices.append((thing, others))
    thing, (nearest, *others) = context.sample_one(choices, rng, "nothing here has a clearly nearest neighbor")
    text = context.phrase(NEAREST_WORDINGS, rng, thing=thing)
    accepted = context.answers_naming([nearest])
    mistakes = wrong_names(others, accepted) or absent_names(facts)
    return question(context, text, Answers(nearest.name, mistakes, accepted), (thing.index,))


@task_kind("on_top", Question, ON_TOP_WORDINGS)
def on_top_kind(context: TaskContext, rng: np.random.Generator) -> Question:
    """Draws a thing of the solver's room; something and nothing on it have the same probability, and must both be
    possible there."""
    facts = context.facts
    loads = [(thing, predicates.things_on(facts, thing)) for thing in context.nameable_things_here()]
    laden = [(thing, load) for thing, load in loads if load]
    bare = [(thing, load) for thing, load in loads if not load and not predicates.contents(facts, thing)]
    choices = (laden if rng.random() < 0.5 else bare) if laden and bare else []
    reason = "nothing here stands on what can be named, or all has something on it"
    thing, load = context.sample_one(choices, rng, reason)
    text = context.phrase(ON_TOP_WORDINGS, rng, thing=thing)
    accepted = context.answers_naming(load) if load else (NOTHING,)
    others = predicates.matching(facts, room=thing.room)
    loose = [other for other in others if not other.furniture and other.index != thing.index]
    mistakes = (*wrong_names(loose, accepted), *((NOTHING,) if load else ())) or absent_names(facts)
    answer = context.sample_one(load, rng).name if load else NOTHING
    return question(context, text, Answers(answer, mistakes, accepted), (thing.index,))


@task_kind("where", Question, WHERE_WORDINGS)
def where_kind(context: TaskContext, rng: np.random.Generator) -> Question:
    """Draws an object of the house; the answer is the kind of its room."""
    kinds = {room.name: room.kind for room in context.facts.rooms}
    placed = [(thing, kinds[thing.room]) for thing in context.nameable_objects() if thing.room is not None]
    thing, kind = context.sample_one(placed, rng, "no loose thing can be named")
    others = sorted({*kinds.values()} - {kind}) or [other for other in ROOM_KINDS if other != kind]
    text = context.phrase(WHERE_WORDINGS, rng, thing=thing)
    return question(context, text, Answers(kind, tuple(others), (kind, f"in {kind}")), (thing.index,))


@task_kind("whereabouts", Question, WHEREABOUTS_WORDINGS)
def whereabouts_kind(context: TaskContext, rng: np.random.Generator) -> Question:
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
        raise context.refusal("nothing that can be named is anywhere in particular")
    # A place by a landmark says the most.
    best = informative[0] if informative[0].landmarks else informative[int(rng.integers(len(informative)))]
    accepted = _right_answers(facts, facts.bodies[context.solver], thing, true_places)
    possible = [place for place in places if not (thing.furniture and place.loose_only)]
    wrong = [choose(place.phrases, rng) for place in possible if thing.index not in place.possible]
    mistakes = tuple(dict.fromkeys(text for text in wrong if not {*without_articles([text])} & {*accepted}))
    text = fill_template(WHEREABOUTS_WORDINGS, rng, thing=name)
    answers = Answers(best.phrases[0], mistakes or OUTSIDE, accepted)
    return question(context, text, answers, (thing.index,), scope="house")


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
