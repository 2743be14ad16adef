"""Instructions to act: a module an errand, with its test of success, its progress, and how one is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.arrangement import Arrangement
from interplay.env.playhouse.tasks.instructions.bring import Bring, draw_bring
from interplay.env.playhouse.tasks.instructions.fill import Fill, draw_fill
from interplay.env.playhouse.tasks.instructions.go import Go, draw_go
from interplay.env.playhouse.tasks.instructions.go_room import GoRoom, draw_go_room
from interplay.env.playhouse.tasks.instructions.group import draw_group
from interplay.env.playhouse.tasks.instructions.hand_over import HandOver, draw_hand_over
from interplay.env.playhouse.tasks.instructions.hit import Hit, draw_hit
from interplay.env.playhouse.tasks.instructions.lift import Lift, draw_lift
from interplay.env.playhouse.tasks.instructions.lift_container import LiftContainer, draw_lift_container
from interplay.env.playhouse.tasks.instructions.outlines import draw_circle, draw_square, draw_triangle
from interplay.env.playhouse.tasks.instructions.position import Position, draw_position
from interplay.env.playhouse.tasks.instructions.push import Push, draw_push
from interplay.env.playhouse.tasks.instructions.push_with import PushWith, draw_push_with
from interplay.env.playhouse.tasks.instructions.put import Put, draw_put
from interplay.env.playhouse.tasks.instructions.remove import Remove, draw_remove
from interplay.env.playhouse.tasks.instructions.reposition import Reposition, draw_reposition
from interplay.env.playhouse.tasks.instructions.row import draw_row
from interplay.env.playhouse.tasks.instructions.sequence import TaskSequence, sample_sequence
from interplay.env.playhouse.tasks.instructions.stand import Stand, StandBetween, draw_stand, draw_stand_between
from interplay.env.playhouse.tasks.instructions.throw import Throw, ThrowOut, draw_throw, draw_throw_out
from interplay.env.playhouse.tasks.instructions.touch_with import TouchWith, draw_touch_with
from interplay.env.playhouse.tasks.instructions.tower import draw_tower
from interplay.env.task import Task


class InstructionKind(NamedTuple):
    """How errands of a kind are loaded, and how a feasible one is drawn."""

    load: Callable[..., Task]  # of the fields of its JSON
    draw: Callable[[TaskContext, np.random.Generator], Task]
    steps: int = 0  # that a probe is given, where a competent solver often needs more than most kinds do


USUAL: dict[str, InstructionKind] = {
    "go": InstructionKind(Go, draw_go),
    "lift": InstructionKind(Lift, draw_lift),
    "position": InstructionKind(Position, draw_position),
}
ON_REQUEST: dict[str, InstructionKind] = {
    "put_on": InstructionKind(Put, draw_put("put_on")),
    "put_in": InstructionKind(Put, draw_put("put_in")),
    "put_under": InstructionKind(Put, draw_put("put_under")),
    "reposition": InstructionKind(Reposition, draw_reposition),
    "bring": InstructionKind(Bring, draw_bring),
    "hand_over": InstructionKind(HandOver, draw_hand_over),
    "remove": InstructionKind(Remove, draw_remove),
    "lift_container": InstructionKind(LiftContainer, draw_lift_container),
    "fill": InstructionKind(Fill, draw_fill),
    "stand": InstructionKind(Stand, draw_stand, 60),
    "stand_between": InstructionKind(StandBetween, draw_stand_between, 60),
    "go_room": InstructionKind(GoRoom, draw_go_room, 60),
    "push": InstructionKind(Push, draw_push, 60),
    "push_with": InstructionKind(PushWith, draw_push_with, 80),
    "touch_with": InstructionKind(TouchWith, draw_touch_with, 80),
    "hit": InstructionKind(Hit, draw_hit, 100),
    "throw": InstructionKind(Throw, draw_throw, 60),
    "throw_out": InstructionKind(ThrowOut, draw_throw_out, 80),
    "tower": InstructionKind(Arrangement.load, draw_tower, 160),
    "row": InstructionKind(Arrangement.load, draw_row, 240),
    "triangle": InstructionKind(Arrangement.load, draw_triangle, 180),
    "square": InstructionKind(Arrangement.load, draw_square, 240),
    "circle": InstructionKind(Arrangement.load, draw_circle, 280),
    "group": InstructionKind(Arrangement.load, draw_group, 180),
}
INSTRUCTIONS = {**USUAL, **ON_REQUEST}


def sample_instruction(kind: str, asking: TaskContext, rng: np.random.Generator) -> Task:
    """A feasible errand of a kind.

    Raises:
        InfeasibleTask: there is none.
    """
    return INSTRUCTIONS[kind].draw(asking, rng)


def load_instruction(fields: Mapping[str, Any]) -> Task:
    """The errand that `to_json` described."""
    given: dict[str, Any] = {
        key: tuple(v) if isinstance(v, list) else v for key, v in fields.items() if key != "answer"
    }
    return INSTRUCTIONS[str(fields["kind"])].load(**given)


ON_REQUEST["in_turn"] = InstructionKind(
    partial(TaskSequence.load, load_instruction), partial(sample_sequence, sample_instruction), 240
)
INSTRUCTIONS |= ON_REQUEST
