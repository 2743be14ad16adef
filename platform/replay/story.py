"""What there is to tell about an episode besides its pictures: who said what, marks, who steered, utility.

N steps have N + 1 rows, and row t is the moment before step t, as everywhere. What happened in a step is told from the
next row on, the first that shows it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from interplay.env.world import WorldSpec
from interplay.episodes.dialogue import DialogueTask, dialogue
from interplay.episodes.episode import EpisodeMeta, Mark

# On the screen, whatever the speed of the replay.
LEAST_READING_SECONDS = 2.0
CHARACTERS_A_SECOND = 14.0  # subtitles are set for 12 to 17
MARK_SECONDS = 1.6
END_SECONDS = 2.0  # the last moment stands still at least so long


@dataclass(frozen=True)
class Subtitle:
    """Something said, and the row from which it is heard."""

    row: int
    who: str
    text: str


@dataclass(frozen=True)
class Click:
    """A mark, and the first row that shows what it is about."""

    row: int
    rater: str
    sign: int


@dataclass(frozen=True)
class Caption:
    """A line as it stands on the screen; no longer fresh once there was time to read it."""

    line: Subtitle
    fresh: bool


@dataclass(frozen=True)
class Story:
    """All that is told, in order of rows. `steered` says from which row on who steers the solver."""

    steps: int
    seconds_per_step: float
    speed: float
    asker: str  # the role that asks; the solver again where it is alone
    solver: str
    lines: tuple[Subtitle, ...]
    clicks: tuple[Click, ...]
    steered: tuple[tuple[int, str], ...]
    utility: NDArray[np.float32] | None = None  # [steps + 1]
    tasks: tuple[DialogueTask, ...] = ()

    @property
    def seconds_per_row(self) -> float:
        """How long a row stays on the screen."""
        return self.seconds_per_step / self.speed

    @property
    def end_rows(self) -> int:
        """For how many rows more the last one is held, so that all that is fresh on it can be read."""
        unread = [line.row + self._reading_rows(line) - self.steps - 1 for line in self.lines]
        return max([math.ceil(END_SECONDS / self.seconds_per_row), *unread])

    def captions(self, row: int) -> list[Caption]:
        """What stands on the screen at a row, oldest first: what is still to be read, and each speaker's last line."""
        heard = [line for line in self.lines if line.row <= row]
        last = {line.who: line for line in heard}
        captions = [Caption(line, row < line.row + self._reading_rows(line)) for line in heard]
        return [caption for caption in captions if caption.fresh or last[caption.line.who] is caption.line]

    def marks(self, row: int) -> list[Click]:
        """The marks that are shown large at a row."""
        shown = math.ceil(MARK_SECONDS / self.seconds_per_row)
        return [click for click in self.clicks if click.row <= row < click.row + shown]

    def steers(self, row: int) -> str:
        """Who steers the solver at a row; at the last one, who steered to the end."""
        return [who for since, who in self.steered if since <= min(row, self.steps - 1)][-1]

    def task(self, row: int) -> str:
        """Which of several tasks the solver has heard at a row, and how it has ended; empty where there is but one."""
        heard = [task for task in self.tasks if task.step < row]
        if len(self.tasks) < 2 or not heard:
            return ""
        ended = f": {heard[-1].how}" if heard[-1].ended is not None and heard[-1].ended <= row else ""
        return f"task {len(heard)} of {len(self.tasks)}{ended}"

    def _reading_rows(self, line: Subtitle) -> int:
        seconds = max(LEAST_READING_SECONDS, 1.0 + len(line.text) / CHARACTERS_A_SECOND)
        return math.ceil(seconds / self.seconds_per_row)


def tell(
    meta: EpisodeMeta,
    spec: WorldSpec,
    marks: Sequence[Mark],
    *,
    speed: float = 1.0,
    utility: NDArray[np.float32] | None = None,
) -> Story:
    """The story of an episode of the world `spec`; `utility` [steps + 1] is a reward model's, where there is one."""
    frames = meta.frames_per_step
    return Story(
        steps=meta.steps,
        seconds_per_step=frames / spec.frames_per_second,
        speed=speed,
        asker=spec.roles[0],
        solver=spec.solver,
        lines=tuple(
            Subtitle(said.frame // frames + 1, said.role, said.text)
            for said in sorted(meta.utterances, key=lambda said: said.frame)
        ),
        clicks=tuple(
            Click(min(mark.frame // frames + 1, meta.steps), mark.rater, mark.sign)
            for mark in sorted(marks, key=lambda mark: (mark.frame, mark.rater))
        ),
        steered=tuple((frame // frames, who) for frame, who in meta.control[spec.solver]),
        utility=utility,
        tasks=tuple(dialogue(meta)),
    )
