"""What can be asked in a Playhouse, drawn from what is really in the house: errands and questions by kind.

Things are described by colour and category ("the red ball"). What an errand names is the only one of its description,
within reach, and not yet as asked. In a house of several rooms, questions are about the room that the solver is in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from interplay.env.playhouse import errands, questions, repertoire
from interplay.env.playhouse.asking import Asking
from interplay.env.playhouse.config import PlayhouseConfig
from interplay.env.playhouse.cues import CUES
from interplay.env.playhouse.experts import expert_of, partner_of
from interplay.env.playhouse.facts import HouseFacts
from interplay.env.playhouse.modifiers import MODIFIERS
from interplay.env.task import Expert, Task, TaskSource
from interplay.env.world import World, WorldSpec


class PlayhouseTasks(TaskSource):
    """The tasks of one house, as it stands when they are drawn."""

    kinds = (*errands.USUAL, *questions.USUAL)
    probes = kinds
    on_request = (*errands.ON_REQUEST, *questions.ON_REQUEST)
    cues = tuple(CUES)
    modifiers = tuple(MODIFIERS)
    limits = MappingProxyType({kind: errand.steps for kind, errand in errands.ERRANDS.items() if errand.steps})

    def __init__(self, facts: Callable[[], HouseFacts], spec: WorldSpec, config: PlayhouseConfig) -> None:
        self._facts = facts
        self._spec = spec
        self._config = config

    def sample(self, kind: str, rng: np.random.Generator) -> Task:
        self._check(kind)
        return repertoire.draw(kind, self._asking(), rng)

    def ask(self, cue: str, modifier: str | None, rng: np.random.Generator) -> Task:
        self.check(cue, modifier)
        return repertoire.ask(self._asking(), CUES[cue], MODIFIERS[modifier] if modifier is not None else None, rng)

    def load(self, fields: Mapping[str, Any]) -> Task:
        kind = str(fields.get("kind"))
        self._check(kind)
        return errands.load_errand(fields) if kind in errands.ERRANDS else questions.load_question(fields)

    def expert(self, task: Task, world: World) -> Expert:
        return expert_of(task, world)

    def partner(self, task: Task, world: World) -> Expert | None:
        return partner_of(task, world)

    def _asking(self) -> Asking:
        spec, config = self._spec, self._config
        return Asking(
            facts=self._facts(),
            solver=spec.solver,
            setter=spec.roles[0],
            view=config.view,
            categories=tuple(config.object_categories),
            components=tuple(component.name for component in spec.movement),
            setter_here=config.setter_visible,
            remembers=config.deeds,
        )

    def _check(self, kind: str) -> None:
        known = (*self.kinds, *self.on_request)
        if kind not in known:
            raise ValueError(f"a Playhouse has no task of kind {kind!r}; its kinds are {', '.join(known)}")
