"""The events that tasks and worlds react to, triggers, and the manager that calls their handlers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple


class Event:
    """Base class. `observer` is the task or world whose handler is being called, and `condition_outcome` the result
    of the trigger's condition."""

    observer: Any = None
    condition_outcome: Any = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


class Init(Event):
    """A task is about to start."""


class Start(Event):
    """A task starts."""


class Ended(Event):
    """A task has ended, by a reward or by its time limit."""


class WorldInit(Event):
    """A world is about to start."""


class WorldStart(Event):
    """A world starts."""


class Timeout(Event):
    """A task has reached its time limit."""


class StateChanged(Event):
    """Something in a state has changed: (state of the task), or (state of the world, state of the task)."""

    def __init__(self, state: Any, second_state: Any = None) -> None:
        self.state = state
        self.second_state = second_state


class MatchedEvent(Event):
    """An event with a text in which a regular expression is searched. A subclass takes the text (`searched`), and the
    `channel` that searches only what is new; None in an event made by hand."""

    searched: Any
    channel: Any

    def find(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """The first match of a pattern."""
        if self.channel is None:
            return pattern.search(self.searched)
        found: re.Match[str] | None = self.channel.search(pattern)
        return found

    def get_match(self, ngroup: int = 0) -> str:
        """The match of the trigger's pattern, or of one of its groups.

        Raises:
            ValueError: the handler has no pattern.
        """
        return str(self._match().group(ngroup))

    def get_match_groups(self) -> tuple[str, ...]:
        """The match of each group of the trigger's pattern."""
        return tuple(self._match().groups())

    def _match(self) -> re.Match[str]:
        if not isinstance(self.condition_outcome, re.Match):
            raise ValueError("this handler has no pattern: write one into its decorator, such as on_message(r'\\.$')")
        return self.condition_outcome


class _Message(MatchedEvent):
    def is_message(self, msg: str, suffix: str = "") -> bool:
        """Whether the text ends in `msg`, followed by `suffix`."""
        return str(self.searched).endswith(msg + suffix)

    def is_message_exact(self, msg: str, suffix: str = "") -> bool:
        """Whether the text is `msg` and `suffix`, with nothing but blanks before."""
        return str(self.searched).lstrip() == msg + suffix


class MessageReceived(_Message):
    """The learner has completed a character. `message` is its text since the start of the task."""

    def __init__(self, message: str, channel: Any = None) -> None:
        self.searched, self.channel = message, channel

    @property
    def message(self) -> str:
        """The learner's text since the start of the task."""
        return str(self.searched)


class OutputMessageUpdated(_Message):
    """The teacher has completed a character. `output_message` is its text since the start of the task."""

    def __init__(self, output_message: str, channel: Any = None) -> None:
        self.searched, self.channel = output_message, channel

    @property
    def output_message(self) -> str:
        """The teacher's text since the start of the task."""
        return str(self.searched)


class SequenceReceived(MatchedEvent):
    """The learner has sent another bit. `sequence` is all bits since the task began."""

    def __init__(self, sequence: Any, channel: Any = None) -> None:
        self.searched, self.channel = sequence, channel

    @property
    def sequence(self) -> str:
        """All bits of the learner since the task began."""
        return str(self.searched)


class OutputSequenceUpdated(MatchedEvent):
    """The teacher has sent another bit. `output_sequence` is all bits since the task began."""

    def __init__(self, output_sequence: Any, channel: Any = None) -> None:
        self.searched, self.channel = output_sequence, channel

    @property
    def output_sequence(self) -> str:
        """All bits of the teacher since the task began."""
        return str(self.searched)


class Trigger(NamedTuple):
    """A type of event, a condition on the event, and the function to call,
    `event_handler(observer, event)`."""

    type: type[Any]
    condition: Callable[[Any], Any]
    event_handler: Callable[[Any, Any], Any]


class EventManager:
    """The triggers of all observers by type of event. Observers with a lower `event_rank` (0 by default) come first,
    others in the order of registration."""

    def __init__(self) -> None:
        # Tuples are replaced, not changed, so that handlers may register and deregister while an event is handled.
        # Each entry: the observer, its trigger, and its method `hears` or None.
        self._entries: dict[type[Any], tuple[tuple[Any, Trigger, Any], ...]] = {}

    def register(self, observer: Any, trigger: Trigger) -> None:
        """Adds a trigger of an observer."""
        present = self._entries.get(trigger.type, ())
        rank = getattr(observer, "event_rank", 0)
        at = len(present)
        while at and getattr(present[at - 1][0], "event_rank", 0) > rank:
            at -= 1
        entry = (observer, trigger, getattr(observer, "hears", None))
        self._entries[trigger.type] = (*present[:at], entry, *present[at:])

    def deregister(self, observer: Any, trigger: Trigger) -> None:
        """Removes a trigger of an observer, if it is registered."""
        kept = tuple(e for e in self._entries.get(trigger.type, ()) if e[0] is not observer or e[1] != trigger)
        self._entries[trigger.type] = kept
        if not kept:
            del self._entries[trigger.type]

    def clear(self) -> None:
        """Removes all triggers."""
        self._entries.clear()

    def has_triggers(self, of: type[Any]) -> bool:
        """Whether a trigger of this type of event is registered."""
        return of in self._entries

    def raise_event(self, event: Any) -> bool:
        """Calls the handlers whose conditions hold; returns whether there was one.

        An observer with a method `hears` is asked before each of its handlers whether it still takes the event.
        """
        handled = False
        for observer, trigger, hears in self._entries.get(type(event), ()):
            if hears is not None and not hears(event):
                continue
            event.observer = observer
            outcome = trigger.condition(event)
            if outcome:
                event.condition_outcome = outcome
                trigger.event_handler(observer, event)
                handled = True
        return handled
