"""Words for several things at once: "red things", "rolls", "round things"."""

from __future__ import annotations

from collections.abc import Sequence

from interplay.env.playhouse import queries
from interplay.env.playhouse.facts import HouseFacts, Thing
from interplay.env.playhouse.phrases import NUMBERS, plural

ANY = "things"
SHAPES = ("round", "rectangular", "pointy", "eatable")


def groups(facts: HouseFacts, least: int) -> list[tuple[str, tuple[Thing, ...]]]:
    """Descriptions that fit at least so many loose things, and all the things that each fits; none in a hand."""
    loose = [thing for thing in facts.things if not thing.furniture and thing.held_by is None]
    described: dict[str, Sequence[Thing]] = {}
    for category in dict.fromkeys(thing.category for thing in loose):
        described[plural(category)] = queries.matching(facts, category=category)
    for colour in dict.fromkeys(thing.colour for thing in loose):
        described[f"{colour} things"] = queries.matching(facts, colour=colour)
    described[ANY] = loose
    for shape in SHAPES:
        described[f"{shape} things"] = queries.matching(facts, attribute=shape)
    found = []
    for words, things in described.items():
        fitting = tuple(thing for thing in things if not thing.furniture)
        if len(fitting) >= least and all(thing.held_by is None for thing in fitting):
            found.append((words, fitting))
    return found


def so_many(number: int, words: str) -> str:
    """ "two red things" """
    return f"{NUMBERS[number]} {words}"
