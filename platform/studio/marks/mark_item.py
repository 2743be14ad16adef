"""An item as a rater sees it: the dialogue and the rater's own marks, and nothing about the episode's origin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from interplay.episodes.episode import EpisodeMeta
from interplay.studio.marks.assignment import Assignment
from interplay.studio.marks.mark_choice import SETTER
from interplay.studio.marks.mark_keeper import PlacedMark


def item_of(given: Assignment, meta: EpisodeMeta, marks: Sequence[PlacedMark]) -> dict[str, Any]:
    """The item for the browser. It never holds the episode, other raters, kinds of player, or what kind of item it is.

    Of a swapped item the dialogue shows the other request.
    """
    dialogue = []
    for number, spoken in enumerate(meta.utterances):
        text = given.request if given.request is not None and spoken.role == SETTER else spoken.text
        heard = max(0, min(spoken.frame + meta.frames_per_step, meta.frames))  # the first row in which it is heard
        dialogue.append({"number": number, "frame": heard, "role": spoken.role, "text": text})
    return {
        "item": given.id,
        "frames": meta.frames,
        "frames_per_step": meta.frames_per_step,
        "dialogue": dialogue,
        "marks": [asdict(mark) for mark in marks],
    }


def unsigned(meta: EpisodeMeta, marks: Sequence[PlacedMark], solver: str) -> list[int]:
    """The numbers of the solver's utterances without a mark of their own."""
    signed = {mark.utterance for mark in marks}
    return [n for n, spoken in enumerate(meta.utterances) if spoken.role == solver and n not in signed]
