"""The task of a world whose environment states one mission: its words are the instruction, its reward the success."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay.env.task import Expert, InfeasibleTask, Task, TaskSource
from interplay.env.world import Action, World

KIND = "mission"


@dataclass(frozen=True)
class GymnasiumFacts:
    """What is true in a Gymnasium environment, as far as Gymnasium tells."""

    mission: str  # "" where the environment states none
    total_reward: float  # since the episode began
    done: bool
    steps: int


@dataclass(frozen=True)
class Instead:
    """What a solver who misunderstood goes to: a thing of another kind or color."""

    kind: str
    color: str


class Resting(Expert):
    """Does nothing, because nobody knows how this environment is solved."""

    finished = True

    def act(self, world: World) -> Action:
        """Rests in silence."""
        return Action(world.spec.rest())


@dataclass(frozen=True)
class Guide:
    """What an environment's makers ship to solve it: an expert, and a mistake that a person could make."""

    expert: Callable[[World, Instead | None], Expert] = lambda world, instead: Resting()
    mistake: Callable[[World, np.random.Generator], Instead | None] = lambda world, rng: None


@dataclass(frozen=True)
class Mission(Task):
    """The environment's own mission. Done once the return exceeds `above`; a negative `above` is only known to be
    exceeded at the end."""

    instruction: str
    above: float
    guide: Guide
    instead: Instead | None = None
    kind: str = KIND
    answer: str | None = None

    def to_json(self) -> Mapping[str, Any]:
        fields: dict[str, Any] = {"kind": KIND, "instruction": self.instruction, "above": self.above}
        if self.instead is not None:
            fields["instead"] = {"kind": self.instead.kind, "color": self.instead.color}
        return fields

    def success(self, facts: GymnasiumFacts, said: Sequence[str]) -> bool:
        return facts.total_reward > self.above and (facts.done or self.above >= 0)

    def progress(self, facts: GymnasiumFacts) -> float:
        return float(self.success(facts, ()))

    def misread(self, world: World, rng: np.random.Generator) -> Task:
        instead = self.guide.mistake(world, rng)
        return self if instead is None else Mission(self.instruction, self.above, self.guide, instead)

    def expert(self, world: World) -> Expert:
        return self.guide.expert(world, self.instead)


class MissionSource(TaskSource):
    """The one task of an environment that states a mission; none where it states none."""

    def __init__(self, instruction: str, above: float, facts: Callable[[], GymnasiumFacts], guide: Guide) -> None:
        self._instruction = instruction
        self._above = above
        self._facts = facts
        self._guide = guide
        self.kinds = (KIND,) if instruction else ()
        self.probes = self.kinds

    def sample(self, kind: str, rng: np.random.Generator) -> Task:
        if kind not in self.kinds:
            allowed = f"this world asks: {', '.join(self.kinds)}" if self.kinds else "set env.instruction to have one"
            raise ValueError(f"no task of kind {kind!r} here; {allowed}")
        task = Mission(self._instruction, self._above, self._guide)
        if self._facts().done or task.success(self._facts(), ()):
            raise InfeasibleTask(f"the mission {self._instruction!r} is over: reset the world to ask it again")
        return task

    def load(self, fields: Mapping[str, Any]) -> Task:
        if fields.get("kind") != KIND:
            raise ValueError(f"a task of kind {fields.get('kind')!r} was not asked in this world; it knows {KIND!r}")
        instead = fields.get("instead")
        return Mission(
            fields["instruction"], fields["above"], self._guide, None if instead is None else Instead(**instead)
        )
