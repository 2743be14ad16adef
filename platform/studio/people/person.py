"""A person of the studio: a pseudonym and what it may do. Names and platform ids are kept apart from it."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from interplay.studio.people.studio_database import StudioDatabase

Role = Literal["research", "adjudicate", "play", "copilot", "mark"]
ROLES = get_args(Role)
RESEARCHER = "p-root"  # the person of the code that the start prints
LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"  # without those that look alike


@dataclass(frozen=True)
class Person:
    """A pseudonym `p-xxxxxx`, its roles, its own settings (such as keys), and why it is paused, if it is."""

    id: str
    roles: frozenset[str]
    settings: Mapping[str, Any]
    paused: str | None = None


class People:
    """The people of `studio.db`."""

    def __init__(self, database: StudioDatabase) -> None:
        self._database = database

    def add(self, roles: Collection[str], person: str | None = None) -> Person:
        """Adds a person under a new pseudonym, or gives these roles to `person` as well."""
        name = person or self._new_name()
        old = self.find(name)
        if unknown := set(roles) - set(ROLES):
            raise ValueError(f"unknown roles {sorted(unknown)}; a person has some of {', '.join(ROLES)}")
        every = frozenset(roles) | (old.roles if old else frozenset())
        self._database.write(
            "INSERT INTO people (id, created, roles) VALUES (?, ?, ?) "
            "ON CONFLICT (id) DO UPDATE SET roles = excluded.roles",
            name,
            time.time(),
            json.dumps(sorted(every)),
        )
        return Person(name, every, old.settings if old else {}, old.paused if old else None)

    def find(self, person: str) -> Person | None:
        """The person of this pseudonym."""
        rows = self._database.rows("SELECT * FROM people WHERE id = ?", person)
        return _person(rows[0]) if rows else None

    def all(self) -> list[Person]:
        """Everyone, in the order in which they came."""
        return [_person(row) for row in self._database.rows("SELECT * FROM people ORDER BY created")]

    def change_settings(self, person: str, changed: Mapping[str, Any]) -> None:
        """Changes some of a person's own settings; the others stay."""
        with self._database.writing() as connection:
            for (kept,) in connection.execute("SELECT settings FROM people WHERE id = ?", [person]).fetchall():
                settings = json.dumps({**json.loads(kept), **changed})
                connection.execute("UPDATE people SET settings = ? WHERE id = ?", [settings, person])

    def pause(self, person: str, reason: str | None) -> None:
        """Gives a person no further work, for this reason; None ends the pause."""
        self._database.write("UPDATE people SET paused = ? WHERE id = ?", reason, person)

    def identify(self, person: str, platform: str, name: str) -> None:
        """Keeps the id that a crowd platform gave to a person."""
        self._database.insert("identities", "IGNORE", person=person, platform=platform, name=name)

    def identified(self, platform: str, name: str) -> Person | None:
        """The person that a crowd platform calls `name`."""
        rows = self._database.rows("SELECT person FROM identities WHERE platform = ? AND name = ?", platform, name)
        return self.find(rows[0]["person"]) if rows else None

    def agree(self, person: str, study: str, version: int, text: str, ticked: Sequence[str]) -> None:
        """Keeps what a person agreed to: a version of a study's consent, its text as shown, the statements ticked."""
        agreed = {"person": person, "study": study, "version": version, "text": text, "answers": json.dumps(ticked)}
        self._database.insert("consents", "REPLACE", **agreed, at=time.time())

    def has_agreed(self, person: str, study: str, version: int) -> bool:
        """Whether a person agreed to this version of a study's consent."""
        query = "SELECT 1 FROM consents WHERE person = ? AND study = ? AND version = ?"
        return bool(self._database.rows(query, person, study, version))

    def _new_name(self) -> str:
        while True:
            name = "p-" + "".join(secrets.choice(LETTERS) for _ in range(6))
            if self.find(name) is None:
                return name


def _person(row: Any) -> Person:
    return Person(row["id"], frozenset(json.loads(row["roles"])), json.loads(row["settings"]), row["paused"])
