"""`ledger.jsonl`: which unrolls went into which update, so that none is lost and none counts twice.

One line an update: {"update": 7, "played": [[actor, number, version], ...], "demonstrated": [[actor, number], ...]}.
The numbers of an actor's unrolls count up from 0 without a gap, over every restart of it and every resume.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Taken:
    """One unroll that was learned from."""

    actor: int
    number: int  # of the actor's unrolls, from 0
    version: int = 0  # of the weights that acted; of a demonstrated unroll: 0


class Ledger:
    """Appends to `path`. A run that resumes from the checkpoint of an update drops the rows after it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def go_on_from(self, update: int) -> None:
        """Drops the rows after an update: they will be lived through again."""
        rows = [row for row in _lines(self._path) if row["update"] <= update]
        self._path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._path.with_name(f".tmp-{self._path.name}")
        with temporary.open("w") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self._path)

    def write(self, update: int, *, played: Sequence[Taken] = (), demonstrated: Sequence[Taken] = ()) -> None:
        """What this update learned from."""
        row = {
            "update": update,
            "played": [[each.actor, each.number, each.version] for each in played],
            "demonstrated": [[each.actor, each.number] for each in demonstrated],
        }
        with self._path.open("a") as file:
            file.write(json.dumps(row) + "\n")


@dataclass(frozen=True)
class LedgerRow:
    """One update of a ledger."""

    update: int
    played: tuple[Taken, ...]
    demonstrated: tuple[Taken, ...]


def read_ledger(path: Path) -> list[LedgerRow]:
    """The rows of a ledger; none where there is no file. A last line cut short by a kill is left out."""
    return [
        LedgerRow(
            row["update"],
            tuple(Taken(*each) for each in row["played"]),
            tuple(Taken(*each) for each in row["demonstrated"]),
        )
        for row in _lines(path)
    ]


def _lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    lines = path.read_text().splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]
