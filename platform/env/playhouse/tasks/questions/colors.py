"""The color of a thing, and whether two have the same; of things that are named without their color."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from interplay.env.playhouse.house.catalog import COLORS
from interplay.env.playhouse.language.referring import nouns
from interplay.env.playhouse.language.referring.expressions import described
from interplay.env.playhouse.language.referring.post_modifiers import pick
from interplay.env.playhouse.language.referring.styles import EVERYDAY
from interplay.env.playhouse.language.templates import PHRASES, phrase
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.questions.search_question import NO, YES, SearchQuestion, without_articles
from interplay.env.playhouse.tasks.sampling import one_of, room_of
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Thing
from interplay.env.task import words

PHRASES |= {
    "color_of": (
        "what color is the {thing}?",
        "which color is the {thing}?",
        "what is the color of the {thing}?",
        "tell me the color of the {thing}",
        "can you tell me what color the {thing} is?",
        "what color does the {thing} have?",
        "of what color is the {thing}?",
    ),
    "same_or_different": (
        "do the {thing} and the {other} have the same or different colors?",
        "are the {thing} and the {other} of the same or of different colors?",
        "same color or different colors, the {thing} and the {other}?",
        "tell me if the colors of the {thing} and the {other} are the same or different",
    ),
    "same_or_different, yes or no": (
        "do the {thing} and the {other} have the same color?",
        "is the {thing} of the same color as the {other}?",
        "are the {thing} and the {other} the same color?",
    ),
}
SAME = ("same", "same color", "same color", "same colors", "they have same color", "they are same")
DIFFERENT = ("different", "different colors", "different colors", "different color", "they have different colors",
             "they are different", "not same")  # fmt: skip


def ask_color_of(asking: TaskContext, rng: np.random.Generator) -> SearchQuestion:
    """A color is drawn first, then a thing that has it, so that the wooden furniture does not prevail."""
    named = [(thing, names) for thing in asking.told_apart() if (names := colorless(asking, thing))]
    colors = sorted({thing.color for thing, _ in named})
    color = one_of(colors, rng, "color_of", "nothing can be named without its color")
    thing, names = one_of([pair for pair in named if pair[0].color == color], rng, "color_of", "")
    others = sorted({other.color for other in asking.facts.things} - {thing.color})
    mistakes = tuple(others) or tuple(color for color in COLORS if color != thing.color)
    text = phrase("color_of", rng, thing=pick(names, rng))
    c = thing.color
    right = (c, f"it is {c}", f"it's {c}", f"{c} color", f"{c} color", f"{thing.category} is {c}", thing.name)
    return SearchQuestion("color_of", text, asking.solver, c, mistakes, (thing.index,), right, None)


def ask_same_or_different(asking: TaskContext, rng: np.random.Generator) -> SearchQuestion:
    """The same and different are as likely, where both can be found in one room."""
    here = room_of(asking.facts, asking.solver)
    named = {thing.index: names for thing in asking.told_apart() if (names := colorless(asking, thing))}
    things = [asking.facts.things[index] for index in named]
    pairs = [(a, b) for a, b in combinations(things, 2) if a.room == b.room and a.category != b.category]
    alike = bool(rng.random() < 0.5)
    right_ones = [pair for pair in pairs if predicates.same_color(*pair) == alike]
    near = [pair for pair in right_ones if pair[0].room == here]
    pair = one_of(near or right_ones, rng, "same_or_different", "no two things of one room are so in color")
    first, second = pair if rng.random() < 0.5 else pair[::-1]
    open_ = rng.random() < 0.6
    kind = "same_or_different" if open_ else "same_or_different, yes or no"
    text = phrase(kind, rng, thing=pick(named[first.index], rng), other=pick(named[second.index], rng))
    ways = (SAME, DIFFERENT) if open_ else (YES, NO)
    accepted, wrong = ways if alike else ways[::-1]
    about = (first.index, second.index)
    return SearchQuestion(
        "same_or_different", text, asking.solver, accepted[0], wrong[:1], about, without_articles(accepted), None
    )


def colorless(asking: TaskContext, thing: Thing) -> list[str]:
    """The names of a thing that do not give its color away; where no manner is wanted, its category alone will do."""
    if thing.held_by is not None:
        return []
    names = [name for name in asking.naming.phrases(asking.facts, thing) if thing.color not in words(name)]
    if names or asking.manner is not EVERYDAY:
        return names
    noun = described(nouns.category(thing.category), asking.facts)
    return [] if noun.single is None else [*noun.words]
