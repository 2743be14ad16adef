"""Questions about the Playhouse, with their right answers and those that would be plausible mistakes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from interplay.env.playhouse.tasks.stored_fields import without_unused_cues
from interplay.env.playhouse.truth.facts import XY, HouseFacts
from interplay.env.task import Task, same_words, words
from interplay.env.world import World

ARTICLES = frozenset({"a", "an", "the"})


@dataclass(frozen=True)
class Question(Task):
    """A question about the house; its answer is fixed when it is asked."""

    kind: str
    instruction: str
    solver: str  # the role that was asked
    answer: str
    mistakes: tuple[str, ...]  # plausible wrong answers
    about: tuple[int, ...]  # the Things' indices to look at before answering; empty: look at the room
    cue: str | None = field(default=None, kw_only=True)
    modifier: str | None = field(default=None, kw_only=True)

    def to_json(self) -> Mapping[str, Any]:
        return without_unused_cues({**asdict(self), "mistakes": list(self.mistakes), "about": list(self.about)})

    def success(self, facts: HouseFacts, said: Sequence[str]) -> bool:
        return bool(said) and same_words(self.answer, said[0])

    def progress(self, facts: HouseFacts) -> float:
        return 0.0

    def misread(self, world: World, rng: np.random.Generator) -> Task:
        return replace(self, answer=self.mistakes[int(rng.integers(len(self.mistakes)))])

    def look_at(self, facts: HouseFacts) -> XY:
        """Where to look before answering: the middle of what is asked about, or of the room."""
        if self.about:
            points = [facts.things[index].xy for index in self.about]
            return float(np.mean([x for x, _ in points])), float(np.mean([y for _, y in points]))
        room = next((r for r in facts.rooms if r.name == facts.bodies[self.solver].room), facts.rooms[0])
        return room.middle


@dataclass(frozen=True)
class OpenQuestion(Question):
    """A question that can be answered in several right ways; `answer` is the one that the scripted solver gives."""

    accepted: tuple[str, ...]  # every right answer, articles left out

    def to_json(self) -> Mapping[str, Any]:
        return {**super().to_json(), "accepted": list(self.accepted)}

    def success(self, facts: HouseFacts, said: Sequence[str]) -> bool:
        return bool(said) and self.accepts(said[0])

    def rate_answer(self, utterance: str) -> int:
        return 1 if self.accepts(utterance) else -1

    def accepts(self, utterance: str) -> bool:
        """Is this a right answer, articles, case and punctuation aside?"""
        spoken = " ".join(word for word in words(utterance) if word not in ARTICLES)
        return any(same_words(spoken, right) for right in (self.answer, *self.accepted))

    def misread(self, world: World, rng: np.random.Generator) -> Task:
        wrong = self.mistakes[int(rng.integers(len(self.mistakes)))]
        return replace(self, answer=wrong, accepted=())
