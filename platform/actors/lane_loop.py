"""The loop that plays one request after another in several worlds side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

D = TypeVar("D")
T = TypeVar("T")


def play_in_lanes(
    lanes: int,
    *,
    begin: Callable[[int], bool],
    decide: Callable[[], Sequence[D]],
    step: Callable[[int, D], T | None],
    stopped: Callable[[], bool],
) -> Iterator[T]:
    """Yields the results of the requests as they end, which may differ from the order in which they began.

    A lane whose request has ended begins the next one at once. Lanes without a request stay in the batch of `decide`;
    their actions are ignored.

    Args:
        begin: starts the next request in a lane; False if none is left.
        decide: returns the next action, or actions, of every lane.
        step: executes one step of a lane; the result of its request if that was the last step, else None.
        stopped: called before every step; once it returns True, unfinished requests are dropped.
    """
    active = {lane for lane in range(lanes) if begin(lane)}
    while active and not stopped():
        decided = decide()
        for lane in sorted(active):
            result = step(lane, decided[lane])
            if result is None:
                continue
            yield result
            if not begin(lane):
                active.discard(lane)
