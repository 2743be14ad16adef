"""Tasks and worlds: scripts that handle events with messages, rewards and changes of their state.

A custom task subclasses `Task` and decorates methods::

    class SayYes(Task):
        def __init__(self, world=None):
            super().__init__(max_time=800, world=world)

        @on_start()
        def ask(self, event):
            self.set_message("say yes.")

        @on_message(r"yes\\.$")
        def right(self, event):
            self.set_reward(1, "good.")

        @on_timeout()
        def late(self, event):
            self.set_reward(0, "too late.")

Decorators stack; each adds one trigger. A decorated function keeps its triggers in an attribute, so that a method that
overrides it replaces them, and one that overrides it undecorated removes them.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Sequence
from functools import cache
from inspect import signature
from types import FunctionType, MethodType
from typing import Any

from interplay.env.commai.events import (
    Ended,
    Event,
    Init,
    MessageReceived,
    OutputMessageUpdated,
    OutputSequenceUpdated,
    SequenceReceived,
    Start,
    StateChanged,
    Timeout,
    Trigger,
    WorldInit,
    WorldStart,
)
from interplay.env.commai.observer import Observable
from interplay.env.commai.state import State

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
            raise TypeError(f"a handler must be a function of (self, event), got {handler!r}")
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
        except AttributeError as error:
            if isinstance(error.obj, State | None):  # the state does not have that attribute yet, or it is None
                return False
            raise

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
    return _decorator(Init, _always)


def on_start() -> Decorator:
    """When a task starts."""
    return _decorator(Start, _always)


def on_ended() -> Decorator:
    """When a task has ended, by a reward or by its time limit."""
    return _decorator(Ended, _always)


def on_world_init() -> Decorator:
    """Before a world starts."""
    return _decorator(WorldInit, _always)


def on_world_start() -> Decorator:
    """When a world starts."""
    return _decorator(WorldStart, _always)


def on_timeout() -> Decorator:
    """When a task has reached its time limit."""
    return _decorator(Timeout, _always)


def on_state_changed(condition: Callable[..., Any]) -> Decorator:
    """When the state has changed and `condition` holds, a function of (state of the task) or, in a world, of (state of
    the world, state of the task). A condition with one parameter gets, in a world too, the state of the task or world
    that it belongs to. An attribute that a state lacks makes it false."""
    return _decorator(StateChanged, _holds(condition))


def on_message(regex: Any = None) -> Decorator:
    """When the learner has completed a character, and `regex` matches in its text since the start of the task."""
    return _decorator(MessageReceived, _matches(regex))


def on_sequence(regex: Any = None) -> Decorator:
    """When the learner has sent a bit, and `regex` matches in its bits since the start of the task."""
    return _decorator(SequenceReceived, _matches(regex))


def on_output_message(regex: Any = None) -> Decorator:
    """When the teacher has completed a character, and `regex` matches in its text since the start of the task."""
    return _decorator(OutputMessageUpdated, _matches(regex))


def on_output_sequence(regex: Any = None) -> Decorator:
    """When the teacher has sent a bit, and `regex` matches in its bits since the start of the task."""
    return _decorator(OutputSequenceUpdated, _matches(regex))


@cache
def _triggers_of_class(of: Any) -> tuple[Trigger, ...]:
    return tuple(trigger for name in sorted(dir(of)) for trigger in triggers_of(getattr(of, name)))


class ScriptSet:
    """Base class of tasks and worlds: handlers, a state, and methods to send messages and rewards."""

    event_rank = 1  # handlers of worlds (0) come before those of tasks (1)
    default_priority = 1  # of messages
    first_events: tuple[type[Event], type[Event]]  # before its start, and at its start

    def __init__(self) -> None:
        self._env: Any = None
        self._started = False
        self._ended = False
        self._reports = False  # whether a change of the state raises an event
        self._added: list[Trigger] = []
        self.state: Any = State(self._state_changed)
        self.ended_updated = Observable()
        self.state_updated = Observable()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name, value in vars(cls).items():
            if isinstance(value, FunctionType) and triggers_of(value) and name in _API_NAMES:
                raise TypeError(f"{cls.__name__}.{name}: this name belongs to the API; give the handler another one")

    @property
    def rng(self) -> random.Random:
        """The session's random numbers."""
        made: random.Random = self._env.rng
        return made

    def get_triggers(self) -> list[Trigger]:
        """The triggers of the decorated methods, by name."""
        of: Any = type(self)
        return list(_triggers_of_class(of))

    def add_handler(self, handler: Any) -> None:
        """Adds a decorated closure, function or method until the end of this task or world."""
        for trigger in take_triggers(handler, self.get_triggers()):
            self._added.append(trigger)
            self._env._register_task_trigger(self, trigger)

    def clean_dynamic_handlers(self) -> None:
        """Removes the handlers that `add_handler` added."""
        self._added.clear()

    def get_name(self) -> str:
        """The name of the class, by which rewards are counted."""
        return type(self).__name__

    def get_time(self) -> int:
        """Tokens that the teacher has sent since the task began."""
        passed: int = self._env._task_time
        return passed

    def has_started(self) -> bool:
        """Whether its start is complete."""
        return self._started

    def has_ended(self) -> bool:
        """Whether it has ended."""
        return self._ended

    def set_message(self, message: str, priority: int | None = None) -> None:
        """Sends a message, unless one of a higher priority is being sent; then the message is lost."""
        self._env.set_message(message, self.default_priority if priority is None else priority)

    def add_message(self, message: str) -> None:
        """Appends a message to the output."""
        self._env.add_message(message)

    def set_reward(self, reward: float, message: str = "", priority: int | None = None) -> None:
        """Ends the task; the learner gets the reward when the message has been sent.

        Raises:
            ValueError: the reward is no finite number.
        """
        if not (hasattr(reward, "__float__") and math.isfinite(reward)):
            raise ValueError(f"set_reward of {self.get_name()} takes a finite number, got {reward!r}")
        self._env.set_reward(reward, message, self.default_priority if priority is None else priority)

    def ignore_last_char(self) -> None:
        """Replaces the learner's last character by silence."""
        self._env.ignore_last_char()

    def raise_event(self, event: Any) -> bool:
        """Raises an event; returns whether it was handled."""
        handled: bool = self._env.raise_event(event)
        return handled

    def start(self, env: Any) -> None:
        """Starts in an environment, with a new state."""
        before, at_start = self.first_events
        self._env = env
        self._started = self._ended = self._reports = False
        self.state = State(self._state_changed)
        if any(trigger.type is before for trigger in self.get_triggers()):
            self.raise_event(before())
        self._started = self._reports = True
        self.raise_event(at_start())

    def __str__(self) -> str:
        return self.get_name()

    def _state_changed(self) -> None:
        if self._reports:
            self.raise_event(self._state_event())
            self.state_updated(self)

    def _state_event(self) -> StateChanged:
        raise NotImplementedError


class Task(ScriptSet):
    """A task that ends with a reward, or after `max_time` tokens when the teacher has finished its message."""

    first_events = (Init, Start)

    def __init__(self, max_time: int, world: World | None = None) -> None:
        super().__init__()
        self._max_time = max_time
        self._world = world

    def get_world(self) -> World | None:
        """The world that the task takes place in."""
        return self._world

    def end(self) -> None:
        """Ends the task; `Ended` is the last event that it handles."""
        if not self._ended:
            self._ended = True
            self._reports = False
            self.raise_event(Ended())
            self.ended_updated(self)

    def deinit(self) -> None:
        """Called once when the task has ended and its output has been sent; may send more."""
        return

    def get_default_output(self) -> str:
        """Output while there is no message: silence."""
        silence: str = self._env._serializer.SILENCE_TOKEN
        return silence

    def hears(self, event: Any) -> bool:
        """Whether the task still handles this event."""
        return not self._ended or type(event) is Ended

    def _state_event(self) -> StateChanged:
        return StateChanged(self.state) if self._world is None else StateChanged(self._world.state, self.state)


class World(ScriptSet):
    """A world, which keeps its state and handlers over several tasks."""

    event_rank = 0
    default_priority = 0
    first_events = (WorldInit, WorldStart)

    def end(self) -> None:
        """Ends the world when a task of another world begins."""
        if not self._ended:
            self._ended = True
            self._reports = False
            self.ended_updated(self)

    def _state_event(self) -> StateChanged:
        task = getattr(self._env, "_current_task", None)
        return StateChanged(self.state, task.state if task is not None and task.has_started() else State())


_API_NAMES = {name for of in (ScriptSet, Task, World) for name in dir(of)} | {"state", "ended_updated", "state_updated"}
