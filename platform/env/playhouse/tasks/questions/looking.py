"""What the solver sees as it is asked: anything, or anything of a kind or at a place."""

from __future__ import annotations

import numpy as np

from interplay.env.playhouse.language.referring.nouns import Noun
from interplay.env.playhouse.language.referring.post_modifiers import PostModifier, pick
from interplay.env.playhouse.language.referring.styles import EVERYDAY
from interplay.env.playhouse.language.templates import PHRASES, phrase
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.questions.search_question import SearchQuestion, without_articles
from interplay.env.playhouse.tasks.sampling import answers_for, one_of
from interplay.env.playhouse.truth import predicates

PHRASES |= {
    "noticed": (
        "what are you looking at?",
        "what are you looking at right now?",
        "what do you see at the moment?",
        "what are you noticing right now?",
        "tell me what you are looking at",
        "name one thing that you see",
        "say what is before your eyes",
        "what is it that you see now?",
        "can you tell me what you see?",
        "what catches your eye?",
        "describe something that you see",
    ),
    "noticed of a sort": (
        "name a {one} that you see",
        "what {one} do you see?",
        "tell me about a {one} that you see right now",
        "which {one} are you looking at?",
        "do you notice a {one}? say what it is",
        "look at a {one} and say what it is",
        "are you noticing some {group}? name one of them",
    ),
}
NO_THING = ("a wall", "wall", "walls", "floor", "nothing", "door", "doorway")  # what is seen where no thing is
OF_A_SORT = 0.4  # chance to ask for a sort where the modifier does not want one


def ask_noticed(asking: TaskContext, rng: np.random.Generator) -> SearchQuestion:
    """A wall, where no thing is in view."""
    facts, solver = asking.facts, asking.solver
    seen = predicates.visible(facts, solver, *asking.view)
    if asking.manner is not EVERYDAY or (seen and rng.random() < OF_A_SORT):
        return _of_a_sort(asking, rng)
    words = phrase("noticed", rng)
    if not seen:
        names = tuple(dict.fromkeys(thing.name for thing in facts.things))
        return SearchQuestion("noticed", words, solver, NO_THING[0], names, (), without_articles(NO_THING), None)
    right = tuple(dict.fromkeys((*answers_for(facts, seen), *(thing.category for thing in seen))))
    mistakes = tuple(dict.fromkeys(t.name for t in facts.things if t.name not in right)) or NO_THING[:1]
    return SearchQuestion("noticed", words, solver, seen[0].name, mistakes, (seen[0].index,), right, None)


def _of_a_sort(asking: TaskContext, rng: np.random.Generator) -> SearchQuestion:
    """Anything of a sort, or at a place, that is in the room; something of it is in view."""
    facts, solver, manner = asking.facts, asking.solver, asking.manner
    seen = predicates.visible(facts, solver, *asking.view)
    behind: list[PostModifier | None] = list(asking.clauses)
    behind = [None, *behind] if manner.bare or not behind else behind
    general = [sort for sort in manner.sorts(()) if sort.categories is None or len(sort.categories) > 1]
    choices = []
    for clause in behind:
        for sort in general:
            fits = [t for t in seen if sort.fits(t) and (clause is None or t.index in clause.surely)]
            if fits and not (clause is None and sort.color is None and sort.categories is None):
                choices.append((sort, clause, fits))
    sort, clause, fits = one_of(choices, rng, "noticed", "nothing in view is of a sort that can be asked for")
    here = [t for t in facts.things if predicates.same_room(t.room, facts.bodies[solver].room) and sort.fits(t)]
    meant = [*fits, *(t for t in here if clause is None or t.index in clause.surely)]
    right = tuple(dict.fromkeys((*answers_for(facts, meant), *(t.category for t in meant))))
    one, group = _worded(sort, clause, rng)
    words = phrase("noticed of a sort", rng, one=one, group=group)
    mistakes = tuple(dict.fromkeys(t.name for t in facts.things if {t.name, t.category}.isdisjoint(right)))
    return SearchQuestion(
        "noticed", words, solver, fits[0].name, mistakes or NO_THING[:1], (fits[0].index,), right, None
    )


def _worded(sort: Noun, clause: PostModifier | None, rng: np.random.Generator) -> tuple[str, str]:
    """ "round thing on the table", "round things on the table"."""
    one, many = pick(sort.ones, rng), pick(sort.many, rng)
    return (one, many) if clause is None else (clause.briefly(one, rng), clause.briefly(many, rng, many=True))
