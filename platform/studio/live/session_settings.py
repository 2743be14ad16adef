"""Settings of a live session: its world, its seats, its length. They are sent as JSON to the process that runs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from interplay.core.settings_validation import build_config
from interplay.stages.live_config import COPILOT, PERSON, SCRIPTED, SETTER, SOLVER, LiveConfig

WATCH = "watch"
SEATS = (SETTER, SOLVER, COPILOT, WATCH)  # their positions are sent
AGENT, HUMAN = "agent", "human"  # kinds of players, as episodes name them


@dataclass(frozen=True)
class SessionSettings:
    """One session. `seats` maps each seat to "person", "scripted" or the path of an agent's checkpoint."""

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
    split: str = "train"  # of its episode
    study: str = ""  # its name
    # Code and address by outcome (`partner_left`, `technical`), for people that stay where the session ends early.
    ways_back: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The fields, for JSON."""
        return asdict(self)

    @staticmethod
    def from_json(fields: Mapping[str, Any]) -> SessionSettings:
        """Reads what `to_json` gave."""
        return build_config(SessionSettings, fields, "session")

    @property
    def agents(self) -> dict[str, str]:
        """The checkpoints of the agents by seat."""
        return {seat: kind for seat, kind in self.seats.items() if kind not in (PERSON, SCRIPTED)}

    def players(self) -> dict[str, dict[str, str]]:
        """The players of an episode by role, as it states them; its control has those that take over from them."""
        return {seat: _player(kind) for seat, kind in self.seats.items() if seat != COPILOT}


def _player(kind: str) -> dict[str, str]:
    known = {PERSON: HUMAN, SCRIPTED: SCRIPTED}
    return {"kind": known[kind]} if kind in known else {"kind": AGENT, "checkpoint": kind}
