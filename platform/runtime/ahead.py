"""One piece of work ahead: the next unroll is made while the learner learns from this one.

The lag is exactly one piece, whatever the machine's speed, so results do not depend on timing::

    main     | learn 1      | learn 2      | learn 3 (nothing ahead: a checkpoint follows)
    worker   | make 2       | make 3       |
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

import torch

Piece = TypeVar("Piece")


class Ahead(Generic[Piece]):
    """Makes pieces one after another, at most one of them ahead of its use.

    With `overlap` False nothing runs in another thread, so a debugger steps through all of it.
    """

    def __init__(self, overlap: bool) -> None:
        self._pool = ThreadPoolExecutor(1, "ahead", initializer=_one_thread) if overlap else None
        self._pending: Future[Piece] | None = None

    def take(self, make: Callable[[], Piece]) -> Piece:
        """The piece that was begun ahead, else one made now. What its making raised is raised here."""
        if self._pending is None:
            return make() if self._pool is None else self._pool.submit(make).result()
        pending, self._pending = self._pending, None
        return pending.result()

    def begin(self, make: Callable[[], Piece]) -> None:
        """Begins the next piece. Whatever `make` uses must be left alone until `take` returns it."""
        assert self._pending is None, "one piece ahead, not two"
        if self._pool is not None:
            self._pending = self._pool.submit(make)

    def close(self) -> None:
        """Waits for what is under way and ends the worker."""
        if self._pool is not None:
            self._pool.shutdown(wait=True)


def _one_thread() -> None:
    # Two threads of work on two cores: torch's own threads would only get in their way.
    torch.set_num_threads(1)
