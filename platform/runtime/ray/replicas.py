"""The reward service under Ray: replicas, any of which answers any request; one that dies loses none."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ray
from ray import ObjectRef
from ray.exceptions import ObjectLostError, RayError, RayTaskError, UnserializableException

from interplay.agent.weights import Weights
from interplay.reward.reward_functions import LaneState, ScoredUnroll
from interplay.runtime.crashes import WorkerFailed
from interplay.runtime.ray.worker_handle import WorkerHandle, lost_before_start

logger = logging.getLogger(__name__)

SCORES = "scores"


class NoReplicaLeft(WorkerFailed):
    """The last replica went down more often than it may."""


@dataclass
class ScoreRequest:
    """A request under way."""

    replica: int
    incarnation: int  # of the replica: which of its processes was asked
    reference: ObjectRef[Any]
    unroll: ObjectRef[Any]
    lane_state: LaneState
    tries: int = 1


class Replicas:
    """Asks the replica with the fewest requests; asks another one where it dies.

    A replica whose call raises is restarted as if it had died. With `external_clients` the exception goes to the
    caller instead: one malformed request must not restart every replica. Nor does a replica that went down too often
    end the service for external clients while others are left.
    """

    def __init__(self, workers: Sequence[WorkerHandle], *, retries: int, external_clients: bool = False) -> None:
        self.workers = list(workers)
        self._retries = retries
        self._external_clients = external_clients
        self._load = [0] * len(self.workers)
        self._given_up: set[int] = set()  # replicas that are not made anew; the service has ended where it is all
        self._moved = [time.monotonic()] * len(self.workers)
        self._loading: dict[int, ObjectRef[Any]] = {}  # by replica: a newer version that it takes up
        self._last_words = ""  # of the one given up last
        self._weights: tuple[Any, ...] = ()  # arguments for a replica that starts: a newer version and its number

    def start(self) -> None:
        """Makes every replica."""
        for worker in self.workers:
            worker.start(*self._weights)

    def ask(self, unroll: ObjectRef[Any], lane_state: LaneState) -> ScoreRequest:
        """Asks for the judgment of an unroll; `unroll` refers to its message.

        Raises:
            NoReplicaLeft: all have been given up.
        """
        there = self._there()
        if not there:
            raise NoReplicaLeft(self._last_words)
        replica = min(there, key=lambda index: (self._load[index], self.workers[index].completed))
        if not self._load[replica]:
            self._moved[replica] = time.monotonic()
        self._load[replica] += 1
        worker = self.workers[replica]
        return ScoreRequest(
            replica, worker.incarnation, worker.submit("score", SCORES, unroll, lane_state), unroll, lane_state
        )

    def answer(self, asked: ScoreRequest) -> ScoredUnroll | ScoreRequest:
        """The answer, whose reference is ready; or the request made anew, where the replica went down over it.

        Raises:
            NoReplicaLeft: the last replica went down more often than it may, or without strangers any.
            WorkerFailed: replicas went down over this request, or its unroll is lost.
            Exception: with strangers, what a replica raised over it.
        """
        worker = self.workers[asked.replica]
        old = self._could_not_load(asked)
        try:
            if old is not None:
                raise old
            scored: ScoredUnroll = ray.get(asked.reference, timeout=worker.result_limit)
        except RayError as error:
            if self._external_clients and old is None and isinstance(error, RayTaskError | UnserializableException):
                self._settle(asked)
                raise getattr(error, "cause", error) from error
            if old is None and isinstance(error, ObjectLostError):
                self._settle(asked)
                raise WorkerFailed(
                    f"an unroll was lost before {worker.name} could score it, with the process or machine that held "
                    f"it; the same command continues from the newest checkpoint.\n{error}"
                ) from error
            if worker.incarnation == asked.incarnation:  # the first of its requests to hear of it
                self.restart(asked.replica, error)
            lost = 0 if lost_before_start(str(error)) else 1
            if lost and asked.tries > self._retries:
                raise WorkerFailed(
                    f"{asked.tries} replicas went down over one unroll, more than runtime.reward.retries="
                    f"{self._retries} allows. The last one, {worker.name}:\n{error}"
                ) from error
            again = self.ask(asked.unroll, asked.lane_state)
            again.tries = asked.tries + lost
            return again
        self._settle(asked)
        worker.completed += 1
        return scored

    def forget(self, asked: ScoreRequest) -> None:
        """Nobody waits for the answer any more, which the replica may still give: it owes one less."""
        if self.workers[asked.replica].incarnation == asked.incarnation:
            self._load[asked.replica] -= 1

    def restart(self, replica: int, cause: BaseException | str) -> None:
        """Makes a replica anew; its requests will be told that it went down.

        Raises:
            NoReplicaLeft: it went down more often than it may, and is the last, or serves no strangers.
        """
        self._load[replica], self._moved[replica] = 0, time.monotonic()
        self._loading.pop(replica, None)
        try:
            self.workers[replica].handle_failure(cause, [])
        except WorkerFailed as failed:
            self._give_up(replica, failed)
            return
        self.workers[replica].start(*self._weights)

    def stalled(self) -> list[tuple[int, float]]:
        """The replicas that have owed an answer for too long, and for how many seconds."""
        now = time.monotonic()
        owing = [(index, now - self._moved[index]) for index, load in enumerate(self._load) if load]
        return [(index, seconds) for index, seconds in owing if seconds > self.workers[index].result_limit]

    def load_version(self, weights: Weights, version: int) -> None:
        """From their next request on, all replicas pay with these weights of the reward model."""
        self._weights = (ray.put(weights), version)
        for index in self._there():
            self._loading[index] = self.workers[index].submit("load_version", "takes up a version", *self._weights)

    def _there(self) -> list[int]:
        return [index for index in range(len(self.workers)) if index not in self._given_up]

    def _give_up(self, replica: int, failed: WorkerFailed) -> None:
        self._given_up.add(replica)
        self._last_words = str(failed)
        if not self._external_clients or not self._there():
            raise NoReplicaLeft(self._last_words) from failed
        logger.error("%s\n%s is given up; %d others go on", failed, self.workers[replica].name, len(self._there()))

    def _could_not_load(self, asked: ScoreRequest) -> RayError | None:
        """What the replica, if it is the process that was asked, raised while it took up a version: it would go on with
        the old one, unseen."""
        worker, loading = self.workers[asked.replica], self._loading.get(asked.replica)
        if loading is None or worker.incarnation != asked.incarnation or not ray.wait([loading], timeout=0)[0]:
            return None
        del self._loading[asked.replica]
        try:
            ray.get(loading, timeout=worker.result_limit)
        except RayError as error:
            return error
        return None

    def _settle(self, asked: ScoreRequest) -> None:
        self.forget(asked)
        self._moved[asked.replica] = time.monotonic()
