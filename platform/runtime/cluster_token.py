"""Authentication token for a cluster that a run starts, since Ray listens on all interfaces of the machine."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Container, MutableMapping

MODE_VARIABLE, TOKEN_VARIABLE = "RAY_AUTH_MODE", "RAY_AUTH_TOKEN"


def set_cluster_token(
    address: str | None,
    environment: MutableMapping[str, str] = os.environ,
    imported: Container[str] = sys.modules,
) -> None:
    """Sets a random token; without one, anyone who can reach the machine could run programs on it.

    To be called before Ray is imported, which reads the environment once. Does nothing if Ray is already imported or
    authentication is already configured.

    Args:
        address: of a running cluster, which has its own authentication; None if one is started here.
    """
    if address is None and "ray" not in imported and MODE_VARIABLE not in environment:
        environment[MODE_VARIABLE] = "token"
        environment[TOKEN_VARIABLE] = secrets.token_hex(32)
