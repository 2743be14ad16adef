"""The loop that plays one request after another in several worlds side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from interplay.actors.episode_note import add_episode_note

D = TypeVar("D")
R = TypeVar("R")
T = TypeVar("T")


def play_in_lanes(
    requests: Iterable[R],
    lanes: int,
    *,
    begin: Callable[[int, R], None],
    decide: Callable[[], Sequence[D]],
    step: Callable[[int, D], T | None],
    name: Callable[[R], str],
    stopped: Callable[[], bool],
) -> Iterator[T]:
    """Yields the results of the requests as they end, which may differ from the order in which they began.

    A lane whose request has ended begins the next one at once. Lanes without a request stay in the batch of `decide`;
    their actions are ignored. An error of `begin` or `step`, or of `decide` for a single request, gets a note that
    names the request.

    Args:
        begin: starts a request in a lane.
        decide: returns the next action, or actions, of every lane.
        step: executes one step of a lane; the result of its request if that was the last step, else None.
        name: names the episode of a request, as "the episode that begins with Start(seed=7)".
        stopped: called before every step; once it returns True, unfinished requests are dropped.
    """
    waiting = iter(requests)
    playing: dict[int, R] = {}  # by lane
    steps = dict.fromkeys(range(lanes), 0)  # of the request in each lane
    lane: int | None = None  # whose code is running

    def begin_next(index: int) -> None:
        playing.pop(index, None)
        for request in waiting:
            playing[index], steps[index] = request, 0
            begin(index, request)
            return

    try:
        for lane in range(lanes):
            begin_next(lane)
        while playing and not stopped():
            lane = next(iter(playing)) if len(playing) == 1 else None
            decided = decide()
            for lane in sorted(playing):
                result = step(lane, decided[lane])
                steps[lane] += 1
                if result is None:
                    continue
                yield result
                begin_next(lane)
    except Exception as error:
        if lane is not None and lane in playing:
            add_episode_note(error, steps[lane], name(playing[lane]))
        raise
