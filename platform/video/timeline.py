"""Timeline of a replay: utterances, marks, the solver's controller, tasks and utility, by row.

N steps have N + 1 rows; row t is the moment before step t. An event in a step is shown from the next row on, which is
the first whose picture shows it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from interplay.env.world import WorldSpec
from interplay.episodes.episode import EpisodeMeta, Mark
from interplay.episodes.transcript import DialogueTask, dialogue

# Display times, independent of the replay's speed.
MIN_READING_SECONDS = 2.0
READING_CHARACTERS_PER_SECOND = 14.0  # subtitles are set for 12 to 17
MARK_SECONDS = 1.6
END_HOLD_SECONDS = 2.0  # minimum duration of the last picture


@dataclass(frozen=True)
class Subtitle:
    """An utterance and the row from which it is heard."""

    row: int
    speaker: str  # role
    text: str


@dataclass(frozen=True)
class ShownMark:
    """A mark and the first row that shows the marked event."""

    row: int
    rater: str
    sign: int


@dataclass(frozen=True)
class Caption:
    """A subtitle on the screen; no longer new once there was time to read it."""

    subtitle: Subtitle
    is_new: bool


@dataclass(frozen=True)
class EpisodeTimeline:
    """All events of a replay in order of rows. `controllers` has (first row, kind of player) of the solver."""

    steps: int
    seconds_per_step: float
    speed: float
    setter: str  # the role that gives instructions; the solver itself in a world with one role
    solver: str
    subtitles: tuple[Subtitle, ...]
    shown_marks: tuple[ShownMark, ...]
    controllers: tuple[tuple[int, str], ...]
    utility: NDArray[np.float32] | None = None  # [steps + 1]
    tasks: tuple[DialogueTask, ...] = ()

    @property
    def seconds_per_row(self) -> float:
        """How long a row is shown."""
        return self.seconds_per_step / self.speed

    @property
    def end_rows(self) -> int:
        """How many extra rows the last picture is held for, so that its new subtitles can be read."""
        unread = [said.row + self._reading_rows(said) - self.steps - 1 for said in self.subtitles]
        return max([math.ceil(END_HOLD_SECONDS / self.seconds_per_row), *unread])

    def captions_at(self, row: int) -> list[Caption]:
        """The captions shown at a row, oldest first: new subtitles, and each speaker's last one."""
        heard = [said for said in self.subtitles if said.row <= row]
        last = {said.speaker: said for said in heard}
        return [
            Caption(said, is_new)
            for said in heard
            if (is_new := row < said.row + self._reading_rows(said)) or last[said.speaker] is said
        ]

    def marks_at(self, row: int) -> list[ShownMark]:
        """The marks that are shown large at a row."""
        rows = math.ceil(MARK_SECONDS / self.seconds_per_row)
        return [mark for mark in self.shown_marks if mark.row <= row < mark.row + rows]

    def controller_at(self, row: int) -> str:
        """The kind of player that controls the solver at a row; at the last row, the one that made the last step."""
        return [kind for first_row, kind in self.controllers if first_row <= min(row, self.steps - 1)][-1]

    def task_status_at(self, row: int) -> str:
        """Number and outcome of the task at a row, as "task 2 of 3: solved"; empty for an episode of one task."""
        heard = [task for task in self.tasks if task.step < row]
        if len(self.tasks) < 2 or not heard:
            return ""
        ended = f": {heard[-1].how}" if heard[-1].ended is not None and heard[-1].ended <= row else ""
        return f"task {len(heard)} of {len(self.tasks)}{ended}"

    def _reading_rows(self, said: Subtitle) -> int:
        seconds = max(MIN_READING_SECONDS, 1.0 + len(said.text) / READING_CHARACTERS_PER_SECOND)
        return math.ceil(seconds / self.seconds_per_row)


def build_timeline(
    meta: EpisodeMeta,
    spec: WorldSpec,
    marks: Sequence[Mark],
    *,
    speed: float = 1.0,
    utility: NDArray[np.float32] | None = None,
) -> EpisodeTimeline:
    """Builds the timeline of an episode in the world `spec`; `utility` [steps + 1] comes from a reward model."""
    frames = meta.frames_per_step
    return EpisodeTimeline(
        steps=meta.steps,
        seconds_per_step=frames / spec.frames_per_second,
        speed=speed,
        setter=spec.roles[0],
        solver=spec.solver,
        subtitles=tuple(
            Subtitle(said.frame // frames + 1, said.role, said.text)
            for said in sorted(meta.utterances, key=lambda said: said.frame)
        ),
        shown_marks=tuple(
            ShownMark(min(mark.frame // frames + 1, meta.steps), mark.rater, mark.sign)
            for mark in sorted(marks, key=lambda mark: (mark.frame, mark.rater))
        ),
        controllers=tuple((frame // frames, kind) for frame, kind in meta.control[spec.solver]),
        utility=utility,
        tasks=tuple(dialogue(meta)),
    )
