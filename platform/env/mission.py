"""Task of a Gymnasium environment: its mission text is the instruction, its return decides success."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from interplay.env.task import RETURN, Expert, InfeasibleTask, Task, TaskSource
from interplay.env.world import Action, World

KIND = "mission"


@dataclass(frozen=True)
class GymnasiumFacts:
    """Ground truth of a Gymnasium environment, as far as Gymnasium exposes it."""

    mission: str  # "" if the environment has none
    total_reward: float  # since the episode began
    done: bool
    steps: int


@dataclass(frozen=True)
class MisreadTarget:
    """The object that a misread mission refers to: of another kind or color."""

    kind: str
    color: str


class NoopExpert(Expert):
    """Does nothing: the expert of an environment without a known solver."""

    finished = True

    def act(self, world: World) -> Action:
        """The no-op action, without an utterance."""
        return Action(world.spec.rest())


@dataclass(frozen=True)
class MissionSolver:
    """Solver that ships with an environment: an expert, and a sampler of plausible misreadings."""

    expert: Callable[[World, MisreadTarget | None], Expert] = lambda world, instead: NoopExpert()
    sample_misread: Callable[[World, np.random.Generator], MisreadTarget | None] = lambda world, rng: None


@dataclass(frozen=True)
class Mission(Task):
    """The mission of the environment. Done once the return exceeds `above`; with a negative `above` only at the end of
    the episode, since the return could still fall below it."""

    instruction: str
    above: float
    solver: MissionSolver
    instead: MisreadTarget | None = None
    kind: str = KIND
    answer: str | None = None
    whole_episode: ClassVar[bool] = True

    def to_json(self) -> Mapping[str, Any]:
        fields: dict[str, Any] = {"kind": KIND, "instruction": self.instruction, "above": self.above}
        if self.instead is not None:
            fields["instead"] = {"kind": self.instead.kind, "color": self.instead.color}
        return fields

    def success(self, facts: GymnasiumFacts, said: Sequence[str]) -> bool:
        return facts.total_reward > self.above and (facts.done or self.above >= 0)

    def progress(self, facts: GymnasiumFacts) -> float:
        return float(self.success(facts, ()))

    def measure(self, facts: GymnasiumFacts) -> Mapping[str, float]:
        return {RETURN: facts.total_reward}

    def misread(self, world: World, rng: np.random.Generator) -> Task:
        instead = self.solver.sample_misread(world, rng)
        return self if instead is None else Mission(self.instruction, self.above, self.solver, instead)

    def expert(self, world: World) -> Expert:
        return self.solver.expert(world, self.instead)


class MissionSource(TaskSource):
    """The single task of an environment with a mission; no task if it has none."""

    def __init__(
        self,
        instruction: str,
        above: float,
        facts: Callable[[], GymnasiumFacts],
        solver: MissionSolver,
        episode_limit: int | None = None,
    ) -> None:
        self._instruction = instruction
        self._above = above
        self._facts = facts
        self._solver = solver
        self.episode_limit = episode_limit
        self.kinds = (KIND,) if instruction else ()
        self.probes = self.kinds

    def sample(self, kind: str, rng: np.random.Generator) -> Task:
        if kind not in self.kinds:
            allowed = f"this world asks: {', '.join(self.kinds)}" if self.kinds else "set env.instruction to have one"
            raise ValueError(f"no task of kind {kind!r} here; {allowed}")
        task = Mission(self._instruction, self._above, self._solver)
        facts = self._facts()
        if facts.done:
            raise InfeasibleTask(f"the mission {self._instruction!r} is over: reset the world to ask it again")
        if task.success(facts, ()):
            raise InfeasibleTask(
                f"the mission {self._instruction!r} is done: the return so far, {facts.total_reward:g}, exceeds "
                f"env.success_return={self._above:g}. Set the return that counts as success"
            )
        return task

    def load(self, fields: Mapping[str, Any]) -> Task:
        if fields.get("kind") != KIND:
            raise ValueError(f"a task of kind {fields.get('kind')!r} is not of this world, whose only kind is {KIND!r}")
        instead = fields.get("instead")
        return Mission(
            fields["instruction"], fields["above"], self._solver, None if instead is None else MisreadTarget(**instead)
        )
