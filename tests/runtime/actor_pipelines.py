"""Helpers for tests of one actor under Ray: its next unrolls and its process id."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import wait

import numpy as np

from interplay.runtime.ray.completions import Completions
from interplay.runtime.ray.worker_restarts import ActorPipeline, PendingUnroll, WorkerHandle

TIMEOUT_SECONDS = 300.0  # on a busy machine a worker takes twenty to start


def start_pipeline(worker: WorkerHandle) -> ActorPipeline:
    pipeline = ActorPipeline(0, worker, number=0, after=None, completions=Completions(), ended=lambda pipeline: None)
    pipeline.start()
    return pipeline


def receive_calls(pipeline: ActorPipeline, count: int, watch: Callable[[], None] = lambda: None) -> list[PendingUnroll]:
    """The next `count` unrolls, with two in flight at a time; restarts the worker if it dies."""
    calls: list[PendingUnroll] = []
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while len(calls) < count:
        assert time.monotonic() < deadline, f"only {[call.number for call in calls]} in {TIMEOUT_SECONDS} s"
        while len(pipeline.in_flight) < 2:
            pipeline.request(0, "makes")
        watch()
        reply = pipeline.in_flight[0].reply
        assert reply is not None
        wait([reply], timeout=0.1)
        if not pipeline.has_ended:
            continue
        call = pipeline.receive()
        if call is None:
            pipeline.restart(lambda call: pipeline.worker.submit("unroll", "makes", call.number))
            continue
        assert call.message is not None
        np.testing.assert_array_equal(call.message.arrays["row"], call.number)
        calls.append(call)
    return calls


def receive_numbers(pipeline: ActorPipeline, count: int, watch: Callable[[], None] = lambda: None) -> list[int]:
    """The numbers of the next `count` unrolls; see `receive_calls`."""
    return [call.number for call in receive_calls(pipeline, count, watch)]


def await_pid(worker: WorkerHandle) -> int:
    """The worker's process id, as soon as it reports one."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while not worker.status().pid and time.monotonic() < deadline:
        time.sleep(0.05)
    return worker.status().pid
