"""What can be asked in a Playhouse, drawn from what is really in the house: errands and questions by kind.

Things are described by color and category ("the red ball"). What an errand names is the only one of its description,
within reach, and not yet as asked. In a house of several rooms, questions are about the room that the solver is in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from interplay.env.playhouse.control import build_expert, build_partner
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.requests import repertoire
from interplay.env.playhouse.requests.cues import CUES
from interplay.env.playhouse.requests.modifiers import MODIFIERS
from interplay.env.playhouse.tasks import instructions, questions
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.truth.facts import HouseFacts
from interplay.env.task import Expert, Task, TaskSource
from interplay.env.world import World, WorldSpec


class PlayhouseTasks(TaskSource):
    """The tasks of one house, as it stands when they are drawn."""

    kinds = (*instructions.USUAL, *questions.USUAL)
    probes = kinds
    optional_kinds = (*instructions.ON_REQUEST, *questions.ON_REQUEST)
    cues = tuple(CUES)
    modifiers = tuple(MODIFIERS)
    step_limits = MappingProxyType(
        {kind: errand.steps for kind, errand in instructions.INSTRUCTIONS.items() if errand.steps}
    )

    def __init__(self, facts: Callable[[], HouseFacts], spec: WorldSpec, config: PlayhouseConfig) -> None:
        self._facts = facts
        self._spec = spec
        self._config = config

    def sample(self, kind: str, rng: np.random.Generator) -> Task:
        self._check(kind)
        return repertoire.draw(kind, self._asking(), rng)

    def sample_by_cue(self, cue: str, modifier: str | None, rng: np.random.Generator) -> Task:
        self.check_cue(cue, modifier)
        return repertoire.ask(self._asking(), CUES[cue], MODIFIERS[modifier] if modifier is not None else None, rng)

    def load(self, fields: Mapping[str, Any]) -> Task:
        kind = str(fields.get("kind"))
        self._check(kind)
        return (
            instructions.load_instruction(fields)
            if kind in instructions.INSTRUCTIONS
            else questions.load_question(fields)
        )

    def expert(self, task: Task, world: World) -> Expert:
        return build_expert(task, world)

    def partner(self, task: Task, world: World) -> Expert | None:
        return build_partner(task, world)

    def _asking(self) -> TaskContext:
        spec, config = self._spec, self._config
        return TaskContext(
            facts=self._facts(),
            solver=spec.solver,
            setter=spec.roles[0],
            view=config.view,
            categories=tuple(config.object_categories),
            components=tuple(component.name for component in spec.movement),
            setter_here=config.setter_visible,
            remembers=config.track_contacts,
        )

    def _check(self, kind: str) -> None:
        known = (*self.kinds, *self.optional_kinds)
        if kind not in known:
            raise ValueError(f"a Playhouse has no task of kind {kind!r}; its kinds are {', '.join(known)}")
