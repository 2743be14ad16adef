"""MiniGrid and BabyAI as an agent sees them, and BabyAI's own solver as the expert of its missions."""

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

from interplay.env.mission import Guide, Instead
from interplay.env.task import Expert, words
from interplay.env.world import Action, World

REST = int(Actions.done)  # says "done", which changes nothing in these worlds
TILE = 8  # pixels of a tile, where no size of picture is asked for


def pictured(env: Env[Any, Any], size: tuple[int, int] | None) -> Env[Any, Any]:
    """The grid that the agent faces as a picture instead of codes: the largest whole tiles that fit into `size`."""
    assert isinstance(env.observation_space, spaces.Dict)
    shape = env.observation_space["image"].shape
    assert shape is not None
    tile = TILE if size is None else max(1, min(size[0] // shape[0], size[1] // shape[1]))
    return _Quiet(RGBImgPartialObsWrapper(env, tile_size=tile))


class _Quiet(Wrapper[Any, Any, Any, Any]):
    """Keeps off the terminal what BabyAI prints whenever it draws a level anew."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        with contextlib.redirect_stdout(io.StringIO()):
            return super().reset(seed=seed, options=options)


def guide_for(env: Env[Any, Any]) -> Guide:
    """An expert and its mistakes where `env` is a level of BabyAI; a guide that knows nothing where it is not."""
    level = env.unwrapped
    if not isinstance(level, RoomGridLevel):
        return Guide()

    def expert(world: World, instead: Instead | None) -> Expert:
        return BabyAIExpert(level, instead)

    def mistake(world: World, rng: np.random.Generator) -> Instead | None:
        return another_thing(level, rng)

    return Guide(expert, mistake)


class BabyAIExpert(Expert):
    """Follows the bot that BabyAI ships. The bot plans for the mission as it stands, so make one when it is asked."""

    def __init__(self, level: RoomGridLevel, instead: Instead | None = None) -> None:
        self._level = level
        self._bot = BabyAIBot(level) if instead is None else _misled(level, instead)

    def act(self, world: World) -> Action:
        """The bot's next action; rests for good once it has finished or lost its way."""
        movement = world.spec.rest()
        if self.finished:
            return Action(movement)
        try:
            # The bot takes None to mean that its own last suggestion was carried out.
            suggested = self._bot.replan(None)
        except (DisappearedBoxError, AssertionError):
            # The bot gives up so where a mission cannot be done any more, e.g. when its box is gone.
            self.finished = True
            return Action(movement)
        self.finished = suggested == self._level.actions.done
        movement[0, 0] = int(suggested)
        return Action(movement)


def another_thing(level: RoomGridLevel, rng: np.random.Generator) -> Instead | None:
    """A thing in the level that the mission cannot mean; None where there is none."""
    things = {(thing.type, thing.color) for thing in level.grid.grid if thing is not None and thing.type in OBJ_TYPES}
    others = sorted(thing for thing in things if not _may_mean(level.mission, *thing))
    if not others:
        return None
    kind, color = others[rng.integers(len(others))]
    return Instead(kind, color)


def _may_mean(mission: str, kind: str, color: str) -> bool:
    """Could the mission's words speak of such a thing? What they leave open ("a red object"), any thing fits."""
    named = set(words(mission))
    kinds, colors = named & set(OBJ_TYPES), named & set(COLOR_NAMES)
    return (not kinds or kind in kinds) and (not colors or color in colors)


def _misled(level: Any, instead: Instead) -> BabyAIBot:
    """A bot that goes to another thing than the mission says. The bot reads the instruction only when it is made."""
    meant = level.instrs
    level.instrs = GoToInstr(ObjDesc(instead.kind, instead.color))
    try:
        level.instrs.reset_verifier(level)
        return BabyAIBot(level)
    finally:
        level.instrs = meant
