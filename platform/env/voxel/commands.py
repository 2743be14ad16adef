"""Command of one frame, to which every action space is converted."""

from __future__ import annotations

from typing import NamedTuple

LENGTH = 9  # numbers of a command


class Command(NamedTuple):
    """What the builder does in one frame. As an array it is float64 [9] in this order.

    The order of execution is: select, attack or use by the gaze before this frame, camera, movement.
    """

    forward: float = 0.0  # -1 to 1, along the yaw after this frame's turn
    strafe: float = 0.0  # -1 to 1, to the right
    up: float = 0.0  # -1 to 1, only when flying
    jump: float = 0.0  # 0 or 1
    yaw: float = 0.0  # degrees to turn, to the right is positive
    pitch: float = 0.0  # degrees to turn, down is positive
    select: float = 0.0  # id of the color to hold from now on; 0 keeps the one held
    attack: float = 0.0  # 1 removes the block under the gaze
    use: float = 0.0  # 1 places a block of the color held; with `attack` neither happens


COLUMNS = {name: column for column, name in enumerate(Command._fields)}
