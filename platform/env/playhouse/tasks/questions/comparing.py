"""Questions that compare two things of the solver's room: which is larger, and have they the same color?"""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np

from interplay.env.playhouse.language.templates import phrase, plural
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.questions.question import OpenQuestion, Question
from interplay.env.playhouse.tasks.sampling import answers_for, one_of, room_of
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Thing


def ask_larger(asking: TaskContext, rng: np.random.Generator) -> OpenQuestion:
    """Which of two is larger: two loose things or two pieces of furniture, of clearly different size."""
    facts, solver = asking.facts, asking.solver
    room = room_of(facts, solver)
    here = [thing for thing in asking.told_apart() if thing.room == room and thing.held_by is None]
    unlike = [
        (a, b) for a, b in combinations(here, 2) if a.furniture == b.furniture and predicates.compared(a, b) != "same"
    ]
    pair = one_of(unlike, rng, "larger", "no two things here differ clearly in size")
    first, second = pair if rng.random() < 0.5 else pair[::-1]
    larger, smaller = (first, second) if predicates.compared(first, second) == "larger" else (second, first)
    words = phrase("larger", rng, thing=asking.call(first, rng), other=asking.call(second, rng))
    right = answers_for(facts, [larger])
    return OpenQuestion("larger", words, solver, larger.name, (smaller.name,), (first.index, second.index), right)


def ask_same_color(asking: TaskContext, rng: np.random.Generator) -> Question:
    """Have two things the same color? Both answers are as likely, and possible where it is asked."""
    facts, solver = asking.facts, asking.solver
    room = room_of(facts, solver)
    categories = Counter(thing.category for thing in facts.things)
    here = [thing for thing in facts.things if thing.room == room and thing.held_by is None]
    pairs = [(a, b) for a, b in combinations(here, 2) if _two_of_a_kind(a, b, categories) or _alone(a, b, categories)]
    same = rng.random() < 0.5
    by_truth = {truth: [pair for pair in pairs if predicates.same_color(*pair) == truth] for truth in (True, False)}
    others = by_truth[not same]
    pair = one_of(by_truth[same] if others else [], rng, "same_color", "all things here are alike or unlike in color")
    first, second = pair if rng.random() < 0.5 else pair[::-1]
    if first.category == second.category:
        words = phrase("same_color of two", rng, things=plural(first.category))
    else:
        words = phrase("same_color", rng, thing=first.category, other=second.category)
    answer, mistake = ("yes", "no") if same else ("no", "yes")
    return Question("same_color", words, solver, answer, (mistake,), (first.index, second.index))


def _alone(a: Thing, b: Thing, categories: Counter[str]) -> bool:
    """Is each the only one of its category in the house, so that no color need be named?"""
    return categories[a.category] == categories[b.category] == 1


def _two_of_a_kind(a: Thing, b: Thing, categories: Counter[str]) -> bool:
    """Are they the only two of one category in the house?"""
    return a.category == b.category and categories[a.category] == 2
