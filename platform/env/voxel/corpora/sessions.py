"""Sessions of a corpus: what was said and which blocks changed, in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from interplay.env.voxel.matching import Matcher, posed
from interplay.env.voxel.space import Cell, Grid, is_supported

ARCHITECT, BUILDER = "Architect", "Builder"
REPEATED = "repeated sessions"  # left out of a corpus
# What reading a damaged file raises; a coordinate may be infinite, and JSON nested too deeply.
DAMAGED = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError, OSError)


@dataclass(frozen=True)
class Spoken:
    """A line of the dialogue."""

    speaker: str  # ARCHITECT or BUILDER
    text: str

    def __str__(self) -> str:
        return f"<{self.speaker}> {self.text}"


@dataclass(frozen=True)
class Changed:
    """A block placed, or removed with color 0."""

    cell: Cell
    color: int


SessionEvent: TypeAlias = Spoken | Changed


@dataclass(frozen=True, eq=False)
class BuildSession:
    """One recorded dialogue."""

    source: str  # where in the corpus it is from
    structure: str
    split: str  # "train", "val", "test" or "heldout"; the same for all sessions of a structure
    start: Grid
    events: Sequence[SessionEvent]
    gold: Grid | None = None  # the structure that was to be built, if the corpus has it
    complete: bool = False  # whether it ends at the gold, turned or moved

    @property
    def end(self) -> Grid:
        """The blocks after the last event."""
        grid = self.start.copy()
        for event in self.events:
            if isinstance(event, Changed):
                grid[event.cell] = event.color
        return grid

    def runs(self) -> Iterator[tuple[list[Spoken], list[Changed]]]:
        """The runs of changes without a line between them, each with what was said since the run before."""
        said: list[Spoken] = []
        changes: list[Changed] = []
        for event in self.events:
            if isinstance(event, Spoken) and changes:
                yield said, changes
                said, changes = [], []
            said += [event] if isinstance(event, Spoken) else []
            changes += [event] if isinstance(event, Changed) else []
        if said or changes:
            yield said, changes

    def _whole(self) -> Grid:
        """The gold structure in the pose in which it was built; what was built, if there is no such structure."""
        if self.gold is None:
            return self.end
        match = Matcher(self.gold).best(self.end)
        return posed(self.gold, match.rotation, match.dx, match.dz) if match.size else self.end

    def tasks(self) -> Iterator[Mapping[str, Any]]:
        """A task for each run of changes, as `CorpusTasks.write` takes it. Runs that change nothing are left out."""
        whole = self._whole()
        grid, chat = self.start.copy(), list[str]()
        for said, changes in self.runs():
            before = grid.copy()
            for change in changes:
                grid[change.cell] = change.color
            lines = [str(line) for line in said]
            if not np.array_equal(before, grid) and grid.any():
                yield {
                    "instruction": "\n".join(lines),
                    "chat": "\n".join(chat),
                    "start": before,
                    "target": grid.copy(),
                    "whole": whole,
                    "split": self.split,
                    "source": self.source,
                }
            chat += lines


@dataclass
class ReadCorpus:
    """The sessions of a corpus, and what was left out."""

    sessions: list[BuildSession] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)  # by reason
    counted: Counter[str] = field(default_factory=Counter)  # what else is in the files of this corpus

    def counts(self) -> Mapping[str, int]:
        """Numbers of what was read."""
        events = [event for session in self.sessions for event in session.events]
        changes = [event for event in events if isinstance(event, Changed)]
        return {
            "sessions": len(self.sessions),
            "utterances": sum(isinstance(event, Spoken) for event in events),
            "additions": sum(change.color != 0 for change in changes),
            "removals": sum(change.color == 0 for change in changes),
            "runs of changes": sum(bool(changed) for session in self.sessions for _, changed in session.runs()),
            "sessions that end at the gold": sum(session.complete for session in self.sessions),
            **self.counted,
        }


def changes_between(before: Grid, after: Grid) -> list[Changed]:
    """The changes that lead from one grid to another: removals from the top, then additions by support."""
    cells = [(int(y), int(x), int(z)) for y, x, z in np.argwhere(before != after)]
    gone = [Changed(cell, 0) for cell in reversed(cells) if before[cell]]
    waiting, grid, added = [cell for cell in cells if after[cell]], np.where(before == after, before, 0), []
    while waiting:
        cell = next((each for each in waiting if is_supported(grid, each)), waiting[0])
        waiting.remove(cell)
        grid[cell] = after[cell]
        added.append(Changed(cell, int(after[cell])))
    return gone + added
