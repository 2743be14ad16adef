"""The bound on policy lag: which unrolls may be asked for, and which the next batch can't do without.

Batch j is learned from by weights of version j. An unroll that was asked for with version v is due in batch
v + max_lag at the latest. Nothing that is late is dropped: an unroll is not asked for while it could not be taken in
time, and a batch waits for those that are due. With `joined` unrolls a batch, all are in time if and only if, for every
batch d from j on, no more than joined * (d - j + 1) of those outstanding are due by d.
"""

from __future__ import annotations

from collections.abc import Sequence


def owed(versions: Sequence[int], *, batch: int, joined: int, max_lag: int) -> int:
    """How many of the oldest outstanding unrolls this batch must take, so that every later one can be in time.

    Args:
        versions: of all unrolls asked for and not yet taken, in any order.
        batch: the number of the batch to be put together next.
    """
    due = sorted(version + max_lag for version in versions)
    return max([0, *(count - joined * (when - batch) for count, when in enumerate(due, 1))])


def may_ask(versions: Sequence[int], newest: int, *, batch: int, joined: int, max_lag: int) -> bool:
    """May one more be asked for, with weights of version `newest`?"""
    return owed([*versions, newest], batch=batch, joined=joined, max_lag=max_lag) <= joined


def choose(outstanding: Sequence[tuple[int, bool]], *, batch: int, joined: int, max_lag: int) -> list[int] | None:
    """Which of the outstanding unrolls make up this batch; None where it has to wait.

    Args:
        outstanding: (version, ready) of each, the longest outstanding first.

    Returns:
        The indices of `joined` ready ones, those that are owed among them; the oldest first where there is a choice.
    """
    versions = [version for version, _ in outstanding]
    oldest = sorted(range(len(outstanding)), key=lambda index: (versions[index], index))
    must = oldest[: owed(versions, batch=batch, joined=joined, max_lag=max_lag)]
    assert len(must) <= joined, "more was asked for than can be taken in time"
    ready = [index for index in oldest if outstanding[index][1]]
    if len(ready) < joined or not set(must) <= set(ready):
        return None
    return sorted([*must, *[index for index in ready if index not in must][: joined - len(must)]])
