"""The random numbers of the session under way, for task files that `import random`."""

from __future__ import annotations

import random

_outside = random.Random()
_active = _outside


def activate(rng: random.Random) -> None:
    """Makes `rng` the one that `current` returns."""
    global _active
    _active = rng


def current() -> random.Random:
    """The random numbers of the session whose handlers ran last; before any, numbers of their own."""
    return _active


def seed(value: int | None) -> None:
    """Seeds the numbers that are used before a session begins, and makes them current."""
    _outside.seed(value)
    activate(_outside)
