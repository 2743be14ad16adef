"""The lobby: people waiting for a partner, first come, first paired; both have to be ready."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from interplay.stages.live_config import PERSON, LiveConfig

GONE_SECONDS = 5.0  # without a visit
RETURN_SECONDS = 120.0  # of absence that keep one's place: browsers let a page in the background act once a minute
READY_SECONDS = 20.0  # for both to press it


@dataclass
class _Waiting:
    person: str
    since: float
    seen: float
    ready: bool = False
    matched: float | None = None  # since when it has a partner
    late: bool = False  # it had a partner, and has not pressed Ready in time or since


class Lobby:
    """People waiting. Roles alternate from one episode of a person to the next."""

    def __init__(self, config: LiveConfig, open_session: Callable[[Mapping[str, str]], object]) -> None:
        self._config = config
        self._seats = [seat for seat, kind in config.seats.items() if kind == PERSON]
        self._open = open_session
        self._waiting: dict[str, _Waiting] = {}
        self._gone: dict[str, _Waiting] = {}  # no one is paired with them
        self._last_role: dict[str, str] = {}

    def visit(self, person: str, *, ready: bool, now: float | None = None) -> dict[str, Any]:
        """A visit of a person that waits; returns what its page shows, and whether a session has just been opened."""
        now = time.monotonic() if now is None else now
        self._drop_gone(now)
        mine = self._waiting.setdefault(person, self._gone.pop(person, _Waiting(person, now, now)))
        mine.seen, mine.ready = now, ready
        mine.late = mine.late and not ready
        group = self._group(person)
        if group is None:
            mine.matched = None
            if now - mine.since > self._config.wait_seconds and self._config.no_partner != "wait":
                return self._without_partner(mine)
            return {"state": "waiting", "waited": round(now - mine.since, 1)}
        for each in group:
            each.matched = each.matched or now
        if all(each.ready for each in group):
            return self._begin(group)
        self._drop_slow(group, now)
        return {"state": "matched", "seconds": round(READY_SECONDS - (now - (mine.matched or now)), 1)}

    def _without_partner(self, mine: _Waiting) -> dict[str, Any]:
        """What follows where no one else came: a scripted player in the other seat, or the end."""
        if self._config.no_partner == "end":
            del self._waiting[mine.person]
            return {"state": "no_partner"}
        return self._begin([mine]) if mine.ready else {"state": "stand_in"}

    @property
    def people(self) -> list[str]:
        """The people that wait."""
        return list(self._waiting)

    def leave(self, person: str) -> None:
        """A person waits no longer."""
        self._waiting.pop(person, None)
        self._gone.pop(person, None)

    def _group(self, person: str) -> list[_Waiting] | None:
        """The people that begin together with this one: itself, and the partner if the session needs one."""
        if len(self._seats) == 1:
            return [self._waiting[person]]
        order = sorted((each for each in self._waiting.values() if not each.late), key=lambda each: each.since)
        pairs = [order[start : start + 2] for start in range(0, len(order) - 1, 2)]
        return next((pair for pair in pairs if self._waiting[person] in pair), None)

    def _begin(self, group: list[_Waiting]) -> dict[str, Any]:
        people, free = [each.person for each in group], list(self._seats)
        if len(free) == 2 and self._last_role.get(people[0]) == free[0]:
            free.reverse()
        seats = dict(zip(free, people, strict=False))  # a seat may stay free, for a scripted player
        for seat, person in seats.items():
            self._last_role[person] = seat
            del self._waiting[person]
        self._open(seats)
        return {"state": "session"}

    def _drop_gone(self, now: float) -> None:
        """Leaves out people without a recent visit, and forgets those that have not come back."""
        for person in [name for name, each in self._waiting.items() if now - each.seen > GONE_SECONDS]:
            self._gone[person] = self._waiting.pop(person)
            self._gone[person].matched = None
        for person in [name for name, each in self._gone.items() if now - each.seen > RETURN_SECONDS]:
            del self._gone[person]

    def _drop_slow(self, group: list[_Waiting], now: float) -> None:
        """Gives those no other partner until they press Ready, and the end of the line, that did not do so in time."""
        for each in group:
            if each.matched is not None and now - each.matched > READY_SECONDS:
                each.matched = None
                if not each.ready:
                    each.since, each.late = now, True
