"""Tasks that a setter draws when it is given a cue and possibly a modifier."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from interplay.env.playhouse.language.referring.expressions import ReferringExpressions, referring_expressions
from interplay.env.playhouse.language.referring.generation import EVERYDAY
from interplay.env.playhouse.requests.cues import Cue, Modifier
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.kinds import is_question, sample_task
from interplay.env.playhouse.tasks.playhouse_task import PlayhouseTask
from interplay.env.task import InfeasibleTask, words

MAX_DRAWS = 5  # of a kind with one set of referring expressions
MAX_REFUSALS = 2  # infeasible draws after which this set is given up
MIXTURES = 2  # sets that name some things in the style of the modifier and others plainly
MAX_WORDS = 15  # of an instruction: an agent's utterance has room for 16 tokens, including the end token
KINDS_ANSWERED_BY_THING = ("nearest", "on_top", "noticed")  # their questions must not name the answer


def sample_cued_task(
    context: TaskContext, cue: Cue, modifier: Modifier | None, rng: np.random.Generator
) -> PlayhouseTask:
    """Draws a task of one of the cue's kinds, in words that satisfy the modifier.

    Raises:
        InfeasibleTask: there is none, and why.
    """
    wording = _Wording(context, modifier)
    refusals: list[str] = []
    for kind in rng.permutation(cue.kinds).tolist():
        for naming in wording.namings(kind, rng):
            style = modifier.style if modifier else EVERYDAY
            named = replace(context, naming=naming, style=style, varied_wording=True)
            for task in _draws(kind, named, rng, refusals):
                if wording.is_allowed(task):
                    return replace(task, cue=cue.name, modifier=modifier.name if modifier else None)
    with_modifier = f" and the modifier {modifier.name!r}" if modifier else ""
    reasons = "; ".join(dict.fromkeys(refusals)) or "no wording satisfies it"
    raise InfeasibleTask(f"nothing can be asked here by the cue {cue.name!r}{with_modifier}: {reasons}")


def _draws(kind: str, context: TaskContext, rng: np.random.Generator, refusals: list[str]) -> Iterator[PlayhouseTask]:
    """Yields up to `MAX_DRAWS` tasks of a kind, fewer after `MAX_REFUSALS`; appends the reasons to `refusals`."""
    refused = 0
    for _ in range(MAX_DRAWS):
        try:
            yield sample_task(kind, context, rng)
        except InfeasibleTask as refusal:
            refusals.append(str(refusal))
            refused += 1
            if refused == MAX_REFUSALS:
                return


def _names_its_answer(task: PlayhouseTask) -> bool:
    """Tests whether a question contains its answer: "what is on the table underneath the ball?"."""
    said = words(task.instruction)
    return task.kind in KINDS_ANSWERED_BY_THING and task.answer is not None and words(task.answer)[-1] in said


class _Wording:
    """Referring expressions for one task, and the test whether its words satisfy the modifier."""

    def __init__(self, context: TaskContext, modifier: Modifier | None) -> None:
        facts, viewer = context.facts, context.facts.bodies[context.solver]
        self._plain = referring_expressions(EVERYDAY.describe(facts, viewer))
        self._modifier = modifier
        self._styled = self._plain
        self._post_modifiers: list[str] = []
        if modifier is not None:
            self._styled = referring_expressions(modifier.style.describe(facts, viewer))
            found = modifier.style.post_modifiers(facts, viewer)
            self._post_modifiers = [phrase for post in found for phrase in post.phrases]

    def namings(self, kind: str, rng: np.random.Generator) -> Iterator[ReferringExpressions]:
        """Yields sets of referring expressions, the most likely to satisfy the modifier first: all in its style; some
        so and others plain; all plain, because other words of the sentence may satisfy it."""
        styled = self._styled if is_question(kind) else self._styled.delimited()
        yield styled
        if self._modifier is not None:
            yield from (styled.mixed_with(self._plain, rng) for _ in range(MIXTURES))
            yield self._plain

    def is_allowed(self, task: PlayhouseTask) -> bool:
        """Tests whether the words of a task satisfy the modifier, are not too many, and do not name the answer."""
        text = task.instruction
        if len(words(text)) > MAX_WORDS or _names_its_answer(task):
            return False
        if self._modifier is None:
            return True
        if self._modifier.is_satisfied_by is not None:
            return self._modifier.is_satisfied_by(text)
        if self._styled.occurs_in(text):
            return True
        # An instruction may name the place where a thing goes without identifying the thing by its place.
        counts = self._modifier.counts_destinations or is_question(task.kind)
        return counts and any(f" {phrase} " in f"{text.rstrip('?')} " for phrase in self._post_modifiers)
