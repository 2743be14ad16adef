"""A task source of one kind, to test the world without the real tasks: remove the block of a color."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from interplay.env.mission import NoopExpert
from interplay.env.task import Expert, InfeasibleTask, Task, TaskSource
from interplay.env.voxel.config import VoxelConfig
from interplay.env.voxel.space import color_id, color_name
from interplay.env.voxel.task_collections import TaskCollection
from interplay.env.voxel.world import Voxel
from interplay.env.world import World


@dataclass(frozen=True)
class Removal(Task):
    instruction: str
    color: str
    kind: str = "clear"
    answer: str | None = None

    def to_json(self) -> Mapping[str, Any]:
        return {"kind": self.kind, "instruction": self.instruction, "color": self.color}

    def success(self, facts: Any, said: Sequence[str]) -> bool:
        return not (facts.grid == color_id(self.color)).any()

    def progress(self, facts: Any) -> float:
        return float(self.success(facts, ()))

    def misread(self, world: World, rng: np.random.Generator) -> Task:
        return replace(self, color="blue")


class Removals(TaskSource):
    kinds = probes = ("clear",)

    def __init__(self, world: Voxel) -> None:
        self._world = world

    def sample(self, kind: str, rng: np.random.Generator) -> Task:
        if kind not in self.kinds:
            raise ValueError(f"no kind {kind!r}; there is clear")
        colors = [color_name(block) for block in np.unique(self._world.facts().grid).tolist() if block]
        if not colors:
            raise InfeasibleTask("no block to remove")
        color = colors[int(rng.integers(len(colors)))]
        return Removal(f"remove the {color} block", color)

    def load(self, fields: Mapping[str, Any]) -> Task:
        return Removal(fields["instruction"], fields["color"])

    def expert(self, task: Task, world: World) -> Expert:
        return NoopExpert()


class TinyVoxel(Voxel):
    def tasks(self) -> TaskSource:
        return Removals(self)


def tiny_world(targets: TaskCollection | None = None, **settings: Any) -> Voxel:
    """A voxel world with these tasks."""
    return TinyVoxel(VoxelConfig(**settings), targets)
