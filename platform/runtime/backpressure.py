"""Bound on policy lag: which unrolls may be requested, and which ones the next batch must contain.

Batch j is learned by weights of version j. An unroll requested with version v is due in batch v + max_lag at the
latest. Late unrolls are never dropped: an unroll is not requested while it could not be learned from in time, and a
batch waits for the unrolls that are due. With n unrolls per batch, all are in time if and only if, for every batch d
from j on, at most n * (d - j + 1) of the outstanding unrolls are due by d.
"""

from __future__ import annotations

from collections.abc import Sequence


def num_due(versions: Sequence[int], *, batch: int, unrolls_per_batch: int, max_lag: int) -> int:
    """How many of the oldest outstanding unrolls this batch must contain so that every later one can be in time.

    Args:
        versions: of all unrolls that were requested and not yet learned from, in any order.
        batch: number of the batch to be assembled next.
    """
    deadlines = sorted(version + max_lag for version in versions)
    return max([0, *(count - unrolls_per_batch * (due - batch) for count, due in enumerate(deadlines, 1))])


def can_request(versions: Sequence[int], newest: int, *, batch: int, unrolls_per_batch: int, max_lag: int) -> bool:
    """Whether one more unroll may be requested, with weights of version `newest`."""
    due = num_due([*versions, newest], batch=batch, unrolls_per_batch=unrolls_per_batch, max_lag=max_lag)
    return due <= unrolls_per_batch


def select_batch(
    outstanding: Sequence[tuple[int, bool]], *, batch: int, unrolls_per_batch: int, max_lag: int
) -> list[int] | None:
    """Selects the outstanding unrolls that make up this batch; None if the batch has to wait.

    Args:
        outstanding: (version, ready) of each, the longest outstanding first.

    Returns:
        Indices of `unrolls_per_batch` ready unrolls, including all that are due; otherwise the oldest first.
    """
    versions = [version for version, _ in outstanding]
    oldest = sorted(range(len(outstanding)), key=lambda index: (versions[index], index))
    due = oldest[: num_due(versions, batch=batch, unrolls_per_batch=unrolls_per_batch, max_lag=max_lag)]
    assert len(due) <= unrolls_per_batch, "more was requested than can be learned from in time"
    ready = [index for index in oldest if outstanding[index][1]]
    if len(ready) < unrolls_per_batch or not set(due) <= set(ready):
        return None
    return sorted([*due, *[index for index in ready if index not in due][: unrolls_per_batch - len(due)]])
