"""Where a thing is to be put down."""

from __future__ import annotations

from dataclasses import dataclass

from interplay.env.playhouse.truth.facts import XY


@dataclass(frozen=True)
class ReleasePose:
    """Where a thing goes: its middle over `spot`, its underside at `height`, its sides in line with `yaw`."""

    spot: XY
    height: float = 0.0
    yaw: float | None = None
    wide: float = 0.0  # radius of what it goes on top of
