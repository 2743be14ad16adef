"""The streams of rollouts and demonstrations, with an actor whose answers are given."""

from __future__ import annotations

from concurrent.futures import Future
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ray.exceptions import ActorDiedError

from interplay.reward.reward_functions import ProgressReward
from interplay.runtime.config import RuntimeConfig
from interplay.runtime.crashes import CrashReports
from interplay.runtime.interruption import StopRequested
from interplay.runtime.lane_records import to_bytes
from interplay.runtime.messages import UnrollMessage
from interplay.runtime.ray.demonstration_stream import DemonstrationStream
from interplay.runtime.ray.learner_context import LearnerContext
from interplay.runtime.ray.reward_replicas import ScoringPool
from interplay.runtime.ray.rollout_stream import RolloutStream
from interplay.runtime.ray.worker_restarts import WorkerHandle


class Call:
    """A reference to a call that has ended, or never ends."""

    def __init__(self, result: UnrollMessage | Exception | None) -> None:
        self._future = Future[Any]()
        if isinstance(result, Exception):
            self._future.set_exception(result)
        elif result is not None:
            self._future.set_result(result)

    def future(self) -> Future[Any]:
        return self._future


class AnsweringWorker(WorkerHandle):
    """A worker without a process."""

    results: list[UnrollMessage | Exception | None]

    def start(self, *arguments: Any) -> None:
        self.incarnation += 1

    def submit(self, method: str, activity: str, *arguments: Any) -> Any:
        return Call(self.results.pop(0))


class Stopping:
    """A stop that is requested once it has been asked for twice, and an error after that."""

    def __init__(self) -> None:
        self._answers = iter((False, True))

    def __call__(self) -> bool:
        return next(self._answers)


def one_actor(tmp_path: Path, *results: UnrollMessage | Exception | None) -> tuple[AnsweringWorker, LearnerContext]:
    """A worker with these results, and the context of its learner."""
    config = RuntimeConfig(kind="ray", actors=1, unrolls_per_batch=1, max_lag=1, in_flight=2)
    placement: Any = None  # nothing is placed
    crashes = CrashReports(tmp_path, 1, "abc", 2, 3600.0)
    worker = AnsweringWorker("actor-0", dict, placement=placement, crashes=crashes, config=config)
    worker.results = list(results)
    return worker, LearnerContext(config, placement, crashes, 0, 0)


def rollouts_of(worker: AnsweringWorker, context: LearnerContext) -> RolloutStream:
    stream = RolloutStream(
        workers=[worker],
        scoring=ScoringPool(ProgressReward()),
        inference=None,
        reference=None,
        newer=lambda: None,
        lanes=1,
        context=context,
        pinned=False,
    )
    weights: Any = None  # the actor needs none
    stream._weights, stream._published = (0, dict), (0, weights)
    return stream


def test_an_unroll_that_arrived_before_its_actor_failed_is_scored_at_once(tmp_path: Path) -> None:
    arrays: dict[str, Any] = {"progress": np.ones((3, 1), np.float32), "last": np.zeros((3, 1), bool)}
    message = UnrollMessage(0, arrays, None, 0, [], b"")
    worker, context = one_actor(tmp_path, message, ActorDiedError(), None)
    stream = rollouts_of(worker, context)
    stream._start()
    stream._request_unrolls()
    stream._completions.handle_ended(0.0)
    assert worker.restarts == 1 and worker.incarnation == 2 and not worker.results  # the second is requested again
    assert stream._unscored == 0 and stream._outstanding.select_batch() is not None


def test_a_stop_ends_the_wait_for_an_actor_that_delivers_nothing(tmp_path: Path) -> None:
    stream = rollouts_of(*one_actor(tmp_path, None, None))
    with closing(stream), pytest.raises(StopRequested):
        stream.take(lambda: dict, 0, ahead=lambda: True, stopped=Stopping())
    assert stream._records[0].number == 0


def test_a_stop_ends_the_wait_for_demonstrations_that_do_not_come(tmp_path: Path) -> None:
    message = UnrollMessage(0, {"row": np.zeros((3, 1), np.float32)}, None, 0, [], to_bytes({"turn": 1}))
    worker, context = one_actor(tmp_path, message, None, None)
    with closing(DemonstrationStream([worker], context, pinned=False)) as stream:
        for _ in range(2):  # waiting takes nothing
            stream.await_step(lambda: False)
        assert [each.number for each in stream.take(ahead=lambda: True).taken] == [0]
        with pytest.raises(StopRequested):
            stream.await_step(Stopping())
        assert stream.state() == {"turn": 1}


def test_a_stop_ends_the_wait_for_any_demonstrations_of_a_step_before_one_is_taken(tmp_path: Path) -> None:
    rows = {"row": np.zeros((3, 1), np.float32)}
    messages = [UnrollMessage(number, rows, None, 0, [], to_bytes({"turn": number + 1})) for number in range(3)]
    worker, context = one_actor(tmp_path, *messages, None, None)
    with closing(DemonstrationStream([worker], context, pinned=False, batches_per_step=2)) as stream:
        stream.await_step(lambda: False)
        taken = [stream.take(ahead=lambda: True).taken[0].number for _ in range(2)]
        with pytest.raises(StopRequested):
            stream.await_step(Stopping())
        assert stream.state() == {"turn": 2}
        assert [*taken, stream.take(ahead=lambda: True).taken[0].number] == [0, 1, 2]
