"""The last utterance heard and said by each player at each row of an episode, from its utterances."""

from __future__ import annotations

from interplay.episodes.episode import EpisodeMeta

WORLD = "world"  # speaker of texts that no player uttered, such as a mission shown from the start


def heard(meta: EpisodeMeta, role: str) -> list[str]:
    """The last utterance of the other speakers, as shown in the view of each row; [steps + 1]."""
    return _last(meta, [(u.frame, u.text) for u in meta.utterances if u.role != role])


def said(meta: EpisodeMeta, role: str) -> list[str]:
    """The role's own last utterance, as shown in the view of each row; [steps + 1]."""
    return _last(meta, [(u.frame, u.text) for u in meta.utterances if u.role == role])


def opening_frame(meta_frames_per_step: int) -> int:
    """The frame of a text shown in the first view: it belongs to the step before the first."""
    return -meta_frames_per_step


def _last(meta: EpisodeMeta, spoken: list[tuple[int, str]]) -> list[str]:
    rows = [""] * (meta.steps + 1)
    new = {frame // meta.frames_per_step + 1: text for frame, text in spoken}  # heard from the next row on
    text = ""
    for row in range(len(rows)):
        text = new.get(row, text)
        rows[row] = text
    return rows
