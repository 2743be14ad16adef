"""The solver's seat over several worlds, behind one interface: an agent decides for all lanes at once, scripted
players decide lane by lane."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from interplay.agent.agent_runner import AgentRunner
from interplay.env.task import Task
from interplay.env.world import Action, View, World
from interplay.players.solver import ScriptedSolver, SolverConfig

CurrentTask = Callable[[], Task | None]


class SolverSeat(ABC):
    """Who plays the solver in a number of lanes."""

    kind: str  # what episodes record about this seat
    needs_pictures: bool

    @abstractmethod
    def reset(self, lane: int, world: World, view: View, asked: CurrentTask) -> None:
        """An episode has started; `asked` tells what the setter wants at present to players who may know."""

    @abstractmethod
    def observe(self, lane: int, view: View) -> None:
        """What the lane's solver observes after a step."""

    @abstractmethod
    def decide(self, worlds: Sequence[World]) -> list[Action]:
        """The coming step of every lane."""

    def finished(self, lane: int) -> bool:
        """The solver believes that it has done what was asked."""
        return False

    def describe(self) -> Mapping[str, str]:
        """What an episode's metadata should say about this seat, besides its kind."""
        return {}


class AgentSeat(SolverSeat):
    """A network plays."""

    kind = "agent"
    needs_pictures = True

    def __init__(self, runner: AgentRunner, checkpoint: str) -> None:
        self._runner = runner
        self._checkpoint = checkpoint

    def reset(self, lane: int, world: World, view: View, asked: CurrentTask) -> None:
        self._runner.reset(lane)
        self._runner.observe(lane, view)

    def observe(self, lane: int, view: View) -> None:
        self._runner.observe(lane, view)

    def decide(self, worlds: Sequence[World]) -> list[Action]:
        return self._runner.decide()[0]

    def describe(self) -> Mapping[str, str]:
        return {"checkpoint": self._checkpoint}


class ScriptedSeat(SolverSeat):
    """A scripted solver plays, with mistakes of its own in each lane."""

    kind = "scripted"
    needs_pictures = False

    def __init__(self, config: SolverConfig, lanes: int, rng: np.random.Generator) -> None:
        self._config = config
        self._rng = rng
        self._players: list[ScriptedSolver | None] = [None] * lanes
        self._views = [View()] * lanes

    def reset(self, lane: int, world: World, view: View, asked: CurrentTask) -> None:
        player = ScriptedSolver(self._config, self._rng, asked)
        player.begin(world, world.spec.solver)
        self._players[lane], self._views[lane] = player, view

    def observe(self, lane: int, view: View) -> None:
        self._views[lane] = view

    def decide(self, worlds: Sequence[World]) -> list[Action]:
        actions = []
        for player, view, world in zip(self._players, self._views, worlds, strict=True):
            # Where there were fewer episodes to play than lanes, nobody has sat down in the others.
            actions.append(Action(world.spec.rest()) if player is None else player.act(view, world))
        return actions

    def finished(self, lane: int) -> bool:
        player = self._players[lane]
        return player is not None and player.finished

    def describe(self) -> Mapping[str, str]:
        return {"skill": f"{self._config.skill:g}"}
