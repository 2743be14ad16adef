"""Questions about what the solver's room holds: the color of a thing, how many of a kind, whether one exists."""

from __future__ import annotations

from collections import Counter

import numpy as np

from interplay.env.playhouse.house.catalog import COLORS
from interplay.env.playhouse.language.templates import NUMBERS, phrase, plural
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.questions.question import Question
from interplay.env.playhouse.tasks.sampling import one_of, room_of
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing


def ask_color(asking: TaskContext, rng: np.random.Generator) -> Question:
    alone = [thing for thing in _here(asking) if len(predicates.matching(asking.facts, category=thing.category)) == 1]
    target = one_of(alone, rng, "color", "no loose thing here is the only one of its category")
    others = sorted({thing.color for thing in asking.facts.things} - {target.color})
    mistakes = tuple(others) or tuple(color for color in COLORS if color != target.color)
    words = phrase("color", rng, thing=target.category)
    return Question("color", words, asking.solver, target.color, mistakes, (target.index,))


def ask_count(asking: TaskContext, rng: np.random.Generator) -> Question:
    """A number is drawn first, then a category of which there are as many, so that no number prevails."""
    here = Counter(thing.category for thing in _here(asking))
    by_number: dict[int, list[str]] = {}
    for category in sorted({*asking.categories, *here}):
        by_number.setdefault(here[category], []).append(category)
    possible = [number for number in sorted(by_number) if number < len(NUMBERS) - 1]
    number = one_of(possible, rng, "count", "there is too much of everything")
    category = one_of(by_number[number], rng, "count", "there is nothing to count")
    near = [NUMBERS[n] for n in (number - 1, number + 1) if n >= 0]
    about = tuple(thing.index for thing in _here(asking) if thing.category == category)
    words = phrase(_wording("count", asking.facts), rng, things=plural(category))
    return Question("count", words, asking.solver, NUMBERS[number], tuple(near), about)


def ask_exist(asking: TaskContext, rng: np.random.Generator) -> Question:
    """Yes and no are as likely; what is not there is of a category, and if possible of a color, that are."""
    here = _here(asking)
    there = rng.random() < 0.5
    about: tuple[int, ...] = ()
    if there:
        target = one_of(here, rng, "exist", "there is no loose thing here")
        name, about = target.name, (target.index,)
    else:
        names = {thing.name for thing in asking.facts.things}
        present = {thing.color for thing in here}
        categories = sorted({thing.category for thing in here})
        absent = [f"{c} {category}" for c in sorted(present) for category in categories]
        anywhere = [f"{c} {category}" for c in COLORS for category in categories]
        free = [n for n in absent if n not in names] or [n for n in anywhere if n not in names]
        name = one_of(free, rng, "exist", "there is no loose thing here")
    answer, mistake = ("yes", "no") if there else ("no", "yes")
    words = phrase(_wording("exist", asking.facts), rng, thing=name)
    return Question("exist", words, asking.solver, answer, (mistake,), about)


def _here(asking: TaskContext) -> list[Thing]:
    """The loose things of the room that the solver is in."""
    room = room_of(asking.facts, asking.solver)
    return [thing for thing in predicates.matching(asking.facts, room=room) if not thing.furniture]


def _wording(kind: str, facts: HouseFacts) -> str:
    return f"{kind} in room" if len(facts.rooms) > 1 else kind
