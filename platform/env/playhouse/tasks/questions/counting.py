"""Questions about how many there are of a group, and whether there is any."""

from __future__ import annotations

import numpy as np

from interplay.env.playhouse.language.templates import NUMBERS, PHRASES, phrase
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.questions.groups import Group, draw_group, draw_groups, plausible
from interplay.env.playhouse.tasks.questions.search_question import (
    SearchQuestion,
    numbered,
    without_articles,
    yes_or_no,
)
from interplay.env.playhouse.tasks.sampling import one_of

PHRASES |= {
    "how_many": (
        "how many {group} are there?",
        "count the {group}",
        "tell me the number of {group}",
        "can you count the {group}?",
        "what is the number of {group}?",
        "how many {group} can you find?",
        "how many {group} do you see?",
        "please count the {group}",
    ),
    "present": (
        "is there a {one}?",
        "do you see a {one}?",
        "can you find a {one}?",
        "tell me whether there is a {one}",
        "is there any {one}?",
        "can you tell me if there is a {one}?",
        "look whether there is a {one}",
    ),
    "present of several": (
        "are there some {group}?",
        "are there any {group}?",
        "do you see some {group}?",
        "can you find some {group}?",
        "tell me whether there are some {group}",
        "can you see any {group}?",
    ),
}
DRAWS = 3  # of a room and a clause, whose groups are counted
ZERO = 0.2  # chance to ask for what there is none of, where there is anything else to count
SEVERAL = 0.3  # chance to ask for several, of what there is not one of


def ask_how_many(asking: TaskContext, rng: np.random.Generator) -> SearchQuestion:
    """A number is drawn first, then a group of so many things, so that no number prevails."""
    by_number: dict[int, list[Group]] = {}
    for _ in range(DRAWS):
        for group in draw_groups(asking, rng):
            if len(group.members) < len(NUMBERS) and (group.members or plausible(asking.facts, group)):
                by_number.setdefault(len(group.members), []).append(group)
    # High numbers are rare: each counts as often as it says.
    numbers = [number for number in sorted(by_number) for _ in range(number)]
    if 0 in by_number and (not numbers or rng.random() < ZERO):
        numbers = [0]
    number = one_of(numbers, rng, "how_many", "nothing here can be counted without argument")
    group = one_of(by_number[number], rng, "how_many", "")
    words = phrase("how_many", rng, group=group.many(rng))
    answer, mistakes, accepted = numbered(number, group.sort.many[0], group.sort.ones[0])
    about, room = group.about()
    return SearchQuestion("how_many", words, asking.solver, answer, mistakes, about, without_articles(accepted), room)


def ask_present(asking: TaskContext, rng: np.random.Generator) -> SearchQuestion:
    """Yes and no are as likely; what is not there has a color, category or shape that something in the house has."""
    facts, truth = asking.facts, bool(rng.random() < 0.5)

    def wanted(group: Group) -> bool:
        return bool(group.members) if truth else not group.members and plausible(facts, group)

    group = draw_group(asking, rng, "present", wanted, "all or nothing of what can be asked is here")
    several = len(group.members) != 1 and rng.random() < SEVERAL
    words = phrase("present of several" if several else "present", rng, one=group.one(rng), group=group.many(rng))
    answer, mistakes, accepted = yes_or_no(truth)
    about, room = (group.members[:1], None) if truth else group.about()
    return SearchQuestion("present", words, asking.solver, answer, mistakes, about, accepted, room)
