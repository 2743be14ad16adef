"""Requests of many threads that are answered together: none is lost, none answered for another, none waits for ever."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import NamedTuple

import pytest

from interplay.runtime.batching_queue import BatchingQueue, QueueClosed, RequestRefused

LONG = 60.0


class Number(NamedTuple):
    """A request: its answer is twice the number."""

    value: int
    key: str = "even"
    size: int = 1


def batching(max_size: int = 100) -> BatchingQueue[Number, int]:
    return BatchingQueue(key=lambda number: number.key, size=lambda number: number.size, max_size=max_size)


def asked(
    numbers: BatchingQueue[Number, int], wanted: Sequence[Number]
) -> tuple[ThreadPoolExecutor, list[Future[int]]]:
    """Every number asked for by a thread of its own; in this order they wait."""
    pool = ThreadPoolExecutor(len(wanted))
    futures = []
    for count, number in enumerate(wanted, 1):
        futures.append(pool.submit(numbers.submit, number, LONG))
        until(lambda count=count: len(numbers._pending) == count)  # type: ignore[misc]
    return pool, futures


def until(there: Callable[[], bool]) -> None:
    pause = threading.Event()
    for _ in range(int(LONG / 0.005)):
        if there():
            return
        pause.wait(0.005)
    raise AssertionError(f"it has not come about in {LONG} s")


def batches(numbers: BatchingQueue[Number, int], count: int) -> list[list[int]]:
    """Answers until so many requests are answered; returns the batches."""
    found: list[list[int]] = []

    def together(wanted: Sequence[Number]) -> list[int]:
        found.append([number.value for number in wanted])
        return [2 * number.value for number in wanted]

    answered = 0
    while answered < count:
        answered += numbers.serve_batch(together, LONG)
    return found


def test_whatever_waits_is_answered_together() -> None:
    numbers = batching()
    pool, futures = asked(numbers, [Number(value) for value in range(6)])
    assert batches(numbers, 6) == [[0, 1, 2, 3, 4, 5]]
    assert [future.result(LONG) for future in futures] == [0, 2, 4, 6, 8, 10]
    pool.shutdown()


def test_keys_are_not_mixed_and_the_longest_waiting_comes_first() -> None:
    numbers = batching()
    wanted = [Number(0, "a"), Number(1, "b"), Number(2, "a"), Number(3, "b"), Number(4, "c")]
    pool, futures = asked(numbers, wanted)
    assert batches(numbers, 5) == [[0, 2], [1, 3], [4]]
    assert [future.result(LONG) for future in futures] == [0, 2, 4, 6, 8]
    pool.shutdown()


def test_a_batch_has_room_for_so_much() -> None:
    numbers = batching(max_size=4)
    wanted = [Number(0, size=3), Number(1, size=2), Number(2, size=1), Number(3, size=9), Number(4, size=2)]
    pool, futures = asked(numbers, wanted)
    assert batches(numbers, 5) == [[0, 2], [1, 4], [3]]
    assert [future.result(LONG) for future in futures] == [0, 2, 4, 6, 8]
    pool.shutdown()


def test_nothing_is_answered_where_nothing_waits() -> None:
    assert batching().serve_batch(lambda wanted: pytest.fail("there is nothing to answer"), 0.0) == 0


def test_what_is_refused_disturbs_no_other() -> None:
    numbers = batching()
    pool, futures = asked(numbers, [Number(0, "a"), Number(1, "b")])

    def together(wanted: Sequence[Number]) -> list[int]:
        if wanted[0].key == "a":
            raise RequestRefused("of a kind that is gone")
        return [2 * number.value for number in wanted]

    assert numbers.serve_batch(together, LONG) + numbers.serve_batch(together, LONG) == 2
    with pytest.raises(RequestRefused, match="of a kind that is gone"):
        futures[0].result(LONG)
    assert futures[1].result(LONG) == 2
    pool.shutdown()


def test_where_answering_fails_everybody_is_told_and_nobody_waits_any_more() -> None:
    numbers = batching()
    pool, futures = asked(numbers, [Number(0, "a"), Number(1, "b")])

    def together(wanted: Sequence[Number]) -> list[int]:
        raise ArithmeticError("it does not add up")

    with pytest.raises(ArithmeticError):
        numbers.serve_batch(together, LONG)
    for future in futures:
        with pytest.raises(QueueClosed, match="it does not add up"):
            future.result(LONG)
    with pytest.raises(QueueClosed, match="it does not add up"):
        numbers.submit(Number(2), LONG)
    pool.shutdown()


def test_a_request_that_nobody_answers_ends() -> None:
    with pytest.raises(TimeoutError):
        batching().submit(Number(0), 0.01)


def test_many_threads_each_get_their_own_answers() -> None:
    numbers = batching(max_size=3)
    each, threads = 50, 8

    def one(thread: int) -> bool:
        mine = [Number(thread * each + count, "ab"[count % 2]) for count in range(each)]
        return [numbers.submit(number, LONG) for number in mine] == [2 * number.value for number in mine]

    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(one, thread) for thread in range(threads)]
        found = batches(numbers, each * threads)
        assert not wait(futures, timeout=LONG).not_done
    assert all(future.result() for future in futures)
    assert sorted(value for batch in found for value in batch) == list(range(each * threads))
    assert all(1 <= len(batch) <= 3 for batch in found)
