"""Contact predicates: which player touched, hit, pushed or threw a thing, and how far it moved. Meters and seconds.

A thing is identified by its index. Only contacts from the time `since` on count; without
`PlayhouseConfig.track_contacts` no contact is recorded.
"""

from __future__ import annotations

import math

from interplay.env.playhouse.physics.contacts import SAME_CONTACT_S
from interplay.env.playhouse.truth.facts import ContactEvent, HouseFacts

MIN_PUSH_DISTANCE_M = 0.2  # displacement by a deliberate push; a passing player may nudge a thing
MIN_THROW_DISTANCE_M = 1.0  # along the floor from the hand: a drop rolls 0.4 at most, a throw flies 1.5 and more


def touched(facts: HouseFacts, index: int, tool: int, role: str, since: float = 0.0) -> bool:
    """Whether a player touched a thing with a held object, however briefly."""
    return _matches(facts.things[index].touched, role, since, tool)


def hit(facts: HouseFacts, index: int, tool: int, role: str, since: float = 0.0) -> bool:
    """Whether a player hit a thing with a held object: touched it at `MIN_HIT_SPEED_MPS` or faster."""
    return _matches(facts.things[index].hit, role, since, tool)


def pushed_by(facts: HouseFacts, index: int, role: str, since: float = 0.0) -> bool:
    """Whether a player pushed a thing with its body to at least `MIN_PUSH_DISTANCE_M` from where the contact began."""
    event = facts.things[index].pushed
    return _matches(event, role, since) and pushed_distance(facts, index, event) >= MIN_PUSH_DISTANCE_M


def pushed_with(facts: HouseFacts, index: int, tool: int, role: str, since: float = 0.0) -> bool:
    """As `pushed_by`, with a held object instead of the body."""
    event = facts.things[index].touched
    return _matches(event, role, since, tool) and pushed_distance(facts, index, event) >= MIN_PUSH_DISTANCE_M


def just_pushed(facts: HouseFacts, index: int, role: str, tool: int | None = None) -> bool:
    """Whether a player pushed a thing within the last `SAME_CONTACT_S`, with its body or a tool. A further push would
    extend that event instead of starting a new one."""
    thing = facts.things[index]
    return _matches(thing.pushed if tool is None else thing.touched, role, facts.time - SAME_CONTACT_S, tool)


def thrown(facts: HouseFacts, index: int, role: str, since: float = 0.0) -> bool:
    """Whether a thing flew or rolled `MIN_THROW_DISTANCE_M` or more from where a player released it, unpushed since."""
    return _matches(facts.things[index].let_go, role, since) and thrown_distance(facts, index) >= MIN_THROW_DISTANCE_M


def thrown_distance(facts: HouseFacts, index: int) -> float:
    """Distance along the floor of a thing from where it was released; 0 if it is held, was never held, or was pushed or
    touched since."""
    thing = facts.things[index]
    if thing.let_go is None or thing.held_by is not None:
        return 0.0
    by_itself = all(event is None or event.time < thing.let_go.time for event in (thing.pushed, thing.touched))
    return math.dist(thing.let_go.place[:2], thing.xy) if by_itself else 0.0


def pushed_distance(facts: HouseFacts, index: int, event: ContactEvent | None) -> float:
    """Distance along the floor of a thing from where a push or touch of it began; 0 if it was held since."""
    thing = facts.things[index]
    if event is None or thing.held_by is not None or (thing.let_go is not None and thing.let_go.time > event.time):
        return 0.0
    return math.dist(event.place[:2], thing.xy)


def _matches(event: ContactEvent | None, role: str, since: float, tool: int | None = None) -> bool:
    return event is not None and event.role == role and event.time >= since and event.tool == tool


def settled(facts: HouseFacts) -> bool:
    """Whether everything is at rest or held."""
    return all(thing.at_rest or thing.held_by is not None for thing in facts.things)
