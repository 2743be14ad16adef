"""Carry out one instruction, and then another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from interplay.env.playhouse.language.templates import fill_template
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.bring_and_reposition import reposition_kind
from interplay.env.playhouse.tasks.instructions.go_and_stand import go_kind, go_room_kind
from interplay.env.playhouse.tasks.instructions.lift_and_throw import lift_kind, throw_kind
from interplay.env.playhouse.tasks.instructions.push_and_tools import push_kind
from interplay.env.playhouse.tasks.instructions.put import PUT_KINDS, position_kind
from interplay.env.playhouse.tasks.playhouse_task import PlayhouseTask, TaskKind, task_kind
from interplay.env.playhouse.truth.facts import HouseFacts
from interplay.env.task import InfeasibleTask, words

WORDINGS = (
    "{first} and then {second}", "{first}, then {second}", "first {first}, then {second}",
    "{first} and after that {second}", "{first}, and when you are done {second}", "{first} and afterwards {second}",
    "first {first} and then {second}",
)  # fmt: skip
# Kinds that stay done while another instruction is carried out, and kinds that can follow.
FIRST_KINDS = (*PUT_KINDS, position_kind, reposition_kind, throw_kind, push_kind)
SECOND_KINDS = (go_kind, lift_kind, *PUT_KINDS, position_kind, throw_kind, go_room_kind)
PART_KINDS = {kind.name: kind for kind in (*FIRST_KINDS, *SECOND_KINDS)}
MAX_DRAWS = 12  # of the two parts, until neither interferes with the other
# First words of instructions that are not imperatives, which another instruction cannot follow.
NOT_IMPERATIVE = ("the", "could", "i", "let", "nothing", "come")
MAX_PART_WORDS = 9
FIRST_WEIGHT = 0.5  # of the first part in `progress`


@dataclass(frozen=True, kw_only=True)
class TaskSequence(PlayhouseTask):
    """Two instructions, the first of which stays done: the sequence is done once both are.

    The first has half of the weight in `progress`, and the second counts only while the first is done.
    """

    first: PlayhouseTask
    second: PlayhouseTask

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        parts = {name: PART_KINDS[stored[name]["kind"]].task.from_json(stored[name]) for name in ("first", "second")}
        return super().from_json({**stored, **parts})

    def is_done(self, facts: HouseFacts) -> bool:
        return self.first.is_done(facts) and self.second.is_done(facts)

    def partial_progress(self, facts: HouseFacts) -> float:
        if not self.first.is_done(facts):
            return FIRST_WEIGHT * self.first.progress(facts)
        return FIRST_WEIGHT + (1.0 - FIRST_WEIGHT) * self.second.progress(facts)

    def with_baseline(self, facts: HouseFacts) -> Self:
        return replace(self, first=self.first.with_baseline(facts), second=self.second.with_baseline(facts))

    def misreading(self, facts: HouseFacts, rng: np.random.Generator) -> PlayhouseTask | None:
        """Only one of the two parts, or one of them misinterpreted."""
        case = int(rng.integers(4))
        if case < 2:
            return replace(self.first if case == 0 else self.second, instruction=self.instruction)
        if case == 2:
            return replace(self, first=self.first.misinterpreted(facts, rng))
        return replace(self, second=self.second.misinterpreted(facts, rng))


@task_kind("in_turn", TaskSequence, WORDINGS, probe_steps=240)
def sequence_kind(context: TaskContext, rng: np.random.Generator) -> TaskSequence:
    """Draws two instructions about different things."""
    reasons: list[str] = []
    for _ in range(MAX_DRAWS):
        try:
            first = _sample_part(FIRST_KINDS, context, rng)
            second = _sample_part(SECOND_KINDS, context, rng)
        except InfeasibleTask as refusal:
            reasons.append(str(refusal))
            continue
        if _is_short_imperative(first) and _is_short_imperative(second) and _are_independent(first, second):
            text = fill_template(WORDINGS, rng, first=first.instruction, second=second.instruction)
            return TaskSequence(kind=context.kind, instruction=text, solver=context.solver, first=first, second=second)
    raise context.refusal("; ".join(dict.fromkeys(reasons)) or "no two instructions are independent")


def _sample_part(kinds: Sequence[TaskKind], context: TaskContext, rng: np.random.Generator) -> PlayhouseTask:
    kind = context.sample_one(kinds, rng)
    return kind.sample(replace(context, kind=kind.name), rng).with_baseline(context.facts)


def _is_short_imperative(task: PlayhouseTask) -> bool:
    said = words(task.instruction)
    return said[0] not in NOT_IMPERATIVE and len(said) <= MAX_PART_WORDS and not task.instruction.endswith("?")


def _are_independent(first: PlayhouseTask, second: PlayhouseTask) -> bool:
    """Tests whether neither part moves a thing that the other is about."""
    (moved, others), (moved_later, others_later) = _things_of(first), _things_of(second)
    return moved.isdisjoint(moved_later | others_later) and others.isdisjoint(moved_later)


def _things_of(task: PlayhouseTask) -> tuple[set[int], set[int]]:
    """Returns the indices of the things that a task moves, and of the others that it is about."""
    fields = task.to_json()
    moved, others = (fields.get("target"), *fields.get("candidates", ())), (fields.get("other"),)
    return {i for i in moved if i is not None}, {i for i in others if i is not None}
