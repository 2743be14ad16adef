"""Instructions to act: a module an errand, with its test of success, its progress, and how one is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from interplay.env.playhouse.asking import Asking
from interplay.env.playhouse.errands.arrangement import Arrangement
from interplay.env.playhouse.errands.go import Go, draw_go
from interplay.env.playhouse.errands.group import draw_group
from interplay.env.playhouse.errands.lift import Lift, draw_lift
from interplay.env.playhouse.errands.outlines import draw_circle, draw_square, draw_triangle
from interplay.env.playhouse.errands.position import Position, draw_position
from interplay.env.playhouse.errands.row import draw_row
from interplay.env.playhouse.errands.tower import draw_tower
from interplay.env.task import Task


class ErrandKind(NamedTuple):
    """How errands of a kind are loaded, and how a feasible one is drawn."""

    load: Callable[..., Task]  # of the fields of its JSON
    draw: Callable[[Asking, np.random.Generator], Task]
    steps: int = 0  # that a probe is given, where a competent solver often needs more than most kinds do


USUAL: dict[str, ErrandKind] = {
    "go": ErrandKind(Go, draw_go),
    "lift": ErrandKind(Lift, draw_lift),
    "position": ErrandKind(Position, draw_position),
}
ON_REQUEST: dict[str, ErrandKind] = {
    "tower": ErrandKind(Arrangement.load, draw_tower, 160),
    "row": ErrandKind(Arrangement.load, draw_row, 240),
    "triangle": ErrandKind(Arrangement.load, draw_triangle, 180),
    "square": ErrandKind(Arrangement.load, draw_square, 240),
    "circle": ErrandKind(Arrangement.load, draw_circle, 280),
    "group": ErrandKind(Arrangement.load, draw_group, 180),
}
ERRANDS = {**USUAL, **ON_REQUEST}


def load_errand(fields: Mapping[str, Any]) -> Task:
    """The errand that `to_json` described."""
    given = {key: value for key, value in fields.items() if key != "answer"}
    return ERRANDS[str(fields["kind"])].load(**given)
