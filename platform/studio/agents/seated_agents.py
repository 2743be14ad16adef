"""The agents in use: their networks, and a memory for each seat in which one of them plays."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from interplay.agent.inference_device import as_tensors
from interplay.agent.inputs import LaneInputs
from interplay.agent.network import Agent
from interplay.agent.noise import Noise, NoiseStream
from interplay.agent.packed import pack
from interplay.agent.policy import act
from interplay.agent.recurrent import RecurrentState
from interplay.env.world import Action, View, WorldSpec
from interplay.episodes.vocabulary import Vocabulary
from interplay.learner.agents import check_description, check_same_world, load_agent
from interplay.learner.checkpoint import Checkpoint, CheckpointError, read
from interplay.stages.rounds import newest_round, stage_folder

_Seat = TypeVar("_Seat", bound=Hashable)
KEPT_AGENTS = 8  # networks in memory, at least as many as sessions use


@dataclass
class SeatedAgent:
    """An agent in one seat: what it sees now, and what it remembers."""

    path: Path
    agent: Agent
    vocabulary: Vocabulary
    inputs: LaneInputs
    memory: RecurrentState[Tensor]
    seed: int
    step: int = 0

    def observe(self, step: int, view: View, executed: NDArray[np.int8] | None) -> None:
        """Takes in the movement [frames, K] of the step before, the agent's or a person's, and where it led."""
        if executed is not None:
            self.inputs.record_action(0, self.inputs.layout.distinct(executed))
        self.inputs.observe(0, view)
        self.step = step

    def generator(self) -> torch.Generator:
        """The random numbers of the current step, the same whenever it is decided."""
        digest = hashlib.sha256(f"{self.seed} {self.inputs.layout.role} {self.step}".encode()).digest()
        return torch.Generator().manual_seed(int.from_bytes(digest[:7], "big"))


class SeatedAgents:
    """The agents of one studio, by seat. Seats of the same checkpoint share a forward pass.

    Args:
        root: of the run whose stages agents are named by.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._loaded: dict[Path, tuple[Agent, Vocabulary]] = {}
        self._seated: dict[Hashable, SeatedAgent] = {}

    def find(self, name: str, role: str, spec: WorldSpec) -> Checkpoint:
        """The newest checkpoint of a stage of the newest round, of "round-1/reinforce", or of a path.

        Raises:
            CheckpointError: no checkpoint exists, or its agent plays another role or was trained in another world.
        """
        folder = stage_folder(self._root, newest_round(self._root), name).checkpoints
        if not folder.exists() and not Path(name).exists():
            there = ", ".join(self._trained()) or "none so far"
            raise CheckpointError(
                f"{self._root} has no checkpoint of {name!r}; name a stage that has been trained ({there}), or "
                "give the path of a checkpoint"
            )
        found = check_description(read(folder if folder.exists() else Path(name)))
        check_same_world(found, spec)
        plays = found.description.get("role") or spec.solver
        if plays != role:
            raise CheckpointError(f"the agent of {found.path} plays the {plays}, not the {role}")
        return found

    def _trained(self) -> list[str]:
        """The stages with a checkpoint, each by a name that `find` takes."""
        files = [
            file for depth in ("*", "round-*/*") for file in self._root.glob(f"{depth}/checkpoints/*/checkpoint.json")
        ]
        folders = {file.parents[2] for file in files}
        names = {folder.relative_to(self._root).as_posix() for folder in folders}
        newest = newest_round(self._root)
        return sorted(
            name if "/" in name or stage_folder(self._root, newest, name).path in folders else f"round-1/{name}"
            for name in names
        )

    def begin(self, seat: Hashable, path: Path, role: str, spec: WorldSpec, seed: int) -> None:
        """Seats an agent at the start of an episode. Raises CheckpointError."""
        self.find(str(path), role, spec)
        self._seated[seat] = self._newly_seated(path, seed)
        self._seated[seat].inputs.reset(0)

    def observe(self, seat: Hashable, step: int, view: View, executed: NDArray[np.int8] | None) -> None:
        """Passes on what the agent in a seat sees, and what was executed in its seat before."""
        self._seated[seat].observe(step, view, executed)

    def groups(self, seats: Sequence[_Seat]) -> list[list[_Seat]]:
        """These seats by agent."""
        groups: dict[Path, list[_Seat]] = {}
        for seat in seats:
            groups.setdefault(self._seated[seat].path, []).append(seat)
        return list(groups.values())

    def decide(self, seats: Sequence[Hashable]) -> dict[Hashable, Action]:
        """The next actions of these seats, and their memories after it; one forward pass for each agent."""
        return {seat: action for group in self.groups(seats) for seat, action in self._decide(group)}

    def memory(self, seat: Hashable) -> RecurrentState[Tensor]:
        """What the agent in a seat remembers."""
        return self._seated[seat].memory

    def end(self, seats: Sequence[Hashable]) -> None:
        """Forgets these seats, and networks that no seat uses beyond the last few."""
        for seat in seats:
            self._seated.pop(seat, None)
        self._drop_unused()

    def seconds(self, path: Path) -> float:
        """How long a single decision of an agent takes here, once it is warm."""
        seat = object()
        self._seated[seat] = self._newly_seated(path, 0)
        self.decide([seat])
        began = time.monotonic()
        self.decide([seat])
        del self._seated[seat]
        return time.monotonic() - began

    def _decide(self, seats: Sequence[Hashable]) -> list[tuple[Hashable, Action]]:
        group = [self._seated[seat] for seat in seats]
        agent, vocabulary = group[0].agent, group[0].vocabulary
        arrays = {
            name: np.concatenate([each.inputs.arrays[name] for each in group], axis=1)
            for name in group[0].inputs.arrays
        }  # [1, B, ...]
        memory = RecurrentState(*(torch.cat(parts) for parts in zip(*(each.memory for each in group), strict=True)))
        noise = Noise([NoiseStream(each.generator(), 1) for each in group])
        decision = act(agent, as_tensors(arrays), memory, noise)
        chunks = agent.layout.chunk(decision.movement)
        actions = []
        for lane, (seat, each) in enumerate(zip(seats, group, strict=True)):
            each.memory = decision.state.select(slice(lane, lane + 1))
            text = vocabulary.decode(decision.tokens[lane]) if decision.speak[lane] else ""
            actions.append((seat, Action(chunks[lane], text or None)))
        return actions

    def _newly_seated(self, path: Path, seed: int) -> SeatedAgent:
        agent, vocabulary = self._load(path)
        return SeatedAgent(
            path, agent, vocabulary, LaneInputs(agent.layout, vocabulary, 1), agent.initial_state(1), seed
        )

    def _load(self, path: Path) -> tuple[Agent, Vocabulary]:
        if path not in self._loaded:
            agent, vocabulary = load_agent(path)
            pack(agent.eval())
            self._loaded[path] = agent, vocabulary
        return self._loaded[path]

    def _drop_unused(self) -> None:
        used = {each.path for each in self._seated.values()}
        for path in [path for path in self._loaded if path not in used][: max(0, len(self._loaded) - KEPT_AGENTS)]:
            del self._loaded[path]
