"""A memory-bounded cache of what was read from episodes: whole episodes, what draws their rows, and drawn rows."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Protocol, TypeVar, cast


class Sized(Protocol):
    """An object that states its size in memory, in bytes."""

    @property
    def bytes(self) -> int: ...


CachedT = TypeVar("CachedT", bound=Sized)


class EpisodeCache:
    """Least-recently-used cache within a memory limit; it saves reading, decoding or drawing episodes again."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._held: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self.bytes = 0  # of all that is held

    def get(self, episode: str, make: Callable[[str], CachedT]) -> CachedT:
        """Returns the episode with this id from memory, or else from `make`."""
        found = self.find(episode)
        if found is None:
            found = make(episode)
            self.keep(episode, found, found.bytes)
        return cast("CachedT", found)

    def find(self, key: Hashable) -> Any:
        """The value that was kept for this key; None if it is not held."""
        if key not in self._held:
            return None
        self._held.move_to_end(key)
        return self._held[key][0]

    def keep(self, key: Hashable, value: Any, nbytes: int) -> None:
        """Holds a value of this size until others, used more recently, fill the limit."""
        self._held[key] = (value, nbytes)
        self.bytes += nbytes
        while self.bytes > self._limit:
            self.bytes -= self._held.popitem(last=False)[1][1]
