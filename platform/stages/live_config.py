"""Settings of live sessions, in which people play in the studio."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PERSON, SCRIPTED = "person", "scripted"


@dataclass(frozen=True)
class LiveConfig:
    """Seats, length and clock of live sessions.

    `clock=stepped` runs a frame once every person has sent an input for it, so that a session does not depend on time.
    """

    setter: Literal["person", "scripted"] = "person"
    seconds: float = 300.0  # of an episode
    prompts: Literal["cues", "free"] = "cues"  # cards with a cue and perhaps a modifier, or any request
    modifier_chance: float = 0.5
    clock: Literal["real", "stepped"] = "real"
    pictures: int = 30  # a second, at most
    wait_seconds: float = 300.0  # for a partner
    away_seconds: float = 3.0  # without a sign of life, after which the world pauses
    leave_seconds: float = 30.0  # of absence, after which the episode ends
    resume_seconds: float = 120.0  # after a kill, within which the same people continue
    sessions: int = 4  # at the same time
    inputs_per_second: int = 120  # of one socket
    utterances: int = 5  # of one socket in `utterance_seconds`
    utterance_seconds: float = 10.0
    utterance_letters: int = 200

    def __post_init__(self) -> None:
        numbers = {name: value for name, value in vars(self).items() if isinstance(value, int | float)}
        wrong = [f"studio.live.{name} is above 0, got {value}" for name, value in numbers.items() if value <= 0]
        wrong = [each for each in wrong if "modifier_chance" not in each]
        if not 0 <= self.modifier_chance <= 1:
            wrong.append(f"studio.live.modifier_chance is a chance from 0 to 1, got {self.modifier_chance}")
        if wrong:
            raise ValueError("; ".join(wrong))
