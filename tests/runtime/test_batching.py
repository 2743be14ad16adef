"""Batched requests of many threads: none is lost, none gets the reply of another, and none waits without a limit."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import NamedTuple

import pytest

from interplay.runtime.inference_model import BatchingQueue, QueueClosed, RequestRefused

TIMEOUT_SECONDS = 60.0


class Number(NamedTuple):
    """A request; the reply is twice the number."""

    value: int
    key: str = "even"
    size: int = 1


def batching(max_size: int = 100) -> BatchingQueue[Number, int]:
    return BatchingQueue(key=lambda number: number.key, size=lambda number: number.size, max_size=max_size)


def submit_all(
    numbers: BatchingQueue[Number, int], wanted: Sequence[Number]
) -> tuple[ThreadPoolExecutor, list[Future[int]]]:
    """Submits every number from a thread of its own; the queue holds them in this order."""
    pool = ThreadPoolExecutor(len(wanted))
    futures = []
    for count, number in enumerate(wanted, 1):
        futures.append(pool.submit(numbers.submit, number, TIMEOUT_SECONDS))
        wait_until(lambda count=count: len(numbers._pending) == count)  # type: ignore[misc]
    return pool, futures


def wait_until(condition: Callable[[], bool]) -> None:
    pause = threading.Event()
    for _ in range(int(TIMEOUT_SECONDS / 0.005)):
        if condition():
            return
        pause.wait(0.005)
    raise AssertionError(f"the condition does not hold after {TIMEOUT_SECONDS} s")


def batches(numbers: BatchingQueue[Number, int], count: int) -> list[list[int]]:
    """Serves batches until `count` requests are answered; returns the batches."""
    found: list[list[int]] = []

    def together(wanted: Sequence[Number]) -> list[int]:
        found.append([number.value for number in wanted])
        return [2 * number.value for number in wanted]

    answered = 0
    while answered < count:
        answered += numbers.serve_batch(together, TIMEOUT_SECONDS)
    return found


def test_all_pending_requests_are_answered_together() -> None:
    numbers = batching()
    pool, futures = submit_all(numbers, [Number(value) for value in range(6)])
    assert batches(numbers, 6) == [[0, 1, 2, 3, 4, 5]]
    assert [future.result(TIMEOUT_SECONDS) for future in futures] == [0, 2, 4, 6, 8, 10]
    pool.shutdown()


def test_keys_are_not_mixed_and_the_longest_waiting_comes_first() -> None:
    numbers = batching()
    wanted = [Number(0, "a"), Number(1, "b"), Number(2, "a"), Number(3, "b"), Number(4, "c")]
    pool, futures = submit_all(numbers, wanted)
    assert batches(numbers, 5) == [[0, 2], [1, 3], [4]]
    assert [future.result(TIMEOUT_SECONDS) for future in futures] == [0, 2, 4, 6, 8]
    pool.shutdown()


def test_a_batch_has_a_maximum_size() -> None:
    numbers = batching(max_size=4)
    wanted = [Number(0, size=3), Number(1, size=2), Number(2, size=1), Number(3, size=9), Number(4, size=2)]
    pool, futures = submit_all(numbers, wanted)
    assert batches(numbers, 5) == [[0, 2], [1, 4], [3]]
    assert [future.result(TIMEOUT_SECONDS) for future in futures] == [0, 2, 4, 6, 8]
    pool.shutdown()


def test_an_empty_queue_serves_no_batch() -> None:
    assert batching().serve_batch(lambda wanted: pytest.fail("there is nothing to answer"), 0.0) == 0


def test_a_refused_request_does_not_affect_the_others() -> None:
    numbers = batching()
    pool, futures = submit_all(numbers, [Number(0, "a"), Number(1, "b")])

    def together(wanted: Sequence[Number]) -> list[int]:
        if wanted[0].key == "a":
            raise RequestRefused("of a kind that is gone")
        return [2 * number.value for number in wanted]

    assert numbers.serve_batch(together, TIMEOUT_SECONDS) + numbers.serve_batch(together, TIMEOUT_SECONDS) == 2
    with pytest.raises(RequestRefused, match="of a kind that is gone"):
        futures[0].result(TIMEOUT_SECONDS)
    assert futures[1].result(TIMEOUT_SECONDS) == 2
    pool.shutdown()


def test_a_failing_server_closes_the_queue_and_fails_every_request() -> None:
    numbers = batching()
    pool, futures = submit_all(numbers, [Number(0, "a"), Number(1, "b")])

    def together(wanted: Sequence[Number]) -> list[int]:
        raise ArithmeticError("it does not add up")

    with pytest.raises(ArithmeticError):
        numbers.serve_batch(together, TIMEOUT_SECONDS)
    for future in futures:
        with pytest.raises(QueueClosed, match="it does not add up"):
            future.result(TIMEOUT_SECONDS)
    with pytest.raises(QueueClosed, match="it does not add up"):
        numbers.submit(Number(2), TIMEOUT_SECONDS)
    pool.shutdown()


def test_an_unanswered_request_times_out() -> None:
    with pytest.raises(TimeoutError):
        batching().submit(Number(0), 0.01)


def test_many_threads_each_get_their_own_answers() -> None:
    numbers = batching(max_size=3)
    each, threads = 50, 8

    def one(thread: int) -> bool:
        mine = [Number(thread * each + count, "ab"[count % 2]) for count in range(each)]
        return [numbers.submit(number, TIMEOUT_SECONDS) for number in mine] == [2 * number.value for number in mine]

    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(one, thread) for thread in range(threads)]
        found = batches(numbers, each * threads)
        assert not wait(futures, timeout=TIMEOUT_SECONDS).not_done
    assert all(future.result() for future in futures)
    assert sorted(value for batch in found for value in batch) == list(range(each * threads))
    assert all(1 <= len(batch) <= 3 for batch in found)
