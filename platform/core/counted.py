"""A number with its noun, for messages and pages."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """ "1 mark", "2 marks", "1,200 marks"."""
    return f"{count:,} {noun}{'s' * (count != 1)}"
