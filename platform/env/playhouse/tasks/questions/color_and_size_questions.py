"""Questions about colors, that of one thing and whether two things have the same; and about the sizes of two things."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np

from interplay.env.playhouse.house.catalog import COLORS
from interplay.env.playhouse.language.referring import nouns
from interplay.env.playhouse.language.referring.expressions import describe_noun
from interplay.env.playhouse.language.referring.styles import EVERYDAY
from interplay.env.playhouse.language.templates import choose, fill_template, plural
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.playhouse_task import task_kind
from interplay.env.playhouse.tasks.questions.question import (
    NO,
    YES,
    Answers,
    Question,
    question,
    without_articles,
    yes_or_no,
)
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing
from interplay.env.task import words

COLOR_WORDINGS = ("what color is the {thing}?", "which color is the {thing}?", "what is the color of the {thing}?")
COLOR_OF_WORDINGS = (
    "what color is the {thing}?", "which color is the {thing}?", "what is the color of the {thing}?",
    "tell me the color of the {thing}", "can you tell me what color the {thing} is?",
    "what color does the {thing} have?", "of what color is the {thing}?",
)  # fmt: skip
SAME_COLOR_WORDINGS = (
    "do the {thing} and the {other} have the same color?",
    "are the {thing} and the {other} of the same color?",
    "is the {thing} of the same color as the {other}?",
)
SAME_COLOR_OF_TWO_WORDINGS = (
    "do the two {things} have the same color?",
    "are the two {things} of the same color?",
    "are both {things} of the same color?",
)
SAME_OR_DIFFERENT_WORDINGS = (
    "do the {thing} and the {other} have the same or different colors?",
    "are the {thing} and the {other} of the same or of different colors?",
    "same color or different colors, the {thing} and the {other}?",
    "tell me if the colors of the {thing} and the {other} are the same or different",
)
SAME_OR_DIFFERENT_YES_OR_NO_WORDINGS = (
    "do the {thing} and the {other} have the same color?",
    "is the {thing} of the same color as the {other}?",
    "are the {thing} and the {other} the same color?",
)
SAME = ("same", "same color", "same colour", "same colors", "same colours", "they have same color",
        "they have same colour", "they are same")  # fmt: skip
DIFFERENT = ("different", "different colors", "different colours", "different color", "different colour",
             "they have different colors", "they have different colours", "they are different", "not same")  # fmt: skip
OPEN_PROBABILITY = 0.6  # of asking "the same or different?" rather than for yes or no


@task_kind("color", Question, COLOR_WORDINGS, usual=True)
def color_kind(context: TaskContext, rng: np.random.Generator) -> Question:
    """Draws an object of the solver's room that is the only one of its category."""
    facts = context.facts
    alone = [t for t in context.objects_here() if len(predicates.matching(facts, category=t.category)) == 1]
    target = context.sample_one(alone, rng, "no loose thing here is the only one of its category")
    answers = Answers(target.color, _other_colors(facts, target))
    text = fill_template(COLOR_WORDINGS, rng, thing=target.category)
    return question(context, text, answers, (target.index,))


@task_kind("color_of", Question, COLOR_OF_WORDINGS)
def color_of_kind(context: TaskContext, rng: np.random.Generator) -> Question:
    """Draws a color, then a thing of the house that has it, so that the wooden furniture does not dominate."""
    facts = context.facts
    named = [(thing, names) for thing in context.nameable_things() if (names := colorless_names(context, thing))]
    colors = sorted({thing.color for thing, _ in named})
    color = context.sample_one(colors, rng, "nothing can be named without its color")
    thing, names = context.sample_one([pair for pair in named if pair[0].color == color], rng)
    text = fill_template(COLOR_OF_WORDINGS, rng, thing=choose(names, rng))
    c = thing.color
    accepted = (c, f"it is {c}", f"it's {c}", f"{c} color", f"{c} colour", f"{thing.category} is {c}", thing.name)
    answers = Answers(c, _other_colors(facts, thing), accepted)
    return question(context, text, answers, (thing.index,), scope="house")


@task_kind("same_color", Question, SAME_COLOR_WORDINGS, SAME_COLOR_OF_TWO_WORDINGS)
def same_color_kind(context: TaskContext, rng: np.random.Generator) -> Question:
    """Draws two things of the solver's room; both answers have the same probability, and must be possible there."""
    facts = context.facts
    room, categories = context.room, Counter(thing.category for thing in facts.things)
    here = [thing for thing in facts.things if thing.room == room and thing.held_by is None]
    # No color is needed to name them: they are the only two of one category, or each is the only one of its own.
    counts = [(a, b, 2 if a.category == b.category else 1) for a, b in combinations(here, 2)]
    pairs = [(a, b) for a, b, count in counts if categories[a.category] == categories[b.category] == count]
    same = rng.random() < 0.5
    by_truth = {truth: [pair for pair in pairs if predicates.same_color(*pair) == truth] for truth in (True, False)}
    choices = by_truth[same] if by_truth[not same] else []
    pair = context.sample_one(choices, rng, "all things here are alike or unlike in color")
    first, second = pair if rng.random() < 0.5 else pair[::-1]
    if first.category == second.category:
        text = fill_template(SAME_COLOR_OF_TWO_WORDINGS, rng, things=plural(first.category))
    else:
        text = fill_template(SAME_COLOR_WORDINGS, rng, thing=first.category, other=second.category)
    answers = yes_or_no(same, accept_variants=False)
    return question(context, text, answers, (first.index, second.index))


@task_kind("same_or_different", Question, SAME_OR_DIFFERENT_WORDINGS, SAME_OR_DIFFERENT_YES_OR_NO_WORDINGS)
def same_or_different_kind(context: TaskContext, rng: np.random.Generator) -> Question:
    """Draws two things of one room; "same" and "different" have the same probability if both are possible."""
    here = context.room
    names = {thing.index: found for thing in context.nameable_things() if (found := colorless_names(context, thing))}
    things = [context.facts.things[index] for index in names]
    pairs = [(a, b) for a, b in combinations(things, 2) if a.room == b.room and a.category != b.category]
    same = bool(rng.random() < 0.5)
    fitting = [pair for pair in pairs if predicates.same_color(*pair) == same]
    near = [pair for pair in fitting if pair[0].room == here]
    pair = context.sample_one(near or fitting, rng, "no two things of one room are so in color")
    first, second = pair if rng.random() < 0.5 else pair[::-1]
    is_open = rng.random() < OPEN_PROBABILITY
    wordings = SAME_OR_DIFFERENT_WORDINGS if is_open else SAME_OR_DIFFERENT_YES_OR_NO_WORDINGS
    text = fill_template(wordings, rng, thing=choose(names[first.index], rng), other=choose(names[second.index], rng))
    ways: tuple[tuple[str, ...], tuple[str, ...]] = (SAME, DIFFERENT) if is_open else (YES, NO)
    right, wrong = ways if same else ways[::-1]
    answers = Answers(right[0], wrong[:1], without_articles(right))
    return question(context, text, answers, (first.index, second.index), scope="house")


def colorless_names(context: TaskContext, thing: Thing) -> list[str]:
    """Returns the names of a thing that do not contain its color; in everyday style also its category alone."""
    if thing.held_by is not None:
        return []
    names = [name for name in context.naming.phrases(context.facts, thing) if thing.color not in words(name)]
    if names or context.style is not EVERYDAY:
        return names
    noun = describe_noun(nouns.category(thing.category), context.facts)
    return [] if noun.referent is None else [*noun.phrases]


def _other_colors(facts: HouseFacts, thing: Thing) -> tuple[str, ...]:
    """Returns the other colors of the house or, if there are none, of the catalog."""
    in_house = sorted({other.color for other in facts.things} - {thing.color})
    return tuple(in_house) or tuple(color for color in COLORS if color != thing.color)


LARGER_WORDINGS = (
    "which is larger, the {thing} or the {other}?",
    "which is bigger, the {thing} or the {other}?",
    "what is larger, the {thing} or the {other}?",
)
SIZE_WORDINGS = (
    "is the {thing} larger, smaller or the same size as the {other}?",
    "compared to the {other}, is the {thing} larger, smaller or the same size?",
    "tell me if the {thing} is larger, smaller or the same size as the {other}",
    "larger, smaller or the same size, the {thing} compared to the {other}?",
    "is the {thing} larger or smaller than the {other}?", "is the {thing} bigger or smaller than the {other}?",
    "compare the size of the {thing} with the {other}", "how large is the {thing} compared to the {other}?",
)  # fmt: skip
SAME_SIZE_RATIO = 1.25  # of the volumes, at most, of things of the same size
ANSWERS = {
    "larger": ("larger", "bigger", "it is larger", "it is bigger", "larger one"),
    "smaller": ("smaller", "it is smaller", "smaller one"),
    "same": ("same size", "same", "they are same size", "it is same size", "same sizes", "equal"),
}


@task_kind("larger", Question, LARGER_WORDINGS)
def larger_kind(context: TaskContext, rng: np.random.Generator) -> Question:
    """Draws two loose objects or two pieces of furniture of the solver's room, of clearly different size."""
    pairs = [(a, b) for a, b in combinations(context.nameable_things_here(), 2) if a.furniture == b.furniture]
    unlike = [(a, b) for a, b in pairs if predicates.compared(a, b) != "same"]
    pair = context.sample_one(unlike, rng, "no two things here differ clearly in size")
    first, second = pair if rng.random() < 0.5 else pair[::-1]
    larger, smaller = (first, second) if predicates.compared(first, second) == "larger" else (second, first)
    text = context.phrase(LARGER_WORDINGS, rng, thing=first, other=second)
    answers = Answers(larger.name, (smaller.name,), context.answers_naming([larger]))
    return question(context, text, answers, (first.index, second.index))


@task_kind("size", Question, SIZE_WORDINGS)
def size_kind(context: TaskContext, rng: np.random.Generator) -> Question:
    """Draws one of the three answers, then two loose objects or two pieces of furniture of one room."""
    here = context.room
    things = [thing for thing in context.nameable_things() if thing.held_by is None]
    pairs = [(a, b) for a, b in combinations(things, 2) if a.room == b.room and a.furniture == b.furniture]
    by_size: dict[str, list[tuple[Thing, Thing]]] = {}
    for a, b in [*pairs, *(pair[::-1] for pair in pairs)]:
        if (size := _clear_comparison(a, b)) is not None:
            by_size.setdefault(size, []).append((a, b))
    size = context.sample_one(sorted(by_size), rng, "no two things of one room can be compared")
    near = [pair for pair in by_size[size] if pair[0].room == here]
    first, second = context.sample_one(near or by_size[size], rng)
    text = context.phrase(SIZE_WORDINGS, rng, thing=first, other=second)
    accepted = without_articles(ANSWERS[size])
    mistakes = tuple(ways[0] for other, ways in ANSWERS.items() if other != size)
    answers = Answers(accepted[0], mistakes, accepted)
    return question(context, text, answers, (first.index, second.index), scope="house")


def _clear_comparison(a: Thing, b: Thing) -> str | None:
    """Returns whether a is larger than b, smaller or of the same size; None if that is open to doubt."""
    size = predicates.compared(a, b)
    ratio = predicates.volume(a) / predicates.volume(b)
    return size if size != "same" or 1 / SAME_SIZE_RATIO <= ratio <= SAME_SIZE_RATIO else None
