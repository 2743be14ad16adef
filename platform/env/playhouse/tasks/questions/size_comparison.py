"""Is one thing larger, smaller, or of the same size as another?"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from interplay.env.playhouse.language.templates import PHRASES, phrase
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.questions.search_question import SearchQuestion, without_articles
from interplay.env.playhouse.tasks.sampling import one_of, room_of
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Thing

PHRASES |= {
    "size": (
        "is the {thing} larger, smaller or the same size as the {other}?",
        "compared to the {other}, is the {thing} larger, smaller or the same size?",
        "tell me if the {thing} is larger, smaller or the same size as the {other}",
        "larger, smaller or the same size, the {thing} compared to the {other}?",
        "is the {thing} larger or smaller than the {other}?",
        "is the {thing} bigger or smaller than the {other}?",
        "compare the size of the {thing} with the {other}",
        "how large is the {thing} compared to the {other}?",
    ),
}
ALIKE = 1.25  # volume over that of the other, at most, of things of the same size
ANSWERS = {
    "larger": ("larger", "bigger", "it is larger", "it is bigger", "larger one"),
    "smaller": ("smaller", "it is smaller", "smaller one"),
    "same": ("same size", "same", "they are same size", "it is same size", "same sizes", "equal"),
}


def ask_size(asking: TaskContext, rng: np.random.Generator) -> SearchQuestion:
    """All three answers are as likely, where they can be found among the loose things or the furniture of a room."""
    here = room_of(asking.facts, asking.solver)
    things = [thing for thing in asking.told_apart() if thing.held_by is None]
    pairs = [(a, b) for a, b in combinations(things, 2) if a.room == b.room and a.furniture == b.furniture]
    by_size: dict[str, list[tuple[Thing, Thing]]] = {}
    for a, b in [*pairs, *(pair[::-1] for pair in pairs)]:
        if (size := _clearly(a, b)) is not None:
            by_size.setdefault(size, []).append((a, b))
    size = one_of(sorted(by_size), rng, "size", "no two things of one room can be compared")
    near = [pair for pair in by_size[size] if pair[0].room == here]
    first, second = one_of(near or by_size[size], rng, "size", "")
    text = phrase("size", rng, thing=asking.call(first, rng), other=asking.call(second, rng))
    accepted = without_articles(ANSWERS[size])
    mistakes = tuple(ways[0] for other, ways in ANSWERS.items() if other != size)
    about = (first.index, second.index)
    return SearchQuestion("size", text, asking.solver, accepted[0], mistakes, about, accepted, None)


def _clearly(a: Thing, b: Thing) -> str | None:
    """How large a is beside b; None where one could argue."""
    size = predicates.compared(a, b)
    ratio = predicates.volume(a) / predicates.volume(b)
    return size if size != "same" or 1 / ALIKE <= ratio <= ALIKE else None
