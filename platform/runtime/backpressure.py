"""Bound on policy lag: which unrolls may be requested, and which ones the next batch must contain.

Batch j is learned by weights of version j. An unroll requested with version v is due in batch v + max_lag at the
latest. Late unrolls are never dropped: an unroll is not requested while it could not be learned from in time, and a
batch waits for the unrolls that are due. With n unrolls per batch, all are in time if and only if, for every batch d
from j on, at most n * (d - j + 1) of the outstanding unrolls are due by d.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

Tracked = TypeVar("Tracked", bound=Hashable)


@dataclass
class _Outstanding:
    """State of one unroll."""

    version: int
    order: int  # in which it was requested first
    ready: bool = False


class LagBound(Generic[Tracked]):
    """The unrolls that were requested and not yet learned from.

    The cost of each method depends on `max_lag` and on the size of a batch, and only logarithmically on the number of
    unrolls, so that a learner can have any number of actors.
    """

    def __init__(self, unrolls_per_batch: int, max_lag: int) -> None:
        self.batch = 0  # number of the batch to be assembled next
        self._size, self._max_lag = unrolls_per_batch, max_lag
        self._unrolls: dict[Tracked, _Outstanding] = {}
        self._items: dict[int, Tracked] = {}  # by order
        self._versions = Counter[int]()
        self._requested = 0
        # (version, order), the next one first; outdated entries are skipped, and keep no unroll in memory.
        self._ready: list[tuple[int, int]] = []
        self._unready: list[tuple[int, int]] = []

    def __len__(self) -> int:
        return len(self._unrolls)

    def num_due(self, newest: int | None = None) -> int:
        """How many of the oldest outstanding unrolls the next batch must contain so that every later one is in time.

        `newest`: the version of one more unroll.
        """
        counts = dict(self._versions)
        if newest is not None:
            counts[newest] = counts.get(newest, 0) + 1
        most = count = 0
        for version in sorted(counts):
            count += counts[version]
            most = max(most, count - self._size * (version + self._max_lag - self.batch))
        return most

    def can_request(self, newest: int) -> bool:
        """Whether one more unroll may be requested, with weights of version `newest`."""
        return self.num_due(newest) <= self._size

    def add(self, item: Tracked, version: int) -> None:
        """Records the request of an unroll with weights of this version."""
        order, self._requested = self._requested, self._requested + 1
        self._unrolls[item] = _Outstanding(version, order)
        self._items[order] = item
        self._versions[version] += 1
        heapq.heappush(self._unready, (version, order))

    def change_version(self, item: Tracked, version: int) -> None:
        """Records that an unroll, which is not ready, is requested again with weights of another version."""
        unroll = self._unrolls[item]
        assert not unroll.ready, "an unroll that is ready is not requested again"
        self._forget_version(unroll.version)
        unroll.version = version
        self._versions[version] += 1
        heapq.heappush(self._unready, (version, unroll.order))

    def set_ready(self, item: Tracked) -> None:
        """Records that an unroll can be learned from."""
        unroll = self._unrolls[item]
        unroll.ready = True
        heapq.heappush(self._ready, (unroll.version, unroll.order))

    def select_batch(self) -> list[Tracked] | None:
        """Takes the unrolls of the next batch, in the order of their requests; None if the batch has to wait.

        They include all that are due; otherwise the oldest come first.
        """
        due = self.num_due()
        assert due <= self._size, "more was requested than can be learned from in time"
        if len(self._ready) < self._size:
            return None
        while self._unready and not self._waits(self._unready[0]):
            heapq.heappop(self._unready)
        chosen = [heapq.heappop(self._ready) for _ in range(self._size)]
        if due and self._unready and self._unready[0] < chosen[due - 1]:  # one that is due is not ready
            for each in chosen:
                heapq.heappush(self._ready, each)
            return None
        for version, _ in chosen:
            self._forget_version(version)
        self.batch += 1
        taken = [self._items.pop(order) for _, order in sorted(chosen, key=lambda each: each[1])]
        for item in taken:
            del self._unrolls[item]
        return taken

    def _waits(self, entry: tuple[int, int]) -> bool:
        """Whether an entry of `_unready` is up to date."""
        version, order = entry
        if order not in self._items:
            return False
        unroll = self._unrolls[self._items[order]]
        return not unroll.ready and unroll.version == version

    def _forget_version(self, version: int) -> None:
        self._versions[version] -= 1
        if not self._versions[version]:
            del self._versions[version]


class FreeActors:
    """The actors that may take a request: first those with the fewest in flight, then those with the fewest so far.

    The cost of an update is logarithmic in the number of actors. Outdated entries are skipped, and dropped before they
    outnumber the actors.
    """

    def __init__(self, max_in_flight: int) -> None:
        self._max_in_flight = max_in_flight
        self._current: dict[int, tuple[int, int, int]] = {}  # by actor: in flight, requested, actor
        self._heap: list[tuple[int, int, int]] = []

    def __len__(self) -> int:
        return len(self._current)

    def update(self, actor: int, *, in_flight: int, requested: int) -> None:
        """Sets how many requests of an actor are in flight, and how many there have been."""
        if in_flight >= self._max_in_flight:
            self._current.pop(actor, None)
            return
        self._current[actor] = (in_flight, requested, actor)
        heapq.heappush(self._heap, self._current[actor])
        if len(self._heap) > 2 * len(self._current) + 8:
            self._heap = sorted(self._current.values())

    def first(self) -> int:
        """The actor to be requested from next; there must be one."""
        while self._current.get(self._heap[0][2]) != self._heap[0]:
            heapq.heappop(self._heap)
        return self._heap[0][2]


def idle_actors_advice(*, actors: int, unrolls_per_batch: int, max_lag: int, lanes: int) -> str | None:
    """Advice for settings whose lag bound leaves actors idle, whatever their speed; None if it leaves none.

    Never more than n * (max_lag + 1) unrolls are outstanding, with n per batch; an actor without one waits. `lanes` are
    those of a batch, which its unrolls share.
    """
    busy = unrolls_per_batch * (max_lag + 1)
    if actors <= busy:
        return None
    lag = -(-actors // unrolls_per_batch) - 1
    least = -(-actors // (max_lag + 1))
    share = next((count for count in range(least, lanes + 1) if lanes % count == 0), None)
    more = "" if share is None else f" or runtime.unrolls_per_batch={share}"
    return (
        f"{actors - busy} of {actors} actors will always be idle: the lag bound allows at most {busy} unrolls under "
        f"way (runtime.unrolls_per_batch={unrolls_per_batch} times runtime.max_lag={max_lag} plus 1). Set "
        f"runtime.max_lag={lag}{more} to use all, or runtime.actors={busy} to save them"
    )
