"""Tasks of a Playhouse, drawn from the true state of the house: instructions and questions by kind or by cue.

By kind, things are named by color and category ("the red ball"), or by `name_weights`. The thing that an instruction
names is the only one of its description, within reach, and not yet as requested. Questions are about the room that the
solver is in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from interplay.env.playhouse.control.experts import build_expert, build_partner
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.language.referring.expressions import ByColor, ByOneProperty, Naming
from interplay.env.playhouse.requests.cues import CUES, MODIFIERS, sample_cued_task
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.kinds import KINDS, load_task, migrated, sample_task
from interplay.env.playhouse.truth.facts import HouseFacts
from interplay.env.task import Expert, Task, TaskSource
from interplay.env.world import World, WorldSpec


class PlayhouseTasks(TaskSource):
    """Tasks of one house, feasible in its state at the moment they are drawn."""

    kinds = tuple(kind.name for kind in KINDS.values() if kind.usual)
    probes = kinds
    optional_kinds = tuple(kind.name for kind in KINDS.values() if not kind.usual)
    cues = tuple(CUES)
    modifiers = tuple(MODIFIERS)
    prompts = MappingProxyType(
        {cue.name: cue.prompt for cue in CUES.values()} | {each.name: each.prompt for each in MODIFIERS.values()}
    )
    step_limits = MappingProxyType({kind.name: kind.probe_steps for kind in KINDS.values() if kind.probe_steps})

    def __init__(self, facts: Callable[[], HouseFacts], spec: WorldSpec, config: PlayhouseConfig) -> None:
        self._facts = facts
        self._spec = spec
        self._config = config

    def sample(self, kind: str, rng: np.random.Generator) -> Task:
        _check_kind(kind)
        return sample_task(replace(self._context(), kind=kind, naming=self._naming(rng)), rng)

    def sample_by_cue(self, cue: str, modifier: str | None, rng: np.random.Generator) -> Task:
        self.check_cue(cue, modifier)
        return sample_cued_task(self._context(), CUES[cue], None if modifier is None else MODIFIERS[modifier], rng)

    def load(self, fields: Mapping[str, Any]) -> Task:
        _check_kind(migrated({"kind": None, **fields})["kind"])
        return load_task(fields)

    def expert(self, task: Task, world: World) -> Expert:
        return build_expert(task, world)

    def partner(self, task: Task, world: World) -> Expert | None:
        return build_partner(task, world)

    def _naming(self, rng: np.random.Generator) -> Naming:
        """Draws the manner in which one task names things; with a single manner, draws no random number."""
        weights = {name: weight for name, weight in self._config.name_weights.items() if weight > 0}
        drawn = next(iter(weights))
        if len(weights) > 1:
            shares = np.array(list(weights.values()))
            drawn = list(weights)[int(rng.choice(len(weights), p=shares / shares.sum()))]
        return {"category": ByOneProperty("category"), "color": ByOneProperty("color"), "both": ByColor()}[drawn]

    def _context(self) -> TaskContext:
        spec, components = self._spec, tuple(component.name for component in self._spec.movement)
        return TaskContext(self._facts(), spec.solver, spec.roles[0], self._config, components)


def _check_kind(kind: str) -> None:
    if kind not in KINDS:
        raise ValueError(f"a Playhouse has no task of kind {kind!r}; its kinds are {', '.join(KINDS)}")
