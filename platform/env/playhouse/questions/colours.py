"""The colour of a thing, and whether two have the same; of things that are named without their colour."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from interplay.env.playhouse import queries
from interplay.env.playhouse.asking import Asking
from interplay.env.playhouse.catalogue import COLOURS
from interplay.env.playhouse.choosing import one_of, room_of
from interplay.env.playhouse.facts import Thing
from interplay.env.playhouse.manners import sorts
from interplay.env.playhouse.manners.clauses import pick
from interplay.env.playhouse.manners.manner import EVERYDAY
from interplay.env.playhouse.manners.phrasebook import described
from interplay.env.playhouse.phrases import PHRASES, phrase
from interplay.env.playhouse.questions.inquiry import NO, YES, Inquiry, without_articles
from interplay.env.task import words

PHRASES |= {
    "colour_of": (
        "what colour is the {thing}?",
        "which colour is the {thing}?",
        "what is the colour of the {thing}?",
        "tell me the colour of the {thing}",
        "can you tell me what colour the {thing} is?",
        "what colour does the {thing} have?",
        "of what colour is the {thing}?",
    ),
    "same_or_different": (
        "do the {thing} and the {other} have the same or different colours?",
        "are the {thing} and the {other} of the same or of different colours?",
        "same colour or different colours, the {thing} and the {other}?",
        "tell me if the colours of the {thing} and the {other} are the same or different",
    ),
    "same_or_different, yes or no": (
        "do the {thing} and the {other} have the same colour?",
        "is the {thing} of the same colour as the {other}?",
        "are the {thing} and the {other} the same colour?",
    ),
}
SAME = ("same", "same colour", "same color", "same colours", "they have same colour", "they are same")
DIFFERENT = ("different", "different colours", "different colors", "different colour", "they have different colours",
             "they are different", "not same")  # fmt: skip


def ask_colour_of(asking: Asking, rng: np.random.Generator) -> Inquiry:
    """A colour is drawn first, then a thing that has it, so that the wooden furniture does not prevail."""
    named = [(thing, names) for thing in asking.told_apart() if (names := colourless(asking, thing))]
    colours = sorted({thing.colour for thing, _ in named})
    colour = one_of(colours, rng, "colour_of", "nothing can be named without its colour")
    thing, names = one_of([pair for pair in named if pair[0].colour == colour], rng, "colour_of", "")
    others = sorted({other.colour for other in asking.facts.things} - {thing.colour})
    mistakes = tuple(others) or tuple(colour for colour in COLOURS if colour != thing.colour)
    text = phrase("colour_of", rng, thing=pick(names, rng))
    c = thing.colour
    right = (c, f"it is {c}", f"it's {c}", f"{c} colour", f"{c} color", f"{thing.category} is {c}", thing.name)
    return Inquiry("colour_of", text, asking.solver, c, mistakes, (thing.index,), right, None)


def ask_same_or_different(asking: Asking, rng: np.random.Generator) -> Inquiry:
    """The same and different are as likely, where both can be found in one room."""
    here = room_of(asking.facts, asking.solver)
    named = {thing.index: names for thing in asking.told_apart() if (names := colourless(asking, thing))}
    things = [asking.facts.things[index] for index in named]
    pairs = [(a, b) for a, b in combinations(things, 2) if a.room == b.room and a.category != b.category]
    alike = bool(rng.random() < 0.5)
    right_ones = [pair for pair in pairs if queries.same_colour(*pair) == alike]
    near = [pair for pair in right_ones if pair[0].room == here]
    pair = one_of(near or right_ones, rng, "same_or_different", "no two things of one room are so in colour")
    first, second = pair if rng.random() < 0.5 else pair[::-1]
    open_ = rng.random() < 0.6
    kind = "same_or_different" if open_ else "same_or_different, yes or no"
    text = phrase(kind, rng, thing=pick(named[first.index], rng), other=pick(named[second.index], rng))
    ways = (SAME, DIFFERENT) if open_ else (YES, NO)
    accepted, wrong = ways if alike else ways[::-1]
    about = (first.index, second.index)
    return Inquiry(
        "same_or_different", text, asking.solver, accepted[0], wrong[:1], about, without_articles(accepted), None
    )


def colourless(asking: Asking, thing: Thing) -> list[str]:
    """The names of a thing that do not give its colour away; where no manner is wanted, its category alone will do."""
    if thing.held_by is not None:
        return []
    names = [name for name in asking.naming.phrases(asking.facts, thing) if thing.colour not in words(name)]
    if names or asking.manner is not EVERYDAY:
        return names
    noun = described(sorts.category(thing.category), asking.facts)
    return [] if noun.single is None else [*noun.words]
