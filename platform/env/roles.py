"""A check of the roles that a world is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from interplay.core.settings_validation import did_you_mean


def check_roles(roles: Iterable[str], known: Sequence[str]) -> None:
    """Raises ValueError for a role that a world does not have."""
    for role in roles:
        if role not in known:
            raise ValueError(f"no role is called {role!r}.{did_you_mean(role, known)}")
