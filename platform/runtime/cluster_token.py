"""A token for the cluster that a run starts for itself, whose processes listen on all interfaces of the machine."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Container, MutableMapping

MODE, TOKEN = "RAY_AUTH_MODE", "RAY_AUTH_TOKEN"


def set_cluster_token(
    address: str | None,
    environment: MutableMapping[str, str] = os.environ,
    imported: Container[str] = sys.modules,
) -> None:
    """Without a token whoever reaches the machine could run programs on it. To be called before Ray is imported, which
    reads this once; where it has been imported, or set up otherwise, that is left as it is.

    Args:
        address: of a running cluster, which has its own ways; None where one is started here.
    """
    if address is None and "ray" not in imported and MODE not in environment:
        environment[MODE] = "token"
        environment[TOKEN] = secrets.token_hex(32)
