"""Workers under Ray: no unroll is lost when a process dies, and a crash report keeps the cause."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import fake_workers
import numpy as np
import pytest
import ray
from actor_pipelines import TIMEOUT_SECONDS, await_pid, receive_numbers, start_pipeline
from ray import ObjectRef
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
from interplay.reward.reward_functions import LaneState
from interplay.reward.reward_server import ServiceEnded
from interplay.runtime.config import Resources, RuntimeConfig
from interplay.runtime.crashes import CrashReports, WorkerFailed
from interplay.runtime.interruption import Interrupted
from interplay.runtime.ray.cluster_session import ClusterSession
from interplay.runtime.ray.learner_context import LearnerContext
from interplay.runtime.ray.learner_supervision import LearnerDied, stage_error
from interplay.runtime.ray.replicated_scorer import NoAnswer, ReplicatedScorer
from interplay.runtime.ray.reward_replicas import Replicas, ScoreRequest
from interplay.runtime.ray.worker_placement import ResourceRequest, reserve_resources

pytestmark = pytest.mark.usefixtures("ray_cluster")
ray.cloudpickle.register_pickle_by_value(fake_workers)  # the workers' processes cannot import the tests' modules


@pytest.fixture
def context(tmp_path: Path) -> Iterator[LearnerContext]:
    """Resources for three workers."""
    config = RuntimeConfig("ray", start_limit=300, stall_limit=300)
    placement = reserve_resources(
        [ResourceRequest(f"actor-{index}", Resources(cpus=0.2)) for index in range(3)], config
    )
    crashes = CrashReports(tmp_path / "crashes", seed=7, config="abc", limit=2, window=3600.0)
    context = LearnerContext(config, placement, crashes, 0, 0)
    yield context
    context.close()
    placement.release()


def test_a_killed_worker_continues_after_the_last_received_unroll(
    context: LearnerContext, caplog: pytest.LogCaptureFixture
) -> None:
    pipeline = start_pipeline(context.add_worker("actor-0", fake_workers.CountingActor))
    assert receive_numbers(pipeline, 3) == [0, 1, 2]
    status = pipeline.worker.status()  # a message carries the heartbeat, so that nobody has asked for one
    assert (status.activity, status.completed) == ("makes 2", 3)
    pid = status.pid
    os.kill(pid, signal.SIGKILL)
    assert receive_numbers(pipeline, 3) == [3, 4, 5]
    report = (context.crashes.folder / "actor-0.txt").read_text()
    assert "1 of at most 2 times" in report and "seed 7, config abc" in report
    assert "episode-" in report and f"pid: {pid}" in report
    assert await_pid(pipeline.worker) != pid and pipeline.worker.restarts == 1
    assert f"actor-0 went down and is restarted, 1 of at most 2 times (see {context.crashes.folder}" in caplog.text


def test_a_worker_that_raises_is_reported_and_restarted(
    context: LearnerContext, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pipeline = start_pipeline(
        context.add_worker("actor-1", partial(fake_workers.FailsOnceActor, tmp_path / "failed_once"))
    )
    assert receive_numbers(pipeline, 4) == [0, 1, 2, 3]
    report = (context.crashes.folder / "actor-1.txt").read_text()
    raised, _, _ = report.partition("\nThe last output of actor-1")
    assert raised.strip().endswith("ArithmeticError: failed at unroll 2") and "fake_workers.py" in report
    assert "episode-1" in report  # its last unroll
    assert caplog.text.rstrip().endswith("ArithmeticError: failed at unroll 2")


def test_a_crash_report_ends_with_the_last_output(context: LearnerContext) -> None:
    pipeline = start_pipeline(context.add_worker("actor-0", fake_workers.PrintingActor))
    assert receive_numbers(pipeline, 2) == [0, 1]
    os.kill(await_pid(pipeline.worker), signal.SIGKILL)
    assert receive_numbers(pipeline, 2) == [2, 3]
    report = (context.crashes.folder / "actor-0.txt").read_text()
    printed = context.crashes.folder / "logs" / "actor-0.txt"
    assert f"\nThe last output of actor-0 ({printed}):\n" in report
    last = report.strip().splitlines()[-2:]
    number = last[0].partition(":")[0]  # two are in flight: the next may have begun
    assert last == [f"{number}: the arm moves", f"{number}: from below Python"]
    assert printed.read_text().count(" actor-0 starts\n") == 2


def test_a_worker_that_fails_too_often_ends_the_run(context: LearnerContext) -> None:
    context.config = replace(context.config, restart_window=1e-3)  # it lives longer but makes no unroll meanwhile
    pipeline = start_pipeline(
        context.add_worker("actor-0", partial(fake_workers.FailsOnceActor, Path("/nowhere/failed_once")))
    )  # the file cannot be written
    with pytest.raises(
        WorkerFailed, match=r"runtime\.restarts=2(.|\n)*\nThe cause: FileNotFoundError: .*/nowhere/failed_once'\Z"
    ):
        receive_numbers(pipeline, 4)
    assert (context.crashes.folder / "actor-0.txt").read_text().count("went down, ") == 3


@pytest.mark.slow
def test_a_rank_keeps_the_memory_that_it_frees(context: LearnerContext) -> None:
    placement = reserve_resources([ResourceRequest("rank-1", Resources(cpus=0.2))], context.config)
    try:
        rank, actor = (
            replace(context, placement=placement).add_worker("rank-1", fake_workers.AllocatingWorker),
            context.add_worker("actor-0", fake_workers.AllocatingWorker),
        )
        for worker in (rank, actor):
            worker.start()
        counts = [worker.submit("page_faults", "counts") for worker in (rank, actor)]
        rank_faults, actor_faults = ray.get(counts, timeout=TIMEOUT_SECONDS)
        assert rank_faults < 100 and actor_faults > 1000
        rank.kill()
    finally:
        placement.release()


def test_restarts_before_the_window_do_not_count(context: LearnerContext) -> None:
    context.config = replace(context.config, restart_window=1e-3)
    context.crashes = replace(context.crashes, limit=1)
    pipeline = start_pipeline(context.add_worker("actor-0", fake_workers.CountingActor))
    for kill in range(2):
        assert receive_numbers(pipeline, 2) == [2 * kill, 2 * kill + 1]  # the second was requested after the last kill
        os.kill(await_pid(pipeline.worker), signal.SIGKILL)
    assert receive_numbers(pipeline, 2) == [4, 5] and pipeline.worker.restarts == 2
    assert (context.crashes.folder / "actor-0.txt").read_text().count("went down, 1 of at most 1 times in ") == 2


def test_a_worker_scheduled_on_a_lost_node_is_not_counted_again(
    context: LearnerContext, caplog: pytest.LogCaptureFixture
) -> None:
    worker = context.add_worker("actor-0", fake_workers.CountingActor)
    why = "The actor died because its node has died. Node Id: 7"
    cause = ActorDiedErrorContext(actor_id=bytes(16), error_message=why, never_started=True)
    for _ in range(5):
        worker.handle_failure(ActorDiedError(cause), [])
    assert worker.restarts == 0 and not (context.crashes.folder / "actor-0.txt").exists()
    assert caplog.text.count("actor-0 was placed on a node that is lost, and is placed again") == 5
    cause.never_started = False
    worker.handle_failure(ActorDiedError(cause), [])
    assert worker.restarts == 1 and "its node has died" in (context.crashes.folder / "actor-0.txt").read_text()


def test_a_stall_report_has_every_stack_and_names_the_blocked_pair(context: LearnerContext, tmp_path: Path) -> None:
    context.config = replace(context.config, stall_limit=5.0)
    other = context.add_worker("actor-1", fake_workers.CountingActor)
    other.start(None)
    assert await_pid(other)
    limit = "runtime.start_limit=300 plus runtime.stall_limit=5, which includes its start"
    assert f"waited 306 s ({limit}) for an unroll from actor-1, which" in context.report_blocked(
        other, 306, "an unroll"
    )
    pipeline = start_pipeline(
        context.add_worker("actor-0", partial(fake_workers.SleepsOnceActor, tmp_path / "failed_once"))
    )

    def watch() -> None:
        context.restart_stalled(
            [pipeline], lambda each, call: each.worker.submit("unroll", "makes", call.number), "an unroll"
        )

    assert receive_numbers(pipeline, 1) == [0]
    assert receive_numbers(pipeline, 3, watch) == [1, 2, 3]
    report = (context.crashes.folder / "actor-0.txt").read_text()
    assert (
        "s (runtime.stall_limit=5) for an unroll from actor-0, " in report
        and "from actor-0, which reports: makes" in report
    )
    assert "sleep_in_unroll" in report and "config abc, episodes of its last unroll: episode-0\n" in report
    stacks = context.crashes.folder / "stacks"
    assert "from actor-0" in (stacks / "blocked.txt").read_text()
    assert "Thread" in (stacks / "actor-1.txt").read_text()
    own = (stacks / "learner.txt").read_text()  # the learner is this process here
    assert own.startswith("reports: waits, for ") and " in restart_stalled\n" in own


def test_a_killed_replica_loses_no_unroll(context: LearnerContext) -> None:
    pipeline = start_pipeline(context.add_worker("actor-0", fake_workers.CountingActor))
    workers = [context.add_worker(f"actor-{index}", fake_workers.DoublingReward) for index in (1, 2)]
    replicas = Replicas(workers, retries=3)
    replicas.start()
    scored = 0
    for number in range(6):
        if number == 2:
            os.kill(await_pid(workers[0]), signal.SIGKILL)
        if number == 4:
            replicas.load_version({}, 9)
        call = pipeline.request(0, "makes")
        assert ray.wait([call.reference], timeout=TIMEOUT_SECONDS)[0]
        assert pipeline.receive() is call
        reply = wait_for_score(replicas, replicas.ask(call.reference, scored))
        assert (reply.reward == 2 * number).all()
        assert reply.version == (9 if number >= 4 else 0)
        scored = reply.lane_state
        assert scored == number + 1
    assert [worker.restarts for worker in workers] == [1, 0]


def test_a_killed_replica_loses_no_unroll_of_a_call(context: LearnerContext) -> None:
    worker = context.add_worker("actor-0", fake_workers.DoublingReward)
    replicas = Replicas([worker], retries=3)
    replicas.start()
    for restarts in range(2):
        unrolls: list[tuple[ObjectRef[Any], Any]] = [(put_unroll(number), 10 * number) for number in range(3)]
        scores = [wait_for_score(replicas, request) for request in replicas.ask_together(unrolls)]
        assert [(float(each.reward.max()), each.lane_state) for each in scores] == [(0, 1), (2, 11), (4, 21)]
        assert worker.restarts == restarts and replicas._load == [0]
        os.kill(await_pid(worker), signal.SIGKILL)


def put_unroll(number: int) -> ObjectRef[Any]:
    """An unroll that holds this number."""
    return ray.put(fake_workers.FakeMessage(number, {"row": np.full((2, 3), number)}))


def score(replicas: Replicas, number: int) -> fake_workers.FakeScore:
    """Scores an unroll that holds this number."""
    return wait_for_score(replicas, replicas.ask(put_unroll(number), 0))


def wait_for_score(replicas: Replicas, reply: Any) -> fake_workers.FakeScore:
    while isinstance(reply, ScoreRequest):
        assert ray.wait([reply.reference], timeout=TIMEOUT_SECONDS)[0]
        reply = replicas.answer(reply)
    return reply


@pytest.mark.parametrize("external_clients", [False, True])
def test_what_a_replica_raises_is_raised_at_once(
    context: LearnerContext, caplog: pytest.LogCaptureFixture, *, external_clients: bool
) -> None:
    worker = context.add_worker("actor-0", fake_workers.DoublingReward)
    replicas = Replicas([worker], retries=3, external_clients=external_clients)
    replicas.start()
    for _ in range(4):  # more often than the restart limit
        with pytest.raises(ArithmeticError, match=r"^the number is below 0$") as raised:
            score(replicas, -1)
        assert "fake_workers.py" in str(raised.value.__cause__), "the replica's traceback"
    logged = caplog.text.count("actor-0 raised an error, which ends the run:\n")
    assert logged == (0 if external_clients else 4) and ("fake_workers.py" in caplog.text) == bool(logged)
    assert score(replicas, 2).reward is not None and worker.restarts == 0


@pytest.mark.parametrize("external_clients", [False, True])
def test_a_replica_that_lacks_memory_is_restarted_in_a_run(context: LearnerContext, *, external_clients: bool) -> None:
    worker = context.add_worker("actor-0", fake_workers.DoublingReward)
    replicas = Replicas([worker], retries=1, external_clients=external_clients)
    replicas.start()
    with pytest.raises(MemoryError if external_clients else WorkerFailed, match="it does not fit"):
        score(replicas, fake_workers.DoublingReward.TOO_LARGE)
    assert worker.restarts == (0 if external_clients else 2)
    assert score(replicas, 2).reward is not None


def test_other_replicas_serve_external_clients_after_one_is_given_up(
    context: LearnerContext, caplog: pytest.LogCaptureFixture
) -> None:
    workers = [
        context.add_worker("actor-0", fake_workers.exit_at_start),
        context.add_worker("actor-1", fake_workers.DoublingReward),
    ]
    replicas = Replicas(workers, retries=9, external_clients=True)
    replicas.start()
    for number in range(3):
        assert (score(replicas, number).reward == 2 * number).all()
    assert [worker.restarts for worker in workers] == [3, 0]
    assert "actor-0 is given up; 1 others continue" in caplog.text
    assert "no room for the reward model" in caplog.text


def test_external_clients_get_the_cause_if_no_replica_is_left(context: LearnerContext) -> None:
    scorer = ReplicatedScorer(
        ClusterSession(),
        Replicas([context.add_worker("actor-0", fake_workers.exit_at_start)], retries=9, external_clients=True),
        1,
        _read,
        TIMEOUT_SECONDS,
    )
    scorer._replicas.start()
    arrays = {"row": np.ones((2, 3))}
    ends = r"no room for the reward model\nThe cause: the process of actor-0 ended without an error of Python: .*$"
    for _ in range(2):
        with pytest.raises(ServiceEnded, match=rf"(?s)no replica is left.*restarts=2.*{ends}"):
            scorer.score(arrays, LaneState())


def test_a_timed_out_request_no_longer_counts_as_load(context: LearnerContext) -> None:
    replicas = Replicas([context.add_worker("actor-0", fake_workers.DoublingReward)], retries=9, external_clients=True)
    replicas.start()
    hurried = ReplicatedScorer(ClusterSession(), replicas, 1, _read, time_limit=0.0)
    with pytest.raises(NoAnswer, match="no replica has answered in 0 s"):
        hurried.score({"row": np.ones((2, 3))}, LaneState())
    assert replicas._load == [0]


def _read(path: str) -> tuple[Weights, int]:
    raise AssertionError(path)


def test_a_lost_unroll_is_reported_and_does_not_kill_the_replica(context: LearnerContext) -> None:
    owner, worker = (
        context.add_worker("actor-0", fake_workers.ObjectOwner),
        context.add_worker("actor-1", fake_workers.DoublingReward),
    )
    replicas = Replicas([worker], retries=3)
    replicas.start()
    score(replicas, 1)
    owner.start()
    (unroll,) = ray.get(owner.submit("put", "puts"), timeout=TIMEOUT_SECONDS)
    owner.kill()
    deadline = time.monotonic() + TIMEOUT_SECONDS
    with pytest.raises(WorkerFailed, match=r"an unroll was lost before actor-1 (.|\n)*the same command continues"):
        while time.monotonic() < deadline:  # Ray detects the loss a while after its owner has ended
            wait_for_score(replicas, replicas.ask(unroll, 0))
    assert worker.restarts == 0 and score(replicas, 2).reward is not None


def test_a_version_that_cannot_be_loaded_is_an_error(context: LearnerContext) -> None:
    worker = context.add_worker("actor-0", fake_workers.DoublingReward)
    replicas = Replicas([worker], retries=0)
    replicas.start()
    score(replicas, 1)
    replicas.load_version({}, -1)
    with pytest.raises(ArithmeticError, match="no version -1"):
        score(replicas, 1)
    assert worker.restarts == 0


@pytest.mark.parametrize("external_clients", [False, True])
def test_a_version_that_a_restarted_replica_cannot_load_is_an_error(
    context: LearnerContext, *, external_clients: bool
) -> None:
    worker = context.add_worker("actor-0", fake_workers.DoublingReward)
    replicas = Replicas([worker], retries=9, external_clients=external_clients)
    replicas.start()
    score(replicas, 1)
    os.kill(await_pid(worker), signal.SIGKILL)
    unroll = put_unroll(2)
    one, other = (replicas.ask(unroll, 0) for _ in range(2))
    for each in (one, other):
        assert ray.wait([each.reference], timeout=TIMEOUT_SECONDS)[0]
    again = replicas.answer(one)
    assert isinstance(again, ScoreRequest) and worker.restarts == 1
    replicas.load_version({}, -1)
    assert ray.wait([replicas._loading[0]], timeout=TIMEOUT_SECONDS)[0]
    with pytest.raises(WorkerFailed if external_clients else ArithmeticError, match="no version -1"):
        wait_for_score(replicas, replicas.answer(other))


def test_a_stage_error_that_cannot_be_unpickled_is_not_a_loss_of_the_learner() -> None:
    error = RayError.from_bytes(
        RayTaskError("run", "a traceback: world says no", fake_workers.UnpicklableError("world", "no")).to_bytes()
    )
    assert not isinstance(error, RayTaskError)
    raised = stage_error(error)
    assert not isinstance(raised, LearnerDied) and "world says no" in str(raised)


@pytest.mark.parametrize("external_clients", [False, True])
def test_an_error_of_a_replica_that_cannot_be_unpickled_is_raised_at_once(
    context: LearnerContext, *, external_clients: bool
) -> None:
    worker = context.add_worker("actor-0", fake_workers.FailingReward)
    replicas = Replicas([worker], retries=3, external_clients=external_clients)
    replicas.start()
    for _ in range(4):  # more often than the restart limit
        with pytest.raises(UnserializableException, match="speaker says no"):
            score(replicas, 1)
    assert worker.restarts == 0


@pytest.mark.parametrize("error", [OutOfMemoryError("too much"), NodeDiedError("gone"), ActorDiedError()])
def test_a_lost_learner_is_distinguished_from_a_stage_error(error: RayError) -> None:
    assert isinstance(stage_error(error), LearnerDied) and type(error).__name__ in str(stage_error(error))
    lost = RayTaskError("run", "a traceback", RankLost("rank-1 is lost"))
    assert isinstance(stage_error(lost), LearnerDied)
    raised = RayTaskError("run", "a traceback", Interrupted("stopped and saved"))
    assert isinstance(stage_error(raised), Interrupted)
