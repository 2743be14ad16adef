"""Decorators that make a method `f(self, event)` the handler of an event.

Decorators stack; each adds one trigger. A decorated function keeps its triggers in an attribute, so that a method that
overrides it replaces them, and one that overrides it undecorated removes them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from inspect import signature
from types import MethodType
from typing import Any

from interplay.env.commai import task_events
from interplay.env.commai.events import Trigger

ATTRIBUTE = "commai_triggers"

Handler = Callable[..., Any]
Decorator = Callable[[Any], Any]


class BoundHandler:
    """A decorated method of one object: the function, with triggers that belong to this object only."""

    def __init__(self, function: Handler, triggers: tuple[Trigger, ...]) -> None:
        self.function = function
        self.commai_triggers = triggers


def triggers_of(handler: Any) -> tuple[Trigger, ...]:
    """The triggers that decorators gave a function, in the order of the decorators' application."""
    found: tuple[Trigger, ...] = getattr(handler, ATTRIBUTE, ())
    return found


def take_triggers(handler: Any, of_methods: Sequence[Trigger]) -> tuple[Trigger, ...]:
    """The triggers of a handler that is added at run time. A function keeps only those that it has as a method
    (`of_methods`: those of all decorated methods), so that the next time it is decorated it has only the new ones."""
    found = triggers_of(handler)
    if not found:
        raise ValueError(f"add_handler takes a decorated function, such as on_message(r'\\.$')(f), got {handler!r}")
    own = tuple(trigger for trigger in found if trigger in of_methods)
    if not isinstance(handler, BoundHandler | MethodType):
        setattr(handler, ATTRIBUTE, own)
    return found[len(own) :] or found


def _decorator(event: type[Any], condition: Callable[[Any], Any]) -> Decorator:
    def decorate(handler: Any) -> Any:
        if isinstance(handler, BoundHandler):
            return BoundHandler(
                handler.function, (*handler.commai_triggers, Trigger(event, condition, handler.function))
            )
        if isinstance(handler, MethodType):
            return BoundHandler(handler.__func__, (Trigger(event, condition, handler.__func__),))
        if not callable(handler):
            raise TypeError(f"a handler is a function of (self, event), got {handler!r}")
        setattr(handler, ATTRIBUTE, (*triggers_of(handler), Trigger(event, condition, handler)))
        return handler

    return decorate


def _always(event: Any) -> bool:
    return True


def _matches(regex: Any) -> Callable[[Any], Any]:
    if regex is None:
        return _always
    if not isinstance(regex, str | re.Pattern):
        raise TypeError(f"a handler of messages takes a regular expression or nothing, got {regex!r}: write on_x()")
    pattern = re.compile(regex)
    return lambda event: event.find(pattern)


def _holds(condition: Callable[..., Any]) -> Callable[[Any], Any]:
    if not callable(condition):
        raise TypeError(f"on_state_changed takes a function of the state, got {condition!r}")

    single = _takes_one(condition)

    def holds(event: Any) -> Any:
        if event.second_state is None:
            states = [event.state]
        elif single:  # in a world, the state of the one whose handler this is
            states = [event.state if event.observer.state is event.state else event.second_state]
        else:
            states = [event.state, event.second_state]
        try:
            return condition(*states)
        except AttributeError:  # the state does not have that attribute yet
            return False

    return holds


def _takes_one(condition: Callable[..., Any]) -> bool:
    """Whether a condition has one parameter rather than two."""
    try:
        parameters = signature(condition).parameters.values()
    except ValueError:  # a C function without a signature
        return False
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return len(places) == 1 and not any(p.kind is p.VAR_POSITIONAL for p in parameters)


def on_init() -> Decorator:
    """Before a task starts; changes of the state do not raise events yet."""
    return _decorator(task_events.Init, _always)


def on_start() -> Decorator:
    """When a task starts."""
    return _decorator(task_events.Start, _always)


def on_ended() -> Decorator:
    """When a task has ended, by a reward or by its time limit."""
    return _decorator(task_events.Ended, _always)


def on_world_init() -> Decorator:
    """Before a world starts."""
    return _decorator(task_events.WorldInit, _always)


def on_world_start() -> Decorator:
    """When a world starts."""
    return _decorator(task_events.WorldStart, _always)


def on_timeout() -> Decorator:
    """When a task has reached its time limit."""
    return _decorator(task_events.Timeout, _always)


def on_state_changed(condition: Callable[..., Any]) -> Decorator:
    """When the state has changed and `condition` holds, a function of (state of the task) or, in a world, of (state of
    the world, state of the task). A condition with one parameter gets, in a world too, the state of the task or world
    that it belongs to. An attribute that a state lacks makes it false."""
    return _decorator(task_events.StateChanged, _holds(condition))


def on_message(regex: Any = None) -> Decorator:
    """When the learner has completed a character, and `regex` matches in its text since the start of the task."""
    return _decorator(task_events.MessageReceived, _matches(regex))


def on_sequence(regex: Any = None) -> Decorator:
    """When the learner has sent a bit, and `regex` matches in its bits since the start of the task."""
    return _decorator(task_events.SequenceReceived, _matches(regex))


def on_output_message(regex: Any = None) -> Decorator:
    """When the teacher has completed a character, and `regex` matches in its text since the start of the task."""
    return _decorator(task_events.OutputMessageUpdated, _matches(regex))


def on_output_sequence(regex: Any = None) -> Decorator:
    """When the teacher has sent a bit, and `regex` matches in its bits since the start of the task."""
    return _decorator(task_events.OutputSequenceUpdated, _matches(regex))
