"""What tests ask of one part: its next unrolls, and its process."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import ray

from interplay.runtime.ray.actor_pipeline import ActorPipeline, PendingUnroll
from interplay.runtime.ray.worker_handle import WorkerHandle

LONG = 300.0  # seconds; a part takes twenty to start where others want the cores


def line_of(worker: WorkerHandle) -> ActorPipeline:
    pipeline = ActorPipeline(0, worker, number=0, after=None)
    pipeline.start()
    return pipeline


def calls(pipeline: ActorPipeline, count: int, watch: Callable[[], None] = lambda: None) -> list[PendingUnroll]:
    """The next so many unrolls, two of which are in flight; the part is restarted where it dies."""
    found: list[PendingUnroll] = []
    ends = time.monotonic() + LONG
    while len(found) < count:
        assert time.monotonic() < ends, f"only {[call.number for call in found]} in {LONG} s"
        while len(pipeline.in_flight) < 2:
            pipeline.request(0, "makes")
        watch()
        if not ray.wait([pipeline.in_flight[0].reference], timeout=0.1)[0]:
            continue
        call = pipeline.receive()
        if call is None:
            pipeline.restart(lambda call: pipeline.worker.submit("unroll", "makes", call.number))
            continue
        assert call.message is not None
        np.testing.assert_array_equal(call.message.arrays["row"], call.number)
        found.append(call)
    return found


def received(pipeline: ActorPipeline, count: int, watch: Callable[[], None] = lambda: None) -> list[int]:
    """The numbers of the next so many unrolls; see `calls`."""
    return [call.number for call in calls(pipeline, count, watch)]


def beat(worker: WorkerHandle) -> int:
    """The part's process, once it says so."""
    ends = time.monotonic() + LONG
    while not worker.status().pid and time.monotonic() < ends:
        time.sleep(0.05)
    return worker.status().pid
