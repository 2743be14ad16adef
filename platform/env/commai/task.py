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
"""

from __future__ import annotations

import random
from functools import cache
from types import FunctionType
from typing import Any

from interplay.env.commai.events import Trigger
from interplay.env.commai.handlers import (
    on_ended,
    on_init,
    on_message,
    on_output_message,
    on_output_sequence,
    on_sequence,
    on_start,
    on_state_changed,
    on_timeout,
    on_world_init,
    on_world_start,
    take_triggers,
    triggers_of,
)
from interplay.env.commai.observer import Observable
from interplay.env.commai.state import State
from interplay.env.commai.task_events import (
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
    WorldInit,
    WorldStart,
)

__all__ = [
    "Ended",
    "Init",
    "MessageReceived",
    "OutputMessageUpdated",
    "OutputSequenceUpdated",
    "ScriptSet",
    "SequenceReceived",
    "Start",
    "State",
    "StateChanged",
    "Task",
    "Timeout",
    "World",
    "WorldInit",
    "WorldStart",
    "on_ended",
    "on_init",
    "on_message",
    "on_output_message",
    "on_output_sequence",
    "on_sequence",
    "on_start",
    "on_state_changed",
    "on_timeout",
    "on_world_init",
    "on_world_start",
]


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
        """Ends the task; the learner gets the reward when the message has been sent."""
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
