"""Invitations and logins: random codes of 128 bits, kept only as a hash."""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Collection
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from interplay.core.files import private_folder
from interplay.studio.people.audit import AuditLog
from interplay.studio.people.person import ROLES, People, Person
from interplay.studio.people.studio_database import StudioDatabase

CODE_BYTES = 16
LOGIN_SECONDS = 30 * 86400.0
ATTEMPT_SECONDS = 600.0  # in which a browser that got no answer to its entrance may ask again


def hashed(code: str) -> str:
    """What is kept of a code or a cookie. The codes are random, so a plain hash can't be inverted by guessing."""
    return hashlib.sha256(code.encode(errors="replace")).hexdigest()


@dataclass(frozen=True)
class Invitation:
    """What a code gives: roles, a study (empty: none in particular), and the person if it names one."""

    roles: tuple[str, ...]
    study: str
    person: str | None


class Invitations:
    """The codes that let people in."""

    def __init__(self, database: StudioDatabase) -> None:
        self._database = database

    def make(
        self, roles: Collection[str], *, study: str = "", uses: int = 1, seconds: float, person: str | None = None
    ) -> str:
        """Makes an invitation and returns its code, which is kept nowhere. Raises ValueError for an unknown role."""
        if unknown := set(roles) - set(ROLES):
            raise ValueError(f"unknown roles {sorted(unknown)}; an invitation gives some of {', '.join(ROLES)}")
        code, now = secrets.token_urlsafe(CODE_BYTES), time.time()
        given = {"code": hashed(code), "roles": json.dumps(sorted(roles)), "study": study, "uses": uses}
        self._database.insert("invitations", **given, expires=now + seconds, created=now, person=person)
        return code

    def find(self, code: str) -> Invitation | None:
        """The invitation of a code that is not too old; it may be used up."""
        rows = self._database.rows(
            "SELECT * FROM invitations WHERE code = ? AND expires > ?", hashed(code), time.time()
        )
        return Invitation(tuple(json.loads(rows[0]["roles"])), rows[0]["study"], rows[0]["person"]) if rows else None

    def redeem(self, code: str) -> bool:
        """Uses a code up by one; False if it is unknown, used up or too old."""
        statement = "UPDATE invitations SET used = used + 1 WHERE code = ? AND used < uses AND expires > ?"
        return bool(self._database.write(statement, hashed(code), time.time()))

    def withdraw(self, person: str) -> None:
        """Ends the unused codes that name a person, as the next start prints a new one."""
        self._database.write("DELETE FROM invitations WHERE person = ?", person)


def make_invitation(root: Path, roles: Collection[str], *, study: str = "", uses: int = 1, seconds: float) -> str:
    """Makes an invitation to the studio of the run in `root`, running or not, and returns its code."""
    folder = root / "studio"
    private_folder(folder)
    with closing(StudioDatabase(folder / "studio.db")) as database:
        code = Invitations(database).make(roles, study=study, uses=uses, seconds=seconds)
    AuditLog(folder / "audit.jsonl").note("invitation", "", roles=sorted(roles), study=study, uses=uses)
    return code


class Attempts:
    """The entrances of the last minutes, by the name that the browser gave to the attempt.

    A code may be used up by an entrance whose answer does not arrive; the same attempt then enters as the same person.
    """

    def __init__(self) -> None:
        self._entered: dict[str, tuple[float, str]] = {}

    def person(self, code: str, attempt: str) -> str | None:
        """The person that this attempt let in; None for a new one, and for one without a name."""
        self._forget_old()
        return self._entered.get(hashed(f"{code} {attempt}"), (0.0, None))[1] if attempt else None

    def keep(self, code: str, attempt: str, person: str) -> None:
        """Keeps the person that an attempt let in; nothing without a name."""
        if attempt:
            self._entered[hashed(f"{code} {attempt}")] = time.monotonic(), person

    def _forget_old(self) -> None:
        since = time.monotonic() - ATTEMPT_SECONDS
        self._entered = {key: entered for key, entered in self._entered.items() if entered[0] > since}


class Logins:
    """The cookies by which browsers are recognized."""

    def __init__(self, database: StudioDatabase, people: People) -> None:
        self._database = database
        self._people = people

    def begin(self, person: str) -> str:
        """Logs a person in and returns the cookie's value, which is kept nowhere."""
        token, now = secrets.token_urlsafe(CODE_BYTES), time.time()
        self._database.write("DELETE FROM logins WHERE expires < ?", now)
        times = {"created": now, "expires": now + LOGIN_SECONDS}
        self._database.insert("logins", token=hashed(token), person=person, **times)
        return token

    def find(self, token: str) -> Person | None:
        """The person that this cookie logs in."""
        rows = self._database.rows(
            "SELECT person FROM logins WHERE token = ? AND expires > ?", hashed(token), time.time()
        )
        return self._people.find(rows[0]["person"]) if rows else None

    def end(self, token: str) -> None:
        """Logs out."""
        self._database.write("DELETE FROM logins WHERE token = ?", hashed(token))
