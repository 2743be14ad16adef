"""Do one thing, and then another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from interplay.env.playhouse.language.templates import PHRASES, phrase
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.stored_fields import without_unused_cues
from interplay.env.task import InfeasibleTask, Task, words
from interplay.env.world import World

PHRASES["in_turn"] = (
    "{first} and then {second}",
    "{first}, then {second}",
    "first {first}, then {second}",
    "{first} and after that {second}",
    "{first}, and when you are done {second}",
    "{first} and afterwards {second}",
    "first {first} and then {second}",
)
# What stays done while something else is done, and what can come after it.
LASTING = ("put_on", "put_in", "put_under", "position", "reposition", "throw", "push")
LATER = ("go", "lift", "put_on", "put_in", "put_under", "position", "throw", "go_room")
TRIES = 12  # draws of the two, until neither gets in the way of the other
POLITE = ("the", "could", "i", "let", "nothing", "come")  # what begins so is no command that another can follow
LONGEST = 9  # words of each of the two

Draw = Callable[[str, TaskContext, np.random.Generator], Task]


@dataclass(frozen=True)
class TaskSequence(Task):
    """Two errands, of which the first stays done: both are, once the second is.

    The first is worth half of the progress, and the second counts only while the first is done.
    """

    kind: str
    instruction: str
    solver: str  # the role that was asked
    first: Task
    second: Task
    answer: str | None = field(default=None, init=False)
    cue: str | None = field(default=None, kw_only=True)
    modifier: str | None = field(default=None, kw_only=True)

    @classmethod
    def load(cls, load_part: Callable[[Mapping[str, Any]], Task], **fields: Any) -> Self:
        """What `to_json` described."""
        parts = {name: load_part(fields[name]) for name in ("first", "second")}
        return cls(**{**fields, **parts})

    def to_json(self) -> Mapping[str, Any]:
        own = {"kind": self.kind, "instruction": self.instruction, "solver": self.solver, "answer": self.answer}
        parts = {"first": self.first.to_json(), "second": self.second.to_json()}
        return without_unused_cues({**own, **parts, "cue": self.cue, "modifier": self.modifier})

    def success(self, facts: Any, said: Sequence[str]) -> bool:
        return self.first.success(facts, said) and self.second.success(facts, said)

    def progress(self, facts: Any) -> float:
        if not self.first.success(facts, ()):
            return 0.5 * self.first.progress(facts)
        return 0.5 + 0.5 * self.second.progress(facts)

    def misread(self, world: World, rng: np.random.Generator) -> Task:
        """One of the two is misunderstood, or forgotten."""
        way = int(rng.integers(4))
        if way < 2:
            return replace(self.first if way == 0 else self.second, instruction=self.instruction)  # type: ignore[type-var]
        if way == 2:
            return replace(self, first=self.first.misread(world, rng))
        return replace(self, second=self.second.misread(world, rng))


def sample_sequence(draw: Draw, asking: TaskContext, rng: np.random.Generator) -> TaskSequence:
    """Two errands about different things."""
    why: list[str] = []
    for _ in range(TRIES):
        try:
            first = draw(LASTING[int(rng.integers(len(LASTING)))], asking, rng)
            second = draw(LATER[int(rng.integers(len(LATER)))], asking, rng)
        except InfeasibleTask as refusal:
            why.append(str(refusal))
            continue
        if _is_command(first) and _is_command(second) and _apart(first, second):
            text = phrase("in_turn", rng, first=first.instruction, second=second.instruction)
            return TaskSequence("in_turn", text, asking.solver, first, second)
    reasons = "; ".join(dict.fromkeys(why)) or "no two errands are apart"
    raise InfeasibleTask(f"no task of kind 'in_turn' can be asked here: {reasons}")


def _is_command(task: Task) -> bool:
    """Is it a short command?"""
    said = words(task.instruction)
    return said[0] not in POLITE and len(said) <= LONGEST and not task.instruction.endswith("?")


def _apart(first: Task, second: Task) -> bool:
    """Are they about different things? What one is done with, the other leaves alone."""
    one, two = _things(first), _things(second)
    return one["target"].isdisjoint({*two["target"], *two["other"]}) and one["other"].isdisjoint(two["target"])


def _things(task: Task) -> dict[str, frozenset[int]]:
    fields = task.to_json()
    target = {fields[name] for name in ("target",) if fields.get(name) is not None}
    other = {fields[name] for name in ("other",) if fields.get(name) is not None}
    return {"target": frozenset(target | {*fields.get("things", ())}), "other": frozenset(other)}
