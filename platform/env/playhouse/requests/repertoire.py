"""What a setter asks when it is given a cue, and perhaps a modifier: a task of a fitting kind, in fitting words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import is_dataclass, replace

import numpy as np

from interplay.env.playhouse.language.referring.expressions import ReferringExpressions, referring_expressions
from interplay.env.playhouse.language.referring.styles import EVERYDAY
from interplay.env.playhouse.requests.cues import Cue
from interplay.env.playhouse.requests.modifiers import Modifier
from interplay.env.playhouse.tasks import instructions, questions
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.questions.question import Question
from interplay.env.task import InfeasibleTask, Task, words

TRIES = 5  # draws of a kind, in each way of naming, before it is given up
REFUSALS = 2  # draws that found nothing to ask, after which the same way of naming is given up
MIXTURES = 2  # ways of naming some things in the manner of a modifier, and others plainly
LONGEST = 15  # words of an instruction: an agent's utterance has room for 16 tokens, its end included
TELLING = ("nearest", "on_top", "noticed")  # kinds whose answer is a thing that the question should not name


def draw(kind: str, asking: TaskContext, rng: np.random.Generator) -> Task:
    """A feasible task of a kind.

    Raises:
        InfeasibleTask: there is none.
    """
    if kind in instructions.INSTRUCTIONS:
        return instructions.sample_instruction(kind, asking, rng)
    return questions.QUESTIONS[kind](asking, rng)


def ask(asking: TaskContext, cue: Cue, modifier: Modifier | None, rng: np.random.Generator) -> Task:
    """A task that the cue leads to, in words that satisfy the modifier.

    Raises:
        InfeasibleTask: there is none, and why.
    """
    names = _Names(asking, modifier)
    refused: list[str] = []
    for kind in rng.permutation(cue.kinds).tolist():
        for book in names.books(kind, rng):
            named = replace(asking, naming=book, manner=modifier.manner if modifier else EVERYDAY, freely=True)
            for task in _draws(kind, named, rng, refused):
                if names.allow(task):
                    assert is_dataclass(task) and not isinstance(task, type)
                    return replace(task, cue=cue.name, modifier=modifier.name if modifier else None)
    with_modifier = f" and the modifier {modifier.name!r}" if modifier else ""
    reasons = "; ".join(dict.fromkeys(refused)) or "no wording satisfies it"
    raise InfeasibleTask(f"nothing can be asked here by the cue {cue.name!r}{with_modifier}: {reasons}")


def _draws(kind: str, asking: TaskContext, rng: np.random.Generator, refused: list[str]) -> Iterator[Task]:
    """Several tasks of a kind, fewer where that is refused; the reasons are added to `refused`."""
    refusals = 0
    for _ in range(TRIES):
        try:
            yield draw(kind, asking, rng)
        except InfeasibleTask as refusal:
            refused.append(str(refusal))
            refusals += 1
            if refusals == REFUSALS:
                return


def _tells_its_answer(task: Task) -> bool:
    """ "What is on the table underneath the ball?" """
    said = words(task.instruction)
    return task.kind in TELLING and task.answer is not None and words(task.answer)[-1] in said


class _Names:
    """How things may be named in one task, and whether its words obey the modifier."""

    def __init__(self, asking: TaskContext, modifier: Modifier | None) -> None:
        viewer = asking.facts.bodies[asking.solver]
        self._plain = referring_expressions(EVERYDAY.describe(asking.facts, viewer))
        self._modifier = modifier
        self._own = referring_expressions(modifier.manner.describe(asking.facts, viewer)) if modifier else self._plain
        behind = modifier.manner.clauses(asking.facts, viewer) if modifier else ()
        self._behind = [words for clause in behind for words in clause.words]

    def books(self, kind: str, rng: np.random.Generator) -> Iterator[ReferringExpressions]:
        """The more the words must obey, the earlier: in the manner of the modifier; some things so, and others plainly;
        all plainly, where other words of the sentence may obey."""
        own = self._own.firm() if kind in instructions.INSTRUCTIONS else self._own
        yield own
        if self._modifier is not None:
            yield from (own.mixed_with(self._plain, rng) for _ in range(MIXTURES))
            yield self._plain

    def allow(self, task: Task) -> bool:
        text = task.instruction
        if len(words(text)) > LONGEST or _tells_its_answer(task):
            return False
        if self._modifier is None:
            return True
        if self._modifier.heard is not None:
            return self._modifier.heard(text)
        if self._own.names_in(text):
            return True
        # An errand may send a thing to a place and yet not tell by a place what thing is meant.
        said = self._modifier.of_places or isinstance(task, Question)
        return said and any(f" {clause} " in f"{text.rstrip('?')} " for clause in self._behind)
