"""An agent in a seat of a session: requests its actions from the process of the agents, and needs no torch."""

from __future__ import annotations

import select
import socket
from base64 import b64decode, b64encode
from collections import deque
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from interplay.env.world import Action, Movement, View, World
from interplay.players.player import Player
from interplay.studio.web.framing import Connection

ANSWER_SECONDS = 60.0  # for a decision, with the loading of the agent before the first


class AgentFailed(RuntimeError):
    """An agent can't play on. The message may name its checkpoint, so it is for the researcher alone."""


class AgentsGone(ConnectionError):
    """The process of the agents has ended. A session is made again from its journal."""


class AgentLink:
    """A session's connection to the process of the agents."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = Connection(connection)
        self._answers: deque[dict[str, Any]] = deque()

    def send(self, message: Mapping[str, Any]) -> None:
        """Sends a message. Raises AgentsGone."""
        self._connection.send(message)
        if self._connection.closed:
            raise AgentsGone("the process of the agents has ended")

    def decision(self, seat: str) -> dict[str, Any]:
        """The decision for a seat that was asked for.

        Raises:
            AgentFailed: the agent can't be loaded, does not fit, or does not answer.
            AgentsGone: the process has ended.
        """
        while True:
            for answer in self._answers:
                if answer["kind"] == "failed":
                    raise AgentFailed(answer["text"])
                if answer["seat"] == seat:
                    self._answers.remove(answer)
                    return answer
            if not select.select([self._connection], [], [], ANSWER_SECONDS)[0]:
                raise AgentFailed(f"the agent has not decided within {ANSWER_SECONDS:g} s")
            self._answers += self._connection.receive()
            if self._connection.closed:
                raise AgentsGone("the process of the agents has ended")


class AgentPlayer(Player):
    """An agent in one seat. It is given every view and everything that was executed in its seat::

        player.begin(world, "solver")
        player.observe(view, None)
        action = player.act(view, world)    # decided since then
        player.observe(view, executed)      # its own action, or what a person did instead

    Its memory and its decisions depend on these, the session's seed and the step alone.

    Args:
        link: the session's connection; None: the agent is silent and does nothing, as where only the recording counts.
        agent: path of the checkpoint.
        seed: of the session.
    """

    kind = "agent"

    def __init__(self, link: AgentLink | None, agent: str, seed: int) -> None:
        self._link, self._agent, self._seed = link, agent, seed
        self._role = ""
        self._step = 0

    def begin(self, world: World, role: str) -> None:
        self._role, self._step = role, 0
        if self._link is not None:
            spec = asdict(world.spec)
            self._link.send({"kind": "begin", "seat": role, "agent": self._agent, "seed": self._seed, "world": spec})

    def observe(self, view: View, executed: Movement | None) -> None:
        """Asks for the action after this view; `executed` is the movement of the step before."""
        if self._link is not None:
            rows = None if executed is None else executed.tolist()
            message = {"kind": "observe", "seat": self._role, "step": self._step, "executed": rows}
            self._link.send({**message, "view": view_to_json(view)})
        self._step += 1

    def act(self, view: View, world: World) -> Action:
        if self._link is None:
            return Action(world.spec.rest())
        decided = self._link.decision(self._role)
        return Action(np.array(decided["movement"], np.int8).reshape(world.spec.rest().shape), decided["utterance"])


def view_to_json(view: View) -> dict[str, Any]:
    """A view as a message carries it."""
    image = None if view.image is None else [list(view.image.shape), b64encode(view.image.tobytes()).decode()]
    vector = None if view.vector is None else b64encode(view.vector.astype(np.float32).tobytes()).decode()
    return {"image": image, "vector": vector, "heard": view.heard, "said": view.said}


def view_from_json(fields: Mapping[str, Any]) -> View:
    """Reads what `view_to_json` gave."""
    image = vector = None
    if fields["image"] is not None:
        shape, data = fields["image"]
        image = np.frombuffer(b64decode(data), np.uint8).reshape(shape)
    if fields["vector"] is not None:
        vector = np.frombuffer(b64decode(fields["vector"]), np.float32)
    return View(image, vector, fields["heard"], fields["said"])
