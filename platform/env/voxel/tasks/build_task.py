"""Instruction to change blocks: its success, progress, measures, and plausible misreadings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from interplay.env.task import Task, words
from interplay.env.voxel.space import Cell, Grid, to_dense, to_sparse
from interplay.env.voxel.tasks.goals import Goal, Params, Tally, goal_of

CREDIT_NEXT = 0.2  # of a block: the next cell or block is under the gaze
CREDIT_ANGLE = 0.25  # what is spoken of is in view, by its angle from the middle of the view
CREDIT_NEAR = 0.15  # and near
WIDE_DEG = 60.0  # angle without credit
NEAR, FAR = 2.5, 9.0  # distances with all and no credit
RIGHT_SCALE, WRONG_SCALE = 2.0, 1.0  # of `measure`'s reward


@dataclass(frozen=True, eq=False)
class Build(Task):
    """An instruction to fill cells in one of several ways, and to clear others.

    Success: all that is wanted is done, and nothing else has changed. Progress: (right - wrong + credit) / wanted,
    within 0 and 1, and 1 only on success; the credit of at most 0.6 is for turning and going to where the next change
    is due.
    """

    kind: str
    instruction: str
    asked: Grid  # what stood when the instruction was given
    params: Params
    cue: str | None = None
    modifier: str | None = None
    answer: str | None = None
    clear_words: str | None = None  # the whole instruction, where `instruction` leaves something out
    lacks: str | None = None  # what it leaves out: "color", "count" or "block"
    of: str | None = None  # the kind of its goal, where that is not `kind`

    @cached_property
    def goal(self) -> Goal:
        """What is wanted."""
        return goal_of(self.of or self.kind, self.asked, self.params)

    def to_json(self) -> Mapping[str, Any]:
        fields: dict[str, Any] = {
            "kind": self.kind,
            "instruction": self.instruction,
            "asked": [list(block) for block in to_sparse(self.asked)],
            "params": dict(self.params),
        }
        for name in ("cue", "modifier", "clear_words", "lacks", "of"):
            if (value := getattr(self, name)) is not None:
                fields[name] = value
        return fields

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Build:
        """The task whose `to_json` returned these fields."""
        names = ("kind", "instruction", "params", "cue", "modifier", "clear_words", "lacks", "of")
        return cls(asked=to_dense(fields["asked"]), **{name: fields[name] for name in names if name in fields})

    def tally(self, grid: Grid) -> Tally:
        """How far a grid has come."""
        return self.goal.tally(self.asked, grid)

    def success(self, facts: Any, said: Sequence[str]) -> bool:
        return self.tally(facts.grid).done

    def progress(self, facts: Any) -> float:
        tally = self.tally(facts.grid)
        if tally.done:
            return 1.0
        credit = self._credit(facts, tally) if tally.right < tally.wanted else 0.0
        return float(np.clip((tally.right - tally.wrong + credit) / max(1, tally.wanted), 0.0, 0.99))

    def reply(self, utterance: str, facts: Any) -> str | None:
        """The whole instruction, for a question about what the words left out; None for anything else."""
        if self.lacks is None or self.lacks not in words(utterance):
            return None
        return self.clear_words

    def measure(self, facts: Any) -> Mapping[str, float]:
        """Precision, recall and F1 of the changes made, whether all is complete, and a reward: 2 for each right
        change, -1 for each wrong one.

        Tasks that earlier versions imported may want no change; their recall is 0.
        """
        tally = self.tally(facts.grid)
        made = tally.right + tally.wrong
        return {
            "f1": 2 * tally.right / max(1, made + tally.wanted),
            "precision": tally.right / made if made else 0.0,
            "recall": tally.right / max(1, tally.wanted),
            "reward": RIGHT_SCALE * tally.right - WRONG_SCALE * tally.wrong,
            "complete": float(tally.right == tally.wanted),
        }

    def misread(self, world: Any, rng: np.random.Generator) -> Task:
        options = world.tasks().confusions(self)
        return options[int(rng.integers(len(options)))] if options else self

    def differs_from(self, other: Task) -> bool:
        """Whether the other one asks for another change of the same grid."""
        return super().differs_from(other) and dict(self.params) != dict(getattr(other, "params", {}))

    def with_params(self, **changed: Any) -> Build:
        """The same words, meant differently."""
        return replace(self, params={**self.params, **changed})

    def _credit(self, facts: Any, tally: Tally) -> float:
        credit = CREDIT_NEXT if self._is_next(facts, tally) else 0.0
        body = facts.body
        seen = [_angle_and_distance(body, cell) for cell in self.goal.spoken]
        if seen:
            angle, distance = min(seen)
            credit += CREDIT_ANGLE * max(0.0, 1 - angle / WIDE_DEG)
            credit += CREDIT_NEAR * float(np.clip((FAR - distance) / (FAR - NEAR), 0.0, 1.0))
        return credit

    def _is_next(self, facts: Any, tally: Tally) -> bool:
        """Whether the gaze meets a block to remove, or the cell where one is to go."""
        focus, free, grid = facts.focus, facts.free, facts.grid
        if focus is not None and focus[0] >= 0:
            replaced = tally.missing[focus] and grid[focus]
            if tally.uncleared[focus] or replaced:
                return True
        return free is not None and bool(tally.missing[free]) and not grid[free]


def _angle_and_distance(body: Any, cell: Cell) -> tuple[float, float]:
    """The angle in degrees between the gaze and a cell's center, and the distance to it."""
    x, y, z = body.eye
    dx, dy, dz = cell[1] - 5 - x, cell[0] + 0.5 - y, cell[2] - 5 - z
    distance = math.sqrt(dx * dx + dy * dy + dz * dz)
    yaw, pitch = math.radians(body.yaw), math.radians(body.pitch)
    ahead = (-math.sin(yaw) * math.cos(pitch) * dx - math.sin(pitch) * dy + math.cos(yaw) * math.cos(pitch) * dz) / max(
        distance, 1e-6
    )
    return math.degrees(math.acos(min(max(ahead, -1.0), 1.0))), distance
