"""What a live session is: its world, its seats, its length; JSON on the way to the process that runs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from interplay.core.settings_validation import build_config
from interplay.stages.live_config import PERSON, LiveConfig

SETTER, SOLVER, COPILOT, WATCH = SEATS = ("setter", "solver", "copilot", "watch")  # their positions are sent


@dataclass(frozen=True)
class SessionSettings:
    """One session. `seats` says by role what plays it: "person", "scripted" or a recording's or agent's path."""

    session: str
    store: str  # folder of the episode store
    journal: str  # file
    env: Mapping[str, Any]  # settings of the world, with its name
    seed: int
    seats: Mapping[str, str]
    people: Mapping[str, str]  # pseudonyms by seat
    live: LiveConfig = field(default_factory=LiveConfig)
    size: tuple[int, int] = (288, 384)
    quality: int = 85
    recorded: bool = True

    def to_json(self) -> dict[str, Any]:
        """The fields, for JSON."""
        return asdict(self)

    @staticmethod
    def from_json(fields: Mapping[str, Any]) -> SessionSettings:
        """Reads what `to_json` gave."""
        return build_config(SessionSettings, fields, "session")

    def players(self) -> dict[str, dict[str, str]]:
        """The players of an episode, as it states them."""
        kinds = {role: "human" if kind == PERSON else kind for role, kind in self.seats.items()}
        return {role: {"kind": kind} for role, kind in kinds.items()}
