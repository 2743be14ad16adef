"""The random generator of the current session, for task files that `import random`."""

from __future__ import annotations

import random

_outside = random.Random()
_active = _outside


def activate(rng: random.Random) -> None:
    """Makes `rng` the one that `current` returns."""
    global _active
    _active = rng


def current() -> random.Random:
    """The generator of the session whose handlers ran last; a default generator before the first session."""
    return _active


def seed(value: int | None) -> None:
    """Seeds the default generator and makes it current."""
    _outside.seed(value)
    activate(_outside)
