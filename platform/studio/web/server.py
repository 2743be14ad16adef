"""The web process: `python -m interplay.studio.web.server`, with the run to serve as JSON in its argument.

It imports no torch, so that a studio takes little memory next to a training run. The `interplay studio` verb, which has
read the settings with everything that they need, replaces itself by this process.
"""

from __future__ import annotations

import json
import logging
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

import uvicorn

from interplay.core.files import write_whole
from interplay.core.settings_validation import build_config
from interplay.core.typed_name import typed_name
from interplay.runtime.interruption import INTERRUPTED, terminate_at_hangup
from interplay.stages.studio_config import StudioConfig, is_loopback
from interplay.studio.web.application import make_application
from interplay.studio.web.studio_context import ServedRun, StudioContext

STOPS = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
ADDRESS = "address.txt"  # where the studio of a run is reached, written while it serves
START_SECONDS, POLL_SECONDS, STOP_SECONDS = 60.0, 0.1, 20.0  # of a web process that another process starts


def command(served: ServedRun) -> list[str]:
    """What starts the web process.

    Raises:
        ValueError: its sessions need scripted players, and its world has no tasks for them.
    """
    try:
        served.live_config()
    except ValueError as error:
        raise ValueError(f"studio.live: {error}") from error
    settings = {**asdict(served), "root": str(served.root), "env": dict(served.env)}
    return [sys.executable, "-m", "interplay.studio.web.server", json.dumps(settings)]


@contextmanager
def running(served: ServedRun, *, quiet: bool = False) -> Iterator[subprocess.Popen[bytes]]:
    """The web process, once it serves; it ends with the block. `quiet` drops what it prints to standard output.

    Raises:
        ValueError: it ends, after printing the reason to standard error, or it does not serve in time.
    """
    address = served.folder / ADDRESS
    before = _written(address)
    process = subprocess.Popen(command(served), start_new_session=True, stdout=subprocess.DEVNULL if quiet else None)
    try:
        until = time.monotonic() + START_SECONDS
        while _written(address) == before:
            if process.poll() is not None:
                raise ValueError("the studio did not start; it has printed the reason above")
            if time.monotonic() > until:
                raise ValueError(
                    f"the studio has not started within {START_SECONDS:g} s, as on a machine whose cores are busy; "
                    "type the same command again once they are less so"
                )
            time.sleep(POLL_SECONDS)
        yield process
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(STOP_SECONDS)


def _written(file: Path) -> int:
    """When a file was written, in nanoseconds; 0 without one."""
    return file.stat().st_mtime_ns if file.exists() else 0


def studio_address(root: Path) -> str:
    """The address of the studio that serves the run in `root`, or did so last.

    Raises:
        ValueError: no studio has served this run.
    """
    file = root / "studio" / ADDRESS
    if not file.exists():
        raise ValueError(f"no studio serves {root}; type in another terminal: interplay studio {typed_name(root)}")
    return file.read_text().strip()


def read_command(arguments: Sequence[str]) -> ServedRun:
    """The run that `command` named."""
    (text,) = arguments
    given = json.loads(text)
    config = build_config(StudioConfig, given["config"], "studio")
    return ServedRun(Path(given["root"]), given["env"], given["rate"], given["seed"], config, given["scripted"])


def serve(served: ServedRun) -> None:
    """Serves until it is stopped. Prints the researcher's address once it can be reached.

    Raises:
        OSError: the port is taken, or the certificate can't be used.
        StudioConflict: another studio serves this run.
    """
    config = served.config
    _check_certificate(config)
    with _listening(config) as listener:
        port = listener.getsockname()[1]
        studio = StudioContext(served)
        settings = uvicorn.Config(
            make_application(studio, port),
            log_level="warning",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            ssl_certfile=config.tls_cert or None,
            ssl_keyfile=config.tls_key or None,
            ws_max_size=config.limits.body_bytes,
            ws_per_message_deflate=False,
            timeout_graceful_shutdown=2,
        )
        logging.getLogger("uvicorn.error").addFilter(_is_kept)
        write_whole(served.folder / ADDRESS, f"{_origin(config, port)}\n", durable=False)
        sys.stdout.write(_welcome(studio, port))
        sys.stdout.flush()
        with suppress(KeyboardInterrupt):  # uvicorn raises the signal again that has stopped it
            uvicorn.Server(settings).run(sockets=[listener])


def _is_kept(record: logging.LogRecord) -> bool:
    """False for a traceback of uvicorn about bad text of a client: the route of the socket logs a line about it."""
    return not record.getMessage().startswith("Invalid UTF-8")


def _listening(config: StudioConfig) -> socket.socket:
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    # With the protocol named, asyncio turns off Nagle's algorithm, which would delay every answer by 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((config.host, config.port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise OSError(
            f"{config.host}:{config.port} can't be listened on ({error.strerror}); choose another port with "
            "studio.port=..., 0 for any free one"
        ) from error
    return listener


def _check_certificate(config: StudioConfig) -> None:
    """Raises OSError with both paths; that of the ssl module names no file."""
    if not config.tls_cert:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(config.tls_cert, config.tls_key)
    except OSError as error:
        raise OSError(
            f"studio.tls_cert={config.tls_cert} and studio.tls_key={config.tls_key} can't be used ({error}); give the "
            "PEM files of a certificate and of its key"
        ) from error


def _origin(config: StudioConfig, port: int) -> str:
    host = f"[{config.host}]" if ":" in config.host else config.host
    return config.origins[0] if config.origins else f"{config.scheme}://{host}:{port}"


def _welcome(studio: StudioContext, port: int) -> str:
    config = studio.served.config
    origin = _origin(config, port)
    reach = "from this machine only" if is_loopback(config.host) and not config.behind_proxy else "from other machines"
    return (
        f"The studio of {studio.served.root} ({reach}; Ctrl-C ends it).\n"
        f"The researcher's address, good for one entrance within an hour:\n  {origin}/i#{studio.researcher_code()}\n"
    )


def main(arguments: Sequence[str]) -> int:
    """Serves the run of `arguments`; returns the exit code."""
    logging.basicConfig(level=logging.INFO, format="%(levelname).1s %(message)s", stream=sys.stderr)
    try:
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C
        terminate_at_hangup()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)  # see `interplay.launch.studio_verbs.serve`
        serve(read_command(arguments))
    except (OSError, ValueError) as error:
        sys.stderr.write(f"interplay studio: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("interplay studio: stopped before it served; the same command serves it\n")
        return INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
