"""What was done in a house: between a remembered moment and now, or since a time. Meters and seconds throughout.

`before` is any earlier `HouseFacts` of the same house that the caller kept; a thing is named by its index. What went
away and came back has not moved. Who touched, hit, pushed and let go of a thing last is known exactly, and `since` asks
for contacts from that time on; if `PlayhouseConfig.track_contacts` is off there are none.
"""

from __future__ import annotations

import math

from interplay.env.playhouse.physics.contacts import SAME_CONTACT_S
from interplay.env.playhouse.truth.facts import ContactEvent, HouseFacts
from interplay.env.playhouse.truth.predicates.geometry import apart
from interplay.env.playhouse.truth.predicates.passages import same_room
from interplay.env.playhouse.truth.predicates.relations import contents, inside, on, touching

MOVED = 0.1  # what one sees to have moved; a thing that settles shifts by millimeters
SHOVED = 0.2  # of what was pushed on purpose: one who walks by may nudge a thing
THROWN = 1.0  # along the floor, from where it left the hand: a drop rolls 0.4 at most, a throw flies 1.5 and more
RAISED = 0.25  # above where it was; less may be a nudge
HANDY = 1.5  # from a player to the edge of what was brought to it: within reach


def moved(before: HouseFacts, now: HouseFacts, index: int) -> bool:
    """Is a thing elsewhere, sideways or up or down?"""
    return math.dist(before.things[index].position, now.things[index].position) >= MOVED


def pushed(before: HouseFacts, now: HouseFacts, index: int) -> bool:
    """Was a thing hit or pushed: is it elsewhere along the floor, and in nobody's hand, then or now?"""
    old, new = before.things[index], now.things[index]
    return old.held_by is None and new.held_by is None and math.dist(old.xy, new.xy) >= MOVED


def touched_with(facts: HouseFacts, index: int, role: str) -> bool:
    """Does what a player holds touch a thing?"""
    held = facts.bodies[role].holding
    return held is not None and touching(facts.things[held], facts.things[index])


def touched(facts: HouseFacts, index: int, tool: int, role: str, since: float = 0.0) -> bool:
    """Has a player touched a thing with what was in its hand, however briefly?"""
    return _done(facts.things[index].touched, role, since, tool)


def hit(facts: HouseFacts, index: int, tool: int, role: str, since: float = 0.0) -> bool:
    """Has a player hit a thing with what was in its hand: touched it, and come upon it at `HITS` at least?"""
    return _done(facts.things[index].hit, role, since, tool)


def pushed_by(facts: HouseFacts, index: int, role: str, since: float = 0.0) -> bool:
    """Has a player pushed a thing with its body: is it `SHOVED` from where it was when the player walked into it?"""
    deed = facts.things[index].pushed
    return _done(deed, role, since) and driven(facts, index, deed) >= SHOVED


def pushed_with(facts: HouseFacts, index: int, tool: int, role: str, since: float = 0.0) -> bool:
    """Has a player pushed a thing with what was in its hand: is it `SHOVED` from where it was when that touched it?"""
    deed = facts.things[index].touched
    return _done(deed, role, since, tool) and driven(facts, index, deed) >= SHOVED


def just_pushed(facts: HouseFacts, index: int, role: str, tool: int | None = None) -> bool:
    """Has a player pushed a thing within the last `SAME_CONTACT_S`, with its body or a tool? A further push would
    extend that event, and keep the position where it began."""
    thing = facts.things[index]
    return _done(thing.pushed if tool is None else thing.touched, role, facts.time - SAME_CONTACT_S, tool)


def thrown(facts: HouseFacts, index: int, role: str, since: float = 0.0) -> bool:
    """Has a thing flown or rolled `THROWN` from where a player let go of it, with no push since then?"""
    return _done(facts.things[index].let_go, role, since) and flown(facts, index) >= THROWN


def flown(facts: HouseFacts, index: int) -> float:
    """How far, along the floor, a thing is from where a hand let go of it; 0 for what is in a hand or was in none, and
    for what was pushed or touched since."""
    thing = facts.things[index]
    if thing.let_go is None or thing.held_by is not None:
        return 0.0
    by_itself = all(deed is None or deed.time < thing.let_go.time for deed in (thing.pushed, thing.touched))
    return math.dist(thing.let_go.place[:2], thing.xy) if by_itself else 0.0


def driven(facts: HouseFacts, index: int, deed: ContactEvent | None) -> float:
    """How far, along the floor, a thing is from where a push or a touch of it began; 0 for what has been in a hand
    since."""
    thing = facts.things[index]
    if deed is None or thing.held_by is not None or (thing.let_go is not None and thing.let_go.time > deed.time):
        return 0.0
    return math.dist(deed.place[:2], thing.xy)


def _done(deed: ContactEvent | None, role: str, since: float, tool: int | None = None) -> bool:
    return deed is not None and deed.role == role and deed.time >= since and deed.tool == tool


def raised(before: HouseFacts, now: HouseFacts, index: int, role: str) -> bool:
    """Has a player a thing in hand, higher than it was?"""
    old, new = before.things[index], now.things[index]
    return new.held_by == role and new.position[2] - old.position[2] >= RAISED


def raised_with_contents(before: HouseFacts, now: HouseFacts, index: int, role: str) -> bool:
    """Has a player raised a container that held something, and is all of it still inside?"""
    had = {thing.index for thing in contents(before, before.things[index])}
    has = {thing.index for thing in contents(now, now.things[index])}
    return bool(had) and had <= has and raised(before, now, index, role)


def removed(before: HouseFacts, now: HouseFacts, index: int, container: int) -> bool:
    """Was a thing in a container, and is neither in it nor on its rim?"""
    thing, box = now.things[index], now.things[container]
    out = not inside(thing, box) and not on(thing, box)
    return out and inside(before.things[index], before.things[container])


def emptied(before: HouseFacts, now: HouseFacts, container: int) -> bool:
    """Was there something in a container, and has all of it been removed, with nothing else put in?"""
    had = contents(before, before.things[container])
    gone = all(removed(before, now, thing.index, container) for thing in had)
    return bool(had) and gone and not contents(now, now.things[container])


def handed_over(before: HouseFacts, now: HouseFacts, index: int, giver: str, taker: str) -> bool:
    """Did a thing pass from one player's hand into another's? `before` is a moment at which the giver held it."""
    return before.things[index].held_by == giver and now.things[index].held_by == taker


def brought(before: HouseFacts, now: HouseFacts, index: int, role: str) -> bool:
    """Has a thing come to a player, near enough to be taken? It moved, not the player alone."""
    body, thing = now.bodies[role], now.things[index]
    here = same_room(body.room, thing.room) and apart(body, thing) <= HANDY
    was_here = same_room(body.room, before.things[index].room) and apart(body, before.things[index]) <= HANDY
    return here and not was_here


def settled(facts: HouseFacts) -> bool:
    """Is everything at rest, or in a hand?"""
    return all(thing.at_rest or thing.held_by is not None for thing in facts.things)
