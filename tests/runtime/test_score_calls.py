"""Unrolls that are scored in one call of a replica, with replicas whose answers are given."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from ray.exceptions import ActorDiedError

from interplay.agent.observation import Arrays
from interplay.agent.unroll import LaneScenes
from interplay.reward.reward_functions import EnvironmentReward, LaneState, RewardFunction, ScoredUnroll
from interplay.runtime.config import ReplicasConfig, RuntimeConfig
from interplay.runtime.crashes import CrashReports
from interplay.runtime.heartbeat import HeartbeatReading
from interplay.runtime.messages import ScoringReplica, UnrollMessage
from interplay.runtime.ray.completions import Completions
from interplay.runtime.ray.reward_replicas import (
    OutstandingUnroll,
    Replicas,
    ScoreRequest,
    ScoringPool,
    unrolls_of_call,
)
from interplay.runtime.ray.worker_restarts import PendingUnroll, WorkerHandle


class Reply:
    """A reference to the reply to a call, which `complete` or `fail` gives."""

    def __init__(self, arguments: list[Any]) -> None:
        self.arguments = arguments
        self._future = Future[Any]()

    def future(self) -> Future[Any]:
        return self._future

    def complete(self) -> None:
        """Pays each unroll its name, and adds the name to the state of its lanes."""
        lane_state: Any = LaneState  # the fake state of lanes is a text
        self._future.set_result(
            [
                ScoredUnroll(np.full((1, 1), name), lane_state(f"{state.reward}{name}"), 1)
                for name, state in self.arguments
            ]
        )

    def fail(self) -> None:
        self._future.set_exception(ActorDiedError())


class ReplyingWorker(WorkerHandle):
    """A replica without a process."""

    def start(self, *arguments: Any) -> None:
        self.incarnation += 1
        self.replies: list[Reply] = getattr(self, "replies", [])

    def submit_each(self, method: str, activity: str, arguments: Any) -> Any:
        self.replies.append(Reply(list(arguments)))
        return self.replies[-1]


@pytest.fixture
def worker(tmp_path: Path) -> ReplyingWorker:
    return replica("reward-0", CrashReports(tmp_path, 1, "abc", 2, 3600.0))


def replica(name: str, crashes: CrashReports) -> ReplyingWorker:
    placement: Any = None  # nothing is placed
    config = RuntimeConfig(kind="ray", start_limit=1.0, stall_limit=10.0)
    return ReplyingWorker(name, dict, placement=placement, crashes=crashes, config=config)


class Scoring:
    """A pool of one replica, and what it has scored: an unroll is named by its actor and its number."""

    def __init__(self, worker: ReplyingWorker, *, at_once: int, actors: int) -> None:
        self.scored: list[str] = []
        self.completions = Completions()
        self.pool = ScoringPool(Replicas([worker], retries=1), at_once)
        self.pool.connect(self.completions, lambda unroll: self.scored.append(str(unroll.pending.reference)))
        self.pool.start([LaneState("") for _ in range(actors)])  # type: ignore[arg-type]

    def arrive(self, actor: int, name: str) -> None:
        """An unroll of this actor is requested and arrives."""
        reference: Any = name
        message = UnrollMessage(0, {}, None, 0, [], b"")
        self.pool.add(OutstandingUnroll(PendingUnroll(actor, 0, 0, reference, message)))
        self.pool.score(actor)


def names(reply: Reply) -> list[str]:
    return [name for name, _ in reply.arguments]


def test_unrolls_of_several_actors_share_a_call(worker: ReplyingWorker) -> None:
    scoring = Scoring(worker, at_once=2, actors=3)
    scoring.arrive(0, "a")
    scoring.arrive(0, "b")  # starts from the lane state after a
    assert scoring.pool.has_waiting and not worker.replies
    scoring.arrive(1, "c")
    assert not scoring.pool.has_waiting and [names(reply) for reply in worker.replies] == [["a", "c"]]
    worker.replies[0].complete()
    scoring.completions.handle_ended(0.0)
    assert scoring.scored == ["a", "c"]
    scoring.pool.request_waiting()
    assert [(name, state.reward) for name, state in worker.replies[1].arguments] == [("b", "a")]
    scoring.pool.request_waiting()
    assert len(worker.replies) == 2  # nothing waits


def test_unrolls_of_a_failed_call_are_scored_each_by_itself(worker: ReplyingWorker) -> None:
    scoring = Scoring(worker, at_once=3, actors=3)
    for actor, name in enumerate("abc"):
        scoring.arrive(actor, name)
    worker.replies[0].fail()
    scoring.completions.handle_ended(0.0)
    assert worker.restarts == 1 and not scoring.scored
    assert [names(reply) for reply in worker.replies[1:]] == [["a"], ["b"], ["c"]]
    for reply in worker.replies[1:]:
        reply.complete()
    scoring.completions.handle_ended(0.0)
    assert scoring.scored == ["a", "b", "c"] and scoring.completions.watched == 0


def test_the_requests_of_a_replica_that_is_given_up_count_its_failure_once(tmp_path: Path) -> None:
    failing, other = (replica(f"reward-{number}", CrashReports(tmp_path, 1, "abc", 0, 3600.0)) for number in range(2))
    replicas = Replicas([failing, other], retries=9, external_clients=True)
    replicas.start()
    unroll: Any = "1a"
    requests = [replicas.ask(unroll, LaneState()) for _ in range(4)]
    own = [request for request in requests if request.replica == 0]
    assert len(own) == len(failing.replies) == 2
    for request, reply in zip(own, failing.replies, strict=True):
        request.reply = reply.future()
        reply.fail()
    again = [replicas.answer(request) for request in own]
    assert [each.replica for each in again if isinstance(each, ScoreRequest)] == [1, 1]
    assert failing.restarts == 1


def test_the_next_unroll_of_a_call_is_progress(worker: ReplyingWorker) -> None:
    now = 1000.0
    worker.clock = lambda: now
    replicas = Replicas([worker], retries=1)
    replicas.start()
    replicas.ask_together([("a", LaneState()), ("b", LaneState())])  # type: ignore[list-item]
    now += 60.0  # of at most 11
    assert [index for index, _ in replicas.stalled()] == [0]
    worker.heard(HeartbeatReading("scores", 2.0, 58.0, 60.0, 1))
    assert replicas.stalled() == []
    worker.heard(HeartbeatReading("scores", 30.0, 58.0, 60.0, 1))
    ((_, seconds),) = replicas.stalled()
    assert seconds == 30.0


class OneRowTooMany(RewardFunction):
    """A reward with an entry for row T."""

    def score(self, arrays: Arrays, lane_state: LaneState) -> ScoredUnroll:
        return ScoredUnroll(np.zeros(arrays["last"].shape, np.float32))


def test_a_reward_of_another_shape_is_refused_here_and_in_a_replica() -> None:
    message = UnrollMessage(0, {"last": np.zeros((3, 2), bool)}, None, 0, [], b"")
    refused = r"the reward OneRowTooMany: .* \[T, b\] = \[2, 2\]; got float32 \[3, 2\]"
    with pytest.raises(ValueError, match=refused):
        ScoringReplica(OneRowTooMany()).score(message, LaneState())
    pool = ScoringPool(OneRowTooMany())
    reference: Any = "a"
    pool.start([LaneState()])
    pool.add(OutstandingUnroll(PendingUnroll(0, 0, 0, reference, message)))
    with pytest.raises(ValueError, match=refused):
        pool.score(0)


class Scenes:
    """Draws pictures of a single number, that of the row, and counts how often."""

    nbytes, drawn = 0, 0

    def draw(self, views: Any, device: torch.device) -> torch.Tensor:
        self.drawn += 1
        return torch.from_numpy(views.astype(np.uint8)[:, :, None, None])


class BrightnessReward(RewardFunction):
    """The brightness of the picture."""

    def score(self, arrays: Arrays, lane_state: LaneState) -> ScoredUnroll:
        assert "view" not in arrays
        return ScoredUnroll(arrays["image"][:-1, :, 0, 0, 0].astype(np.float32))


def test_a_reward_that_is_scored_here_reads_pictures_that_are_drawn_for_it() -> None:
    arrays: Arrays = {"last": np.zeros((3, 2), bool), "view": np.arange(6, dtype=np.float32).reshape(3, 2, 1)}
    arrays |= {"env_reward": np.ones((3, 2), np.float32)}
    paid: list[list[list[float]]] = []
    for function in (BrightnessReward(), EnvironmentReward()):
        scenes: Any = Scenes()
        message = UnrollMessage(0, arrays, None, 0, [], b"", scenes=[LaneScenes(2, scenes)])
        pool = ScoringPool(function)
        pool.connect(Completions(), lambda unroll: paid.append(unroll.scored.reward.tolist()))  # type: ignore[union-attr]
        pool.start([LaneState()])
        reference: Any = "a"
        pool.add(OutstandingUnroll(PendingUnroll(0, 0, 0, reference, message)))
        pool.score(0)
        assert scenes.drawn == function.reads_pictures
    assert paid == [[[0, 1], [2, 3]], [[1, 1], [1, 1]]]


@pytest.mark.parametrize(
    ("actors", "unrolls", "replicas", "expected"),
    [(64, 16, 4, 4), (1000, 16, 1, 8), (2, 16, 1, 2), (1, 1, 1, 1), (64, 16, 32, 1)],
)
def test_a_call_has_at_most_a_share_of_a_batch(actors: int, unrolls: int, replicas: int, expected: int) -> None:
    config = RuntimeConfig(
        kind="ray", actors=actors, unrolls_per_batch=unrolls, reward=ReplicasConfig(replicas=replicas)
    )
    assert unrolls_of_call(config) == expected
