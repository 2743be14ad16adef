"""One piece of work ahead: the next unroll is made while the learner learns from this one.

The lag is exactly one piece, whatever the machine's speed, so results do not depend on timing::

    main     | learn 1      | learn 2      | learn 3 (nothing ahead: a checkpoint follows)
    worker   | make 2       | make 3       |
"""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Callable
from concurrent.futures import Future, wait
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Generic, TypeVar

import torch

logger = logging.getLogger(__name__)

Piece = TypeVar("Piece")
PATIENCE = 120.0  # seconds of waiting after which it is said where the piece is, and again after as many
LAST_PATIENCE = 10.0  # seconds that the end waits for a piece that nobody will take

_left: list[Thread] = []  # workers whose piece had not ended


def has_abandoned_thread() -> bool:
    """Is a piece still under way that nobody waits for? Python can't be ended in good order then: with a thread in
    torch, that would abort the process."""
    return any(worker.is_alive() for worker in _left)


class Ahead(Generic[Piece]):
    """Makes pieces one after another, at most one of them ahead of its use.

    With `overlap` False nothing runs in another thread, so a debugger steps through all of it.
    """

    def __init__(self, overlap: bool) -> None:
        self._overlap = overlap
        self._worker: Thread | None = None
        self._asked: SimpleQueue[tuple[Future[Piece], Callable[[], Piece]] | None] = SimpleQueue()
        self._pending: Future[Piece] | None = None

    def take(self, make: Callable[[], Piece]) -> Piece:
        """The piece that was begun ahead, else one made now. What its making raised is raised here.

        However long that takes: nothing is given up, but where the piece is goes into the log every `PATIENCE` seconds.
        """
        if not self._overlap:
            return make()
        if self._pending is None:
            self.begin(make)
        assert self._pending is not None
        waited = 0.0
        while not wait([self._pending], timeout=PATIENCE).done:
            waited += PATIENCE
            self._tell(f"waiting for the next piece for {waited:.0f} s")
        piece, self._pending = self._pending, None
        return piece.result(timeout=0.0)

    def begin(self, make: Callable[[], Piece]) -> None:
        """Begins the next piece. Whatever `make` uses must be left alone until `take` returns it."""
        assert self._pending is None, "one piece ahead, not two"
        if not self._overlap:
            return
        if self._worker is None:
            # A daemon, so that a piece that hangs does not keep the process from ending.
            self._worker = Thread(target=self._work, name="ahead", daemon=True)
            self._worker.start()
        self._pending = Future()
        self._asked.put((self._pending, make))

    def close(self) -> None:
        """Ends the worker after what is under way, whatever that raises; where it takes longer than `LAST_PATIENCE`, it
        is left alone, and where it is goes into the log."""
        if self._worker is None:
            return
        self._asked.put(None)
        self._worker.join(timeout=LAST_PATIENCE)
        if self._worker.is_alive():
            self._tell(f"the piece under way has not ended in {LAST_PATIENCE:.0f} s, and is left alone")
            _left.append(self._worker)

    def _tell(self, what: str) -> None:
        assert self._worker is not None
        frame = sys._current_frames().get(self._worker.ident or 0)
        where = "".join(traceback.format_stack(frame)) if frame is not None else "  nowhere: its thread is gone\n"
        logger.warning("%s; its thread is here:\n%s", what, where)

    def _work(self) -> None:
        # Two threads of work on two cores: torch's own threads would only get in their way.
        torch.set_num_threads(1)
        while True:
            try:
                asked = self._asked.get(timeout=PATIENCE)
            except Empty:
                continue
            if asked is None:
                return
            piece, make = asked
            try:
                made = make()
            except BaseException as error:  # noqa: BLE001 - raised again by `take`, in the thread that wants the piece
                piece.set_exception(error)
            else:
                piece.set_result(made)
                del made
            del asked, piece, make  # they hold arrays, and the next may be long in coming
