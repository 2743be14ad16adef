"""What was done between a remembered moment of a house and now. Metres throughout.

`before` is any earlier `HouseFacts` of the same house that the caller kept; a thing is named by its index. Facts know
no contacts and no paths: what went away and came back has not moved.
"""

from __future__ import annotations

import math

from interplay.env.playhouse.facts import HouseFacts
from interplay.env.playhouse.queries.geometry import apart
from interplay.env.playhouse.queries.passages import same_room
from interplay.env.playhouse.queries.relations import contents, inside, on, touching

MOVED = 0.1  # what one sees to have moved; a thing that settles shifts by millimetres
STRUCK = 0.6  # from edge to edge of a tool and what it struck: light things slide on for about as much
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


def pushed_with(before: HouseFacts, now: HouseFacts, index: int, tool: int, role: str) -> bool:
    """Was a thing hit or pushed with what a player held close to it then, or holds close to it now?"""
    close = any(
        facts.things[tool].held_by == role and apart(facts.things[tool], facts.things[index]) <= STRUCK
        for facts in (before, now)
    )
    return close and pushed(before, now, index)


def touched_with(facts: HouseFacts, index: int, role: str) -> bool:
    """Does what a player holds touch a thing?"""
    held = facts.bodies[role].holding
    return held is not None and touching(facts.things[held], facts.things[index])


def thrown(before: HouseFacts, now: HouseFacts, index: int, role: str) -> bool:
    """Was a thing released and travelled? `before` is the last moment at which the player held it."""
    old, new = before.things[index], now.things[index]
    return old.held_by == role and new.held_by is None and math.dist(old.xy, new.xy) >= THROWN


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
