"""Questions for the number of things of a description, and whether there is any."""

from __future__ import annotations

from collections import Counter

import numpy as np

from interplay.env.playhouse.house.catalog import COLORS
from interplay.env.playhouse.language.templates import NUMBERS, fill_template, plural
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.questions.described_sets import (
    DescribedSet,
    is_plausible,
    sample_described_set,
    sample_described_sets,
)
from interplay.env.playhouse.tasks.questions.question import Answers, Question, number_answers, question, yes_or_no
from interplay.env.playhouse.tasks.sampling import objects_here, sample_one
from interplay.env.playhouse.tasks.task_kind import TaskKind

COUNT_WORDINGS = ("how many {things} are there?", "count the {things}", "how many {things} do you see?")
COUNT_IN_ROOM_WORDINGS = (
    "how many {things} are in this room?",
    "count the {things} in this room",
    "how many {things} do you see in this room?",
)
HOW_MANY_WORDINGS = (
    "how many {group} are there?", "count the {group}", "tell me the number of {group}", "can you count the {group}?",
    "what is the number of {group}?", "how many {group} can you find?", "how many {group} do you see?",
    "please count the {group}",
)  # fmt: skip
EXIST_WORDINGS = ("is there a {thing}?", "do you see a {thing}?", "can you find a {thing}?")
EXIST_IN_ROOM_WORDINGS = (
    "is there a {thing} in this room?", "do you see a {thing} in this room?", "can you find a {thing} in this room?",
)  # fmt: skip
PRESENT_WORDINGS = (
    "is there a {one}?", "do you see a {one}?", "can you find a {one}?", "tell me whether there is a {one}",
    "is there any {one}?", "can you tell me if there is a {one}?", "look whether there is a {one}",
)  # fmt: skip
PRESENT_OF_SEVERAL_WORDINGS = (
    "are there some {group}?", "are there any {group}?", "do you see some {group}?", "can you find some {group}?",
    "tell me whether there are some {group}", "can you see any {group}?",
)  # fmt: skip
ROOM_DRAWS = 3  # of a room and a post-modifier, whose sets are counted
ZERO_PROBABILITY = 0.2  # of asking for what there is none of, if there is anything else to count
SEVERAL_PROBABILITY = 0.3  # of asking in the plural, if there is not exactly one


def sample_count(context: TaskContext, rng: np.random.Generator) -> Question:
    """Draws a number, then a category of which the solver's room has as many, so that no number dominates."""
    here = Counter(thing.category for thing in objects_here(context))
    by_number: dict[int, list[str]] = {}
    for category in sorted({*context.categories, *here}):
        by_number.setdefault(here[category], []).append(category)
    numbers = [number for number in sorted(by_number) if number < len(NUMBERS) - 1]
    number = sample_one(numbers, rng, "count", "there is too much of everything")
    category = sample_one(by_number[number], rng, "count", "there is nothing to count")
    neighbors = tuple(NUMBERS[n] for n in (number - 1, number + 1) if n >= 0)
    about = tuple(thing.index for thing in objects_here(context) if thing.category == category)
    wordings = _in_room(context, COUNT_WORDINGS, COUNT_IN_ROOM_WORDINGS)
    text = fill_template(wordings, rng, things=plural(category))
    return question(context, "count", text, Answers(NUMBERS[number], neighbors), about)


def sample_how_many(context: TaskContext, rng: np.random.Generator) -> Question:
    """Draws a number, then a described set of that size, so that no number dominates."""
    by_number: dict[int, list[DescribedSet]] = {}
    for _ in range(ROOM_DRAWS):
        for found in sample_described_sets(context, rng):
            if len(found.members) < len(NUMBERS) and (found.members or is_plausible(context.facts, found)):
                by_number.setdefault(len(found.members), []).append(found)
    # High numbers are rare: the weight of each is the number itself.
    numbers = [number for number in sorted(by_number) for _ in range(number)]
    if 0 in by_number and (not numbers or rng.random() < ZERO_PROBABILITY):
        numbers = [0]
    number = sample_one(numbers, rng, "how_many", "nothing here can be counted without argument")
    chosen = sample_one(by_number[number], rng, "how_many", "")
    text = fill_template(HOW_MANY_WORDINGS, rng, group=chosen.plural(rng))
    answers = number_answers(number, chosen.noun.plurals[0], chosen.noun.singulars[0])
    about, room = chosen.to_look_at()
    return question(context, "how_many", text, answers, about, scope="house", room=room)


def sample_exist(context: TaskContext, rng: np.random.Generator) -> Question:
    """Draws yes or no with the same probability; an absent object is of a category, and if possible of a color, that
    the solver's room has."""
    here = objects_here(context)
    exists = rng.random() < 0.5
    about: tuple[int, ...] = ()
    if exists:
        target = sample_one(here, rng, "exist", "there is no loose thing here")
        name, about = target.name, (target.index,)
    else:
        names = {thing.name for thing in context.facts.things}
        categories = sorted({thing.category for thing in here})
        of_colors_here = [f"{c} {category}" for c in sorted({t.color for t in here}) for category in categories]
        of_any_color = [f"{c} {category}" for c in COLORS for category in categories]
        absent = [n for n in of_colors_here if n not in names] or [n for n in of_any_color if n not in names]
        name = sample_one(absent, rng, "exist", "there is no loose thing here")
    text = fill_template(_in_room(context, EXIST_WORDINGS, EXIST_IN_ROOM_WORDINGS), rng, thing=name)
    return question(context, "exist", text, yes_or_no(exists, accept_variants=False), about)


def sample_present(context: TaskContext, rng: np.random.Generator) -> Question:
    """Draws yes or no with the same probability; what is absent has a color, category or shape that something in the
    house has."""
    facts, truth = context.facts, bool(rng.random() < 0.5)

    def fits(found: DescribedSet) -> bool:
        return bool(found.members) if truth else not found.members and is_plausible(facts, found)

    chosen = sample_described_set(context, rng, "present", fits, "all or nothing of what can be asked is here")
    several = len(chosen.members) != 1 and rng.random() < SEVERAL_PROBABILITY
    wordings = PRESENT_OF_SEVERAL_WORDINGS if several else PRESENT_WORDINGS
    text = fill_template(wordings, rng, one=chosen.singular(rng), group=chosen.plural(rng))
    about, room = (chosen.members[:1], None) if truth else chosen.to_look_at()
    return question(context, "present", text, yes_or_no(truth), about, scope="house", room=room)


def _in_room(context: TaskContext, anywhere: tuple[str, ...], in_room: tuple[str, ...]) -> tuple[str, ...]:
    """Chooses the wordings that say "in this room" if the house has several rooms."""
    return in_room if len(context.facts.rooms) > 1 else anywhere


COUNT_KIND = TaskKind(
    name="count", task=Question, sample=sample_count, wordings=(*COUNT_WORDINGS, *COUNT_IN_ROOM_WORDINGS), usual=True
)
HOW_MANY_KIND = TaskKind(name="how_many", task=Question, sample=sample_how_many, wordings=HOW_MANY_WORDINGS)
EXIST_KIND = TaskKind(
    name="exist", task=Question, sample=sample_exist, wordings=(*EXIST_WORDINGS, *EXIST_IN_ROOM_WORDINGS), usual=True
)
PRESENT_KIND = TaskKind(
    name="present", task=Question, sample=sample_present, wordings=(*PRESENT_WORDINGS, *PRESENT_OF_SEVERAL_WORDINGS)
)
