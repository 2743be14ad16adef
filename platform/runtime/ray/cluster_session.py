"""Connection to a Ray cluster: one at an address, or one that is started for the session and shut down after it."""

from __future__ import annotations

import logging
import math
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import ray
from ray.exceptions import AuthenticationError

from interplay.runtime.config import RuntimeConfig

CONNECT_TIMEOUT_SECONDS = 10.0
# Ray's head records the 100,000 newest calls for its dashboard, which is not started here: hundreds of MB, at 3 MB a
# minute of a small run. 0 turns that off. A value that is already set is kept.
TASK_EVENTS_VARIABLE = "RAY_task_events_report_interval_ms"
RAY_STARTUP_TIMEOUT_TEXT = "timed out during startup"  # Ray's words

Started = TypeVar("Started")


class ClusterError(ValueError):
    """No usable cluster. The message says what to type."""


@contextmanager
def cluster_session(config: RuntimeConfig, cpus: float) -> Iterator[None]:
    """Connects this process to a cluster inside the block; an existing connection is used and kept.

    A cluster that is started here declares as many CPUs as the workers request, even if the machine has fewer.

    Args:
        cpus: requested by all workers together.

    Raises:
        ClusterError: the cluster can't be reached or started.
    """
    if ray.is_initialized():
        yield
        return
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ended = threading.Event()
    try:
        _connect(config, cpus, ended)
        yield
    finally:
        ray.shutdown()
        ended.set()


def _connect(config: RuntimeConfig, cpus: float, ended: threading.Event) -> None:
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if config.address is None:
        count = config.cpus if config.cpus is not None else max(os.cpu_count() or 1, math.ceil(cpus))
        memory = None if config.object_store_mb is None else config.object_store_mb * 2**20
        # Without an address Ray would join any cluster that was started on this machine, and refuse the number of CPUs.
        here = {
            "address": "local",
            "num_cpus": count,
            "object_store_memory": memory,
            "include_dashboard": False,
            **quiet,
        }
        os.environ.setdefault(TASK_EVENTS_VARIABLE, "0")
        start = partial(start_with_retries, lambda: ray.init(**here), config.start_limit)
        _within(start, config.start_limit, "be started here", ended)
        return
    if config.address.startswith("ray://"):
        raise ClusterError(
            f"runtime.address={config.address} is of the Ray client, which this program can't work through; give the "
            "cluster's own, as runtime.address=HOST:6379, and start on one of its machines"
        )
    if config.address != "auto":
        check_reachable(config.address)
    wanted = f"be reached at runtime.address={config.address}"
    _within(lambda: ray.init(address=config.address, **quiet), config.start_limit, wanted, ended)


def start_with_retries(start: Callable[[], Started], limit: float) -> Started:
    """Starts a Ray node, with retries for `limit` seconds.

    Ray gives each of its processes half a minute to start, which is too short on busy cores.
    """
    until = time.monotonic() + limit
    while True:
        try:
            return start()
        except Exception as error:
            if RAY_STARTUP_TIMEOUT_TEXT not in str(error) or time.monotonic() >= until:
                raise


def check_reachable(address: str) -> None:
    """Raises `ClusterError` unless something listens at the address. Ray itself would retry for a long time."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise ClusterError(f"runtime.address={address} is no address; give HOST:PORT, as 10.0.0.1:6379, or auto")
    try:
        socket.create_connection((host, int(port)), timeout=CONNECT_TIMEOUT_SECONDS).close()
    except OSError as error:
        raise ClusterError(
            f"no Ray cluster answers at runtime.address={address} ({error}); is its head running (ray start --head), "
            "and does a firewall let this machine through? Without runtime.address a cluster is started here"
        ) from error


def _within(start: Callable[[], object], limit: float, wanted: str, ended: threading.Event) -> None:
    """Calls `start` in a thread, with a time limit.

    The thread lives until `ended`: Ray's processes ask the kernel to kill them when the thread that started them exits.
    """
    raised: list[BaseException] = []
    answered = threading.Event()

    def tried() -> None:
        # Inherited by Ray's processes: only the driver handles a closed terminal, because it saves first.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
        try:
            start()
        except BaseException as error:  # noqa: BLE001 - raised again below, in the calling thread
            raised.append(error)
        answered.set()
        while not ended.wait(timeout=3600):
            pass

    threading.Thread(target=tried, name="ray-init", daemon=True).start()
    if not answered.wait(limit):
        raise ClusterError(f"Ray could not {wanted} within runtime.start_limit={limit:g} seconds")
    if not raised:
        return
    if isinstance(raised[0], AuthenticationError):
        raise ClusterError(
            f"Ray could not {wanted}: {raised[0]}. The cluster requires a token: copy its token to this machine, as "
            "RAY_AUTH_TOKEN_PATH=FILE or in ~/.ray/auth_token, and RAY_AUTH_MODE=token"
        ) from raised[0]
    raise ClusterError(f"Ray could not {wanted}: {type(raised[0]).__name__}: {raised[0]}") from raised[0]
