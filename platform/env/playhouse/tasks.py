"""What can be asked in a Playhouse: six kinds of task, and six more on request, drawn from what is really in the house.

Things are described by colour and category ("the red ball"). What an errand names is the only one of its description,
within reach, and not yet as asked. In a house of several rooms, questions are about the room that the solver is in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.env.playhouse import queries
from interplay.env.playhouse.catalogue import COLOURS
from interplay.env.playhouse.choosing import nameable, one_of, room_of
from interplay.env.playhouse.comparing import ask_larger, ask_same_colour
from interplay.env.playhouse.errands import BESIDE, ERRANDS, NEAR, Go, Lift, Position, load_errand
from interplay.env.playhouse.facts import HouseFacts, Thing
from interplay.env.playhouse.inquiries import Question, load_question
from interplay.env.playhouse.locating import ask_nearest, ask_on_top, ask_seen, ask_where
from interplay.env.playhouse.phrases import NUMBERS, phrase, plural
from interplay.env.task import Task, TaskSource

if TYPE_CHECKING:
    from interplay.env.playhouse.world import Playhouse

APART = BESIDE + 0.3  # metres between two things, at least, for the one to be asked to be put next to the other
ON_FLOOR = 0.1  # metres above the floor, at most, of the underside of what things are put next to
QUESTIONS = ("color", "count", "exist")
INQUIRIES: dict[str, Callable[[HouseFacts, str, np.random.Generator], Question]] = {
    "larger": ask_larger,
    "same_colour": ask_same_colour,
    "nearest": ask_nearest,
    "on_top": ask_on_top,
    "where": ask_where,
}


class PlayhouseTasks(TaskSource):
    """The tasks of one house, as it stands when they are drawn."""

    kinds = (*ERRANDS, *QUESTIONS)
    probes = kinds
    on_request = (*INQUIRIES, "seen")

    def __init__(self, world: Playhouse) -> None:
        self._world = world
        self._solver = world.spec.solver

    def sample(self, kind: str, rng: np.random.Generator) -> Task:
        makers: dict[str, Callable[[HouseFacts, np.random.Generator], Task]] = {
            "go": self._go,
            "lift": self._lift,
            "position": self._position,
            "color": self._color,
            "count": self._count,
            "exist": self._exist,
            "seen": self._seen,
        }
        self._check(kind)
        if kind in INQUIRIES:
            return INQUIRIES[kind](self._world.facts(), self._solver, rng)
        return makers[kind](self._world.facts(), rng)

    def load(self, fields: Mapping[str, Any]) -> Task:
        self._check(fields.get("kind"))
        return load_errand(fields) if fields["kind"] in ERRANDS else load_question(fields)

    def _check(self, kind: str | None) -> None:
        known = (*self.kinds, *self.on_request)
        if kind not in known:
            raise ValueError(f"a Playhouse has no task of kind {kind!r}; its kinds are {', '.join(known)}")

    def _go(self, facts: HouseFacts, rng: np.random.Generator) -> Go:
        far = [thing for thing in nameable(facts) if self._walk(facts, thing) > NEAR]
        target = one_of(far, rng, "go", "every thing that can be named is near the solver")
        words = phrase("go", rng, thing=target.name)
        return Go("go", words, self._solver, target.index, self._walk(facts, target))

    def _lift(self, facts: HouseFacts, rng: np.random.Generator) -> Lift:
        target = one_of(nameable(facts), rng, "lift", "no loose thing can be named")
        words = phrase("lift", rng, thing=target.name)
        return Lift("lift", words, self._solver, target.index, self._walk(facts, target), target.position[2])

    def _position(self, facts: HouseFacts, rng: np.random.Generator) -> Position:
        names = Counter(thing.name for thing in facts.things)
        places = [
            thing
            for thing in facts.things
            if names[thing.name] == 1 and thing.held_by is None and queries.bottom(thing) <= ON_FLOOR
        ]
        pairs = [
            (target, other)
            for target in nameable(facts)
            for other in places
            if other.index != target.index and queries.gap(target, other) > APART
        ]
        target, other = one_of(pairs, rng, "position", "no two things that can be named are apart")
        words = phrase("position", rng, thing=target.name, other=other.name)
        apart = queries.walking_distance(facts, target.xy, other)
        walk = self._walk(facts, target)
        return Position("position", words, self._solver, target.index, walk, other.index, apart)

    def _color(self, facts: HouseFacts, rng: np.random.Generator) -> Question:
        alone = [thing for thing in self._here(facts) if len(queries.matching(facts, category=thing.category)) == 1]
        target = one_of(alone, rng, "color", "no loose thing here is the only one of its category")
        others = sorted({thing.colour for thing in facts.things} - {target.colour})
        mistakes = tuple(others) or tuple(colour for colour in COLOURS if colour != target.colour)
        words = phrase("color", rng, thing=target.category)
        return Question("color", words, self._solver, target.colour, mistakes, (target.index,))

    def _count(self, facts: HouseFacts, rng: np.random.Generator) -> Question:
        """A number is drawn first, then a category of which there are as many, so that no number prevails."""
        here = Counter(thing.category for thing in self._here(facts))
        by_number: dict[int, list[str]] = {}
        for category in sorted({*self._world.config.object_categories, *here}):
            by_number.setdefault(here[category], []).append(category)
        possible = [number for number in sorted(by_number) if number < len(NUMBERS) - 1]
        number = one_of(possible, rng, "count", "there is too much of everything")
        category = one_of(by_number[number], rng, "count", "there is nothing to count")
        near = [NUMBERS[n] for n in (number - 1, number + 1) if n >= 0]
        about = tuple(thing.index for thing in self._here(facts) if thing.category == category)
        words = phrase(self._wording("count", facts), rng, things=plural(category))
        return Question("count", words, self._solver, NUMBERS[number], tuple(near), about)

    def _exist(self, facts: HouseFacts, rng: np.random.Generator) -> Question:
        """Yes and no are as likely; what is not there is of a category, and if possible of a colour, that are."""
        here = self._here(facts)
        there = rng.random() < 0.5
        about: tuple[int, ...] = ()
        if there:
            target = one_of(here, rng, "exist", "there is no loose thing here")
            name, about = target.name, (target.index,)
        else:
            names = {thing.name for thing in facts.things}
            present = {thing.colour for thing in here}
            categories = sorted({thing.category for thing in here})
            absent = [f"{c} {category}" for c in sorted(present) for category in categories]
            anywhere = [f"{c} {category}" for c in COLOURS for category in categories]
            free = [n for n in absent if n not in names] or [n for n in anywhere if n not in names]
            name = one_of(free, rng, "exist", "there is no loose thing here")
        answer, mistake = ("yes", "no") if there else ("no", "yes")
        words = phrase(self._wording("exist", facts), rng, thing=name)
        return Question("exist", words, self._solver, answer, (mistake,), about)

    def _seen(self, facts: HouseFacts, rng: np.random.Generator) -> Question:
        return ask_seen(facts, self._solver, rng, self._world.config.view)

    def _walk(self, facts: HouseFacts, thing: Thing) -> float:
        return queries.walking_distance(facts, facts.bodies[self._solver].position, thing)

    def _here(self, facts: HouseFacts) -> list[Thing]:
        """The loose things of the room that the solver is in."""
        room = room_of(facts, self._solver)
        return [thing for thing in queries.matching(facts, room=room) if not thing.furniture]

    def _wording(self, kind: str, facts: HouseFacts) -> str:
        return f"{kind} in room" if len(facts.rooms) > 1 else kind
