"""Requests of many threads, answered together: whoever answers takes whatever waits just then, and delays nobody."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

Request = TypeVar("Request")
Response = TypeVar("Response")


class RequestRefused(Exception):
    """These requests can't be answered; others may be."""


class QueueClosed(RuntimeError):
    """Nobody answers any more."""


class _Waiting(Generic[Request, Response]):
    """A request until it is answered."""

    def __init__(self, asked: Request) -> None:
        self.asked = asked
        self.answered: Response | None = None
        self.raised: Exception | None = None
        self.settled = threading.Event()


class BatchingQueue(Generic[Request, Response]):
    """Threads call `ask`, one other calls `answer` again and again.

    The longest waiting request comes first, and with it as many others of its `key` as there is room for, in the order
    in which they came.
    """

    def __init__(self, *, key: Callable[[Request], Hashable], size: Callable[[Request], int], room: int) -> None:
        """
        Args:
            key: requests with the same may be answered together.
            size: of a request; those of a batch add up to no more than `room`, unless it is a single one.
        """
        self._key = key
        self._size = size
        self._room = room
        self._waiting: deque[_Waiting[Request, Response]] = deque()
        self._changed = threading.Condition()
        self._closed: Exception | None = None

    def ask(self, asked: Request, seconds: float) -> Response:
        """Waits for the answer.

        Raises:
            Refused: it can't be answered.
            Closed: nobody answers any more.
            TimeoutError: nobody has in so many seconds.
        """
        waiting: _Waiting[Request, Response] = _Waiting(asked)
        with self._changed:
            if self._closed is not None:
                raise QueueClosed(str(self._closed)) from self._closed
            self._waiting.append(waiting)
            self._changed.notify_all()
        if not waiting.settled.wait(timeout=seconds):
            raise TimeoutError(f"no answer in {seconds:g} s")
        if waiting.raised is not None:
            raise waiting.raised
        assert waiting.answered is not None
        return waiting.answered

    def answer(self, together: Callable[[Sequence[Request]], Sequence[Response]], seconds: float) -> int:
        """Answers what waits, after waiting for it up to so many seconds; returns how many requests those were.

        Raises:
            Exception: what `together` raised, unless it was `RequestRefused`; from then on nobody is answered.
        """
        batch = self._take(seconds)
        if not batch:
            return 0
        try:
            answers = together([each.asked for each in batch])
        except RequestRefused as refused:
            for each in batch:
                each.raised = refused
                each.settled.set()
            return len(batch)
        except Exception as error:
            self._close(error, batch)
            raise
        for each, answer in zip(batch, answers, strict=True):
            each.answered = answer
            each.settled.set()
        return len(batch)

    def _take(self, seconds: float) -> list[_Waiting[Request, Response]]:
        ends = time.monotonic() + seconds
        with self._changed:
            while not self._waiting:
                left = ends - time.monotonic()
                if left <= 0:
                    return []
                self._changed.wait(timeout=left)
            first = self._waiting[0]
            key, room = self._key(first.asked), self._room
            batch, others = [], deque[_Waiting[Request, Response]]()
            for each in self._waiting:
                size = self._size(each.asked)
                if each is first or (self._key(each.asked) == key and size <= room):
                    batch.append(each)
                    room -= size
                else:
                    others.append(each)
            self._waiting = others
            return batch

    def _close(self, error: Exception, batch: Sequence[_Waiting[Request, Response]]) -> None:
        with self._changed:
            self._closed = error
            left = [*batch, *self._waiting]
            self._waiting.clear()
        for each in left:
            each.raised = QueueClosed(str(error))
            each.settled.set()
