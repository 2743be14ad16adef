"""A tiny world for tests of players: the solver stands on a number line and steps left, right or stays."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from interplay.env.task import Expert, InfeasibleTask, Task, TaskSource
from interplay.env.world import Action, Component, Outcome, Start, View, World, WorldSpec

SPEC = WorldSpec(
    name="number line",
    version=1,
    roles=("setter", "solver"),
    frames_per_step=2,
    frames_per_second=1.0,
    image=None,
    vector=0,
    movement=(Component("move", 3, 1),),
    utterances=True,
    poses=0,
)


@dataclass(frozen=True)
class WalkTask(Task):
    """Stand on a number, or say its distance."""

    kind: str
    instruction: str
    goal: int
    start: int
    answer: str | None = None
    cue: str | None = None
    modifier: str | None = None

    def to_json(self) -> Mapping[str, Any]:
        return asdict(self)

    def success(self, facts: int, said: Sequence[str]) -> bool:
        return facts == self.goal if self.answer is None else said[:1] == [self.answer]

    def progress(self, facts: int) -> float:
        return 0.0 if self.answer else 1.0 - abs(self.goal - facts) / abs(self.goal - self.start)

    def misread(self, world: World, rng: np.random.Generator) -> Task:
        return replace(self, goal=-self.goal) if self.answer is None else replace(self, answer="no idea")

    def expert(self, world: World) -> Expert:
        return WalkExpert(self)

    def partner(self, world: World) -> Expert | None:
        return WaveExpert() if self.kind == "together" else None


class WaveExpert(Expert):
    """The setter's movement in a task of both players."""

    def act(self, world: World) -> Action:
        return Action(np.full((2, 1), 2, np.int8))


class WalkExpert(Expert):
    def __init__(self, task: WalkTask) -> None:
        self.task = task

    def act(self, world: World) -> Action:
        offset = self.task.goal - world.facts()
        self.finished = offset == 0 or self.task.answer is not None
        return Action(np.full((2, 1), 1 + int(np.sign(offset)), np.int8), self.task.answer)


class WalkTaskSource(TaskSource):
    kinds = ("walk", "say", "never")
    probes = ("walk",)
    optional_kinds = ("count", "together")
    cues = ("go somewhere", "say a number", "fly")
    modifiers = ("politely", "in verse")

    def __init__(self, at: int) -> None:
        self.at = at

    def sample(self, kind: str, rng: np.random.Generator) -> Task:
        if kind == "never":
            raise InfeasibleTask("it is never possible")
        if kind not in (*self.kinds, *self.optional_kinds):
            raise ValueError(kind)
        goal = int(rng.choice([-8, 8]))
        if goal == self.at and kind in ("walk", "together"):
            raise InfeasibleTask("it is there already")
        return WalkTask(kind, f"{kind} {goal}", goal, self.at, None if kind in ("walk", "together") else str(abs(goal)))

    def sample_by_cue(self, cue: str, modifier: str | None, rng: np.random.Generator) -> Task:
        self.check_cue(cue, modifier)
        if cue == "fly" or modifier == "in verse":
            raise InfeasibleTask("it is never possible")
        task = self.sample("walk" if cue == "go somewhere" else "say", rng)
        assert isinstance(task, WalkTask)
        return replace(task, instruction=f"{task.instruction} {modifier or ''}".strip(), cue=cue, modifier=modifier)

    def load(self, fields: Mapping[str, Any]) -> Task:
        return WalkTask(**fields)


class NumberLine(World):
    spec = SPEC

    def __init__(self) -> None:
        self.at = 0
        self.heard = {"setter": "", "solver": ""}

    def reset(self, start: Start, observers: Collection[str] | None = None) -> Mapping[str, View]:
        self.at = 0
        self.heard = {"setter": "", "solver": ""}
        return {role: View() for role in SPEC.roles}

    def step(self, actions: Mapping[str, Action], observers: Collection[str] | None = None) -> Outcome:
        for role, action in actions.items():
            assert action.movement.shape == (2, 1) and action.movement.dtype == np.int8
            assert action.movement.min() >= 0 and action.movement.max() < 3
            if action.utterance is not None:
                self.heard["setter" if role == "solver" else "solver"] = action.utterance
        if "solver" in actions:
            self.at += int(actions["solver"].movement[0, 0]) - 1
        return Outcome({role: View(heard=self.heard[role]) for role in SPEC.roles})

    def state(self) -> bytes:
        return str(self.at).encode()

    def facts(self) -> int:
        return self.at

    def tasks(self) -> TaskSource:
        return WalkTaskSource(self.at)
