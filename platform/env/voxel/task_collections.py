"""A building task, collections from which such tasks are drawn, and the files that hold them."""

from __future__ import annotations

import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from interplay.env.voxel.space import Grid, check_grid, check_stock, counts

FORMAT = 1  # of a file of tasks


@dataclass(frozen=True, eq=False)
class BuildingTask:
    """One thing to build. Grids are int8 [9, 11, 11]."""

    chat: str  # lines `<Architect> ...` and `<Builder> ...`; "" without words
    target: Grid
    start: Grid  # the blocks at the start
    whole: Grid | None = None  # the complete structure, where `target` is a step towards it: it stays in the zone
    invariant: bool = True  # whether the target counts anywhere in the zone, turned or not
    following: BuildingTask | None = None  # the next turn of a dialogue, once this one is done

    def __post_init__(self) -> None:
        if not isinstance(self.chat, str):
            raise ValueError(f"the chat is {self.chat!r}, which is not text")
        for name in ("target", "start"):
            check_stock(check_grid(getattr(self, name), f"the {name}"), f"the {name}")
        if self.whole is not None:
            check_grid(self.whole, "the whole")

    @property
    def removes(self) -> bool:
        """Whether all that is to be done is to remove blocks: the start holds the target and more."""
        wanted = self.target != 0
        kept = np.array_equal(self.start[wanted], self.target[wanted])
        return kept and counts(self.start).sum() > wanted.sum()

    @property
    def is_feasible(self) -> bool:
        """Whether the target has blocks and differs from the start."""
        return bool(self.target.any()) and not np.array_equal(self.start, self.target)


class TaskCollection(ABC):
    """A source of building tasks."""

    @abstractmethod
    def sample(self, rng: np.random.Generator) -> BuildingTask:
        """One task; the generator decides which."""

    def __iter__(self) -> Iterator[tuple[str, BuildingTask]]:
        """Every task with its id."""
        raise TypeError(f"{type(self).__name__} makes tasks without end; call sample(rng)")


def open_tasks(path: str | Path) -> Any:
    """The arrays of a file of tasks, which are read without pickle; ".npz" may be left out of its name.

    Raises:
        ValueError: the file holds no arrays, or has another version.
    """
    file = Path(path)
    if not file.exists():
        file = file.with_name(f"{file.name}.npz")
    try:
        arrays = np.load(file, allow_pickle=False)
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        if isinstance(error, FileNotFoundError):
            raise
        problem = error if isinstance(error, OSError) else "it is not an npz of plain arrays"  # numpy advises pickles
        raise ValueError(f"{path} is not a file of tasks: {problem}") from error
    if not isinstance(arrays, np.lib.npyio.NpzFile) or "version" not in arrays:
        raise ValueError(f"{path} is not a file of tasks: it has no version")
    if (version := int(arrays["version"])) != FORMAT:
        raise ValueError(f"{path} is a file of tasks of version {version}; this program reads version {FORMAT}")
    return arrays
