"""What came of a watch: a row for each part and each number, a verdict, a table for people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from watching.growth import Growth, growth
from watching.sample import Sample

# By how much an hour each may grow before it is said to; MB, or how many.
MEMORY, COUNT, STORE, DISK = 4.0, 1.0, 4.0, 0.5
STAYS = 0.5  # share of the looks that a part must be in, or it is none

STORES: tuple[tuple[str, float, Callable[[Sample], float]], ...] = (
    ("objects in the store", STORE, lambda sample: sample.objects),
    ("shared memory of the run", STORE, lambda sample: sample.pages),
    ("Ray's session on disk", DISK, lambda sample: sample.session),
    ("the stage's folder on disk", DISK, lambda sample: sample.folder),
)


@dataclass(frozen=True)
class Row:
    """How one number of one part went."""

    part: str
    of: str  # memory, threads, files; store, disk
    unit: str
    flat: float  # by which it may grow an hour
    growth: Growth

    @property
    def grew(self) -> bool:
        return self.growth.grew(self.flat)

    @property
    def verdict(self) -> str:
        if self.growth.slope is None:
            return "too short to say"
        if not self.grew:
            return "flat"
        return f"grew by {self.growth.slope:.1f} {self.unit}an hour"


def rows(samples: Sequence[Sample]) -> list[Row]:
    """Of every part that was there for most of the watch, and of what Ray stores."""
    names = list(dict.fromkeys(name for sample in samples for name in sample.uses))
    found = []
    for name in names:
        seen = [sample for sample in samples if name in sample.uses]
        if len(seen) < STAYS * len(samples):
            continue
        at, uses = [sample.seconds for sample in seen], [sample.uses[name] for sample in seen]
        found.append(Row(name, "memory", "MB ", MEMORY, growth(at, [use.own for use in uses])))
        found.append(Row(name, "threads", "", COUNT, growth(at, [use.threads for use in uses])))
        found.append(Row(name, "files", "", COUNT, growth(at, [use.files for use in uses])))
    at = [sample.seconds for sample in samples]
    for name, flat, value in STORES:
        kind = "disk" if flat == DISK else "store"
        found.append(Row(name, kind, "MB ", flat, growth(at, [value(sample) for sample in samples])))
    return found


def faults(found: Sequence[Row]) -> list[str]:
    """What must not grow and did, in words. Logs and checkpoints on disk may."""
    return [f"{row.part}: {row.of} {row.verdict}" for row in found if row.grew and row.of != "disk"]


def table(found: Sequence[Row]) -> str:
    """For people: memory of its own, threads and open files of each part, first tenth, middle and last tenth."""
    lines = [f"{'':28}{'first':>9}{'middle':>9}{'last':>9}{'an hour':>10}  "]
    for row in found:
        if row.of in ("threads", "files") and not row.grew and row.growth.first == row.growth.last:
            continue  # most: they would hide the others
        slope = "" if row.growth.slope is None else f"{row.growth.slope:+.1f}"
        name = row.part if row.of not in ("threads", "files") else f"  {row.of} of {row.part}"
        form = ".0f" if row.of in ("threads", "files") else ".1f"
        lines.append(
            f"{name:28}{row.growth.first:9{form}}{row.growth.middle:9{form}}{row.growth.last:9{form}}{slope:>10}  "
            f"{row.verdict}"
        )
    return "\n".join(lines)
