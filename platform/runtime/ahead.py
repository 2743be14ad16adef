"""One piece of work ahead: the next unroll is made while the learner learns from this one.

The lag is exactly one piece, whatever the machine's speed, so results do not depend on timing::

    main     | learn 1      | learn 2      | learn 3 (nothing ahead: a checkpoint follows)
    worker   | make 2       | make 3       |
"""

from __future__ import annotations

import logging
import sys
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Generic, TypeVar

import torch

logger = logging.getLogger(__name__)

Piece = TypeVar("Piece")
PATIENCE = 120.0  # seconds of waiting after which it is said where the piece is, and again after as many


class Ahead(Generic[Piece]):
    """Makes pieces one after another, at most one of them ahead of its use.

    With `overlap` False nothing runs in another thread, so a debugger steps through all of it.
    """

    def __init__(self, overlap: bool) -> None:
        self._pool = ThreadPoolExecutor(1, "ahead", initializer=self._begins) if overlap else None
        self._worker: int | None = None  # the thread of the pool
        self._pending: Future[Piece] | None = None

    def take(self, make: Callable[[], Piece]) -> Piece:
        """The piece that was begun ahead, else one made now. What its making raised is raised here.

        However long that takes: nothing is given up, but where the piece is goes into the log every `PATIENCE` seconds.
        """
        if self._pending is None:
            return make() if self._pool is None else self._awaited(self._pool.submit(make))
        pending, self._pending = self._pending, None
        return self._awaited(pending)

    def begin(self, make: Callable[[], Piece]) -> None:
        """Begins the next piece. Whatever `make` uses must be left alone until `take` returns it."""
        assert self._pending is None, "one piece ahead, not two"
        if self._pool is not None:
            self._pending = self._pool.submit(make)

    def close(self) -> None:
        """Waits for what is under way, as `take` does, and ends the worker. What its making raised is not raised."""
        if self._pool is None:
            return
        if self._pending is not None:
            self._finish(self._pending)
        self._pool.shutdown(wait=True)

    def _awaited(self, piece: Future[Piece]) -> Piece:
        self._finish(piece)
        return piece.result(timeout=0.0)

    def _finish(self, piece: Future[Piece]) -> None:
        waited = 0.0
        while not wait([piece], timeout=PATIENCE).done:
            waited += PATIENCE
            frame = None if self._worker is None else sys._current_frames().get(self._worker)
            where = "".join(traceback.format_stack(frame)) if frame is not None else "  nowhere: its thread is gone\n"
            logger.warning("waiting for the next piece for %.0f s; its thread is here:\n%s", waited, where)

    def _begins(self) -> None:
        self._worker = threading.get_ident()
        # Two threads of work on two cores: torch's own threads would only get in their way.
        torch.set_num_threads(1)
