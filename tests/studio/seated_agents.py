"""Untrained agents of a small house, saved as a run keeps them, and their process as a thread."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import torch
from fake_world import TINY

from interplay.agent.network import Agent
from interplay.agent.observation import Layout
from interplay.env.world import World
from interplay.episodes.vocabulary import Vocabulary
from interplay.learner import checkpoint
from interplay.learner.agents import describe_agent
from interplay.studio.agents.agent_seat import AgentLink
from interplay.studio.agents.agents_process import AgentsServer
from interplay.studio.agents.seated_agents import SeatedAgents

WORDS = Vocabulary(["lift", "the", "ball", "yes", "no", "duck"])


def save_agent(root: Path, world: World, role: str = "solver", stage: str = "clone", seed: int = 1) -> Path:
    """Saves an agent with random weights as a checkpoint of a stage of the run in `root`; the checkpoint's folder."""
    config = replace(TINY, patch=8)
    layout = Layout(world.spec, config.utterance_length, config.actions_per_step, role)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        agent = Agent(config, layout, len(WORDS))
    weights = {name: 3 * value for name, value in agent.state_dict().items()}  # so that it moves, and remembers
    return checkpoint.save(
        root / stage / "checkpoints", step=seed, description=describe_agent(agent, WORDS), weights=weights, training={}
    )


class ServedAgents:
    """Agents that a thread serves; every session has a link of its own."""

    def __init__(self, root: Path, env: dict[str, object]) -> None:
        self.agents = SeatedAgents(root)
        self._control, self._theirs = socket.socketpair()
        self._thread = threading.Thread(target=AgentsServer(self._theirs, self.agents, env).run, daemon=True)
        self._thread.start()

    def link(self) -> AgentLink:
        """A new connection."""
        ours, other = socket.socketpair()
        with other:
            socket.send_fds(self._control, [b"c"], [other.fileno()])
        return AgentLink(ours)

    def close(self) -> None:
        """Ends the thread as the end of the web process ends the real one."""
        self._control.close()
        self._thread.join(timeout=30)
        self._theirs.close()


@contextmanager
def serving(root: Path, env: dict[str, object]) -> Iterator[ServedAgents]:
    """Agents of the run in `root`."""
    served = ServedAgents(root, env)
    yield served
    served.close()
