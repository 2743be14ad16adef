"""Action spaces of the Gymnasium environments, and their conversion to commands.

| name | space | moves |
|---|---|---|
| `walking` | Discrete(18) | walks |
| `human-level` | Dict: forward, back, left, right, jump, attack, use, camera, hotbar | walks |
| `discrete` | Dict: move, strafe (1 is -1, 2 is +1), jump, attack, use, camera, hotbar | by cells |
| `continuous` | Dict: move_x, move_y, move_z along the world's axes, attack, use, camera, hotbar | flies |
| `flying` | Dict: movement (forward, right, up), camera, inventory, placement (1 places, 2 breaks) | flies |

`camera` is (pitch, yaw) in degrees, down and to the right positive. A step is one frame of 1/20 s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from interplay.core.settings_validation import did_you_mean
from interplay.env.arrays import Float32Array, Float64Array
from interplay.env.voxel import dynamics
from interplay.env.voxel.body import Way
from interplay.env.voxel.commands import COLUMNS, LENGTH, Command
from interplay.env.voxel.space import COLORS

ActionSpace = Literal["walking", "human-level", "discrete", "continuous", "flying"]
Batch = Mapping[str, NDArray[Any]]  # a Dict action of N worlds
CAMERA = {"continuous": 180.0, "discrete": 180.0, "human-level": 180.0, "flying": 5.0}  # most degrees a step
STEP_DEGREES = 5.0  # of `walking`

WALKING = (
    Command(),
    Command(forward=1),
    Command(forward=-1),
    Command(strafe=-1),
    Command(strafe=1),
    Command(jump=1),
    *(Command(select=color) for color in range(1, 7)),
    Command(yaw=-STEP_DEGREES),
    Command(yaw=STEP_DEGREES),
    Command(pitch=STEP_DEGREES),
    Command(pitch=-STEP_DEGREES),
    Command(attack=1),
    Command(use=1),
)


class GymnasiumActions:
    """One action space.

    Args:
        name: one of `ActionSpace`.
        select_and_place: choosing a color places a block at once; Dict spaces then lack `use`.

    Raises:
        ValueError: an unknown name.
    """

    def __init__(self, name: ActionSpace, select_and_place: bool = False) -> None:
        if name not in _WAYS:
            raise ValueError(
                f"action_space={name!r} is unknown.{did_you_mean(name, tuple(_WAYS))} Known: {', '.join(_WAYS)}"
            )
        self.name = name
        self.way: Way = _WAYS[name]
        self.select_and_place = select_and_place
        self.space = _space(name, select_and_place)
        self._table = np.array(WALKING, np.float64)

    def commands(self, actions: Any, bodies: Float32Array) -> Float64Array:
        """Commands float64 [N, 9] of a batch of actions, in worlds with these bodies [N, 9].

        Raises:
            ValueError: another number of actions, or actions outside the space, as far as they have no meaning.
        """
        if self.name == "walking":
            chosen = np.asarray(actions)
            if chosen.dtype.kind not in "iu":
                raise ValueError(f"the action is {actions!r}: it is a whole number from 0 to {len(self._table) - 1}")
            if (chosen < 0).any() or (chosen >= len(self._table)).any():
                raise ValueError(f"the action is {chosen.tolist()}: it goes from 0 to {len(self._table) - 1}")
            _check_count(chosen.size, bodies)
            commands: Float64Array = self._table[chosen].reshape(-1, LENGTH)
        else:
            commands = np.zeros((len(bodies), LENGTH))
            if not isinstance(actions, Mapping):
                raise ValueError(f"the action is {actions!r}; a Dict with {', '.join(self.space)} is expected")  # type: ignore[arg-type]
            if missing := set(self.space.keys()) - set(actions):  # type: ignore[attr-defined]
                raise ValueError(f"the action lacks {sorted(missing)}; it has {sorted(actions)}")
            for name in self.space:  # type: ignore[attr-defined]
                _check_count(len(np.atleast_1d(actions[name])), bodies)
            for field, values in _FIELDS[self.name](actions, bodies).items():
                commands[:, COLUMNS[field]] = values
            commands[:, [COLUMNS["pitch"], COLUMNS["yaw"]]] = _turned(actions, CAMERA[self.name])
            _check(commands)
        if self.select_and_place:
            selected = commands[:, COLUMNS["select"]] > 0
            commands[:, COLUMNS["use"]] = np.maximum(commands[:, COLUMNS["use"]], selected)
        return commands


def _turned(actions: Batch, most: float) -> Float64Array:
    """Degrees of pitch and yaw, [N, 2]."""
    return np.clip(np.asarray(actions["camera"], np.float64), -most, most)[:, :2]


def _check_count(given: int, bodies: Float32Array) -> None:
    """Raises ValueError unless there is one action for each world: compiled code would read past the last one."""
    if given != len(bodies):
        raise ValueError(f"{given} actions for {len(bodies)} worlds; give one for each")


def _check(commands: Float64Array) -> None:
    """Raises ValueError for commands that would leave the world in no possible state."""
    selected = commands[:, COLUMNS["select"]]
    if not np.isin(selected, np.arange(len(COLORS) + 1)).all():
        raise ValueError(
            f"the action selects {selected.tolist()}: colors go from 1 to {len(COLORS)}, 0 keeps the one held"
        )
    if not np.isfinite(commands).all():
        raise ValueError("the action holds a number that is not finite")


def _hands(actions: Batch) -> Batch:
    return {"attack": actions["attack"], "use": actions.get("use", np.zeros(1)), "select": actions["hotbar"]}


def _human_level(actions: Batch, bodies: Float32Array) -> Batch:
    forward = np.subtract(actions["forward"], actions["back"], dtype=np.float64)
    strafe = np.subtract(actions["right"], actions["left"], dtype=np.float64)
    return {"forward": forward, "strafe": strafe, "jump": actions["jump"], **_hands(actions)}


_SIGNS = np.array([0.0, -1.0, 1.0])


def _signs(name: str, chosen: Any) -> Float64Array:
    """-1, 0 or 1 of choices from Discrete(3)."""
    bins = np.asarray(chosen)
    if bins.dtype.kind not in "iu" or (bins < 0).any() or (bins > 2).any():
        raise ValueError(f"the action's {name} is {chosen}: it is 0, 1 or 2")
    signs: Float64Array = _SIGNS[bins]
    return signs


def _discrete(actions: Batch, bodies: Float32Array) -> Batch:
    forward, strafe = _signs("move", actions["move"]), _signs("strafe", actions["strafe"])
    return {"forward": forward, "strafe": strafe, "jump": actions["jump"], **_hands(actions)}


def _continuous(actions: Batch, bodies: Float32Array) -> Batch:
    """Motion along the world's axes, expressed along the yaw that the body has after this step's turn."""
    east, up, south = (
        np.clip(np.asarray(actions[name], np.float64).reshape(-1), -1, 1) for name in ("move_x", "move_y", "move_z")
    )
    turned = bodies[:, dynamics.YAW] + _turned(actions, CAMERA["continuous"])[:, 1]
    sine, cosine = np.sin(np.radians(turned)), np.cos(np.radians(turned))
    forward, strafe = cosine * south - sine * east, -cosine * east - sine * south
    return {"forward": forward, "strafe": strafe, "up": up, **_hands(actions)}


def _flying(actions: Batch, bodies: Float32Array) -> Batch:
    moved = np.clip(np.asarray(actions["movement"], np.float64), -1, 1)
    placement = np.asarray(actions["placement"])
    hands = {"select": actions["inventory"], "use": placement == 1, "attack": placement == 2}
    return {"forward": moved[:, 0], "strafe": moved[:, 1], "up": moved[:, 2], **hands}


_WAYS: Mapping[str, Way] = {
    "walking": "walk",
    "human-level": "walk",
    "discrete": "cells",
    "continuous": "fly",
    "flying": "fly",
}
_FIELDS: Mapping[str, Callable[[Batch, Float32Array], Batch]] = {  # of `Command`, by name, from an action
    "human-level": _human_level,
    "discrete": _discrete,
    "continuous": _continuous,
    "flying": _flying,
}


def _space(name: str, select_and_place: bool) -> spaces.Space[Any]:
    if name == "walking":
        return spaces.Discrete(len(WALKING))
    camera = spaces.Box(-CAMERA[name], CAMERA[name], (2,), np.float32)
    if name == "flying":
        return spaces.Dict(
            movement=spaces.Box(-1, 1, (3,), np.float32),
            camera=camera,
            inventory=spaces.Discrete(7),
            placement=spaces.Discrete(3),
        )
    first: dict[str, spaces.Space[Any]] = {
        "human-level": {part: spaces.Discrete(2) for part in ("forward", "back", "left", "right", "jump")},
        "discrete": {"move": spaces.Discrete(3), "strafe": spaces.Discrete(3), "jump": spaces.Discrete(2)},
        "continuous": {part: spaces.Box(-1, 1, (1,), np.float32) for part in ("move_x", "move_y", "move_z")},
    }[name]  # type: ignore[assignment]
    hands: dict[str, spaces.Space[Any]] = {"attack": spaces.Discrete(2)}
    if not select_and_place:
        hands["use"] = spaces.Discrete(2)
    return spaces.Dict({**first, **hands, "camera": camera, "hotbar": spaces.Discrete(7)})
