"""The lag bound in simulation: for any order of arrivals no unroll exceeds the lag and nothing deadlocks."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from interplay.runtime.backpressure import FreeActors, LagBound, idle_actors_advice


def num_due(versions: Sequence[int], *, batch: int, size: int, max_lag: int) -> int:
    """Transcription of the bound: the largest excess, over all batches, of what is due by then."""
    deadlines = sorted(version + max_lag for version in versions)
    return max([0, *(count - size * (due - batch) for count, due in enumerate(deadlines, 1))])


def select_batch(outstanding: Sequence[tuple[int, bool]], *, batch: int, size: int, max_lag: int) -> list[int] | None:
    """Transcription of the selection, from (version, ready) of all unrolls in the order of their requests."""
    versions = [version for version, _ in outstanding]
    oldest = sorted(range(len(outstanding)), key=lambda index: (versions[index], index))
    due = oldest[: num_due(versions, batch=batch, size=size, max_lag=max_lag)]
    ready = [index for index in oldest if outstanding[index][1]]
    if len(ready) < size or not set(due) <= set(ready):
        return None
    return sorted([*due, *[index for index in ready if index not in due][: size - len(due)]])


@given(
    size=st.integers(1, 4),
    max_lag=st.integers(0, 5),
    ahead=st.integers(1, 3),
    seed=st.integers(0, 10**6).map(random.Random),
)
def test_the_lag_is_bounded_and_nothing_deadlocks(size: int, max_lag: int, ahead: int, seed: random.Random) -> None:
    """A learner and actors that reply in any order, and restart: 40 batches, of which `ahead` are assembled in advance.
    Every decision is that of the transcription."""
    bound = LagBound[str](size, max_lag)
    learned = 0
    outstanding: dict[str, tuple[int, bool]] = {}  # by name, in the order of the requests
    requested = 0
    for _ in range(2000):
        limits = {"batch": bound.batch, "size": size, "max_lag": max_lag}
        while len(outstanding) < 12:
            versions = [version for version, _ in outstanding.values()]
            may = num_due([*versions, learned], **limits) <= size
            assert bound.can_request(learned) == may
            if not may:
                break
            name, requested = f"unroll {requested}", requested + 1
            outstanding[name] = (learned, False)
            bound.add(name, learned)
        waiting = [name for name, (_, ready) in outstanding.items() if not ready]
        if waiting and seed.random() < 0.1:  # its actor failed; it is requested again with the newest weights
            name = seed.choice(waiting)
            outstanding[name] = (learned, False)
            bound.change_version(name, learned)
        elif waiting:
            name = seed.choice(waiting)
            outstanding[name] = (outstanding[name][0], True)
            bound.set_ready(name)
        assert len(bound) == len(outstanding)
        chosen = None
        if bound.batch - learned < ahead:
            names = list(outstanding)
            expected = select_batch(list(outstanding.values()), **limits)
            chosen = bound.select_batch()
            assert chosen == (None if expected is None else [names[index] for index in expected])
        if chosen is not None:
            assert all(bound.batch - 1 - outstanding[name][0] <= max_lag for name in chosen)
            for name in chosen:
                del outstanding[name]
        elif learned < bound.batch:
            learned += 1
        if learned == 40:
            return
    raise AssertionError(f"stuck at batch {bound.batch} with {outstanding}")


def test_a_batch_waits_for_the_unrolls_that_are_due() -> None:
    bound = LagBound[str](1, max_lag=4)
    for name, version in (("a", 0), ("b", 2), ("c", 2)):
        bound.add(name, version)
    bound.set_ready("b")
    bound.set_ready("c")
    bound.batch = 3
    assert bound.select_batch() == ["b"]
    assert bound.batch == 4 and bound.num_due() == 1
    assert bound.select_batch() is None  # the first is due now
    bound.set_ready("a")
    assert bound.select_batch() == ["a"]


def test_no_lag_is_lockstep() -> None:
    bound = LagBound[int](2, max_lag=0)
    bound.batch = 7
    bound.add(0, 7)
    assert bound.can_request(7)
    bound.add(1, 7)
    assert not bound.can_request(7)
    bound.set_ready(0)
    bound.set_ready(1)
    assert bound.select_batch() == [0, 1]
    assert not bound.can_request(7)  # that batch is complete; it waits for its weights
    assert bound.can_request(8)


@given(size=st.integers(1, 8), max_lag=st.integers(0, 8))
def test_idle_actors_are_named_where_the_bound_leaves_some(size: int, max_lag: int) -> None:
    bound = LagBound[int](size, max_lag)
    busy = 0
    while bound.can_request(0):
        bound.add(busy, 0)
        busy += 1
    assert idle_actors_advice(actors=busy, unrolls_per_batch=size, max_lag=max_lag, lanes=size) is None
    assert (idle_actors_advice(actors=busy + 3, unrolls_per_batch=size, max_lag=max_lag, lanes=size) or "").startswith(
        f"3 of {busy + 3} actors will always be idle: the lag bound allows at most {busy} unrolls"
    )


def test_the_advice_on_idle_actors_uses_all_of_them() -> None:
    advice = partial(idle_actors_advice, actors=1000, lanes=400)
    many = "Set runtime.max_lag=62 or runtime.unrolls_per_batch=200 to use all, or runtime.actors=80"
    assert many in (advice(unrolls_per_batch=16, max_lag=4) or "")
    assert advice(unrolls_per_batch=16, max_lag=62) is None
    assert advice(unrolls_per_batch=16, max_lag=61) is not None
    assert advice(unrolls_per_batch=200, max_lag=4) is None


def test_the_advice_on_idle_actors_divides_the_lanes_of_a_batch() -> None:
    advice = partial(idle_actors_advice, actors=10, unrolls_per_batch=4, max_lag=1)
    assert "or runtime.unrolls_per_batch=8 to use all" in (advice(lanes=16) or "")  # of 5, 6 and 7 none divides 16
    assert "unrolls_per_batch=4 times" in (few := advice(lanes=4) or "") and few.count("unrolls_per_batch") == 1


@given(actors=st.integers(1, 6), max_in_flight=st.integers(1, 3), seed=st.integers(0, 10**6).map(random.Random))
def test_the_actor_with_the_fewest_requests_is_next(actors: int, max_in_flight: int, seed: random.Random) -> None:
    free = FreeActors(max_in_flight)
    in_flight, requested = [0] * actors, [0] * actors
    for actor in range(actors):
        free.update(actor, in_flight=0, requested=0)
    for _ in range(300):
        candidates = [actor for actor in range(actors) if in_flight[actor] < max_in_flight]
        assert len(free) == len(candidates)
        if candidates and seed.random() < 0.5:
            actor = free.first()
            assert actor == min(candidates, key=lambda each: (in_flight[each], requested[each], each))
            in_flight[actor], requested[actor] = in_flight[actor] + 1, requested[actor] + 1
        elif any(in_flight):
            actor = seed.choice([each for each in range(actors) if in_flight[each]])
            in_flight[actor] -= 1
        else:
            continue
        free.update(actor, in_flight=in_flight[actor], requested=requested[actor])


def test_actors_that_are_never_second_leave_no_entries_behind() -> None:
    free = FreeActors(2)
    free.update(1, in_flight=0, requested=0)  # always first, so that entries of one in flight are never looked at
    for number in range(1000):
        free.update(0, in_flight=1, requested=number)
        free.update(0, in_flight=0, requested=number)
    assert len(free._heap) < 20
    bound = LagBound[str](1, max_lag=4)
    for number in range(1000):
        bound.add(f"unroll {number}", bound.batch)
        bound.set_ready(f"unroll {number}")
        bound.select_batch()
    assert len(bound._unready) < 20 and not bound._items
