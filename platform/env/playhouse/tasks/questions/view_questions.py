"""Questions about the solver's view: anything that it sees, or anything of a description."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from interplay.env.playhouse.house.catalog import COLORS
from interplay.env.playhouse.language.referring.generation import EVERYDAY
from interplay.env.playhouse.language.referring.nouns import Noun
from interplay.env.playhouse.language.referring.post_modifiers import PostModifier
from interplay.env.playhouse.language.templates import choose, fill_template
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.questions.question import Answers, Question, question, without_articles
from interplay.env.playhouse.tasks.sampling import answers_naming, sample_one
from interplay.env.playhouse.tasks.task_kind import TaskKind
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing

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


def sample_seen(context: TaskContext, rng: np.random.Generator) -> Question:
    """Asks for any thing in the solver's view; something must be."""
    facts = context.facts
    seen = _things_in_view(context)
    first = sample_one(seen[:1], rng, "seen", "no thing is in the solver's view")
    accepted = _naming_any(facts, seen)
    text = fill_template(SEEN_WORDINGS, rng)
    mistakes = wrong_names(facts.things, accepted) or absent_names(facts)
    return question(context, "seen", text, Answers(first.name, mistakes, accepted), (first.index,))


def sample_noticed(context: TaskContext, rng: np.random.Generator) -> Question:
    """Asks for any thing in view, or any that a noun names; the answer is a wall if no thing is in view."""
    facts = context.facts
    seen = _things_in_view(context)
    if context.style is not EVERYDAY or (seen and rng.random() < NOUN_PROBABILITY):
        return _sample_noticed_of_a_noun(context, rng)
    text = fill_template(NOTICED_WORDINGS, rng)
    if not seen:
        names = tuple(dict.fromkeys(thing.name for thing in facts.things))
        answers = Answers(NO_THING[0], names, without_articles(NO_THING))
        return question(context, "noticed", text, answers, scope="house")
    accepted = _naming_any(facts, seen)
    answers = Answers(seen[0].name, wrong_names(facts.things, accepted) or NO_THING[:1], accepted)
    return question(context, "noticed", text, answers, (seen[0].index,), scope="house")


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
    reason = "nothing in view is of a sort that can be asked for"
    noun, post, fitting = sample_one(choices, rng, "noticed", reason)
    room = facts.bodies[context.solver].room
    here = [t for t in facts.things if predicates.same_room(t.room, room) and noun.fits(t)]
    meant = [*fitting, *(t for t in here if post is None or t.index in post.certain)]
    accepted = _naming_any(facts, meant)
    singular, plural = _noun_phrases(noun, post, rng)
    text = fill_template(NOTICED_OF_A_NOUN_WORDINGS, rng, one=singular, group=plural)
    mistakes = tuple(dict.fromkeys(t.name for t in facts.things if {t.name, t.category}.isdisjoint(accepted)))
    answers = Answers(fitting[0].name, mistakes or NO_THING[:1], accepted)
    return question(context, "noticed", text, answers, (fitting[0].index,), scope="house")


def _noun_phrases(noun: Noun, post: PostModifier | None, rng: np.random.Generator) -> tuple[str, str]:
    """Draws "round thing on the table" and "round things on the table"."""
    singular, plural = choose(noun.singulars, rng), choose(noun.plurals, rng)
    if post is None:
        return singular, plural
    return post.attach_briefly(singular, rng), post.attach_briefly(plural, rng, many=True)


def _things_in_view(context: TaskContext) -> list[Thing]:
    return predicates.visible(context.facts, context.solver, *context.view)


def _naming_any(facts: HouseFacts, things: Sequence[Thing]) -> tuple[str, ...]:
    """Returns the answers that name any of the things, also by a category that others share."""
    return tuple(dict.fromkeys((*answers_naming(facts, things), *(thing.category for thing in things))))


def wrong_names(things: Iterable[Thing], accepted: Sequence[str]) -> tuple[str, ...]:
    """Returns the names of the things that are no right answers."""
    return tuple(dict.fromkeys(thing.name for thing in things if thing.name not in accepted))


def absent_names(facts: HouseFacts) -> tuple[str, ...]:
    """Returns names of things that are not in this house, of its categories."""
    names = {thing.name for thing in facts.things}
    categories = dict.fromkeys(thing.category for thing in facts.things)
    return tuple(name for name in (f"{c} {k}" for c in COLORS for k in categories) if name not in names)


SEEN_KIND = TaskKind(name="seen", task=Question, sample=sample_seen, wordings=SEEN_WORDINGS)
NOTICED_KIND = TaskKind(
    name="noticed", task=Question, sample=sample_noticed, wordings=(*NOTICED_WORDINGS, *NOTICED_OF_A_NOUN_WORDINGS)
)
