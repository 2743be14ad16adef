"""Cues that tell a setter what to ask for, modifiers that restrict its words, and the tasks that it draws by both.

People were given the same cues and modifiers. A cue leads to kinds of task, a modifier has a referring style.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from interplay.env.playhouse.house.catalog import COLORS
from interplay.env.playhouse.language.referring import styles
from interplay.env.playhouse.language.referring.expressions import ReferringExpressions, referring_expressions
from interplay.env.playhouse.language.referring.styles import EVERYDAY, ReferringStyle
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.kinds import is_question, sample_task
from interplay.env.playhouse.tasks.playhouse_task import PlayhouseTask
from interplay.env.task import InfeasibleTask, words


@dataclass(frozen=True)
class Cue:
    """An instruction to the setter what to ask for."""

    name: str
    prompt: str  # as people who set tasks read it
    kinds: tuple[str, ...]  # kinds of task, drawn with equal probability


CUES = {cue.name: cue for cue in (
    # Instructions.
    Cue("touch", "Ask the other player to touch an object using another object.", ("touch_with", "hit")),
    Cue("activity", "Ask the other player to perform an activity of your choice.",
        ("throw", "throw_out", "push", "hit", "tower", "triangle", "square", "circle", "group",
         "remove", "fill", "lift_container", "put_in", "stand_between")),
    Cue("hand_over", "Ask the other player to hand you something, which you then hold.", ("hand_over",)),
    Cue("stand", "Ask the other player to stand in some position relative to you.", ("stand",)),
    Cue("arrange", "Ask the other player to move a group of objects into a simple arrangement.",
        ("tower", "row", "triangle", "square", "circle", "group")),
    Cue("put_on", "Ask the other player to put something on top of something else.", ("put_on",)),
    Cue("put_under", "Ask the other player to put something underneath something else.", ("put_under",)),
    Cue("lift", "Ask the other player to lift something.", ("lift", "lift_container")),
    Cue("in_turn", "Ask the other player to do something, then when they are finished, ask them to do something else.",
        ("in_turn",)),
    Cue("reposition", "Ask the other player to reposition something in the room.", ("reposition", "put_in")),
    Cue("bring", "Ask the other player to bring you one or more objects.", ("bring",)),
    Cue("push_with", "Ask the other player to push an object around using another object.", ("push_with",)),
    Cue("position", "Ask the other player to position something relative to something else.",
        ("position", "put_on", "put_in", "put_under")),
    Cue("row", "Ask the other player to put three or more specific objects in a row.", ("row",)),
    Cue("go", "Ask the other player to go somewhere.", ("go", "go_room")),
    # Questions.
    Cue("yes_no", "Ask the other player a yes/no question about something in the room.", ("fact",)),
    Cue("where", "Ask the other player to describe where something is.", ("whereabouts",)),
    Cue("count", "Ask the other player to count something.", ("how_many",)),
    Cue("notice", "Ask the other player to say what they are looking at or noticing right now.", ("noticed",)),
    Cue("color", "Ask a question about the color of something.", ("color_of",)),
    Cue("same_color", "Ask the other player whether two things have the same or different colors.",
        ("same_or_different",)),
    Cue("yes_no_numbers", "Ask the other player a yes/no question about numbers of objects in the room.",
        ("number_fact",)),
    Cue("exist", "Ask the other player whether a particular thing exists in the room.", ("present",)),
    Cue("any_question", "Ask the other player any question about the room.",
        ("fact", "whereabouts", "how_many", "noticed", "color_of", "same_or_different", "number_fact", "present",
         "size", "nearest", "on_top", "larger")),
    Cue("size", "Ask the other player whether one object is larger, smaller, or the same size as another object.",
        ("size",)),
)}  # fmt: skip


@dataclass(frozen=True)
class Modifier:
    """A restriction of the words of a setter."""

    name: str
    prompt: str  # as people who set tasks read it
    style: ReferringStyle
    # Tests whether an utterance satisfies the modifier; None: it does if it names anything in the style.
    is_satisfied_by: Callable[[str], bool] | None = None
    counts_destinations: bool = False  # whether naming the destination of an instruction in this style is enough


def contains_any(*phrases: str) -> Callable[[str], bool]:
    """Returns the test whether an utterance contains one of these words or sequences of words."""

    def contains(text: str) -> bool:
        said = f" {' '.join(words(text))} "
        return any(f" {phrase} " in said for phrase in phrases)

    return contains


def contains_none(*phrases: str) -> Callable[[str], bool]:
    """Returns the test whether an utterance contains none of these words or sequences of words."""
    contains = contains_any(*phrases)
    return lambda text: not contains(text)


MODIFIERS = {modifier.name: modifier for modifier in (
    Modifier("by_color", "Refer to objects by color.", styles.COLOR, contains_any(*COLORS)),
    Modifier("location_by_color", "Refer to location by color.", styles.COLORED_PLACE, counts_destinations=True),
    Modifier("by_location", "Refer to objects by location.", styles.PLACE),
    Modifier("shape_words", "Use shape words. Try to use shape words like: circular, rectangular, round, pointy, long.",
             styles.SHAPE, contains_any("circular", "rectangular", "round", "pointy", "long")),
    Modifier("proximity_words", "Use proximity words. Try to use words like: near, far, close to, next to.",
             styles.PROXIMITY, contains_any("near", "nearest", "far", "close", "closest", "next to", "beside")),
    Modifier("horizontal_words",
             "Use horizontal position words. Try to use words like: in front, behind, left of, right of, between.",
             styles.SIDES, contains_any("in front", "behind", "left", "right", "between")),
    Modifier("vertical_words", "Use vertical position words. Try to use words like: on top, beneath, above, below.",
             styles.HEIGHT, contains_any("on top", "beneath", "above", "below", "underneath", "under")),
    Modifier("negation_words", "Use negation words. Try to use words like: not, isn't.",
             styles.NEGATION, contains_any("not", "isn't", "aren't", "don't", "no")),
    Modifier("quantifier_words", "Use quantifier words. Try to use words like: some, all, most, many, none.",
             styles.QUANTITY, contains_any("some", "all", "most", "many", "none", "every", "both")),
    Modifier("shunned_words", "Do not use the words: bed, door, window.",
             styles.EVERYDAY, contains_none("bed", "beds", "door", "doors", "window", "windows")),
)}  # fmt: skip


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
        InfeasibleTask: no task fits; the message states why.
    """
    wording = _Wording(context, modifier)
    refusals: list[str] = []
    for kind in rng.permutation(cue.kinds).tolist():
        for naming in wording.namings(kind, rng):
            style = modifier.style if modifier else EVERYDAY
            named = replace(context, kind=kind, naming=naming, style=style, varied_wording=True)
            for task in _draws(named, rng, refusals):
                if wording.is_allowed(task):
                    return replace(task, cue=cue.name, modifier=modifier.name if modifier else None)
    with_modifier = f" and the modifier {modifier.name!r}" if modifier else ""
    reasons = "; ".join(dict.fromkeys(refusals)) or "no wording satisfies it"
    raise InfeasibleTask(f"nothing can be asked here by the cue {cue.name!r}{with_modifier}: {reasons}")


def _draws(context: TaskContext, rng: np.random.Generator, refusals: list[str]) -> Iterator[PlayhouseTask]:
    """Yields up to `MAX_DRAWS` tasks of one kind, fewer after `MAX_REFUSALS`; appends the reasons to `refusals`."""
    refused = 0
    for _ in range(MAX_DRAWS):
        try:
            yield sample_task(context, rng)
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
