"""Scores with replicas under Ray, for programs that are not part of a run."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import ray

from interplay.agent.observation import Arrays
from interplay.reward.reward_functions import LaneState, ScoredUnroll
from interplay.reward.reward_server import ReadVersion, ServiceEnded
from interplay.runtime.config import RuntimeConfig
from interplay.runtime.crashes import CrashReports
from interplay.runtime.messages import UnrollMessage
from interplay.runtime.ray.cluster_session import ClusterSession, cluster_session
from interplay.runtime.ray.reward_replicas import NoReplicaLeft, Replicas, ScoreRequest
from interplay.runtime.ray.worker_placement import reserve_resources, resource_requests
from interplay.runtime.ray.worker_restarts import WorkerHandle

NAME = "reward-"
PAST = 0.1  # seconds to wait beyond a replica's equal time limit, so that the replica is then found to be stalled


class NoAnswer(RuntimeError):
    """No replica answered a request in time."""


class ReplicatedScorer:
    """A `Scorer` that uses replicas; several threads can call it at once."""

    def __init__(
        self, session: ClusterSession, replicas: Replicas, version: int, read: ReadVersion, time_limit: float
    ) -> None:
        self.version = version
        self._session = session
        self._replicas = replicas
        self._read = read
        self._limit = time_limit
        self._lock = threading.Lock()  # guards the state of `Replicas`; not held while a replica scores

    def score(self, arrays: Arrays, lane_state: LaneState) -> ScoredUnroll:
        """See `RewardFunction.score`.

        Raises:
            ServiceEnded: no replica is left.
            WorkerFailed: too many replicas failed on the unroll, or the unroll was lost.
            NoAnswer: no scores arrived in time; stalled replicas are restarted.
            Exception: the exception that a replica raised.
        """
        try:
            return self._score(arrays, lane_state)
        except NoReplicaLeft as failed:
            raise ServiceEnded(f"no replica is left that scores: {failed}") from failed

    def _score(self, arrays: Arrays, lane_state: LaneState) -> ScoredUnroll:
        unroll = ray.put(UnrollMessage(0, arrays, None, 0, [], b""))
        with self._lock:
            answer: ScoredUnroll | ScoreRequest = self._replicas.ask(unroll, lane_state)
        ends = time.monotonic() + self._limit + PAST
        while isinstance(answer, ScoreRequest):
            if not ray.wait([answer.reference], timeout=max(0.0, ends - time.monotonic()))[0]:
                with self._lock:
                    for replica, seconds in self._replicas.stalled():
                        self._replicas.restart(replica, f"it has not answered for {seconds:.0f} s")
                    self._replicas.forget(answer)
                raise NoAnswer(f"no replica has answered in {self._limit:g} s; try again, or give it more replicas")
            with self._lock:
                answer = self._replicas.answer(answer)
        return answer

    def load(self, checkpoint: str) -> int:
        weights, version = self._read(checkpoint)
        with self._lock:
            self._replicas.load_version(weights, version)
            self.version = version
        return version

    def check(self) -> None:
        """Raises `ClusterError` if a process of Ray has ended without which no replica can score."""
        self._session.check()


@contextmanager
def replicated(
    make: Callable[..., Any], version: int, read: ReadVersion, config: RuntimeConfig, crashes: CrashReports
) -> Iterator[ReplicatedScorer]:
    """While entered, `runtime.reward.replicas` replicas that `make` builds score with the reward model of `version`.

    Raises:
        ClusterError: there is no cluster, or no room in it.
    """
    requests = [
        each
        for each in resource_requests(config, actors=False, replicas=True, datasets=False)
        if each.name.startswith(NAME)
    ]
    with cluster_session(config, sum(each.resources.cpus for each in requests)) as session:
        placement = reserve_resources(requests, config)
        workers = [
            WorkerHandle(each.name, make, placement=placement, crashes=crashes, config=config) for each in requests
        ]
        replicas = Replicas(workers, retries=config.reward.retries, external_clients=True)
        replicas.start()
        try:
            yield ReplicatedScorer(session, replicas, version, read, config.result_limit)
        finally:
            if session.head_answers:
                placement.release()
