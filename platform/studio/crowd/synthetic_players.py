"""What a synthetic player does in each step: the scripted setter and solver, in a world that mirrors the session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay.env.task import InfeasibleTask, Task, same_words
from interplay.env.world import Movement, View, World
from interplay.episodes.episode import DONE, FAILED
from interplay.players.setter import DONE as SETTER_DONE
from interplay.players.setter import ScriptedSetter, SetterConfig
from interplay.players.solver import ScriptedSolver, SolverConfig
from interplay.stages.live_config import SETTER, SOLVER
from interplay.studio.crowd.crowd_truth import ASKED, ENDED, CrowdTruth
from interplay.studio.live.stand_in import guessed_task

# By session that a synthetic setter of this crowd leads, the open request: its number, and its task as stored.
OpenRequests = dict[str, tuple[int, Mapping[str, Any] | None]]


@dataclass(frozen=True)
class Turn:
    """What a player does in one step."""

    movement: Movement
    text: str | None = None
    verdict: str | None = None


class SyntheticSetter:
    """Asks for feasible tasks, watches whether they are done, and sends verdicts."""

    def __init__(
        self, config: SetterConfig, rng: np.random.Generator, truth: CrowdTruth, requests: OpenRequests, session: str
    ) -> None:
        self._player = ScriptedSetter(config, rng)
        self._truth, self._requests, self._session = truth, requests, session
        self._begun = False
        self._noted = 0  # tasks whose words were said

    def hear(self, episode: str, frame: int, said: Mapping[str, str]) -> None:
        """Takes in what was said in the step that started at `frame`."""
        task = self._player.task
        if task is not None and self._noted < self._player.tasks_asked and said.get(SETTER) == _typed(task.instruction):
            self._noted = self._player.tasks_asked
            self._truth.note(episode, frame, ASKED, dict(task.to_json()))
        if SOLVER in said:
            self._player.on_utterance(said[SOLVER])

    def turn(self, world: World, episode: str, frame: int) -> Turn:
        """What it does in the step that starts at `frame`."""
        if not self._begun:
            self._player.begin(world, SETTER)
            self._begun = True
        was_open = self._player.open_task
        try:
            action = self._player.act(View(), world)
        except InfeasibleTask:
            return Turn(world.spec.rest())
        verdict = None
        if was_open is not None and self._player.open_task is not was_open:
            verdict = DONE if self._player.ending == SETTER_DONE else FAILED
            if self._noted == self._player.tasks_asked:
                self._truth.note(episode, frame, ENDED, str(self._player.ending))
        task = self._player.open_task
        self._requests[self._session] = (self._player.tasks_asked, None if task is None else task.to_json())
        return Turn(action.movement, action.utterance, verdict)


class SyntheticSolver:
    """Does the task of a synthetic setter that it heard; of others, the feasible task with the most similar words."""

    def __init__(self, config: SolverConfig, rng: np.random.Generator, requests: OpenRequests, session: str) -> None:
        self._player = ScriptedSolver(config, rng, lambda: self._task)
        self._rng, self._requests, self._session = rng, requests, session
        self._task: Task | None = None
        self._known: tuple[int, str] | None = None  # number of the shared request, or words of others
        self._heard = ""
        self._begun = False

    def hear(self, episode: str, frame: int, said: Mapping[str, str]) -> None:
        """Takes in what was said in the step that started at `frame`."""
        self._heard = said.get(SETTER, self._heard)

    def turn(self, world: World, episode: str, frame: int) -> Turn:
        """What it does in the step that starts at `frame`."""
        if not self._begun:
            self._player.begin(world, SOLVER)
            self._begun = True
        self._understand(world)
        try:
            action = self._player.act(View(heard=self._heard), world)
        except InfeasibleTask:
            return Turn(world.spec.rest())
        return Turn(action.movement, action.utterance)

    def _understand(self, world: World) -> None:
        shared = self._requests.get(self._session)
        if shared is not None:
            number, fields = shared
            if fields is None:
                self._task, self._known = None, None
            elif self._heard and self._known != (number, "") and same_words(self._heard, _typed(fields["instruction"])):
                self._task, self._known = world.tasks().load(fields), (number, "")
        elif self._heard and self._known != (0, self._heard):
            self._task, self._known = guessed_task(world, self._heard, self._rng), (0, self._heard)


def _typed(text: str) -> str:
    """A text as the studio passes it on."""
    return " ".join(text.split())
