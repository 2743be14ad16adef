"""Tasks of the voxel world, drawn from the existing blocks: instructions, questions, and the steps towards a target."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from interplay.env.task import Expert, InfeasibleTask, Task, TaskSource
from interplay.env.voxel.controls import ControlScheme
from interplay.env.voxel.experts.answering import AskingExpert, BlockAnswerExpert
from interplay.env.voxel.experts.building_expert import BuildingExpert
from interplay.env.voxel.experts.walking_expert import WalkingExpert
from interplay.env.voxel.space import SHAPE
from interplay.env.voxel.tasks.block_questions import BlockQuestion
from interplay.env.voxel.tasks.build_task import Build
from interplay.env.voxel.tasks.instructions import KINDS, QUESTIONS, BuildScene, confusions, sample
from interplay.env.world import World

CUES: Mapping[str, tuple[str, ...]] = {  # prompts for setters, and the kinds of task that each leads to
    "Ask the builder to put a block somewhere": ("place", "stack", "beside"),
    "Ask the builder to build something out of several blocks": ("tower", "row", "square"),
    "Ask the builder to change or take away the existing blocks": ("remove", "swap"),
    "Ask the builder about the color of something": ("color",),
    "Ask the builder how many blocks there are": ("count",),
    "Ask the builder whether something exists": ("exist",),
}


class BuildingTasks(TaskSource):
    """Tasks that are possible in the current state of a voxel world.

    Args:
        facts: Ground truth of the world: `grid`, `start`, `target` or None, `body`, `focus`, `free`.
        scheme: How the builder is controlled.
        colors: Ids of the colors that instructions name.
        compass: Whether the builder sees directions, so that "next to" may name a side.
        auto_jump: Whether the builder climbs a block without jumping.
        planned: Whether episodes have a target: then its steps are what is asked for.
    """

    kinds: tuple[str, ...] = KINDS
    probes: tuple[str, ...] = KINDS
    optional_kinds: tuple[str, ...] = ("step", "build", "unclear")
    cues = tuple(CUES)
    step_limits = MappingProxyType({"tower": 60, "square": 60, "build": 600})

    def __init__(
        self,
        facts: Callable[[], Any],
        *,
        scheme: ControlScheme,
        colors: Sequence[int],
        compass: bool,
        auto_jump: bool = False,
        planned: bool = False,
    ) -> None:
        self._facts = facts
        self._scheme = scheme
        self._colors = tuple(colors)
        self._compass = compass
        self._auto_jump = auto_jump
        if planned:
            self.kinds = self.probes = ("step",)
            self.optional_kinds = ("build",)

    def sample(self, kind: str, rng: np.random.Generator) -> Task:
        self._check(kind)
        return sample(kind, self._scene(), rng)

    def sample_by_cue(self, cue: str, modifier: str | None, rng: np.random.Generator) -> Task:
        self.check_cue(cue, modifier)
        refused = ""
        for index in rng.permutation(len(CUES[cue])):
            try:
                return replace(sample(CUES[cue][index], self._scene(), rng), cue=cue)
            except InfeasibleTask as error:
                refused = str(error)
        raise InfeasibleTask(f"{cue!r} leads to nothing here: {refused}")

    def load(self, fields: Mapping[str, Any]) -> Task:
        self._check(str(fields.get("kind")))
        return BlockQuestion.from_json(fields) if fields["kind"] in QUESTIONS else Build.from_json(fields)

    def expert(self, task: Task, world: World) -> Expert:
        if isinstance(task, BlockQuestion):
            return BlockAnswerExpert(task, self._scheme)
        assert isinstance(task, Build), f"a {type(task).__name__} is not a task of this world"
        builder: Expert = BuildingExpert(task, self._scheme, self._auto_jump)
        if self._scheme.control == "human":
            builder = WalkingExpert(task, self._scheme)
        return builder if task.lacks is None else AskingExpert(task.lacks, builder, self._scheme)

    def confusions(self, task: Build) -> list[Build]:
        """What people may take a task for, of those that are possible now."""
        return [each for each in confusions(task, self._scene()) if len(each.goal.ways)]

    def _scene(self) -> BuildScene:
        facts = self._facts()
        tallest = self._tallest()
        return BuildScene(facts.grid, facts.start, facts.target, facts.body, self._colors, self._compass, tallest)

    def _tallest(self) -> int:
        """Blocks of the highest tower: a builder that can't rise places on what is below its eyes."""
        if self._scheme.control == "fly" or "jump" in self._scheme.names:
            return SHAPE[0]
        return 3 if self._auto_jump else 2

    def _check(self, kind: str) -> None:
        known = (*KINDS, "step", "build", "unclear")
        if kind not in known:
            raise ValueError(f"the voxel world has no task of kind {kind!r}; its kinds are {', '.join(known)}")
