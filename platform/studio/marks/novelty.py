"""How novel recordings are: how far what a model remembers of each lies from what it remembers of marked ones."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from interplay.core.files import replacing
from interplay.core.stored_arrays import read_arrays


def novelty(path: Path, marked: Collection[str]) -> dict[str, float]:
    """The novelty of each recording in the file of `interplay score`; none before that was typed.

    `marked` are the ids of the recordings that were marked, whose novelty is 0. Marking the most novel one again and
    again spreads the marks over all recordings (farthest-first traversal, Gonzalez 1985).
    """
    if not path.exists():
        return {}
    file = read_arrays(path)
    ids, memory = [str(each) for each in file["ids"]], file["memory"]
    known = np.array([each in marked for each in ids])
    return dict(zip(ids, distances(memory, known).tolist(), strict=True))


def forget(path: Path, episodes: Collection[str]) -> None:
    """Removes recordings from the file of `interplay score`; without any other, the file."""
    if not path.exists():
        return
    file = read_arrays(path)
    ids, memory = file["ids"], file["memory"]
    kept = ~np.isin(ids, list(episodes))
    if not kept.any():
        path.unlink()
        return
    with replacing(path) as temporary, temporary.open("wb") as written:
        np.savez(written, ids=ids[kept], memory=memory[kept])


def distances(memory: NDArray[np.float32], known: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The distance of each row of `memory` [N, D] to the nearest `known` row; without one, to their mean. [N].

    Each dimension counts in units of its standard deviation; the distance is the root of the mean square over them.
    """
    spread = memory.std(axis=0, dtype=np.float64)
    scaled = (memory - memory.mean(axis=0, dtype=np.float64)) / np.where(spread > 0, spread, 1.0)
    references = scaled[known] if known.any() else np.zeros((1, memory.shape[1]))
    nearest = np.full(len(scaled), np.inf)
    for reference in references:  # one at a time: all at once would take N times the memory
        np.minimum(nearest, np.sqrt(((scaled - reference) ** 2).mean(axis=1)), out=nearest)
    return nearest
