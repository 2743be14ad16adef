"""Scripted players for people: in the seat of a person that has left, or that never came."""

from __future__ import annotations

import numpy as np

from interplay.env.task import InfeasibleTask, Task
from interplay.env.world import Action, View, World
from interplay.players.player import Player
from interplay.players.setter import ScriptedSetter, SetterConfig
from interplay.players.solver import ScriptedSolver, SolverConfig
from interplay.stages.live_config import SETTER

SETTER_TASKS = 100  # of a scripted setter, which asks until the time is over
GUESSES = 60  # tasks among which a solver looks for the words that it heard


class ListeningSolver(Player):
    """Does the feasible task whose words are most similar to what it heard last; rests without one."""

    kind = "scripted"

    def __init__(self, config: SolverConfig, rng: np.random.Generator) -> None:
        self._solver = ScriptedSolver(config, rng, lambda: self._task)
        self._rng = rng
        self._heard = ""
        self._task: Task | None = None

    def begin(self, world: World, role: str) -> None:
        self._heard, self._task = "", None
        self._solver.begin(world, role)

    def act(self, view: View, world: World) -> Action:
        if view.heard != self._heard:
            self._heard, self._task = view.heard, guessed_task(world, view.heard, self._rng)
        return self._solver.act(view, world)


def stand_in(world: World, role: str, seed: tuple[int, ...]) -> Player:
    """A scripted player for a seat. Its random numbers follow from `seed`.

    Raises:
        ValueError: the world has no tasks for scripted players.
    """
    if not world.tasks().kinds:
        raise ValueError(f"{world.spec.name} has no tasks that a scripted {role} could ask for or do")
    rng = np.random.default_rng(list(seed))
    return scripted_setter(rng) if role == SETTER else ListeningSolver(SolverConfig(), rng)


def scripted_setter(rng: np.random.Generator) -> ScriptedSetter:
    """A setter that asks until the time is over."""
    return ScriptedSetter(SetterConfig(tasks=SETTER_TASKS), rng)


def guessed_task(world: World, words: str, rng: np.random.Generator) -> Task | None:
    """The feasible task, of some samples, whose instruction shares the largest part of these words."""
    wanted, source = set(words.lower().split()), world.tasks()
    if not source.kinds:
        return None
    best: tuple[float, Task | None] = (0.0, None)
    for kind in rng.choice(list(source.kinds), GUESSES).tolist():
        try:
            task = source.sample(kind, rng)
        except InfeasibleTask:
            continue
        found = set(task.instruction.lower().split())
        share = len(found & wanted) / len(found | wanted)
        if share > best[0]:
            best = (share, task)
    return best[1]
