"""Questions about what the solver's room holds: the colour of a thing, how many of a kind, whether one exists."""

from __future__ import annotations

from collections import Counter

import numpy as np

from interplay.env.playhouse import queries
from interplay.env.playhouse.asking import Asking
from interplay.env.playhouse.catalogue import COLOURS
from interplay.env.playhouse.choosing import one_of, room_of
from interplay.env.playhouse.facts import HouseFacts, Thing
from interplay.env.playhouse.phrases import NUMBERS, phrase, plural
from interplay.env.playhouse.questions.question import Question


def ask_color(asking: Asking, rng: np.random.Generator) -> Question:
    alone = [thing for thing in _here(asking) if len(queries.matching(asking.facts, category=thing.category)) == 1]
    target = one_of(alone, rng, "color", "no loose thing here is the only one of its category")
    others = sorted({thing.colour for thing in asking.facts.things} - {target.colour})
    mistakes = tuple(others) or tuple(colour for colour in COLOURS if colour != target.colour)
    words = phrase("color", rng, thing=target.category)
    return Question("color", words, asking.solver, target.colour, mistakes, (target.index,))


def ask_count(asking: Asking, rng: np.random.Generator) -> Question:
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


def ask_exist(asking: Asking, rng: np.random.Generator) -> Question:
    """Yes and no are as likely; what is not there is of a category, and if possible of a colour, that are."""
    here = _here(asking)
    there = rng.random() < 0.5
    about: tuple[int, ...] = ()
    if there:
        target = one_of(here, rng, "exist", "there is no loose thing here")
        name, about = target.name, (target.index,)
    else:
        names = {thing.name for thing in asking.facts.things}
        present = {thing.colour for thing in here}
        categories = sorted({thing.category for thing in here})
        absent = [f"{c} {category}" for c in sorted(present) for category in categories]
        anywhere = [f"{c} {category}" for c in COLOURS for category in categories]
        free = [n for n in absent if n not in names] or [n for n in anywhere if n not in names]
        name = one_of(free, rng, "exist", "there is no loose thing here")
    answer, mistake = ("yes", "no") if there else ("no", "yes")
    words = phrase(_wording("exist", asking.facts), rng, thing=name)
    return Question("exist", words, asking.solver, answer, (mistake,), about)


def _here(asking: Asking) -> list[Thing]:
    """The loose things of the room that the solver is in."""
    room = room_of(asking.facts, asking.solver)
    return [thing for thing in queries.matching(asking.facts, room=room) if not thing.furniture]


def _wording(kind: str, facts: HouseFacts) -> str:
    return f"{kind} in room" if len(facts.rooms) > 1 else kind
