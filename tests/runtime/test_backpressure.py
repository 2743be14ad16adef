"""The lag bound in simulation: for any order of arrivals no unroll exceeds the lag and nothing deadlocks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from interplay.runtime.backpressure import can_request, num_due, select_batch


@given(
    unrolls_per_batch=st.integers(1, 4),
    max_lag=st.integers(0, 5),
    ahead=st.integers(1, 3),
    seed=st.randoms(use_true_random=False),
)
def test_the_lag_is_bounded_and_nothing_deadlocks(
    unrolls_per_batch: int, max_lag: int, ahead: int, seed: object
) -> None:
    """A learner and actors that reply in any order: 40 batches, of which `ahead` may be assembled in advance."""
    batch = learned = 0
    outstanding: list[tuple[int, bool]] = []
    limits = {"unrolls_per_batch": unrolls_per_batch, "max_lag": max_lag}
    for _ in range(2000):
        while len(outstanding) < 12 and can_request([v for v, _ in outstanding], learned, batch=batch, **limits):
            outstanding.append((learned, False))
        waiting = [index for index, (_, ready) in enumerate(outstanding) if not ready]
        if waiting:
            index = seed.choice(waiting)  # type: ignore[attr-defined]
            outstanding[index] = (outstanding[index][0], True)
        chosen = select_batch(outstanding, batch=batch, **limits) if batch - learned < ahead else None
        if chosen is not None:
            assert len(set(chosen)) == unrolls_per_batch
            assert all(outstanding[index][1] and batch - outstanding[index][0] <= max_lag for index in chosen)
            outstanding = [each for index, each in enumerate(outstanding) if index not in chosen]
            batch += 1
        elif learned < batch:
            learned += 1
        if learned == 40:
            return
    raise AssertionError(f"stuck at batch {batch} with {outstanding}")


def test_a_batch_waits_for_the_unrolls_that_are_due() -> None:
    ready = [(0, False), (2, True), (2, True)]
    assert select_batch(ready, batch=3, unrolls_per_batch=1, max_lag=4) == [1]
    assert select_batch(ready, batch=4, unrolls_per_batch=1, max_lag=4) is None  # the first is due now
    assert num_due([0, 2, 2], batch=4, unrolls_per_batch=1, max_lag=4) == 1


def test_no_lag_is_lockstep() -> None:
    assert can_request([7], 7, batch=7, unrolls_per_batch=2, max_lag=0)
    assert not can_request([7, 7], 7, batch=7, unrolls_per_batch=2, max_lag=0)
    assert not can_request(
        [], 7, batch=8, unrolls_per_batch=2, max_lag=0
    )  # that batch is complete; it waits for its weights
