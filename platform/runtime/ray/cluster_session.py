"""Connection to a Ray cluster: one at an address, or one that is started for the session and shut down after it."""

from __future__ import annotations

import logging
import math
import os
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import ray
import ray._raylet
from ray._common.utils import get_default_system_temp_dir
from ray._private.services import get_ray_address_from_environment
from ray.exceptions import AuthenticationError

from interplay.core.breakpoints import VARIABLE
from interplay.core.environment import keeps_variables
from interplay.runtime.config import RuntimeConfig

logger = logging.getLogger(__name__)

CONNECT_TIMEOUT_SECONDS = 10.0
NOTICE_SECONDS = 20.0  # after which a start that is not over is logged
SLOW_HEAD_SECONDS = 10.0  # that the head of a cluster that is started here may take to answer on a busy machine
RESTARTED_HEAD_SECONDS = 20.0  # that the restart of the head of another cluster may take; Ray allows 60
# Ray's head records the 100,000 newest calls for its dashboard, which is not started here: hundreds of MB, at 3 MB a
# minute of a small run. 0 turns that off. A value that is already set is kept.
TASK_EVENTS_VARIABLE = "RAY_task_events_report_interval_ms"
USAGE_VARIABLE = "RAY_USAGE_STATS_ENABLED"
ADDRESS_VARIABLE = "RAY_ADDRESS"  # where runtime.address=auto looks first
# What a client of HTTP/2, and so of gRPC, sends first: the preface, and empty settings. A server answers with its own.
HTTP2_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
HTTP2_HEADER_BYTES, HTTP2_SETTINGS = 9, 4  # of a frame; its type, the fourth byte
MAX_PORT = 65_535
PORTS_HINT = "The port of a head is 6379 by default; 8265 is that of Ray's dashboard, and 10001 that of the Ray client"
MIN_TEMPORARY_MB = 10  # free for a cluster that is started here: its sockets, and logs of some minutes
RAY_STARTUP_TIMEOUT_TEXT = "timed out during startup"  # in Ray's error message

Started = TypeVar("Started")


class ClusterError(ValueError):
    """There is no usable cluster. The message states what to type."""


@dataclass
class ClusterSession:
    """A connection to a cluster. If it existed before, its addresses are unknown, and nothing is reported as lost."""

    raylet: str | None = None  # the socket of Ray's process on this machine
    head: str | None = None  # HOST:PORT of the cluster's `gcs_server`
    head_patience: float = 0.0  # seconds without an answer after which the head counts as lost
    _head_heard: float = field(default_factory=time.monotonic)

    @property
    def raylet_is_lost(self) -> bool:
        """Whether Ray's process on this machine has ended, and with it all workers here."""
        if self.raylet is None:
            return False
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(CONNECT_TIMEOUT_SECONDS)
            try:
                connection.connect(self.raylet)
            except (ConnectionRefusedError, FileNotFoundError):
                return True
            except OSError:  # too busy to answer
                return False
        return False

    @property
    def head_answers(self) -> bool:
        """Whether the head answers now. Calls that need it, such as ending an actor, would otherwise block."""
        return self.head is None or answers(self.head)

    @property
    def head_is_lost(self) -> bool:
        """Whether the head has not answered for `head_patience`. A minute after the head has ended, Ray ends this
        process and all workers without a message."""
        now = time.monotonic()
        if self.head_answers:
            self._head_heard = now
        return self._head_heard < now - self.head_patience

    def check(self) -> None:
        """Raises `ClusterError` if a process of Ray has ended without which a worker would wait forever."""
        ended = {
            "Ray's process on this machine (raylet)": self.raylet_is_lost,
            "Ray's head (gcs_server)": self.head_is_lost,
        }
        logs = "" if self.raylet is None else f". Ray's logs are in {Path(self.raylet).parents[1] / 'logs'}"
        for name, is_lost in ended.items():
            if is_lost:
                raise ClusterError(
                    f"{name} has ended, perhaps killed for lack of memory, and with it the workers; type the same "
                    "command again: a stage continues from its newest checkpoint. If Ray was started by ray start, "
                    f"start it again first{logs}"
                )


def answers(address: str) -> bool:
    """Whether something listens at HOST:PORT."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=CONNECT_TIMEOUT_SECONDS).close()
    except OSError:
        return False
    return True


@contextmanager
def cluster_session(config: RuntimeConfig, cpus: float) -> Iterator[ClusterSession]:
    """Connects this process to a cluster inside the block; an existing connection is used and kept.

    A cluster that is started here declares as many CPUs as the workers request, even if the machine has fewer. Its
    processes inherit environment variables that this process has only while it connects.

    Args:
        cpus: requested by all workers together.

    Raises:
        ClusterError: the cluster can't be reached or started.
    """
    if ray.is_initialized():
        yield ClusterSession()
        return
    ended, session = threading.Event(), ClusterSession()
    try:
        with keeps_variables(VARIABLE, USAGE_VARIABLE, TASK_EVENTS_VARIABLE):
            os.environ[USAGE_VARIABLE] = "0"
            found = _connect(config, cpus, ended).address_info
        patience = SLOW_HEAD_SECONDS if config.address is None else RESTARTED_HEAD_SECONDS
        session = ClusterSession(found["raylet_socket_name"], found["gcs_address"], patience)
        yield session
    finally:
        # Without these, Ray would end this process here, and the error that is being raised would be lost.
        if not session.raylet_is_lost and session.head_answers:
            ray.shutdown()
        ended.set()


def _connect(config: RuntimeConfig, cpus: float, ended: threading.Event) -> Any:
    """Connects to the cluster of the settings; returns Ray's description of the connection."""
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if config.address is None:
        if problem := temporary_folder_problem():  # Ray would wait for a file of its first process, and name only that
            raise ClusterError(f"Ray can't be started here: {problem}")
        if any(
            each.isspace() for each in sys.executable
        ):  # Ray does not quote it where a worker has variables of its own
            raise ClusterError(
                f"Ray can't start workers by a Python whose path has a space: {sys.executable}. Move the folder of the "
                "virtual environment to a path without spaces and install it there again, or use runtime=in_process"
            )
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
        return _within(start, config.start_limit, "be started here", ended)
    address, typed = config.address, f"runtime.address={config.address}"
    if address == "auto":
        address, typed = _found_address()
    check_reachable(address, typed)

    def join() -> Any:
        untyped: Any = ray._raylet
        untyped.GcsClient(address=address)  # AuthenticationError, which ray.init raises with RAY_AUTH_MODE=token only
        return ray.init(address=address, **quiet)

    return _within(join, config.start_limit, f"be reached at {typed}", ended)


def temporary_folder_problem() -> str:
    """What is wrong if the disk of Ray's temporary folder is full, else empty. No process of Ray can start then."""
    untyped: Any = get_default_system_temp_dir
    folder = Path(untyped())
    disk = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    free = shutil.disk_usage(disk).free / 2**20
    if free >= MIN_TEMPORARY_MB:
        return ""
    return (
        f"Ray's temporary folder {folder / 'ray'} has {free:.1f} MB free and needs {MIN_TEMPORARY_MB} MB; free some "
        "space, or choose another folder with RAY_TMPDIR=FOLDER"
    )


def _found_address() -> tuple[str, str]:
    """The address that runtime.address=auto uses, and where it comes from, for messages.

    Raises:
        ClusterError: Ray finds none.
    """
    address = os.environ.get(ADDRESS_VARIABLE) or "auto"
    if address != "auto":
        return address, f"{ADDRESS_VARIABLE}={address} (used by runtime.address=auto)"
    try:
        address = get_ray_address_from_environment("auto", None)
    except ConnectionError as error:
        raise ClusterError(
            "runtime.address=auto finds no Ray cluster on this machine; start one (ray start --head), or name one by "
            f"runtime.address=HOST:PORT or {ADDRESS_VARIABLE}. Without runtime.address a cluster is started here"
        ) from error
    return address, f"{address} (by Ray's record of this machine, used by runtime.address=auto)"


def start_with_retries(start: Callable[[], Started], limit: float) -> Started:
    """Starts a Ray node in this thread, with retries for `limit` seconds.

    Ray gives each of its processes half a minute to start, which is too short on busy cores.
    """
    until = time.monotonic() + limit
    while True:
        before = _started_processes()
        try:
            return start()
        except Exception as error:
            for process in _started_processes() - before:  # Ray leaves those of a node that did not start
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            if RAY_STARTUP_TIMEOUT_TEXT not in str(error) or time.monotonic() >= until:
                raise


def _started_processes() -> set[int]:
    """The running processes that this thread has started; empty where the system does not list them."""
    with suppress(OSError):
        return set(map(int, Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split()))
    return set()


def check_reachable(address: str, typed: str) -> None:
    """Raises `ClusterError` unless a program like Ray's head listens at the address. Ray would retry for a long time.

    Args:
        typed: where the address comes from, for the message: "runtime.address=10.0.0.1:6379".
    """
    if address.startswith("ray://"):
        raise ClusterError(
            f"{typed} is of the Ray client, which this program can't work through; give the cluster's own, as "
            "runtime.address=HOST:6379, and start on one of its machines"
        )
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or int(port) > MAX_PORT:
        raise ClusterError(f"{typed} is not an address; give HOST:PORT, as 10.0.0.1:6379, or auto")
    try:
        with socket.create_connection((host, int(port)), timeout=CONNECT_TIMEOUT_SECONDS) as connection:
            connection.sendall(HTTP2_GREETING)
            answer = connection.recv(HTTP2_HEADER_BYTES, socket.MSG_WAITALL)
    except (OSError, UnicodeError) as error:  # UnicodeError: of a host that is not a valid name, as "a..b"
        raise ClusterError(
            f"no Ray cluster answers at {typed} ({error}); is its head running (ray start --head), and does a firewall "
            "let this machine through? Without runtime.address a cluster is started here"
        ) from error
    is_grpc = len(answer) == HTTP2_HEADER_BYTES and answer[3] == HTTP2_SETTINGS
    if not is_grpc and os.environ.get("RAY_USE_TLS", "0") in ("", "0"):
        raise ClusterError(
            f"what listens at {typed} is not a Ray head; ray start --head prints the address of one. {PORTS_HINT}"
        )


def _within(start: Callable[[], Started], limit: float, wanted: str, ended: threading.Event) -> Started:
    """Calls `start` in a thread, with a time limit; returns its result.

    The thread lives until `ended`: Ray's processes ask the kernel to kill them when the thread that started them exits.
    """
    started: list[Started] = []
    raised: list[BaseException] = []
    answered = threading.Event()

    def tried() -> None:
        # Inherited by Ray's processes: only the driver handles a closed terminal, because it saves first.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
        try:
            started.append(start())
        except BaseException as error:  # noqa: BLE001 - raised again below, in the calling thread
            raised.append(error)
        answered.set()
        while not ended.wait(timeout=3600):
            pass

    threading.Thread(target=tried, name="ray-init", daemon=True).start()
    notice, allowed = min(limit, NOTICE_SECONDS), f"runtime.start_limit={limit:g} seconds"
    if not answered.wait(notice) and limit > notice:
        logger.warning("Ray could not %s in %g seconds, and has %s", wanted, notice, allowed)
    if not answered.wait(limit - notice):
        raise ClusterError(
            f"Ray could not {wanted} within {allowed}; if busy cores are the cause, raise that and type the same "
            "command again"
        )
    if started:
        return started[0]
    if isinstance(raised[0], AuthenticationError):
        raise ClusterError(
            f"Ray could not {wanted}: {raised[0]}. The cluster requires a token: copy its token to this machine, as "
            "RAY_AUTH_TOKEN_PATH=FILE or in ~/.ray/auth_token, and RAY_AUTH_MODE=token"
        ) from raised[0]
    ports = f". {PORTS_HINT}" if isinstance(raised[0], ConnectionError) else ""
    raise ClusterError(f"Ray could not {wanted}: {type(raised[0]).__name__}: {raised[0]}{ports}") from raised[0]
