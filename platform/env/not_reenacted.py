"""A recording that can't be played again in a world."""

from __future__ import annotations


class NotReenacted(ValueError):
    """A recording that a world could not repeat as it was recorded. `reason` groups those of one kind in counts."""

    def __init__(self, message: str, reason: str = "sessions that could not be re-enacted") -> None:
        super().__init__(message)
        self.reason = reason
