"""The order in which recorded episodes are read: all alike, or with fixed shares by kind of players and by round."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, count
from typing import TypeVar

import numpy as np

from interplay.episodes.catalog_index import SEATINGS, EpisodeFilter, seating
from interplay.episodes.snapshot import Snapshot

BLOCK = 100  # positions in which each share is exact; shares are resolved to hundredths
NEIGHBORS = 8  # items near another one

ReadT = TypeVar("ReadT")


class EpisodeOrder:
    """An endless order of `count` episodes: one permutation per epoch, drawn from the seed.

    Position p lies in epoch p // count. The k-th episode of a rank is at position rank + k * world_size, so that all
    ranks together read every epoch exactly once.
    """

    def __init__(self, count: int, seed: int, *, rank: int = 0, world_size: int = 1) -> None:
        if count < 1:
            raise ValueError("there is no episode to stream; collect some, or widen the condition of the snapshot")
        if not 0 <= rank < world_size:
            raise ValueError(f"rank={rank} is not within world_size={world_size}")
        self._count, self._seed = count, seed
        self._rank, self._world_size = rank, world_size
        self._epoch, self._permutation = -1, np.empty(0, np.int64)

    def position(self, k: int) -> int:
        """The position of this rank's k-th episode in the order."""
        return self._rank + k * self._world_size

    def items(self) -> Iterable[int]:
        """All items that come up in the order."""
        return range(self._count)

    def draw(self, taken: int, read: Callable[[int], ReadT | None]) -> tuple[ReadT, int] | None:
        """Reads this rank's `taken`-th item, or else the next one that can be read: `read` returns None for others.

        Returns the result, and the number k of its item; None if no item of the order can be read. The order is random,
        so any number of unreadable items may precede a readable one.
        """
        for k in count(taken):
            if (found := read(self.at(self.position(k)))) is not None:
                return found, k
            if (k - taken + 1) % self._count == 0 and all(read(item) is None for item in self.items()):
                return None
        raise AssertionError("an order is endless")

    def near(self, position: int) -> Iterator[int]:
        """The items at the positions before one, the nearest first; at the start of the order, those after it."""
        for step in range(1, NEIGHBORS + 1):
            yield self.at(position - step if position >= step else position + step)

    def at(self, position: int) -> int:
        """The index of the episode at a position, 0 <= index < count."""
        epoch, place = divmod(position, self._count)
        if epoch != self._epoch:
            self._epoch = epoch
            self._permutation = np.random.default_rng([self._seed, epoch]).permutation(self._count)
        return int(self._permutation[place])


class MixedOrder(EpisodeOrder):
    """An endless order of several groups of items: each block of 100 positions has every group's share, shuffled.

    The items of a group come in an `EpisodeOrder` of their own. `shares` are relative to their sum.
    """

    def __init__(
        self,
        groups: Sequence[Sequence[int]],
        shares: Sequence[float],
        seed: int,
        *,
        rank: int = 0,
        world_size: int = 1,
    ) -> None:
        super().__init__(sum(map(len, groups)), seed, rank=rank, world_size=world_size)
        self._groups = groups
        self._slots = _slots(shares)
        self._orders = [EpisodeOrder(len(group), seed + 1 + number) for number, group in enumerate(groups)]
        self._block, self._pattern = -1, np.empty(0, np.int64)

    def items(self) -> Iterable[int]:
        """The items of all groups."""
        return chain.from_iterable(self._groups)

    def at(self, position: int) -> int:
        """The item at a position."""
        block, place = divmod(position, BLOCK)
        if block != self._block:
            self._block = block
            ordered = np.repeat(np.arange(len(self._slots)), self._slots)
            self._pattern = np.random.default_rng([self._seed, block, BLOCK]).permutation(ordered)
        group = int(self._pattern[place])
        before = block * self._slots[group] + int((self._pattern[:place] == group).sum())
        return self._groups[group][self._orders[group].at(before)]


def order_of(
    snapshot: Snapshot,
    episodes: Sequence[str],
    mix: Mapping[str, float],
    seed: int,
    *,
    rank: int = 0,
    world_size: int = 1,
) -> EpisodeOrder:
    """The order of items, each of an episode of the snapshot, with the shares of `mix`; without one, all items alike.

    Raises:
        ValueError: there is no item, or none of a kind that has a share.
    """
    if not mix:
        return EpisodeOrder(len(episodes), seed, rank=rank, world_size=world_size)
    wanted, names = {name: share for name, share in mix.items() if share}, {}
    there = Counter[str]()
    for entry in snapshot.entries(EpisodeFilter()):
        kind = seating(entry)
        there[f"{kind}@{entry.round}"] += 1
        names[entry.id] = next((name for name in (f"{kind}@{entry.round}", kind) if name in mix), "")
    groups = {name: [index for index, episode in enumerate(episodes) if names[episode] == name] for name in wanted}
    if missing := [name for name, group in groups.items() if not group]:
        found = ", ".join(f"{count} {name}" for name, count in sorted(there.items()))
        raise ValueError(
            f"dataset.mix gives {', '.join(missing)} a share, and has no episodes of these kinds; {snapshot.path} has "
            f"{found}: name kinds that it has, record the others, or leave the mix out"
        )
    return MixedOrder(list(groups.values()), list(wanted.values()), seed, rank=rank, world_size=world_size)


def check_mix(mix: Mapping[str, float]) -> None:
    """Checks the names and shares of a mix.

    Raises:
        ValueError: a name is not a kind of episode, or the shares are not usable.
    """
    for name in mix:
        kind, at, number = name.partition("@")
        if kind not in SEATINGS or (at and not number.isdigit()):
            raise ValueError(
                f"mix names {name!r}; the kinds of episodes are {', '.join(SEATINGS)}, of one round with its number, "
                "as human-agent@2"
            )
    if mix and (min(mix.values()) < 0 or not 0 < sum(mix.values()) < math.inf):
        raise ValueError(f"the shares of mix must be finite and at least 0, and one above 0; got {dict(mix)}")
    if small := [name for name, slots in zip(mix, _slots(list(mix.values())), strict=True) if mix[name] and not slots]:
        raise ValueError(f"mix gives {', '.join(small)} less than a hundredth; give it more, or leave it out")


def _slots(shares: Sequence[float]) -> list[int]:
    """The number of positions of each share in a block, by the largest remainder."""
    if not shares:
        return []
    exact = BLOCK * np.array(shares) / sum(shares)
    slots = np.floor(exact).astype(int)
    for index in np.argsort(-(exact - slots), kind="stable")[: BLOCK - int(slots.sum())]:
        slots[index] += 1
    return [int(count) for count in slots]
