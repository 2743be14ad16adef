"""Questions that compare the sizes of two things."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from interplay.env.playhouse.language.templates import fill_template
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.questions.question import Answers, Question, question, without_articles
from interplay.env.playhouse.tasks.sampling import answers_naming, nameable_things_here, room_of_player, sample_one
from interplay.env.playhouse.tasks.task_kind import TaskKind
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Thing

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


def sample_larger(context: TaskContext, rng: np.random.Generator) -> Question:
    """Draws two loose objects or two pieces of furniture of the solver's room, of clearly different size."""
    here = nameable_things_here(context)
    pairs = [
        (a, b) for a, b in combinations(here, 2) if a.furniture == b.furniture and predicates.compared(a, b) != "same"
    ]
    pair = sample_one(pairs, rng, "larger", "no two things here differ clearly in size")
    first, second = pair if rng.random() < 0.5 else pair[::-1]
    larger, smaller = (first, second) if predicates.compared(first, second) == "larger" else (second, first)
    names = {"thing": context.name(first, rng), "other": context.name(second, rng)}
    text = fill_template(LARGER_WORDINGS, rng, **names)
    answers = Answers(larger.name, (smaller.name,), answers_naming(context.facts, [larger]))
    return question(context, "larger", text, answers, (first.index, second.index))


def sample_size(context: TaskContext, rng: np.random.Generator) -> Question:
    """Draws one of the three answers, then two loose objects or two pieces of furniture of one room."""
    here = room_of_player(context.facts, context.solver)
    things = [thing for thing in context.nameable_things() if thing.held_by is None]
    pairs = [(a, b) for a, b in combinations(things, 2) if a.room == b.room and a.furniture == b.furniture]
    by_size: dict[str, list[tuple[Thing, Thing]]] = {}
    for a, b in [*pairs, *(pair[::-1] for pair in pairs)]:
        if (size := _clear_comparison(a, b)) is not None:
            by_size.setdefault(size, []).append((a, b))
    size = sample_one(sorted(by_size), rng, "size", "no two things of one room can be compared")
    near = [pair for pair in by_size[size] if pair[0].room == here]
    first, second = sample_one(near or by_size[size], rng, "size", "")
    names = {"thing": context.name(first, rng), "other": context.name(second, rng)}
    text = fill_template(SIZE_WORDINGS, rng, **names)
    accepted = without_articles(ANSWERS[size])
    mistakes = tuple(ways[0] for other, ways in ANSWERS.items() if other != size)
    answers = Answers(accepted[0], mistakes, accepted)
    return question(context, "size", text, answers, (first.index, second.index), scope="house")


def _clear_comparison(a: Thing, b: Thing) -> str | None:
    """Returns whether a is larger than b, smaller or of the same size; None if that is open to doubt."""
    size = predicates.compared(a, b)
    ratio = predicates.volume(a) / predicates.volume(b)
    return size if size != "same" or 1 / SAME_SIZE_RATIO <= ratio <= SAME_SIZE_RATIO else None


LARGER_KIND = TaskKind(name="larger", task=Question, sample=sample_larger, wordings=LARGER_WORDINGS)
SIZE_KIND = TaskKind(name="size", task=Question, sample=sample_size, wordings=SIZE_WORDINGS)
