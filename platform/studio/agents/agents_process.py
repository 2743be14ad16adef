"""The process of all agents of a studio: `python -m interplay.studio.agents.agents_process ROOT WORLD`.

Its standard input is a socket over which the web process hands it connections, one for each session that has agents
and one for questions of its own. Messages in, each a JSON object:

    check    {"agent", "role", "seconds"}: whether this agent can play; answered by `checked` with its path and update
    begin    {"seat", "agent", "seed", "world"}: an agent takes a seat of the session at the start of an episode
    observe  {"seat", "step", "executed", "view"}: what it sees and what was executed; answered by `decided`

What can't be done is answered by `failed` with a text for the researcher. Decisions that are asked for within a few
milliseconds share a forward pass.
"""

from __future__ import annotations

import json
import logging
import os
import select
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from interplay.core.settings_validation import build_config
from interplay.env import registry
from interplay.env.world import WorldSpec
from interplay.studio.agents.agent_seat import view_from_json
from interplay.studio.agents.seated_agents import SeatedAgents
from interplay.studio.web.framing import Connection

logger = logging.getLogger(__name__)

GATHER_SECONDS = 0.004  # in which further sessions join a batch
IDLE_SECONDS = 60.0
SeatOfSession = tuple[int, str]  # the connection's number, and the seat


class AgentsServer:
    """Serves the connections that the web process hands over.

    Args:
        control: where they come from; its end is the end of the process.
        env: settings of the run's world, which agents have to fit.
    """

    def __init__(self, control: socket.socket, agents: SeatedAgents, env: Mapping[str, Any]) -> None:
        self._control, self._agents, self._env = control, agents, dict(env)
        self._connections: dict[int, Connection] = {}
        self._seats: dict[int, list[SeatOfSession]] = {}
        self._asked: list[SeatOfSession] = []
        self._spec: WorldSpec | None = None
        self._numbers = 0
        self._over = False

    def run(self) -> None:
        """Serves until the web process is gone."""
        while not self._over:
            self._receive(IDLE_SECONDS)
            if self._asked and len(self._seats) > 1:
                self._gather()
            self._decide()
        for connection in self._connections.values():
            connection.close()

    def _gather(self) -> None:
        """Collects the requests of other sessions for a few milliseconds, to decide in one batch."""
        until = time.monotonic() + GATHER_SECONDS
        seats = sum(len(seats) for seats in self._seats.values())
        while len(self._asked) < seats and (left := until - time.monotonic()) > 0:
            self._receive(left)

    def _receive(self, seconds: float) -> None:
        watched: list[socket.socket | Connection] = [self._control, *self._connections.values()]
        ready, _, _ = select.select(watched, [], [], seconds)
        if self._control in ready:
            self._welcome()
        for number, connection in list(self._connections.items()):
            if connection in ready:
                for message in connection.receive():
                    self._take(number, message)
                if connection.closed:
                    self._connections.pop(number).close()
                    self._agents.end(self._seats.pop(number, []))
                    self._asked = [seat for seat in self._asked if seat[0] != number]

    def _welcome(self) -> None:
        data, handles, _, _ = socket.recv_fds(self._control, 1, 1)
        self._over = not data
        for handle in handles:
            self._numbers += 1
            self._connections[self._numbers] = Connection(socket.socket(fileno=handle))

    def _take(self, number: int, message: Mapping[str, Any]) -> None:
        try:
            self._answer(number, message)
        except (ValueError, KeyError, RuntimeError, OSError) as error:
            self._fail([(number, str(message.get("seat")))], error)

    def _answer(self, number: int, message: Mapping[str, Any]) -> None:
        seat = (number, str(message.get("seat")))
        match message["kind"]:
            case "check":
                self._connections[number].send(self._check(message["agent"], message["role"]))
            case "begin":
                spec = build_config(WorldSpec, message["world"], "world")
                self._agents.begin(seat, Path(message["agent"]), message["seat"], spec, message["seed"])
                self._seats.setdefault(number, []).append(seat)
            case "observe" if seat in self._seats.get(number, []):
                executed = message["executed"]
                rows = None if executed is None else np.array(executed, np.int8)
                self._agents.observe(seat, message["step"], view_from_json(message["view"]), rows)
                self._asked.append(seat)

    def _check(self, agent: str, role: str) -> dict[str, Any]:
        if self._spec is None:
            world = registry.make(**self._env)
            self._spec = world.spec
            world.close()
        found = self._agents.find(agent, role, self._spec)
        seconds = self._agents.seconds(found.path)
        step = self._spec.seconds_per_step
        if seconds > step:
            raise ValueError(
                f"a decision of {agent} takes {seconds:.2g} s on this machine, longer than a step of {step:.2g} s; "
                "choose a smaller agent, or a faster machine"
            )
        return {"kind": "checked", "path": str(found.path.resolve()), "update": found.step, "seconds": seconds}

    def _decide(self) -> None:
        """Decides for all seats that have asked; a failure ends the sessions of that agent and no other."""
        asked, self._asked = self._asked, []
        for group in self._agents.groups(asked):
            try:
                decided = self._agents.decide(group)
            except (ValueError, RuntimeError) as error:
                self._fail(group, error)
                continue
            for number, seat in group:
                action = decided[number, seat]
                answer = {"kind": "decided", "seat": seat, "movement": action.movement.tolist()}
                self._connections[number].send({**answer, "utterance": action.utterance})

    def _fail(self, seats: Sequence[SeatOfSession], error: Exception) -> None:
        logger.warning("an agent can't play: %s: %s", type(error).__name__, error)
        for number in {number for number, _ in seats}:
            self._connections[number].send({"kind": "failed", "text": str(error)})


def main(arguments: Sequence[str]) -> int:
    """Serves the run in the folder of the first argument, whose world has the settings of the second."""
    logging.basicConfig(level=logging.INFO, format="%(levelname).1s %(message)s", stream=sys.stderr)
    root, env = arguments
    torch.set_num_threads(max(1, (os.cpu_count() or 1) // 2))
    with socket.socket(fileno=os.dup(0)) as control:
        AgentsServer(control, SeatedAgents(Path(root)), json.loads(env)).run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
