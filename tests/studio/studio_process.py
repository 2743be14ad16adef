"""The web process of a studio, started as `interplay studio` starts it."""

from __future__ import annotations

import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from interplay.stages.studio_config import StudioConfig
from interplay.studio.web.server import command
from interplay.studio.web.studio_context import ServedRun

ADDRESS = re.compile(r"(http://[^/]+)/i#(\S+)")


@dataclass(frozen=True)
class StartedStudio:
    """A running studio: its origin, the researcher's code, and its process."""

    origin: str
    code: str
    process: subprocess.Popen[str]


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def started(
    root: Path, env: dict[str, object], config: StudioConfig | None = None, port: int = 0
) -> Iterator[StartedStudio]:
    """A studio, by default on a free port, without the `interplay` command."""
    served = ServedRun(root, env, 30.0, 1, replace(config or StudioConfig(), port=port))
    with running(command(served)) as studio:
        yield studio


@contextmanager
def running(words: list[str], *, start_new_session: bool = False) -> Iterator[StartedStudio]:
    """The process of these words, once it has printed its address; it is killed at the end."""
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=start_new_session
    )
    assert process.stdout is not None
    said = ""
    while (found := ADDRESS.search(said)) is None:
        line = process.stdout.readline()
        assert line, f"the studio ended: {said}"
        said += line
    try:
        yield StartedStudio(found[1], found[2], process)
    finally:
        process.kill()
        process.wait(30)
        process.stdout.close()
