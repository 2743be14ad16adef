"""Settings of the verbs about people of the studio: invite, forget, export."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class InviteConfig:
    """What an invitation gives."""

    roles: tuple[str, ...] = ("mark",)
    study: str = ""  # that its people are led to; empty: none in particular
    uses: int = 1  # people that may enter by it
    days: float = 7.0

    def __post_init__(self) -> None:
        if not self.roles or self.uses < 1 or self.days <= 0:
            raise ValueError(
                f"invite.roles names at least one role, invite.uses is at least 1 and invite.days above 0, got "
                f"{list(self.roles)}, {self.uses} and {self.days:g}"
            )


@dataclass(frozen=True)
class ForgetConfig:
    """Whose data are deleted; without `confirm` they are listed only."""

    person: str = ""
    confirm: bool = False


@dataclass(frozen=True)
class ExportConfig:
    """Where and how the studio's tables are written. `identities`: with the ids of crowd platforms."""

    folder: str = ""  # empty: studio/export in the run's folder
    format: Literal["csv", "jsonl"] = "csv"
    identities: bool = False
