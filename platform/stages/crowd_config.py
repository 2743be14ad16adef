"""Settings of the crowd: synthetic people at a studio."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CrowdConfig:
    """Number, length and pace of the synthetic people.

    Their skill and errors are those of the run's scripted players: `solver`, `collect.setter` and `mark.rater`; their
    random numbers follow from `run.seed`.
    """

    studio: str = ""  # address, as http://127.0.0.1:8700; empty: of the studio that serves the run
    players: int = 2
    raters: int = 2
    seconds: float = 60.0
    study: str = "marks"  # that the raters take part in
    speed: float = 4.0  # at which raters watch recordings; 0: they mark at once
    films: bool = True  # whether raters fetch the pictures that a browser would show

    def __post_init__(self) -> None:
        wrong = [f"crowd.{name} is at least 0" for name in ("players", "raters", "speed") if getattr(self, name) < 0]
        if self.seconds <= 0:
            wrong.append(f"crowd.seconds is above 0, got {self.seconds}")
        if not self.players + self.raters:
            wrong.append("crowd.players and crowd.raters are both 0: nobody would come")
        if wrong:
            raise ValueError("; ".join(wrong))
