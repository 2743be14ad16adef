"""Dynamic batching: one consumer takes all compatible pending requests at once; it never waits for a batch to fill."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

Request = TypeVar("Request")
Response = TypeVar("Response")


class RequestRefused(Exception):
    """These requests can't be answered; others may be."""


class QueueClosed(RuntimeError):
    """The consumer has failed; no request is answered any more."""


class _PendingRequest(Generic[Request, Response]):
    """A request until it is answered."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.response: Response | None = None
        self.error: Exception | None = None
        self.done = threading.Event()


class BatchingQueue(Generic[Request, Response]):
    """Queue in which many threads `submit` requests and one other thread repeatedly calls `serve_batch`.

    A batch consists of the oldest request and as many others with the same key as fit, in order of arrival.
    """

    def __init__(self, *, key: Callable[[Request], Hashable], size: Callable[[Request], int], max_size: int) -> None:
        """
        Args:
            key: requests with equal keys may share a batch.
            size: of a request; the sizes in a batch add up to at most `max_size`, unless it is a single request.
        """
        self._key = key
        self._size = size
        self._max_size = max_size
        self._pending: deque[_PendingRequest[Request, Response]] = deque()
        self._changed = threading.Condition()
        self._failure: Exception | None = None

    def submit(self, request: Request, seconds: float) -> Response:
        """Waits up to `seconds` for the response.

        Raises:
            RequestRefused: the request can't be answered.
            QueueClosed: the consumer has failed.
            TimeoutError: there is no response in time.
        """
        pending: _PendingRequest[Request, Response] = _PendingRequest(request)
        with self._changed:
            if self._failure is not None:
                raise QueueClosed(str(self._failure)) from self._failure
            self._pending.append(pending)
            self._changed.notify_all()
        if not pending.done.wait(timeout=seconds):
            raise TimeoutError(f"no answer in {seconds:g} s")
        if pending.error is not None:
            raise pending.error
        assert pending.response is not None
        return pending.response

    def serve_batch(self, respond: Callable[[Sequence[Request]], Sequence[Response]], seconds: float) -> int:
        """Answers one batch, after waiting up to `seconds` for a request; returns how many requests it had.

        Raises:
            Exception: what `respond` raised, unless it was `RequestRefused`; it closes the queue.
        """
        batch = self._take(seconds)
        if not batch:
            return 0
        try:
            responses = respond([each.request for each in batch])
        except RequestRefused as refused:
            _fail(batch, refused)
            return len(batch)
        except Exception as error:
            with self._changed:
                self._failure = error
                batch += self._pending
                self._pending.clear()
            _fail(batch, QueueClosed(str(error)))
            raise
        for each, response in zip(batch, responses, strict=True):
            each.response = response
            each.done.set()
        return len(batch)

    def _take(self, seconds: float) -> list[_PendingRequest[Request, Response]]:
        with self._changed:
            if not self._changed.wait_for(lambda: self._pending, timeout=seconds):
                return []
            first = self._pending[0]
            key, room = self._key(first.request), self._max_size
            batch, others = [], deque[_PendingRequest[Request, Response]]()
            for each in self._pending:
                size = self._size(each.request)
                if each is first or (self._key(each.request) == key and size <= room):
                    batch.append(each)
                    room -= size
                else:
                    others.append(each)
            self._pending = others
            return batch


def _fail(batch: Sequence[_PendingRequest[Request, Response]], error: Exception) -> None:
    for each in batch:
        each.error = error
        each.done.set()
