"""Handle of the web process on the process of a session's world: starts it and exchanges messages with it."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any

from interplay.studio.live.session_settings import SessionSettings
from interplay.studio.web.framing import packed, receive_packed

logger = logging.getLogger(__name__)

EXIT_SECONDS = 10.0  # for a process to exit


class WorldProcess:
    """One process after another of the same session; a later one continues the journal of an earlier one."""

    def __init__(self, settings: SessionSettings) -> None:
        self._settings = settings
        self._process: asyncio.subprocess.Process | None = None
        self._writer: asyncio.StreamWriter | None = None

    @property
    def pid(self) -> int | None:
        """The process, while there is one."""
        return self._process.pid if self._process is not None and self._process.returncode is None else None

    def send(self, message: Mapping[str, Any]) -> None:
        """Sends a message, if there is a process now."""
        if self._writer is not None:
            self._writer.write(packed(message))

    async def run(
        self, connect_agents: Callable[[], socket.socket] | None, take: Callable[[dict[str, Any] | bytes], None]
    ) -> None:
        """Starts a process, passes its messages on, and returns once it has closed its socket.

        Args:
            connect_agents: a new connection to the process of the agents, where the session has any. It may raise
                ConnectionError, and nothing is started then.
            take: takes each message.
        """
        ours, theirs = socket.socketpair()
        with ExitStack() as handed:
            handed.enter_context(theirs)
            unused = handed.enter_context(ExitStack())
            unused.callback(ours.close)
            agents = [] if connect_agents is None else [handed.enter_context(connect_agents()).fileno()]
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "interplay.studio.live.session_process", *map(str, agents)),
                stdin=theirs.fileno(),
                pass_fds=agents,
                start_new_session=True,  # Ctrl-C is for the web process, which then ends this one
            )
            unused.pop_all()
        reader, self._writer = await asyncio.open_connection(sock=ours)
        try:
            self._writer.write(packed(self._settings.to_json()))
            while (message := await receive_packed(reader)) is not None:
                take(message)
        finally:
            self._writer.close()
            self._writer = None

    async def ended(self) -> None:
        """Waits for a process that closed its socket; kills one that does not exit."""
        if self._process is None:
            return
        try:
            await asyncio.wait_for(self._process.wait(), timeout=EXIT_SECONDS)
        except TimeoutError:
            logger.warning("session %s: its process does not exit; it is killed", self._settings.session)
            self._process.kill()
            await asyncio.wait_for(self._process.wait(), timeout=EXIT_SECONDS)

    def kill(self) -> None:
        """Kills the process, if there is one."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()

    async def close(self) -> None:
        """Kills the process and waits for its end."""
        self.kill()
        if self._process is not None:
            await asyncio.wait_for(self._process.wait(), timeout=EXIT_SECONDS)
        if self._writer is not None:
            self._writer.close()
