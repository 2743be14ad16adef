"""The player of the solver in several worlds, behind one interface, and the agent that plays the setter in them.

An agent decides for all lanes in one batch, scripted players lane by lane.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from interplay.agent.agent_runner import AgentRunner
from interplay.env.task import Task
from interplay.env.world import Action, View, World, WorldSpec
from interplay.players.solver import ScriptedSolver, SolverConfig

CurrentTask = Callable[[], Task | None]


class SolverSeat(ABC):
    """The player of the solver in a number of lanes."""

    kind: str  # as recorded in episodes
    needs_pictures: bool

    @abstractmethod
    def reset(self, lane: int, world: World, view: View, current_task: CurrentTask) -> None:
        """Starts an episode in a lane; `current_task` returns the open task, for players that use the ground truth."""

    @abstractmethod
    def observe(self, lane: int, view: View) -> None:
        """Passes on the observation of the solver after a step."""

    @abstractmethod
    def decide(self, worlds: Sequence[World]) -> list[Action]:
        """Returns the next action of every lane."""

    def force(self, lane: int, action: Action) -> None:
        """Replaces the action just decided in a lane by the one that was executed; agents remember it as their own."""
        return

    def finished(self, lane: int) -> bool:
        """Whether the solver considers the task done."""
        return False

    def describe(self) -> Mapping[str, str]:
        """Further fields for the metadata of episodes."""
        return {}

    def observers(self, spec: WorldSpec, *, recorded: bool = False) -> tuple[str, ...]:
        """The solver's role if the world must render its observations, for this player or for a recording.

        Poses, where a world has them, redraw the pictures of a recording but not its vectors.
        """
        stored = recorded and (not spec.poses or spec.vector > 0)
        return (spec.solver,) if self.needs_pictures or stored else ()


@dataclass(frozen=True)
class LearnedSetters:
    """Learned setters (A.6 of the paper): a frozen agent in the setter's seat of the first `runner.lanes` lanes.

    It states no tasks, so no success can be judged there.
    """

    runner: AgentRunner
    checkpoint: str

    @property
    def lanes(self) -> int:
        """The number of lanes that it plays in."""
        return self.runner.lanes


class AgentSeat(SolverSeat):
    """A neural network plays."""

    kind = "agent"
    needs_pictures = True

    def __init__(self, runner: AgentRunner, checkpoint: str) -> None:
        self._runner = runner
        self._checkpoint = checkpoint

    def reset(self, lane: int, world: World, view: View, current_task: CurrentTask) -> None:
        self._runner.reset(lane)
        self._runner.observe(lane, view)

    def observe(self, lane: int, view: View) -> None:
        self._runner.observe(lane, view)

    def decide(self, worlds: Sequence[World]) -> list[Action]:
        return self._runner.decide()[0]

    def force(self, lane: int, action: Action) -> None:
        self._runner.force(lane, action)

    def describe(self) -> Mapping[str, str]:
        return {"checkpoint": self._checkpoint}


class ScriptedSeat(SolverSeat):
    """Scripted solvers play, one per lane, each with its own mistakes; `imitated` is that of `ScriptedSolver`."""

    kind = "scripted"
    needs_pictures = False

    def __init__(self, config: SolverConfig, lanes: int, rng: np.random.Generator, *, imitated: bool = True) -> None:
        self._config = config
        self._rng = rng
        self._imitated = imitated
        self._players: list[ScriptedSolver | None] = [None] * lanes
        self._views = [View()] * lanes

    def reset(self, lane: int, world: World, view: View, current_task: CurrentTask) -> None:
        player = ScriptedSolver(self._config, self._rng, current_task, imitated=self._imitated)
        player.begin(world, world.spec.solver)
        self._players[lane], self._views[lane] = player, view

    def observe(self, lane: int, view: View) -> None:
        self._views[lane] = view

    def decide(self, worlds: Sequence[World]) -> list[Action]:
        actions = []
        for player, view, world in zip(self._players, self._views, worlds, strict=True):
            # With fewer episodes than lanes, the other lanes have no player.
            actions.append(Action(world.spec.rest()) if player is None else player.act(view, world))
        return actions

    def finished(self, lane: int) -> bool:
        player = self._players[lane]
        return player is not None and player.finished

    def describe(self) -> Mapping[str, str]:
        return {"skill": f"{self._config.skill:g}"}
