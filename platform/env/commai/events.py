"""Triggers, and the manager that calls their handlers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


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
