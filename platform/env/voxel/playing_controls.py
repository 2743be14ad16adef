"""Keys and pointer by which people build."""

from __future__ import annotations

from interplay.env.input_controls import ControlMode, InputControl
from interplay.env.voxel.controls import ControlScheme
from interplay.env.voxel.space import COLORS

# By component: name, label, keys, and the value of the bin that they choose.
_KEYS: dict[str, tuple[tuple[str, str, tuple[str, ...], float], ...]] = {
    "forward": (("forward", "forward", ("KeyW",), 1.0), ("back", "back", ("KeyS",), -1.0)),
    "strafe": (("left", "left", ("KeyA",), -1.0), ("right", "right", ("KeyD",), 1.0)),
    "up": (("up", "up", ("Space",), 1.0), ("down", "down", ("ShiftLeft",), -1.0)),
    "jump": (("jump", "jump", ("Space",), 1.0),),
    "turn": (
        ("turn_left", "turn left", ("KeyQ",), -15.0),
        ("turn_right", "turn right", ("KeyE",), 15.0),
        ("turn_far_left", "turn far to the left", ("ArrowLeft",), -45.0),
        ("turn_far_right", "turn far to the right", ("ArrowRight",), 45.0),
    ),
    "look": (
        ("look_up", "look up", ("ArrowUp", "WheelUp"), -15.0),
        ("look_down", "look down", ("ArrowDown", "WheelDown"), 15.0),
    ),
    "attack": (("attack", "break", ("Mouse0", "KeyR"), 1.0),),
    "use": (("use", "place", ("Mouse2", "KeyF"), 1.0),),
    "hotbar": tuple((color, color, (f"Digit{number}",), float(number)) for number, color in enumerate(COLORS, 1)),
}
_KEYS["move"] = _KEYS["forward"]
_HELD = frozenset({"forward", "strafe", "jump"})  # while walking; everything else happens once a press


def playing_controls(scheme: ControlScheme) -> tuple[InputControl, ...]:
    """The controls of the builder: held keys and the pointer for walking, presses for what moves by cells."""
    walks = scheme.control == "human"
    controls = []
    for component in scheme.components:
        values = scheme.values(component.name)
        if component.name in ("yaw", "pitch"):
            controls.append(_axis(component.name, values))
            continue
        held = component.name == "jump" or (walks and component.name in _HELD)
        mode: ControlMode = "hold" if held else "press"
        for name, label, keys, value in _KEYS[component.name]:
            controls.append(InputControl(name, label, keys, component.name, (values.index(value),), mode))
    return tuple(controls)


def _axis(component: str, values: tuple[float, ...]) -> InputControl:
    """Looking around by the pointer; positive pitch is down, and a pointer's way up is positive."""
    keys, sign = (("ArrowLeft", "ArrowRight"), 1.0) if component == "yaw" else (("ArrowDown", "ArrowUp"), -1.0)
    degrees = tuple(sign * value for value in values)
    return InputControl(component, "look", keys, component, tuple(range(len(values))), "axis", degrees)
