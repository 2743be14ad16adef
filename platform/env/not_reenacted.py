"""A recording that can't be played again in a world."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any


class NotReenacted(ValueError):
    """A recording that a world could not repeat as it was recorded. `reason` groups those of one kind in counts."""

    def __init__(self, message: str, reason: str = "sessions that could not be re-enacted") -> None:
        super().__init__(message)
        self.reason = reason


def by_reason(failed: Sequence[NotReenacted]) -> list[dict[str, Any]]:
    """For each reason a row: the reason as `what`, their number as `here`, and the first message as `why`."""
    examples = {each.reason: str(each) for each in reversed(failed)}
    return [
        {"what": reason, "here": count, "why": examples[reason]}
        for reason, count in Counter(each.reason for each in failed).items()
    ]


def as_lines(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Rows with `what`, `here` and perhaps `why` as lines of a table."""
    return [f"  {row['here']:>7,} {row['what']}{', as ' + row['why'] if 'why' in row else ''}" for row in rows]
