"""Reward replicas under Ray: any replica can score any unroll, and requests to a failed replica are resubmitted."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import ray
from ray import ObjectRef
from ray.exceptions import ObjectLostError, RayError, RayTaskError, UnserializableException

from interplay.agent.inference_device import InferenceDevice
from interplay.agent.weights import Weights
from interplay.reward.reward_functions import LaneState, RewardFunction, ScoredUnroll, checked_score
from interplay.runtime.config import RuntimeConfig
from interplay.runtime.crashes import WorkerFailed, without_colors
from interplay.runtime.messages import with_pictures
from interplay.runtime.ray.completions import Completions
from interplay.runtime.ray.learner_context import LearnerContext
from interplay.runtime.ray.worker_restarts import MACHINE_ERRORS, PendingUnroll, WorkerHandle, lost_before_start

logger = logging.getLogger(__name__)

SCORES = "scores"
MOST_UNROLLS_OF_CALL = 8


class NoReplicaLeft(WorkerFailed):
    """The last replica failed more often than allowed."""


@dataclass
class ScoreRequest:
    """A scoring request in flight."""

    replica: int  # index of the replica
    incarnation: int  # number of the replica's process that received the request
    reference: ObjectRef[Any]  # to the results of a call
    index: int  # of the result in them
    unroll: ObjectRef[Any]  # to the unroll's message
    lane_state: LaneState
    tries: int = 1
    reply: Future[list[ScoredUnroll]] | None = None  # with the fetched results, if the reference is watched


class Replicas:
    """Sends each request to the replica with the fewest requests in flight; resubmits it if that replica fails.

    A replica is restarted if its process dies, does not answer, or lacks memory or a GPU that works. Another exception
    of its reward function is raised to the caller, because another process would raise the same. With
    `external_clients`, errors of memory and GPUs are raised, too, because one large request must not restart every
    replica; a replica that can't load a version is restarted; and one that exceeds its restart limit does not end the
    service while others are left.
    """

    def __init__(self, workers: Sequence[WorkerHandle], *, retries: int, external_clients: bool = False) -> None:
        self.workers = list(workers)
        self._retries = retries
        self._external_clients = external_clients
        self._load = [0] * len(self.workers)
        self._given_up: set[int] = set()  # replicas no longer restarted; once all are in it, the service has ended
        self._progress_at = [worker.clock() for worker in self.workers]
        self._loading: dict[int, ObjectRef[Any]] = {}  # by replica: its pending call of `load_version`
        self._last_failure = ""  # error of the replica given up last
        self._weights: tuple[Any, ...] = ()  # `load_version`'s newest arguments, passed to replicas that start

    def start(self) -> None:
        """Starts every replica."""
        for worker in self.workers:
            worker.start(*self._weights)

    def ask(self, unroll: ObjectRef[Any], lane_state: LaneState) -> ScoreRequest:
        """Requests the scores of an unroll; see `ask_together`."""
        return self.ask_together([(unroll, lane_state)])[0]

    def ask_together(self, unrolls: Sequence[tuple[ObjectRef[Any], LaneState]]) -> list[ScoreRequest]:
        """Requests the scores of unrolls in one call of a replica, which scores one after another.

        `unrolls` are references to their messages, with the states of their lanes before them.

        Raises:
            NoReplicaLeft: all replicas have been given up.
        """
        available = self._available()
        if not available:
            raise NoReplicaLeft(self._last_failure)
        replica = min(available, key=lambda index: (self._load[index], self.workers[index].completed))
        if not self._load[replica]:
            self._progress_at[replica] = self.workers[replica].clock()
        self._load[replica] += len(unrolls)
        worker = self.workers[replica]
        reference = worker.submit_each("score", SCORES, unrolls)
        return [
            ScoreRequest(replica, worker.incarnation, reference, index, unroll, lane_state)
            for index, (unroll, lane_state) in enumerate(unrolls)
        ]

    def answer(self, request: ScoreRequest) -> ScoredUnroll | ScoreRequest:
        """Returns the scores of a request whose reference is ready, or the resubmitted request if its replica failed.

        Raises:
            NoReplicaLeft: the last replica failed more often than allowed; without `external_clients`, any replica.
            WorkerFailed: more replicas failed on this request than `retries` allows, or its unroll is lost.
            Exception: what the reward function raised; its cause has the replica's traceback.
        """
        worker = self.workers[request.replica]
        load_error = self._load_error(request)
        try:
            if load_error is not None:
                raise load_error
            scored = _fetch(request, worker.result_limit)
        except RayError as error:
            if load_error is None and isinstance(error, ObjectLostError):
                self._settle(request)
                raise WorkerFailed(
                    f"an unroll was lost before {worker.name} could score it, with the process or machine that held "
                    f"it; the same command continues from the newest checkpoint.\n{error}"
                ) from error
            if self._is_raised(error, loading=load_error is not None):
                self._settle(request)
                if not self._external_clients:
                    logger.error("%s raised an error, which ends the run:\n%s", worker.name, without_colors(str(error)))
                raise getattr(error, "cause", error) from error
            # The first of the process's requests to report the failure.
            if worker.incarnation == request.incarnation and request.replica not in self._given_up:
                self.restart(request.replica, error)
            lost = 0 if lost_before_start(str(error)) else 1
            if lost and request.tries > self._retries:
                raise WorkerFailed(
                    f"{request.tries} replicas went down over one unroll, more than runtime.reward.retries="
                    f"{self._retries} allows. The last one, {worker.name}:\n{without_colors(str(error)).strip()}\n"
                    f"The cause: {worker.failure_line}"
                ) from error
            again = self.ask(request.unroll, request.lane_state)
            again.tries = request.tries + lost
            return again
        self._settle(request)
        worker.add_completed()
        return scored

    def _is_raised(self, error: RayError, *, loading: bool) -> bool:
        """Whether an error is raised instead of restarting the replica. `loading`: it comes from loading a version."""
        if not isinstance(error, RayTaskError | UnserializableException):
            return False  # the process has died, or is lost
        if self._external_clients:
            return not loading
        return not isinstance(getattr(error, "cause", None), MACHINE_ERRORS)

    def forget(self, request: ScoreRequest) -> None:
        """Stops counting a request as in flight: its result, which may still arrive, is no longer needed."""
        if self.workers[request.replica].incarnation == request.incarnation:
            self._load[request.replica] -= 1

    def restart(self, replica: int, cause: BaseException | str) -> None:
        """Restarts a replica; the results of its requests in flight are errors, on which `answer` resubmits them.

        Raises:
            NoReplicaLeft: it failed more often than allowed, and is the last one or has no `external_clients`.
        """
        self._load[replica], self._progress_at[replica] = 0, self.workers[replica].clock()
        self._loading.pop(replica, None)
        try:
            self.workers[replica].handle_failure(cause, [])
        except WorkerFailed as failed:
            self._give_up(replica, failed)
            return
        self.workers[replica].start(*self._weights)

    def stalled(self) -> list[tuple[int, float]]:
        """Returns (index, seconds without progress) of each replica that exceeds its `result_limit`.

        Progress is a result, or by a heartbeat the beginning of the next unroll of a call.
        """
        waiting = [
            (index, worker.clock() - max(progress_at, worker.activity_began))
            for index, (worker, load, progress_at) in enumerate(
                zip(self.workers, self._load, self._progress_at, strict=True)
            )
            if load
        ]
        return [(index, seconds) for index, seconds in waiting if seconds > self.workers[index].result_limit]

    def load_version(self, weights: Weights, version: int) -> None:
        """Makes all replicas score with these weights of the reward model from their next request on."""
        self._weights = (ray.put(weights), version)
        for index in self._available():
            self._loading[index] = self.workers[index].submit("load_version", "takes up a version", *self._weights)

    def _available(self) -> list[int]:
        return [index for index in range(len(self.workers)) if index not in self._given_up]

    def _give_up(self, replica: int, failed: WorkerFailed) -> None:
        self._given_up.add(replica)
        self._last_failure = str(failed)
        if not self._external_clients or not self._available():
            raise NoReplicaLeft(self._last_failure) from failed
        logger.error(
            "%s\n%s is given up; %d others continue", failed, self.workers[replica].name, len(self._available())
        )

    def _load_error(self, request: ScoreRequest) -> RayError | None:
        """Returns the error of a failed `load_version` call, if the process that received the request had one.

        Without this check the replica would continue with the old version unnoticed.
        """
        worker, loading = self.workers[request.replica], self._loading.get(request.replica)
        if loading is None or worker.incarnation != request.incarnation or not ray.wait([loading], timeout=0)[0]:
            return None
        del self._loading[request.replica]
        try:
            ray.get(loading, timeout=worker.result_limit)
        except RayError as error:
            return error
        return None

    def _settle(self, request: ScoreRequest) -> None:
        self.forget(request)
        self._progress_at[request.replica] = self.workers[request.replica].clock()


def _fetch(request: ScoreRequest, seconds: float) -> ScoredUnroll:
    if request.reply is not None:
        return request.reply.result(timeout=seconds)[request.index]
    scored: list[ScoredUnroll] = ray.get(request.reference, timeout=seconds)
    return scored[request.index]


@dataclass(eq=False)
class OutstandingUnroll:
    """An unroll between its request and its copy into a batch."""

    pending: PendingUnroll
    asked: bool = False  # a replica has been asked to score it, or will be
    scored: ScoredUnroll | None = None


def unrolls_of_call(config: RuntimeConfig) -> int:
    """How many unrolls to score in one call, which costs the learner's process little more than one with one unroll.

    Not more than a replica's share of a batch, and of the unrolls that can wait at a time: one of each actor.
    """
    share = min(config.actors, config.unrolls_in_batch) // config.reward.replicas
    return min(MOST_UNROLLS_OF_CALL, max(1, share))


class ScoringPool:
    """Scores unrolls, and passes the lane state of each actor from one unroll to the next.

    Args:
        scorer: replicas if scoring needs a network; otherwise a reward function, which scores in this process.
        at_once: how many unrolls a full call of a replica has; see `unrolls_of_call`. One waits for others at most
            until `request_waiting`.
        on: where the pictures that a reward function reads are drawn if unrolls have none; the CPU by default.
    """

    def __init__(self, scorer: Replicas | RewardFunction, at_once: int = 1, on: InferenceDevice | None = None) -> None:
        self._at_once, self._on = at_once, on or InferenceDevice()
        self._replicas = scorer if isinstance(scorer, Replicas) else None
        self._local = scorer if isinstance(scorer, RewardFunction) else None
        self._lane_states: list[LaneState] = []
        self._unscored: list[deque[OutstandingUnroll]] = []  # by actor, in the order of their requests
        self._waiting: list[OutstandingUnroll] = []  # which a replica can score, and none has been asked to
        self._completions = Completions()
        self._scored: Callable[[OutstandingUnroll], None] = lambda unroll: None

    def connect(self, completions: Completions, scored: Callable[[OutstandingUnroll], None]) -> None:
        """Sets where the ends of requests are reported, and what is called with each unroll that was scored."""
        self._completions, self._scored = completions, scored

    @property
    def workers(self) -> list[WorkerHandle]:
        """The replicas."""
        return [] if self._replicas is None else self._replicas.workers

    def start(self, lane_states: Sequence[LaneState]) -> None:
        """Starts the replicas, with one lane state for each actor."""
        self._lane_states = list(lane_states)
        self._unscored = [deque() for _ in self._lane_states]
        if self._replicas is not None:
            self._replicas.start()

    def load_version(self, weights: Any, version: int) -> None:
        """See `Replicas.load_version`."""
        if self._replicas is not None:
            self._replicas.load_version(weights, version)

    def add(self, unroll: OutstandingUnroll) -> None:
        """Adds a requested unroll; those of one actor are scored in the order in which they are added."""
        self._unscored[unroll.pending.pipeline].append(unroll)

    def score(self, pipeline: int) -> None:
        """Scores this actor's next unroll, if the unroll has arrived and its predecessor is scored."""
        while self._unscored[pipeline]:
            following = self._unscored[pipeline][0]
            if following.asked or following.pending.message is None:
                return
            if self._replicas is not None:
                following.asked = True
                self._waiting.append(following)
                if len(self._waiting) == self._at_once:
                    self.request_waiting()
                return
            assert self._local is not None, "a pool has replicas or a function"
            message = following.pending.message
            arrays = with_pictures(message, self._on) if self._local.reads_pictures else message.arrays
            self._set_score(following, checked_score(self._local, arrays, self._lane_states[pipeline]))

    @property
    def has_waiting(self) -> bool:
        """Whether unrolls wait for others before a replica is asked to score them."""
        return bool(self._waiting)

    def request_waiting(self) -> None:
        """Asks a replica to score the unrolls that wait for others."""
        if not self._waiting:
            return
        assert self._replicas is not None
        unrolls, self._waiting = self._waiting, []
        requests = self._replicas.ask_together(
            [(each.pending.reference, self._lane_states[each.pending.pipeline]) for each in unrolls]
        )
        self._watch(list(zip(unrolls, requests, strict=True)))

    def restart_stalled(self, context: LearnerContext) -> None:
        """Restarts each replica that has not answered within its limit."""
        if self._replicas is None:
            return
        for replica, seconds in self._replicas.stalled():
            worker = self._replicas.workers[replica]
            self._replicas.restart(replica, context.report_blocked(worker, seconds, "a score"))

    def _watch(self, asked: Sequence[tuple[OutstandingUnroll, ScoreRequest]]) -> None:
        """Awaits the reply to one call."""
        reply = self._completions.watch(asked[0][1].reference, lambda: self._receive(asked))
        for _, request in asked:
            request.reply = reply

    def _receive(self, asked: Sequence[tuple[OutstandingUnroll, ScoreRequest]]) -> None:
        assert self._replicas is not None
        for unroll, request in asked:
            answer = self._replicas.answer(request)
            if isinstance(answer, ScoreRequest):
                self._watch([(unroll, answer)])  # by itself, as another of the call may have failed
            else:
                self._set_score(unroll, answer)
                self.score(unroll.pending.pipeline)

    def _set_score(self, unroll: OutstandingUnroll, scored: ScoredUnroll) -> None:
        unroll.scored = scored
        pipeline = unroll.pending.pipeline
        self._unscored[pipeline].popleft()
        self._lane_states[pipeline] = scored.lane_state
        self._scored(unroll)
