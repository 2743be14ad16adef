"""Instructions to act: a module an errand, with its test of success, its progress, and how one is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from interplay.env.playhouse.asking import Asking
from interplay.env.playhouse.errands.arrangement import Arrangement
from interplay.env.playhouse.errands.bring import Bring, draw_bring
from interplay.env.playhouse.errands.fill import Fill, draw_fill
from interplay.env.playhouse.errands.go import Go, draw_go
from interplay.env.playhouse.errands.go_room import GoRoom, draw_go_room
from interplay.env.playhouse.errands.group import draw_group
from interplay.env.playhouse.errands.hand_over import HandOver, draw_hand_over
from interplay.env.playhouse.errands.hit import Hit, draw_hit
from interplay.env.playhouse.errands.in_turn import InTurn, draw_in_turn
from interplay.env.playhouse.errands.lift import Lift, draw_lift
from interplay.env.playhouse.errands.lift_container import LiftContainer, draw_lift_container
from interplay.env.playhouse.errands.outlines import draw_circle, draw_square, draw_triangle
from interplay.env.playhouse.errands.position import Position, draw_position
from interplay.env.playhouse.errands.push import Push, draw_push
from interplay.env.playhouse.errands.push_with import PushWith, draw_push_with
from interplay.env.playhouse.errands.put import Put, draw_put
from interplay.env.playhouse.errands.remove import Remove, draw_remove
from interplay.env.playhouse.errands.reposition import Reposition, draw_reposition
from interplay.env.playhouse.errands.row import draw_row
from interplay.env.playhouse.errands.stand import Stand, StandBetween, draw_stand, draw_stand_between
from interplay.env.playhouse.errands.throw import Throw, ThrowOut, draw_throw, draw_throw_out
from interplay.env.playhouse.errands.touch_with import TouchWith, draw_touch_with
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
    "put_on": ErrandKind(Put, draw_put("put_on")),
    "put_in": ErrandKind(Put, draw_put("put_in")),
    "put_under": ErrandKind(Put, draw_put("put_under")),
    "reposition": ErrandKind(Reposition, draw_reposition),
    "bring": ErrandKind(Bring, draw_bring),
    "hand_over": ErrandKind(HandOver, draw_hand_over),
    "remove": ErrandKind(Remove, draw_remove),
    "lift_container": ErrandKind(LiftContainer, draw_lift_container),
    "fill": ErrandKind(Fill, draw_fill),
    "stand": ErrandKind(Stand, draw_stand, 60),
    "stand_between": ErrandKind(StandBetween, draw_stand_between, 60),
    "go_room": ErrandKind(GoRoom, draw_go_room, 60),
    "push": ErrandKind(Push, draw_push, 60),
    "push_with": ErrandKind(PushWith, draw_push_with, 80),
    "touch_with": ErrandKind(TouchWith, draw_touch_with, 80),
    "hit": ErrandKind(Hit, draw_hit, 100),
    "throw": ErrandKind(Throw, draw_throw, 60),
    "throw_out": ErrandKind(ThrowOut, draw_throw_out, 80),
    "tower": ErrandKind(Arrangement.load, draw_tower, 160),
    "row": ErrandKind(Arrangement.load, draw_row, 240),
    "triangle": ErrandKind(Arrangement.load, draw_triangle, 180),
    "square": ErrandKind(Arrangement.load, draw_square, 240),
    "circle": ErrandKind(Arrangement.load, draw_circle, 280),
    "group": ErrandKind(Arrangement.load, draw_group, 180),
}
ERRANDS = {**USUAL, **ON_REQUEST}


def draw_errand(kind: str, asking: Asking, rng: np.random.Generator) -> Task:
    """A feasible errand of a kind.

    Raises:
        InfeasibleTask: there is none.
    """
    return ERRANDS[kind].draw(asking, rng)


def load_errand(fields: Mapping[str, Any]) -> Task:
    """The errand that `to_json` described."""
    given: dict[str, Any] = {
        key: tuple(v) if isinstance(v, list) else v for key, v in fields.items() if key != "answer"
    }
    return ERRANDS[str(fields["kind"])].load(**given)


ON_REQUEST["in_turn"] = ErrandKind(partial(InTurn.load, load_errand), partial(draw_in_turn, draw_errand), 240)
ERRANDS |= ON_REQUEST
