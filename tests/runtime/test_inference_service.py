"""The inference service: the run equals one without it despite kills, and failures of the service are reported."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import fake_workers
import pytest
import ray
from actor_pipelines import await_pid
from clusters import small
from outcomes import assert_each_unroll_once, assert_same_stage, read_ledger, unroll_numbers
from tiny_runs import copied, interplay, tiny
from worker_killer import TIMEOUT_SECONDS, await_worker_pid

from interplay.launch.cli import main
from interplay.learner import checkpoint
from interplay.runtime.config import Resources, RuntimeConfig
from interplay.runtime.crashes import CrashReports, WorkerFailed
from interplay.runtime.inference_model import VersionGone
from interplay.runtime.interruption import StopRequest
from interplay.runtime.messages import UnrollMessage
from interplay.runtime.ray.inference import InferenceClientWorker, InferenceServer, InferenceWorker, concurrency_groups
from interplay.runtime.ray.learner_context import LearnerContext
from interplay.runtime.ray.worker_placement import ResourceRequest, reserve_resources
from interplay.tracking.metrics import read_metrics

PAID = ("reinforce.reward=world", "reinforce.learner.objective.weights.gate_kl=0")  # needs no reward model
SERVED = ("actors.inference=service", "actors.service.cpus=0.2", *PAID)
ENDLESS = tuple(
    f"reinforce.{setting}"
    for setting in ("measure_every=100000", "training.updates=100000", "training.checkpoint_every=4")
)
ASKS = "waits for inference"


pytestmark = pytest.mark.usefixtures("ray_cluster")
ray.cloudpickle.register_pickle_by_value(fake_workers)  # the workers' processes cannot import the tests' modules


class ServiceKiller(threading.Thread):
    """Kills the service and then an actor of an endless run, and requests a stop a few updates later.

    It pauses the dataset reader meanwhile, so that the learner makes few updates.
    """

    def __init__(self, folder: Path, crashes: Path, *, actor: str, during_request: bool) -> None:
        super().__init__(daemon=True)
        self._folder, self._crashes, self._actor, self._during_request = folder, crashes, actor, during_request
        self.done = False

    def run(self) -> None:
        try:
            service, reader, actor = (self._pid(name) for name in ("inference", "dataset-0", self._actor))
            if self._during_request:  # the service receives a request and never replies
                os.kill(service, signal.SIGSTOP)
                await_worker_pid(
                    self._folder,
                    self._actor,
                    lambda worker: worker["activity"] == ASKS and worker["activity_seconds"] > 1.0,
                )
            os.kill(reader, signal.SIGSTOP)
            try:
                os.kill(service, signal.SIGKILL)
                await_worker_pid(self._folder, "inference", lambda worker: worker["pid"] not in (0, service))
                os.kill(actor, signal.SIGKILL)
            finally:
                os.kill(reader, signal.SIGCONT)
            self._until(lambda: self._kept("inference", service) and self._kept(self._actor, actor))
            updates = self._learned()
            self._until(lambda: self._learned() > updates + 3)
            self.done = True
        finally:
            StopRequest.request_stop()

    def _pid(self, name: str) -> int:
        return await_worker_pid(self._folder, name, lambda worker: worker["pid"] > 0)

    def _kept(self, worker: str, pid: int) -> bool:
        file = self._crashes / f"{worker}.txt"
        return file.exists() and f"pid: {pid}" in file.read_text()

    def _learned(self) -> int:
        return len(read_ledger(self._folder / "ledger.jsonl"))

    def _until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while not condition():
            assert time.monotonic() < deadline, f"the condition does not hold after {TIMEOUT_SECONDS} s"
            time.sleep(0.05)


def run_with_kills(root: Path, settings: list[str], **how: Any) -> int:
    """Runs with a `ServiceKiller`, which must finish; returns the update after which the run stopped."""
    folder = root / "run/reinforce"
    killer = ServiceKiller(folder, root / "run/crashes", **how)
    killer.start()
    assert main(["reinforce", *settings]) == 130
    killer.join(TIMEOUT_SECONDS)
    assert killer.done
    found = checkpoint.latest(folder / "checkpoints")
    assert found is not None
    assert_each_unroll_once(folder, found.step)
    return found.step


def metric_names(root: Path) -> list[set[str]]:
    """The metrics' metric_names of each update."""
    return [set(json.loads(pipeline)) for pipeline in (root / "run/reinforce/metrics.jsonl").read_text().splitlines()]


@pytest.mark.slow
def test_one_actor_in_lockstep_equals_the_inline_run_despite_kills(cloned: Path, tmp_path: Path) -> None:
    inline, served = (copied(cloned, tmp_path / name) for name in ("inline", "served"))
    settings = small(served, "runtime.max_lag=0", "runtime.actors=1", *SERVED, *ENDLESS)
    updates = run_with_kills(served, settings, actor="actor-0", during_request=True)
    as_many = f"reinforce.training.updates={updates}"
    interplay("reinforce", tiny(inline, "runtime.overlap=false", *PAID, *ENDLESS, as_many))
    assert_same_stage(inline / "run/reinforce", served / "run/reinforce")
    assert metric_names(inline) == metric_names(served)
    assert min(row["inference_idle"] for row in read_metrics(served / "run/reinforce/metrics.jsonl")) < 1.0
    assert {row["inference_idle"] for row in read_metrics(inline / "run/reinforce/metrics.jsonl")} == {1.0}


@pytest.mark.slow
def test_two_actors_lose_no_unroll_and_their_lag_is_bounded(cloned: Path, tmp_path: Path) -> None:
    root = copied(cloned, tmp_path)
    bound = ("runtime.actors=2", "runtime.unrolls_per_batch=1", "runtime.max_lag=2", "runtime.num_buffers=3")
    run_with_kills(root, small(root, *bound, *SERVED, *ENDLESS), actor="actor-1", during_request=False)
    ledger = read_ledger(root / "run/reinforce/ledger.jsonl")
    lags = [row.update - 1 - taken.version for row in ledger for taken in row.played]
    assert 0 < max(lags) <= 2 and min(lags) >= 0
    assert set(unroll_numbers(ledger, lambda row: row.played)) == {0, 1}


@pytest.fixture
def context(tmp_path: Path) -> Iterator[LearnerContext]:
    """Resources for the service and one actor, its client."""
    config = RuntimeConfig("ray", start_limit=120, stall_limit=600)
    placement = reserve_resources(
        [ResourceRequest(name, Resources(cpus=0.2)) for name in ("inference", "actor-0")], config
    )
    context = LearnerContext(
        config, placement, CrashReports(tmp_path / "crashes", seed=7, config="abc", limit=1, window=3600.0), 0, 0
    )
    yield context
    context.close()
    placement.release()


class ActorWithService:
    """An actor, its inference service, and the learner's handles of both; all weights are empty."""

    def __init__(self, context: LearnerContext, service: Callable[..., object]) -> None:
        self.context = context
        self.actor = context.add_worker("actor-0", fake_workers.RequestingActor, worker_class=InferenceClientWorker)
        self.inference = InferenceServer(
            context.add_worker("inference", service, worker_class=InferenceWorker, groups=concurrency_groups(1)),
            [self.actor],
            context,
        )
        self.inference.start()
        self.actor.start(None)

    def unroll(self, number: int, version: int) -> UnrollMessage:
        """The actor's unroll with a decision by this version; the service may be restarted meanwhile."""
        self.inference.publish(version, ray.put({}), 0, [])
        completed, deadline = self.actor.submit("unroll", "plays", number, version), time.monotonic() + TIMEOUT_SECONDS
        while time.monotonic() < deadline:
            if ray.wait([completed], timeout=0.1)[0]:
                message: UnrollMessage = ray.get(completed, timeout=TIMEOUT_SECONDS)
                return message
            self.inference.handle_ended()
            self.inference.restart_stalled()
        raise AssertionError(f"unroll {number} has not arrived in {TIMEOUT_SECONDS} s: {self.context.status()}")


@pytest.mark.slow
def test_a_stopped_service_is_restarted_and_answers_pending_requests(context: LearnerContext) -> None:
    context.config = replace(context.config, stall_limit=3.0)
    pair = ActorWithService(context, fake_workers.EchoInference)
    assert (pair.unroll(0, version=5).arrays["row"] == 5).all()
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while not pair.inference.worker.status().completed and time.monotonic() < deadline:
        time.sleep(0.05)
    pid = pair.inference.worker.status().pid
    os.kill(pid, signal.SIGSTOP)
    assert (pair.unroll(1, version=6).arrays["row"] == 6).all()
    assert (pair.inference.worker.restarts, pair.actor.restarts) == (1, 0)
    report = (context.crashes.folder / "inference.txt").read_text()
    assert "actor-0 has waited" in report and "for a decision from inference, which has not answered" in report
    assert ASKS in (context.crashes.folder / "stacks/blocked.txt").read_text()


@pytest.mark.slow
def test_a_terminated_service_is_restarted_without_waiting_for_the_stall_limit(context: LearnerContext) -> None:
    pair = ActorWithService(context, fake_workers.EchoInference)
    assert (pair.unroll(0, version=5).arrays["row"] == 5).all()
    os.kill(await_pid(pair.inference.worker), signal.SIGTERM)
    assert (pair.unroll(1, version=6).arrays["row"] == 6).all()
    assert (pair.inference.worker.restarts, pair.actor.restarts) == (1, 0)
    assert "the process of inference ended" in (context.crashes.folder / "inference.txt").read_text()


@pytest.mark.slow
def test_a_service_that_raises_ends_the_run_with_its_traceback(context: LearnerContext) -> None:
    pair = ActorWithService(context, fake_workers.FailingInference)
    with pytest.raises(WorkerFailed, match=r"inference .* runtime\.restarts=1(.|\n)*ArithmeticError: it can't decide$"):
        pair.unroll(0, version=1)
    assert pair.actor.restarts == 0
    assert (context.crashes.folder / "inference.txt").read_text().count("went down, ") == 2


@pytest.mark.slow
def test_a_service_that_never_starts_ends_the_run(context: LearnerContext) -> None:
    context.config = replace(context.config, start_limit=1.0, stall_limit=1.0)
    pair = ActorWithService(context, fake_workers.NeverStartingInference)
    with pytest.raises(
        WorkerFailed, match=r"(?s)inference .*restarts=1.*actor-0 has waited .* decision from inference"
    ):
        pair.unroll(0, version=1)
    assert pair.actor.restarts == 0


@pytest.mark.slow
def test_a_request_for_dropped_weights_is_refused(context: LearnerContext) -> None:
    pair = ActorWithService(context, fake_workers.DroppedVersionInference)
    with pytest.raises(VersionGone):
        pair.unroll(0, version=1)
    assert pair.inference.worker.restarts == 0  # other requests are not affected
