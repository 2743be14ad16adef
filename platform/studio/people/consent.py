"""What people agreed to: the text as it was shown, the version, and which statements were ticked."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

from interplay.studio.people.studio_database import StudioDatabase


class Consents:
    """Answers by person, study and version of the consent."""

    def __init__(self, database: StudioDatabase) -> None:
        self._database = database

    def keep(self, person: str, study: str, version: int, text: str, ticked: Sequence[str]) -> None:
        """Keeps an agreement."""
        self._database.write(
            "INSERT OR REPLACE INTO consents VALUES (?, ?, ?, ?, ?, ?)",
            person,
            study,
            version,
            text,
            json.dumps(list(ticked)),
            time.time(),
        )

    def given(self, person: str, study: str, version: int) -> bool:
        """Whether the person agreed to this version."""
        query = "SELECT 1 FROM consents WHERE person = ? AND study = ? AND version = ?"
        return bool(self._database.rows(query, person, study, version))
