"""Competent solvers of the Playhouse's tasks: from the house's truth, through the action interface only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from interplay.env.playhouse.errands.arrangement import Arrangement
from interplay.env.playhouse.errands.go import Go
from interplay.env.playhouse.errands.going import Going
from interplay.env.playhouse.errands.hand_over import HandOver
from interplay.env.playhouse.errands.hit import Hit
from interplay.env.playhouse.errands.in_turn import InTurn
from interplay.env.playhouse.errands.lift import Lift
from interplay.env.playhouse.errands.lift_container import LiftContainer
from interplay.env.playhouse.errands.moving import Moving
from interplay.env.playhouse.errands.position import Beside, Position
from interplay.env.playhouse.errands.push import Push
from interplay.env.playhouse.errands.push_with import PushWith
from interplay.env.playhouse.errands.throw import Throw, ThrowOut
from interplay.env.playhouse.errands.touch_with import TouchWith
from interplay.env.playhouse.experts.answerer import Answerer, Finder
from interplay.env.playhouse.experts.arranger import Arranger
from interplay.env.playhouse.experts.ejector import Ejector
from interplay.env.playhouse.experts.giver import Giver
from interplay.env.playhouse.experts.goer import Goer
from interplay.env.playhouse.experts.hitter import Hitter
from interplay.env.playhouse.experts.hoister import Hoister
from interplay.env.playhouse.experts.lifter import Lifter
from interplay.env.playhouse.experts.mover import Mover
from interplay.env.playhouse.experts.onlooker import Onlooker
from interplay.env.playhouse.experts.placer import Placer
from interplay.env.playhouse.experts.pusher import Pusher
from interplay.env.playhouse.experts.rammer import Rammer
from interplay.env.playhouse.experts.stander import Stander
from interplay.env.playhouse.experts.successor import Successor
from interplay.env.playhouse.experts.taker import Taker
from interplay.env.playhouse.experts.thrower import Thrower
from interplay.env.playhouse.experts.toucher import Toucher
from interplay.env.playhouse.questions.inquiry import Inquiry
from interplay.env.playhouse.questions.question import OpenQuestion, Question
from interplay.env.playhouse.steering import Steering
from interplay.env.task import Expert, Task
from interplay.env.world import World


def _position(task: Position, world: World) -> Expert:
    """Where players can reach out and draw in what they hold, it is carried and put down with more care."""
    if not Steering(world.spec).can("push", "strafe"):
        return Placer(task, world.spec)
    one = (task.target,)
    beside = Beside(task.kind, task.instruction, task.solver, task.target, 0.0, one, (), (), 1, task.other)
    return Mover(beside.measured(world.facts()), world.spec)


def _open(task: OpenQuestion, world: World) -> Expert:
    # To say where something is one must have found it; all else is asked of the room that one is in.
    return (Finder if task.kind == "where" else Answerer)(task, world.spec)


# By the type of the task; of several that fit, the most special.
EXPERTS: Mapping[type[Task], Callable[[Any, World], Expert]] = {
    Go: lambda task, world: Goer(task, world.spec),
    Lift: lambda task, world: Lifter(task, world.spec),
    LiftContainer: lambda task, world: Hoister(task, world.spec),
    Moving: lambda task, world: Mover(task, world.spec),
    Position: _position,
    HandOver: lambda task, world: Giver(task, world.spec),
    Push: lambda task, world: Pusher(task, world.spec),
    PushWith: lambda task, world: Rammer(task, world.spec),
    TouchWith: lambda task, world: Toucher(task, world.spec),
    Hit: lambda task, world: Hitter(task, world.spec),
    Throw: lambda task, world: Thrower(task, world.spec),
    ThrowOut: lambda task, world: Ejector(task, world.spec),
    Going: lambda task, world: Stander(task, world.spec),
    Arrangement: lambda task, world: Arranger(task, world.spec),
    InTurn: Successor,
    Question: lambda task, world: Answerer(task, world.spec),
    OpenQuestion: _open,
    Inquiry: lambda task, world: Onlooker(task, world.spec),
}


def expert_of(task: Task, world: World) -> Expert:
    """A competent solver of a task of the Playhouse."""
    return next(EXPERTS[kind] for kind in type(task).__mro__ if kind in EXPERTS)(task, world)


def partner_of(task: Task, world: World) -> Expert | None:
    """What the setter does meanwhile: it takes what is handed to it."""
    return Taker(task, world.spec) if isinstance(task, HandOver) else None
