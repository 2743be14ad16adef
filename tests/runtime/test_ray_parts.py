"""Parts in processes of their own: none of what they make is lost with them, and why they went down is kept."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import fake_workers
import numpy as np
import pytest
import ray
from actor_pipelines import TIMEOUT_SECONDS, await_pid, receive_numbers, start_pipeline
from ray.core.generated.common_pb2 import ActorDiedErrorContext
from ray.exceptions import (
    ActorDiedError,
    NodeDiedError,
    OutOfMemoryError,
    RayError,
    RayTaskError,
    UnserializableException,
)

from interplay.agent.weights import Weights
from interplay.learner.distributed import RankLost
from interplay.reward.reward_functions import LaneState, ScoredUnroll
from interplay.reward.reward_server import ServiceEnded
from interplay.runtime.config import Resources, RuntimeConfig
from interplay.runtime.crashes import CrashReports, WorkerFailed
from interplay.runtime.interruption import Interrupted
from interplay.runtime.messages import UnrollMessage
from interplay.runtime.ray.cluster_session import ClusterError, check_reachable
from interplay.runtime.ray.learner_context import LearnerContext
from interplay.runtime.ray.replicas import Replicas, ScoreRequest
from interplay.runtime.ray.replicated_scorer import NoAnswer, ReplicatedScorer
from interplay.runtime.ray.stalls import restart_stalled
from interplay.runtime.ray.supervision import LearnerDied, stage_error
from interplay.runtime.ray.worker_placement import ResourceRequest, reserve_resources

pytestmark = pytest.mark.usefixtures("ray_cluster")
ray.cloudpickle.register_pickle_by_value(fake_workers)  # the parts' processes don't find the tests' modules


@pytest.fixture
def context(tmp_path: Path) -> Iterator[LearnerContext]:
    """Room for three parts."""
    config = RuntimeConfig("ray", start_limit=300, stall_limit=300)
    placement = reserve_resources(
        [ResourceRequest(f"actor-{index}", Resources(cpus=0.2)) for index in range(3)], config
    )
    crashes = CrashReports(tmp_path / "crashes", seed=7, config="abc", limit=2, window=3600.0)
    context = LearnerContext(config, placement, crashes, 0, 0)
    yield context
    context.close()
    placement.release()


def test_a_killed_part_goes_on_after_what_has_come(context: LearnerContext, caplog: pytest.LogCaptureFixture) -> None:
    pipeline = start_pipeline(context.add_worker("actor-0", fake_workers.CountingActor))
    assert receive_numbers(pipeline, 3) == [0, 1, 2]
    pid = await_pid(pipeline.worker)
    os.kill(pid, signal.SIGKILL)
    assert receive_numbers(pipeline, 3) == [3, 4, 5]
    told = (context.crashes.folder / "actor-0.txt").read_text()
    assert "1 of at most 2 times" in told and "seed 7, config abc" in told
    assert "episode-" in told and f"pid: {pid}" in told
    assert await_pid(pipeline.worker) != pid and pipeline.worker.restarts == 1
    assert f"actor-0 went down and is restarted, 1 of at most 2 times (see {context.crashes.folder}" in caplog.text


def test_a_part_that_raises_leaves_its_traceback_and_goes_on(context: LearnerContext, tmp_path: Path) -> None:
    pipeline = start_pipeline(
        context.add_worker("actor-1", partial(fake_workers.FailsOnceActor, tmp_path / "failed_once"))
    )
    assert receive_numbers(pipeline, 4) == [0, 1, 2, 3]
    told = (context.crashes.folder / "actor-1.txt").read_text()
    raised, _, _ = told.partition("\nThe last that actor-1 printed")
    assert raised.strip().endswith("ArithmeticError: failed at unroll 2") and "fake_workers.py" in told
    assert "episode-1" in told  # the last that it made


def test_why_a_part_went_down_ends_with_what_it_printed(context: LearnerContext) -> None:
    pipeline = start_pipeline(context.add_worker("actor-0", fake_workers.PrintingActor))
    assert receive_numbers(pipeline, 2) == [0, 1]
    os.kill(await_pid(pipeline.worker), signal.SIGKILL)
    assert receive_numbers(pipeline, 2) == [2, 3]
    told = (context.crashes.folder / "actor-0.txt").read_text()
    printed = context.crashes.folder / "logs" / "actor-0.txt"
    assert f"\nThe last output of actor-0 ({printed}):\n" in told
    last = told.strip().splitlines()[-2:]
    number = last[0].partition(":")[0]  # two are in flight: it may have begun with the next
    assert last == [f"{number}: the arm moves", f"{number}: from below Python"]
    assert printed.read_text().count(" actor-0 starts\n") == 2


def test_a_part_that_goes_down_too_often_ends_the_run(context: LearnerContext) -> None:
    context.config = replace(context.config, restart_window=1e-3)  # which it outlives, but makes nothing meanwhile
    pipeline = start_pipeline(
        context.add_worker("actor-0", partial(fake_workers.FailsOnceActor, Path("/nowhere/failed_once")))
    )  # it can't be written down
    with pytest.raises(
        WorkerFailed, match=r"runtime\.restarts=2(.|\n)*FileNotFoundError: .*/nowhere/failed_once'($|\nThe last output)"
    ):
        receive_numbers(pipeline, 4)
    assert (context.crashes.folder / "actor-0.txt").read_text().count("went down, ") == 3


def test_whoever_learns_keeps_what_it_frees(context: LearnerContext) -> None:
    placement = reserve_resources([ResourceRequest("rank-1", Resources(cpus=0.2))], context.config)
    try:
        learns, plays = (
            replace(context, placement=placement).add_worker("rank-1", fake_workers.AllocatingWorker),
            context.add_worker("actor-0", fake_workers.AllocatingWorker),
        )
        for worker in (learns, plays):
            worker.start()
        asked = [worker.submit("page_faults", "counts") for worker in (learns, plays)]
        kept, fetched = ray.get(asked, timeout=TIMEOUT_SECONDS)
        assert kept < 100 and fetched > 1000
        learns.kill()
    finally:
        placement.release()


def test_restarts_of_long_ago_no_longer_count(context: LearnerContext) -> None:
    context.config = replace(context.config, restart_window=1e-3)
    context.crashes = replace(context.crashes, limit=1)
    pipeline = start_pipeline(context.add_worker("actor-0", fake_workers.CountingActor))
    for kill in range(2):
        assert receive_numbers(pipeline, 2) == [2 * kill, 2 * kill + 1]  # the second was asked for after the last kill
        os.kill(await_pid(pipeline.worker), signal.SIGKILL)
    assert receive_numbers(pipeline, 2) == [4, 5] and pipeline.worker.restarts == 2
    assert (context.crashes.folder / "actor-0.txt").read_text().count("went down, 1 of at most 1 times in ") == 2


def test_a_part_placed_on_a_lost_node_has_been_counted_before(
    context: LearnerContext, caplog: pytest.LogCaptureFixture
) -> None:
    worker = context.add_worker("actor-0", fake_workers.CountingActor)
    why = "The actor died because its node has died. Node Id: 7"
    told = ActorDiedErrorContext(actor_id=bytes(16), error_message=why, never_started=True)
    for _ in range(5):
        worker.handle_failure(ActorDiedError(told), [])
    assert worker.restarts == 0 and not (context.crashes.folder / "actor-0.txt").exists()
    assert caplog.text.count("actor-0 was placed on a node that is lost, and is placed again") == 5
    told.never_started = False
    worker.handle_failure(ActorDiedError(told), [])
    assert worker.restarts == 1 and "its node has died" in (context.crashes.folder / "actor-0.txt").read_text()


def test_a_stall_keeps_every_stack_and_names_the_blocked_pair(context: LearnerContext, tmp_path: Path) -> None:
    context.config = replace(context.config, stall_limit=5.0)
    other = context.add_worker("actor-1", fake_workers.CountingActor)
    other.start(None)
    assert await_pid(other)
    pipeline = start_pipeline(
        context.add_worker("actor-0", partial(fake_workers.SleepsOnceActor, tmp_path / "failed_once"))
    )

    def watch() -> None:
        restart_stalled(
            context, {pipeline: lambda call: pipeline.worker.submit("unroll", "makes", call.number)}, "an unroll"
        )

    assert receive_numbers(pipeline, 1) == [0]
    assert receive_numbers(pipeline, 3, watch) == [1, 2, 3]
    told = (context.crashes.folder / "actor-0.txt").read_text()
    assert "the learner has waited" in told and "from actor-0, which says: makes" in told
    assert "sleep_in_unroll" in told and "config abc, episodes of its last unroll: episode-0\n" in told
    stacks = context.crashes.folder / "stacks"
    assert "from actor-0" in (stacks / "blocked.txt").read_text()
    assert "Thread" in (stacks / "actor-1.txt").read_text()
    own = (stacks / "learner.txt").read_text()  # here the learner is this process
    assert own.startswith("says: waits, for ") and " in restart_stalled\n" in own


def test_a_killed_replica_loses_no_unroll(context: LearnerContext) -> None:
    pipeline = start_pipeline(context.add_worker("actor-0", fake_workers.CountingActor))
    workers = [context.add_worker(f"actor-{index}", fake_workers.DoublingReward) for index in (1, 2)]
    replicas = Replicas(workers, retries=3)
    replicas.start()
    states = LaneState()
    for number in range(6):
        if number == 2:
            os.kill(await_pid(workers[0]), signal.SIGKILL)
        if number == 4:
            replicas.load_version({}, 9)
        call = pipeline.request(0, "makes")
        assert ray.wait([call.reference], timeout=TIMEOUT_SECONDS)[0]
        assert pipeline.receive() is call
        answer = answered(replicas, replicas.ask(call.reference, states))
        assert answer.reward is not None and (answer.reward == 2 * number).all()
        assert answer.version == (9 if number >= 4 else 0)
        states = answer.lane_state
        assert states.reward is not None and (states.reward.hidden == number + 1).all()
    assert [worker.restarts for worker in workers] == [1, 0]


def asked(replicas: Replicas, number: int) -> ScoredUnroll:
    """The answer about an unroll that holds this number."""
    unroll = ray.put(UnrollMessage(number, {"row": np.full((2, 3), number)}, {}, 0, [], b""))
    return answered(replicas, replicas.ask(unroll, LaneState()))


def answered(replicas: Replicas, answer: ScoredUnroll | ScoreRequest) -> ScoredUnroll:
    while isinstance(answer, ScoreRequest):
        assert ray.wait([answer.reference], timeout=TIMEOUT_SECONDS)[0]
        answer = replicas.answer(answer)
    return answer


def test_a_strangers_faulty_request_ends_no_replica(context: LearnerContext) -> None:
    worker = context.add_worker("actor-0", fake_workers.DoublingReward)
    replicas = Replicas([worker], retries=3, external_clients=True)
    replicas.start()
    for _ in range(4):  # more often than it may go down
        with pytest.raises(ArithmeticError, match="below 0"):
            asked(replicas, -1)
    assert asked(replicas, 2).reward is not None and worker.restarts == 0


def test_a_replica_given_up_leaves_strangers_to_the_others(
    context: LearnerContext, caplog: pytest.LogCaptureFixture
) -> None:
    workers = [
        context.add_worker("actor-0", fake_workers.exit_at_start),
        context.add_worker("actor-1", fake_workers.DoublingReward),
    ]
    replicas = Replicas(workers, retries=9, external_clients=True)
    replicas.start()
    for number in range(3):
        assert (asked(replicas, number).reward == 2 * number).all()  # type: ignore[attr-defined]
    assert [worker.restarts for worker in workers] == [3, 0]
    assert "actor-0 is given up; 1 others go on" in caplog.text
    assert "no room for the reward model" in caplog.text


def test_where_no_replica_is_left_every_stranger_is_told_why(context: LearnerContext) -> None:
    scorer = ReplicatedScorer(
        Replicas([context.add_worker("actor-0", fake_workers.exit_at_start)], retries=9, external_clients=True),
        1,
        _read,
        TIMEOUT_SECONDS,
    )
    scorer._replicas.start()
    arrays = {"row": np.ones((2, 3))}
    for _ in range(2):
        with pytest.raises(ServiceEnded, match=r"(?s)no replica is left.*restarts=2.*no room for the reward model$"):
            scorer.score(arrays, LaneState())


def test_a_request_that_nobody_waits_for_any_more_is_no_longer_owed(context: LearnerContext) -> None:
    replicas = Replicas([context.add_worker("actor-0", fake_workers.DoublingReward)], retries=9, external_clients=True)
    replicas.start()
    hurried = ReplicatedScorer(replicas, 1, _read, time_limit=0.0)
    with pytest.raises(NoAnswer, match="no replica has answered in 0 s"):
        hurried.score({"row": np.ones((2, 3))}, LaneState())
    assert replicas._load == [0]


def _read(path: str) -> tuple[Weights, int]:
    raise AssertionError(path)


def test_a_lost_unroll_is_told_and_ends_no_replica(context: LearnerContext) -> None:
    owner, worker = (
        context.add_worker("actor-0", fake_workers.ObjectOwner),
        context.add_worker("actor-1", fake_workers.DoublingReward),
    )
    replicas = Replicas([worker], retries=3)
    replicas.start()
    asked(replicas, 1)
    owner.start()
    (unroll,) = ray.get(owner.submit("put", "puts"), timeout=TIMEOUT_SECONDS)
    owner.kill()
    ends = time.monotonic() + TIMEOUT_SECONDS
    with pytest.raises(WorkerFailed, match=r"an unroll was lost before actor-1 (.|\n)*the same command continues"):
        while time.monotonic() < ends:  # it is found a while after its owner has gone
            answered(replicas, replicas.ask(unroll, LaneState()))
    assert worker.restarts == 0 and asked(replicas, 2).reward is not None


def test_a_version_that_can_not_be_taken_up_does_not_pass_unseen(context: LearnerContext) -> None:
    worker = context.add_worker("actor-0", fake_workers.DoublingReward)
    replicas = Replicas([worker], retries=0)
    replicas.start()
    asked(replicas, 1)
    replicas.load_version({}, -1)
    with pytest.raises(WorkerFailed, match="no version -1"):
        asked(replicas, 1)
    assert worker.restarts == 1 and "episodes" not in (context.crashes.folder / "actor-0.txt").read_text()


@pytest.mark.parametrize("external_clients", [False, True])
def test_nor_by_the_successor_of_the_replica_that_was_asked(context: LearnerContext, *, external_clients: bool) -> None:
    worker = context.add_worker("actor-0", fake_workers.DoublingReward)
    replicas = Replicas([worker], retries=9, external_clients=external_clients)
    replicas.start()
    asked(replicas, 1)
    os.kill(await_pid(worker), signal.SIGKILL)
    unroll = ray.put(UnrollMessage(2, {"row": np.full((2, 3), 2)}, {}, 0, [], b""))
    one, other = (replicas.ask(unroll, LaneState()) for _ in range(2))
    for each in (one, other):
        assert ray.wait([each.reference], timeout=TIMEOUT_SECONDS)[0]
    again = replicas.answer(one)
    assert isinstance(again, ScoreRequest) and worker.restarts == 1
    replicas.load_version({}, -1)
    assert ray.wait([replicas._loading[0]], timeout=TIMEOUT_SECONDS)[0]
    with pytest.raises(WorkerFailed, match="no version -1"):
        answered(replicas, replicas.answer(other))


def test_a_stage_that_raised_what_can_not_travel_did_not_lose_its_learner() -> None:
    error = RayError.from_bytes(
        RayTaskError("run", "a traceback: world says no", fake_workers.UnpicklableError("world", "no")).to_bytes()
    )
    assert not isinstance(error, RayTaskError)
    raised = stage_error(error)
    assert not isinstance(raised, LearnerDied) and "world says no" in str(raised)


def test_a_strangers_request_that_raises_what_can_not_travel_ends_no_replica(context: LearnerContext) -> None:
    worker = context.add_worker("actor-0", fake_workers.FailingReward)
    replicas = Replicas([worker], retries=3, external_clients=True)
    replicas.start()
    for _ in range(4):  # more often than it may go down
        with pytest.raises(UnserializableException, match="speaker says no"):
            asked(replicas, 1)
    assert worker.restarts == 0


@pytest.mark.parametrize("error", [OutOfMemoryError("too much"), NodeDiedError("gone"), ActorDiedError()])
def test_a_learner_that_is_lost_is_told_from_a_stage_that_raised(error: RayError) -> None:
    assert isinstance(stage_error(error), LearnerDied) and type(error).__name__ in str(stage_error(error))
    lost = RayTaskError("run", "a traceback", RankLost("rank-1 is lost"))
    assert isinstance(stage_error(lost), LearnerDied)
    raised = RayTaskError("run", "a traceback", Interrupted("stopped and saved"))
    assert isinstance(stage_error(raised), Interrupted)


@pytest.mark.parametrize("address", ["127.0.0.1:1", "somewhere"])
def test_a_cluster_out_of_reach_is_told_at_once(address: str) -> None:
    with pytest.raises(ClusterError, match=r"runtime\.address="):
        check_reachable(address)
