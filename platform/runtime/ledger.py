"""`ledger.jsonl`: which unrolls went into which update, the proof that none is lost and none is used twice.

One line per update: {"update": 7, "played": [[actor, number, version], ...], "demonstrated": [[actor, number], ...]}.
The unrolls of an actor are numbered from 0 without a gap, across its restarts and across resumes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from interplay.core.files import JsonLines


@dataclass(frozen=True)
class ConsumedUnroll:
    """An unroll that an update learned from."""

    actor: int
    number: int  # of the actor's unrolls, from 0
    version: int = 0  # of the weights that acted; 0 for a demonstration


class Ledger:
    """Appends to `path`. A run that resumes from the checkpoint of an update drops the rows after it."""

    def __init__(self, path: Path) -> None:
        self._rows = JsonLines(path, key="update")

    def truncate_after(self, update: int) -> None:
        """Drops the rows after an update, which will be repeated."""
        self._rows.drop_after(update)

    def write(
        self, update: int, *, played: Sequence[ConsumedUnroll] = (), demonstrated: Sequence[ConsumedUnroll] = ()
    ) -> None:
        """Appends the unrolls that this update learned from."""
        row = {
            "update": update,
            "played": [[each.actor, each.number, each.version] for each in played],
            "demonstrated": [[each.actor, each.number] for each in demonstrated],
        }
        self._rows.append(row)
