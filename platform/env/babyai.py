"""MiniGrid and BabyAI support: pictures as observations, and BabyAI's bot as the expert of its missions."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import numpy as np
from gymnasium import Env, Wrapper, spaces
from minigrid.core.actions import Actions
from minigrid.core.constants import COLOR_NAMES
from minigrid.envs.babyai.core.roomgrid_level import RoomGridLevel
from minigrid.envs.babyai.core.verifier import OBJ_TYPES, GoToInstr, ObjDesc
from minigrid.utils.baby_ai_bot import BabyAIBot, DisappearedBoxError
from minigrid.wrappers import RGBImgPartialObsWrapper

from interplay.env.mission import MisreadTarget, MissionSolver
from interplay.env.task import Expert, words
from interplay.env.world import Action, World

NOOP_ACTION = int(Actions.done)  # has no effect in these environments
DEFAULT_TILE_PIXELS = 8  # if no picture size is configured


def with_picture(env: Env[Any, Any], size: tuple[int, int] | None) -> Env[Any, Any]:
    """Replaces the encoded grid in front of the agent by a picture, with the largest whole tiles that fit `size`."""
    assert isinstance(env.observation_space, spaces.Dict)
    shape = env.observation_space["image"].shape
    assert shape is not None
    tile = DEFAULT_TILE_PIXELS if size is None else max(1, min(size[0] // shape[0], size[1] // shape[1]))
    return _SilentReset(RGBImgPartialObsWrapper(env, tile_size=tile))


class _SilentReset(Wrapper[Any, Any, Any, Any]):
    """Suppresses what BabyAI prints when it regenerates a level."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        with contextlib.redirect_stdout(io.StringIO()):
            return super().reset(seed=seed, options=options)


def solver_for(env: Env[Any, Any]) -> MissionSolver:
    """The bot and its misreadings if `env` is a BabyAI level; otherwise a solver that does nothing."""
    level = env.unwrapped
    if not isinstance(level, RoomGridLevel):
        return MissionSolver()

    def expert(world: World, instead: MisreadTarget | None) -> Expert:
        return BabyAIExpert(level, instead)

    def sample_misread(world: World, rng: np.random.Generator) -> MisreadTarget | None:
        return sample_other_object(level, rng)

    return MissionSolver(expert, sample_misread)


class BabyAIExpert(Expert):
    """BabyAI's own bot. It plans from the level's current state, so create it when the task is given."""

    def __init__(self, level: RoomGridLevel, instead: MisreadTarget | None) -> None:
        self._level = level
        self._bot = BabyAIBot(level) if instead is None else _misled_bot(level, instead)

    def act(self, world: World) -> Action:
        """The bot's next action; the no-op once it has finished or given up."""
        movement = world.spec.rest()
        if self.finished:
            return Action(movement)
        try:
            # None: the bot's last suggestion was carried out.
            suggested = self._bot.replan(None)
        except (DisappearedBoxError, AssertionError):
            # Raised when the mission has become impossible, e.g. because its box was destroyed.
            self.finished = True
            return Action(movement)
        self.finished = suggested == self._level.actions.done
        movement[0, 0] = int(suggested)
        return Action(movement)


def sample_other_object(level: RoomGridLevel, rng: np.random.Generator) -> MisreadTarget | None:
    """An object of the level that the mission cannot refer to; None if it can refer to all."""
    things = {(thing.type, thing.color) for thing in level.grid.grid if thing is not None and thing.type in OBJ_TYPES}
    others = sorted(thing for thing in things if not _may_mean(level.mission, *thing))
    if not others:
        return None
    kind, color = others[rng.integers(len(others))]
    return MisreadTarget(kind, color)


def _may_mean(mission: str, kind: str, color: str) -> bool:
    """Whether the mission's words could refer to such an object. An open description ("a red object") fits any kind."""
    named = set(words(mission))
    kinds, colors = named & set(OBJ_TYPES), named & set(COLOR_NAMES)
    return (not kinds or kind in kinds) and (not colors or color in colors)


def _misled_bot(level: Any, instead: MisreadTarget) -> BabyAIBot:
    """A bot that goes to another object than the mission says. The bot reads the instruction on construction only."""
    meant = level.instrs
    level.instrs = GoToInstr(ObjDesc(instead.kind, instead.color))
    try:
        level.instrs.reset_verifier(level)
        return BabyAIBot(level)
    finally:
        level.instrs = meant
