"""Adapter of CommAI tasks to the platform's tasks: the current task, its success, its expert."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from interplay.core.settings_validation import did_you_mean
from interplay.env.task import RETURN, Expert, InfeasibleTask, Task, TaskSource
from interplay.env.world import Action, World


@dataclass(frozen=True)
class LessonFacts:
    """Ground truth: the current task, and the results of those before it."""

    kind: str
    opening: str  # the teacher's first words, as the solver hears them
    number: int  # of the instance in this episode
    results: tuple[tuple[str, float], ...]  # kind and reward of each finished instance
    heard: str  # the teacher's last words; in bits and characters, the symbols of the last steps
    said: str  # the same of the solver
    task: Any = field(compare=False)  # the CommAI task, for experts
    environment: Any = field(compare=False)


@dataclass(frozen=True)
class Lesson(Task):
    """One instance of a CommAI task. It succeeds if its reward is positive.

    `confused`: the seed of the wrong answer that an expert gives in place of the right one.
    """

    kind: str
    instruction: str
    number: int
    confused: int | None = None
    answer: str | None = None

    def to_json(self) -> Mapping[str, Any]:
        return {"kind": self.kind, "instruction": self.instruction, "number": self.number, "confused": self.confused}

    def success(self, facts: LessonFacts, said: Sequence[str]) -> bool:
        return len(facts.results) > self.number and facts.results[self.number][1] > 0

    def progress(self, facts: LessonFacts) -> float:
        """0.5 while the instance is open; then 1 or 0, so that raters mark the rise or the fall."""
        return float(self.success(facts, ())) if len(facts.results) > self.number else 0.5

    def measure(self, facts: LessonFacts) -> Mapping[str, float]:
        """The reward of the instance, 0 while it is open."""
        return {RETURN: facts.results[self.number][1] if len(facts.results) > self.number else 0.0}

    def misread(self, world: World, rng: np.random.Generator) -> Task:
        return Lesson(self.kind, self.instruction, self.number, int(rng.integers(2**31)))

    def expert(self, world: World) -> Expert:
        return Speaker(self)


class Speaker(Expert):
    """Expert that sends the task's right answer, or its wrong one, whenever the teacher is silent. It says pseudo-words
    where words are scrambled, unless the task is `literal`."""

    def __init__(self, lesson: Lesson) -> None:
        self._lesson = lesson
        self._script: Iterator[str] | None = None
        self._symbols = ""  # rest of the current message, as symbols of the interface

    def act(self, world: World) -> Action:
        facts: LessonFacts = world.facts()
        self.finished = len(facts.results) > self._lesson.number
        if self.finished or facts.number != self._lesson.number:
            return Action(world.spec.rest())
        return self._speech(world, facts) if world.spec.utterances else self._symbol(world, facts)

    def _speech(self, world: World, facts: LessonFacts) -> Action:
        words = self._next_words(facts).strip() if self._may_speak(facts) else ""
        return Action(world.spec.rest(), words or None)

    def _symbol(self, world: World, facts: LessonFacts) -> Action:
        movement = world.spec.rest()
        interface = getattr(world, "interface", None)
        assert interface is not None, "a Speaker speaks in a CommAI world"
        if not self._symbols and self._may_speak(facts):
            words = self._next_words(facts)
            bitwise = world.spec.movement[0].name == "bit"
            self._symbols = "".join(facts.environment._serializer.to_binary(words)) if bitwise else words
            if lacking := "".join(sorted(set(self._symbols) - set(interface.symbols))):
                raise ValueError(
                    f"the expert of {facts.kind} says {words!r}, and env.alphabet={interface.symbols!r} lacks "
                    f"{lacking!r}; add what its answers are written in"
                )
        if self._symbols:
            movement[0, 0] = interface.symbols.index(self._symbols[0])
            self._symbols = self._symbols[1:]
        return Action(movement)

    def _may_speak(self, facts: LessonFacts) -> bool:
        if self._lesson.confused is not None and getattr(facts.task, "interrupts", False):
            return True
        return facts.environment.is_idle() and not facts.environment._input_channel.get_undeserialized()

    def _next_words(self, facts: LessonFacts) -> str:
        if self._script is None:
            confused = self._lesson.confused
            name, given = ("expert", ()) if confused is None else ("confused", (random.Random(confused),))
            if not hasattr(facts.task, name):
                raise ValueError(
                    f"the scripted solver cannot answer {facts.kind}, whose class has no method `{name}`; add it as a "
                    "generator that yields what to say"
                )
            self._script = iter(getattr(facts.task, name)(*given))
        words = next(self._script, "")
        return words if getattr(facts.task, "literal", False) else str(facts.environment.scramble(words))


class LessonSource(TaskSource):
    """The kinds of task of a CommAI world. Only the current task can be sampled."""

    def __init__(
        self, kinds: tuple[str, ...], step_limits: Mapping[str, int], facts: Callable[[], LessonFacts]
    ) -> None:
        self.kinds = self.probes = kinds
        self.step_limits = step_limits
        self._facts = facts

    def sample(self, kind: str, rng: np.random.Generator) -> Task:
        if kind not in self.kinds:
            raise ValueError(f"no task of this world is called {kind!r}.{did_you_mean(kind, self.kinds)}")
        facts = self._facts()
        if kind != facts.kind:
            raise InfeasibleTask(f"the task under way is {facts.kind}, not {kind}")
        return Lesson(kind, facts.opening or kind, facts.number)

    def load(self, fields: Mapping[str, Any]) -> Task:
        return Lesson(fields["kind"], fields["instruction"], fields["number"], fields.get("confused"))
