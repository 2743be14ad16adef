"""Settings of the studio, the web server on whose pages people take part, and of the verbs about people and exports."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from interplay.stages.live_config import LiveConfig

WILDCARDS = ("0.0.0.0", "::")  # hosts that stand for every address of this machine


@dataclass(frozen=True)
class StudioLimits:
    """Upper limits on what a browser may send. Requests over a limit are refused, none is queued."""

    body_bytes: int = 64_000  # of one request
    body_seconds: int = 20  # within which it arrives, and 1 more for each 500 bytes
    marks_per_second: int = 20  # of one login
    entrances_per_minute: int = 10  # of one address

    def __post_init__(self) -> None:
        limits = vars(self).items()
        wrong = [f"studio.limits.{name} must be at least 1, got {value}" for name, value in limits if value < 1]
        if wrong:
            raise ValueError("; ".join(wrong))


@dataclass(frozen=True)
class StudioConfig:
    """Address, security and pictures of the studio.

    `host` other than this machine's loopback address needs TLS (`tls_cert` and `tls_key`) or `behind_proxy`, a proxy
    that speaks TLS to the browsers, with the addresses that they see as `origins`.
    """

    host: str = "127.0.0.1"  # the address that the studio listens on
    port: int = 8700  # 0: any free one
    origins: tuple[str, ...] = ()  # further addresses of the pages, as https://studio.example.org
    tls_cert: str = ""  # path of the certificate
    tls_key: str = ""  # path of its key
    behind_proxy: bool = False  # a proxy speaks TLS to the browsers
    size: tuple[int, int] = (288, 384)  # height and width of pictures; the width follows the world's aspect
    quality: int = 85  # of JPEG, 1 to 100
    films_gb: float = 20.0  # disk space of the pictures of recorded episodes, which are drawn again when they are gone
    limits: StudioLimits = field(default_factory=StudioLimits)
    live: LiveConfig = field(default_factory=LiveConfig)

    def __post_init__(self) -> None:
        wrong = []
        if not 0 <= self.port <= 65535:
            wrong.append(f"studio.port must be between 0 and 65535, got {self.port}")
        if bool(self.tls_cert) != bool(self.tls_key):
            wrong.append("studio.tls_cert and studio.tls_key belong together: give both or none")
        if self.behind_proxy and not self.origins:
            wrong.append(
                "studio.behind_proxy=true needs the address that browsers see: add "
                "'studio.origins=[https://studio.example.org]'"
            )
        for origin in self.origins:
            parts = urlsplit(origin)
            if (
                parts.scheme not in ("http", "https")
                or not parts.netloc
                or origin != f"{parts.scheme}://{parts.netloc}"
            ):
                wrong.append(
                    f"studio.origins takes addresses as https://studio.example.org, without a path, got {origin!r}"
                )
        if not is_loopback(self.host) and not (self.tls_cert or self.behind_proxy):
            wrong.append(
                f"studio.host={self.host} lets other machines in, and without TLS anyone on the way could read along: "
                "add studio.tls_cert=FILE studio.tls_key=FILE, or put a proxy that speaks TLS in front and add "
                "studio.behind_proxy=true 'studio.origins=[https://studio.example.org]'"
            )
        elif self.host in WILDCARDS and not (self.origins or self.behind_proxy):
            wrong.append(
                f"studio.host={self.host} is not an address that browsers can open: add the one under which people "
                f"reach this machine, as 'studio.origins=[https://studio.example.org:{self.port}]'"
            )
        if not all(48 <= side <= 1080 for side in self.size):
            wrong.append(f"studio.size must be a height and a width between 48 and 1080 pixels, got {list(self.size)}")
        if not 1 <= self.quality <= 100:
            wrong.append(f"studio.quality must be between 1 and 100, got {self.quality}")
        if self.films_gb <= 0:
            wrong.append(f"studio.films_gb must be above 0, got {self.films_gb}")
        if wrong:
            raise ValueError("; ".join(wrong))

    @property
    def scheme(self) -> str:
        """The URL scheme of the studio itself."""
        return "https" if self.tls_cert else "http"


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches `host`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True)
class CrowdConfig:
    """Number, length and pace of the synthetic people.

    Their skill and errors are those of the run's scripted players: `solver`, `collect.setter` and `mark.rater`; their
    random numbers follow from `run.seed`.
    """

    studio: str = ""  # address, as http://127.0.0.1:8700; empty: of the studio that serves the run
    players: int = 2  # synthetic people that play, in pairs
    raters: int = 2  # synthetic people that mark
    seconds: float = 60.0  # after which they leave
    patience: float = 30.0  # seconds after which they leave a studio that has ended, and is not started again
    study: str = "marks"  # that the raters take part in
    speed: float = 4.0  # at which raters watch recordings; 0: they mark at once
    films: bool = True  # whether raters fetch the pictures that a browser would show

    def __post_init__(self) -> None:
        negative = [name for name in ("players", "raters", "speed") if getattr(self, name) < 0]
        wrong = [f"crowd.{name} must be at least 0" for name in negative]
        for name in ("seconds", "patience"):
            if getattr(self, name) <= 0:
                wrong.append(f"crowd.{name} must be above 0, got {getattr(self, name)}")
        if not self.players + self.raters:
            wrong.append("crowd.players and crowd.raters are both 0: set one to at least 1")
        if wrong:
            raise ValueError("; ".join(wrong))


@dataclass(frozen=True)
class InviteConfig:
    """Settings of an invitation."""

    roles: tuple[str, ...] = ("mark",)  # what its people may do
    study: str = ""  # that its people are led to; empty: none in particular
    uses: int = 1  # people that may enter by it
    days: float = 7.0  # until it expires

    def __post_init__(self) -> None:
        if not self.roles or self.uses < 1 or self.days <= 0:
            raise ValueError(
                f"invite.roles must name a role, invite.uses must be at least 1 and invite.days above 0, got "
                f"{list(self.roles)}, {self.uses} and {self.days:g}"
            )


@dataclass(frozen=True)
class ForgetConfig:
    """Whose data are deleted; without `confirm` they are listed only."""

    person: str = ""  # the argument after the verb
    confirm: bool = False  # delete; otherwise list only


@dataclass(frozen=True)
class MinariExportConfig:
    """The Minari dataset that `interplay export minari` writes, and the episodes that it chooses: those for which all
    conditions hold."""

    dataset: str = ""  # its id, the argument after the verb, as house/recordings-v0
    split: Literal["train", "heldout"] | None = None  # null: both
    round: int | None = None  # as stored: 0 for `collect` and imports, else that of the agent; null: all
    setter: tuple[str, ...] = ()  # kinds of players that steered it: human, agent, scripted, replay; empty: all
    solver: tuple[str, ...] = ()  # the same of the solver
    tasks: tuple[str, ...] = ()  # kinds of tasks; at least one of them was asked; empty: all
    marked: bool | None = None  # with or without a mark; null: both
    episodes: int | None = None  # at most, the oldest; null: all
    # What a step shows: `solver`, the picture, vector and utterances of the recorded solver; `environment`, the
    # observations of the Gymnasium environment itself. auto: `environment` in Gymnasium worlds, `solver` in others.
    observations: Literal["auto", "solver", "environment"] = "auto"
    jpeg: bool = False  # compress pictures of 32 by 32 and more, with loss
    overwrite: bool = False  # replace a dataset of this id

    def __post_init__(self) -> None:
        if self.episodes is not None and self.episodes < 1:
            raise ValueError(f"export.minari.episodes must be at least 1, or null for all, got {self.episodes}")


@dataclass(frozen=True)
class ExportConfig:
    """Where and how the studio's tables are written, with `identities` with the ids of crowd platforms; and the Minari
    dataset of `interplay export minari`."""

    folder: str = ""  # empty: studio/export in the run's folder
    format: Literal["csv", "jsonl"] = "csv"  # of the tables
    identities: bool = False  # include the ids of crowd platforms
    minari: MinariExportConfig = field(default_factory=MinariExportConfig)
