"""A live session executed once more, from its journal, for the true state that a synthetic player reads.

The studio sends pictures to its players. Scripted players read ground truth, so a synthetic player runs a world of its
own and executes the steps of the journal of the session while they are written.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from interplay.env import registry
from interplay.env.world import Action, Start, World
from interplay.studio.live.session_journal import whole_bytes


class SessionMirror:
    """The world of a session after the steps that its journal holds.

    Raises:
        OSError: the session has no journal.
        ValueError: the journal has no head yet.
    """

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self._read = 0  # bytes
        lines = self._new_lines()
        if not lines:
            raise ValueError(f"{journal} has not been begun")
        head = lines.pop(0)
        self.episode: str = head["id"]
        self.seed: int = head["settings"]["seed"]
        self.world: World = registry.make(**head["settings"]["env"])
        self.world.reset(Start(state=b64decode(head["state"])), observers=())
        self.steps = 0
        self.inputs: Mapping[str, Any] = {}  # by role, the state of the seat's input after the last step
        self._waiting = lines

    def follow(self) -> list[tuple[int, Mapping[str, str]]]:
        """Executes the new steps; returns (step, what was said in it by role) of each."""
        followed = []
        for line in [*self._waiting, *self._new_lines()]:
            if "rows" not in line:
                continue
            said: Mapping[str, str] = line["said"]
            rows = {role: np.array(of_role, np.int8) for role, of_role in line["rows"].items()}
            self.world.step({role: Action(of_role, said.get(role)) for role, of_role in rows.items()}, observers=())
            followed.append((self.steps, said))
            self.steps += 1
            self.inputs = line["inputs"]
        self._waiting = []
        return followed

    def close(self) -> None:
        """Closes the world."""
        self.world.close()

    def _new_lines(self) -> list[dict[str, Any]]:
        """The complete lines since the last call; none once the journal is gone."""
        try:
            with self._journal.open("rb") as file:
                file.seek(self._read)
                data = file.read()
        except FileNotFoundError:
            if not self._read:
                raise
            return []
        whole = data[: whole_bytes(data)]
        self._read += len(whole)
        return [json.loads(line) for line in whole.splitlines()]
