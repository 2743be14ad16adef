"""Competent solvers of the Playhouse's tasks: from the house's truth, through the action interface only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from interplay.env.playhouse.control.answer_expert import AnswerExpert, LocateExpert
from interplay.env.playhouse.control.arrange_expert import ArrangeExpert
from interplay.env.playhouse.control.go_expert import GoExpert
from interplay.env.playhouse.control.hand_over_expert import HandOverExpert
from interplay.env.playhouse.control.hit_expert import HitExpert
from interplay.env.playhouse.control.lift_container_expert import LiftContainerExpert
from interplay.env.playhouse.control.lift_expert import LiftExpert
from interplay.env.playhouse.control.place_objects_expert import PlaceObjectsExpert
from interplay.env.playhouse.control.position_expert import PositionExpert
from interplay.env.playhouse.control.push_expert import PushExpert
from interplay.env.playhouse.control.push_with_expert import PushWithExpert
from interplay.env.playhouse.control.receive_expert import ReceiveExpert
from interplay.env.playhouse.control.search_and_answer_expert import SearchAndAnswerExpert
from interplay.env.playhouse.control.sequence_expert import SequenceExpert
from interplay.env.playhouse.control.stand_at_expert import StandAtExpert
from interplay.env.playhouse.control.steering import Steering
from interplay.env.playhouse.control.throw_expert import ThrowExpert
from interplay.env.playhouse.control.throw_out_expert import ThrowOutExpert
from interplay.env.playhouse.control.touch_with_expert import TouchWithExpert
from interplay.env.playhouse.tasks.instructions.arrangement import Arrangement
from interplay.env.playhouse.tasks.instructions.go import Go
from interplay.env.playhouse.tasks.instructions.hand_over import HandOver
from interplay.env.playhouse.tasks.instructions.hit import Hit
from interplay.env.playhouse.tasks.instructions.lift import Lift
from interplay.env.playhouse.tasks.instructions.lift_container import LiftContainer
from interplay.env.playhouse.tasks.instructions.place_objects import PlaceObjects
from interplay.env.playhouse.tasks.instructions.position import Position
from interplay.env.playhouse.tasks.instructions.push import Push
from interplay.env.playhouse.tasks.instructions.push_with import PushWith
from interplay.env.playhouse.tasks.instructions.sequence import TaskSequence
from interplay.env.playhouse.tasks.instructions.stand_at import StandAt
from interplay.env.playhouse.tasks.instructions.throw import Throw, ThrowOut
from interplay.env.playhouse.tasks.instructions.touch_with import TouchWith
from interplay.env.playhouse.tasks.questions.question import Question
from interplay.env.task import Expert, Task
from interplay.env.world import World


def _position(task: Position, world: World) -> Expert:
    """Where players can reach out and draw in what they hold, it is carried and put down with more care."""
    if not Steering(world.spec).can("push", "strafe"):
        return PositionExpert(task, world.spec)
    return PlaceObjectsExpert(task.as_placement(world.facts()), world.spec)


def _question(task: Question, world: World) -> Expert:
    if task.scope == "house":
        return SearchAndAnswerExpert(task, world.spec)
    # To say where something is the solver must have found it; all else is asked of the room that it is in.
    return (LocateExpert if task.kind == "where" else AnswerExpert)(task, world.spec)


# By the type of the task; of several that fit, the most special.
EXPERTS: Mapping[type, Callable[[Any, World], Expert]] = {
    Go: lambda task, world: GoExpert(task, world.spec),
    Lift: lambda task, world: LiftExpert(task, world.spec),
    LiftContainer: lambda task, world: LiftContainerExpert(task, world.spec),
    PlaceObjects: lambda task, world: PlaceObjectsExpert(task, world.spec),
    Position: _position,
    HandOver: lambda task, world: HandOverExpert(task, world.spec),
    Push: lambda task, world: PushExpert(task, world.spec),
    PushWith: lambda task, world: PushWithExpert(task, world.spec),
    TouchWith: lambda task, world: TouchWithExpert(task, world.spec),
    Hit: lambda task, world: HitExpert(task, world.spec),
    Throw: lambda task, world: ThrowExpert(task, world.spec),
    ThrowOut: lambda task, world: ThrowOutExpert(task, world.spec),
    StandAt: lambda task, world: StandAtExpert(task, world.spec),
    Arrangement: lambda task, world: ArrangeExpert(task, world.spec),
    TaskSequence: SequenceExpert,
    Question: _question,
}


def build_expert(task: Task, world: World) -> Expert:
    """A competent solver of a task of the Playhouse."""
    return next(EXPERTS[kind] for kind in type(task).__mro__ if kind in EXPERTS)(task, world)


def build_partner(task: Task, world: World) -> Expert | None:
    """What the setter does meanwhile: it takes what is handed to it."""
    return ReceiveExpert(task, world.spec) if isinstance(task, HandOver) else None
