"""Preparation of the import of Ray: the check that it is installed, and its environment variables.

A cluster that a run starts gets an authentication token, because Ray listens on all interfaces of the machine. Messages
of Ray about failures that a run reports itself are not printed.
"""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Container, MutableMapping
from importlib.util import find_spec

MODE_VARIABLE, TOKEN_VARIABLE = "RAY_AUTH_MODE", "RAY_AUTH_TOKEN"
SKIPPED_VARIABLE = "RAY_DEDUP_LOGS_SKIP_REGEX"
# Ray's words about failures that a run reports itself with the cause. Ray prints the second one with debugging output,
# which would be the last thing on screen.
REPORTED_TEXTS = (
    "A worker died or was killed while executing a task by an unexpected system error",
    "Raylet is terminated",
)


def prepare_ray(address: str | None) -> None:
    """Prepares the import of Ray for a run, in a cluster at `address` or in one that is started here.

    Raises:
        ModuleNotFoundError: Ray is not installed.
    """
    check_ray_installed()
    set_cluster_token(address)
    os.environ.setdefault(SKIPPED_VARIABLE, f"^({'|'.join(REPORTED_TEXTS)})")


def check_ray_installed() -> None:
    """Raises `ModuleNotFoundError` with the command to type if Ray is not installed."""
    if find_spec("ray") is None:
        raise ModuleNotFoundError(
            "runtime=ray needs the package 'ray', which is not installed; type in the checkout: pip install -e . (or "
            "choose runtime=in_process, which needs no Ray)",
            name="ray",
        )


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
