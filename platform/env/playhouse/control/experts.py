"""The table of scripted solvers by type of task, and how to build them. They act on the house's ground truth, through
the action interface only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from interplay.env.playhouse.control.basic_experts import (
    GoExpert,
    LiftContainerExpert,
    LiftExpert,
    PushExpert,
    SequenceExpert,
    StandAtExpert,
)
from interplay.env.playhouse.control.place_experts import (
    ArrangeExpert,
    HandOverExpert,
    PlaceObjectsExpert,
    PositionExpert,
    ReceiveExpert,
)
from interplay.env.playhouse.control.question_experts import AnswerExpert, LocateExpert, SearchAndAnswerExpert
from interplay.env.playhouse.control.steering import Steering
from interplay.env.playhouse.control.throw_and_tool_experts import (
    HitExpert,
    PushWithExpert,
    ThrowExpert,
    ThrowOutExpert,
    TouchWithExpert,
)
from interplay.env.playhouse.tasks.instructions.arrangement import Arrangement
from interplay.env.playhouse.tasks.instructions.bring_and_reposition import HandOver
from interplay.env.playhouse.tasks.instructions.go_and_stand import Go, StandAt
from interplay.env.playhouse.tasks.instructions.lift_and_throw import Lift, LiftContainer, Throw, ThrowOut
from interplay.env.playhouse.tasks.instructions.place_objects import PlaceObjects
from interplay.env.playhouse.tasks.instructions.push_and_tools import Hit, Push, PushWith, TouchWith
from interplay.env.playhouse.tasks.instructions.put import Position
from interplay.env.playhouse.tasks.instructions.sequence import TaskSequence
from interplay.env.playhouse.tasks.questions.question import Question
from interplay.env.task import Expert, Task
from interplay.env.world import World


def _position_expert(task: Position, world: World) -> Expert:
    """Places the thing precisely where players can push, pull and strafe; a simpler way does without."""
    if not Steering(world.spec).supports("push", "strafe"):
        return PositionExpert(task, world)
    return PlaceObjectsExpert(task.as_placement(world.facts()), world)


def _question_expert(task: Question, world: World) -> Expert:
    """Whereabouts require finding the thing; the other questions of room scope are about the solver's room."""
    if task.scope == "house":
        return SearchAndAnswerExpert(task, world)
    return LocateExpert(task, world) if task.kind == "where" else AnswerExpert(task, world)


# By the type of the task. The first match along its method resolution order counts.
EXPERTS: Mapping[type, Callable[[Any, World], Expert]] = {
    Go: GoExpert,
    Lift: LiftExpert,
    LiftContainer: LiftContainerExpert,
    PlaceObjects: PlaceObjectsExpert,
    Position: _position_expert,
    HandOver: HandOverExpert,
    Push: PushExpert,
    PushWith: PushWithExpert,
    TouchWith: TouchWithExpert,
    Hit: HitExpert,
    Throw: ThrowExpert,
    ThrowOut: ThrowOutExpert,
    StandAt: StandAtExpert,
    Arrangement: ArrangeExpert,
    TaskSequence: SequenceExpert,
    Question: _question_expert,
}


def build_expert(task: Task, world: World) -> Expert:
    """A competent solver of a task of the Playhouse."""
    return next(EXPERTS[kind] for kind in type(task).__mro__ if kind in EXPERTS)(task, world)


def build_partner(task: Task, world: World) -> Expert | None:
    """The setter's expert in a task for two players, in which it takes the thing handed to it; None in others."""
    return ReceiveExpert(task, world) if isinstance(task, HandOver) else None
