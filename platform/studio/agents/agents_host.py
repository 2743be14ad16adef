"""Handle of the web process on the process of the agents: starts it when needed, and again if it has died."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from interplay.studio.web.framing import packed, receive_packed, start_process

CHECK_SECONDS = 120.0  # for torch, the world and the agent to be loaded
EXIT_SECONDS = 10.0


class AgentRefused(ValueError):
    """This agent can't play here; the message states why."""


class AgentsHost:
    """Hands connections to the process of the agents.

    Args:
        root: of the run whose stages agents are named by.
        env: settings of its world.
    """

    def __init__(self, root: Path, env: Mapping[str, Any]) -> None:
        self._arguments = (str(root), json.dumps(dict(env)))
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    @property
    def pid(self) -> int | None:
        """The process, if it runs."""
        return self._process.pid if self._process is not None and self._process.poll() is None else None

    def connect(self) -> socket.socket:
        """A new connection to the process, which is started if it does not run."""
        for _ in range(2):
            if self.pid is None or self._control is None:
                self._start()
            assert self._control is not None
            ours, theirs = socket.socketpair()
            with theirs:
                try:
                    socket.send_fds(self._control, [b"c"], [theirs.fileno()])
                except ConnectionError:  # it has just died
                    ours.close()
                    self.close()
                    continue
            return ours
        raise ConnectionError("the process of the agents ends at its start; its messages say why")

    async def check(self, agent: str, role: str) -> str:
        """The path of the newest checkpoint of an agent, loaded and found to fit the world. Raises AgentRefused."""
        reader, writer = await asyncio.open_connection(sock=self.connect())
        try:
            writer.write(packed({"kind": "check", "agent": agent, "role": role}))
            answer = await asyncio.wait_for(receive_packed(reader), timeout=CHECK_SECONDS)
        except TimeoutError as error:
            raise AgentRefused(f"the agent {agent} could not be loaded within {CHECK_SECONDS:g} s") from error
        finally:
            writer.close()
        if not isinstance(answer, dict):
            raise AgentRefused("the process of the agents has ended; try again")
        if answer["kind"] != "checked":
            raise AgentRefused(answer["text"])
        return str(answer["path"])

    def close(self) -> None:
        """Ends the process."""
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            self._process.kill()
            self._process.wait(timeout=EXIT_SECONDS)
            self._process = None

    def _start(self) -> None:
        self.close()
        self._process, self._control = start_process("interplay.studio.agents.agents_process", *self._arguments)
