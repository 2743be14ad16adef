"""Rank 0 of a distributed learner: sends each rank references of its lanes; all ranks make the same update.

    streams --references--> rank 0 --references of their lanes--> rank 1, rank 2, ...
                               '----------- gradients -----------'

Streams, ledger, metrics and checkpoints belong to rank 0, as for a single learner. If another rank is lost, so is the
update in progress: the learner process ends, and its successor resumes from the newest checkpoint with new ranks.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import ray
import torch
from ray import ObjectRef
from ray.exceptions import RayError
from torch import Tensor

from interplay.agent.network import Agent
from interplay.agent.read_only_arrays import accept_read_only_arrays
from interplay.agent.unroll import Unroll
from interplay.agent.weights import Weights
from interplay.learner.config import LearnerConfig
from interplay.learner.device import find_device
from interplay.learner.distributed import EXCHANGE_TIMEOUT_S, DistributedGroup, RankLost, join
from interplay.learner.learner import Learner
from interplay.runtime.crashes import error_line
from interplay.runtime.ray.cluster_session import temporary_folder_problem
from interplay.runtime.ray.learner_context import LearnerContext
from interplay.runtime.ray.learner_host import STARTING_ACTIVITY
from interplay.runtime.ray.unroll_parts import LaneJoiner, LanePiece, lanes_of_rank
from interplay.runtime.ray.worker_placement import RANK
from interplay.runtime.ray.worker_restarts import FETCH_SECONDS, WorkerHandle, lost_before_start

EXIT_DELAY_SECONDS = 5.0  # for a failed rank to return its exception before its process exits, on a busy machine too


class RankWorker:
    """A further rank of a learner, with the agent and random state of rank 0, which calls its methods."""

    def __init__(
        self,
        agent: Agent,
        *,
        rank: int,
        size: int,
        config: LearnerConfig,
        lanes: int,
        random: Tensor,
        threads: int,
        fetch_seconds: float,
    ) -> None:
        """
        Args:
            lanes: of demonstrations, for this rank.
            random: state of the generator of rank 0.
            threads: of torch.
            fetch_seconds: see `LaneJoiner`.
        """
        torch.set_num_threads(threads)
        # Arrays from other processes are read-only, and are only read here.
        accept_read_only_arrays()
        self._agent = agent
        self._rank, self._size = rank, size
        self._config = config
        self._lanes = lanes
        self._generator = torch.Generator()
        self._generator.set_state(random)
        self._learner: Learner | None = None
        self._joiner = LaneJoiner(pinned=find_device(config.device).type == "cuda", fetch_seconds=fetch_seconds)

    def ready(self) -> None:
        """Returns once the worker is built."""

    def join(self, address: str, patience: float) -> None:
        """Joins the other ranks; see `interplay.learner.distributed.join`."""
        with _exit_on_failure():
            device = find_device(self._config.device)
            group = join(rank=self._rank, size=self._size, address=address, device=device, patience=patience)
            self._learner = Learner(
                self._agent, self._config, dataset_lanes=self._lanes, generator=self._generator, group=group
            )

    def update(self, demonstrated: list[LanePiece] | None, rollout: list[LanePiece] | None) -> None:
        """Begins one update; its metrics are those that rank 0 has, too.

        Reading them here would fail before rank 0 does, which would take an update that is not finite for a lost rank.
        """
        with _exit_on_failure():
            self._joined.begin_update(**self._joiner.assemble(demonstrated=demonstrated, rollout=rollout))

    def state(self) -> None:
        """Takes part in rank 0's `Learner.state`, which gathers the lanes of all ranks."""
        with _exit_on_failure():
            self._joined.state()

    def load(self, weights: Weights, state: Mapping[str, Any]) -> None:
        """Loads the weights and the state that rank 0 loads."""
        with _exit_on_failure():
            self._agent.load_state_dict({name: torch.tensor(array) for name, array in weights.items()})
            self._joined.load_state(state)

    @property
    def _joined(self) -> Learner:
        assert self._learner is not None, "join was not called"
        return self._learner


@contextmanager
def _exit_on_failure() -> Iterator[None]:
    """Exits the process shortly after an exception, so that no other rank waits for it at the next exchange."""
    try:
        yield
    except Exception:
        timer = threading.Timer(EXIT_DELAY_SECONDS, os._exit, (1,))
        timer.daemon = True
        timer.start()
        raise


Result = TypeVar("Result")


def create_rank_zero_learner(
    agent: Agent, config: LearnerConfig, *, dataset_lanes: int, generator: torch.Generator, context: LearnerContext
) -> RankZeroLearner:
    """Creates a learner of `runtime.learners` ranks; returns when all of them have joined.

    Args:
        dataset_lanes: of all ranks together.

    Raises:
        RankLost: a rank did not join.
    """
    size = context.config.learners
    lanes = dataset_lanes // size
    make = partial(
        RankWorker,
        size=size,
        config=config,
        lanes=lanes,
        random=generator.get_state(),
        threads=context.config.threads,
        fetch_seconds=context.config.stall_limit,
    )
    workers = [context.add_worker(f"{RANK}-{rank}", partial(make, rank=rank)) for rank in range(1, size)]
    rank_workers = RankWorkers(workers, context)
    group = rank_workers.connect(agent, find_device(config.device))
    return RankZeroLearner(
        agent, config, dataset_lanes=lanes, generator=generator, group=group, rank_workers=rank_workers
    )


class RankWorkers:
    """Ranks 1, 2, ...: they run each operation in parallel to rank 0, which then waits for their results."""

    def __init__(self, workers: Sequence[WorkerHandle], context: LearnerContext) -> None:
        self._workers = list(workers)
        self._context = context

    def connect(self, agent: Agent, device: torch.device) -> DistributedGroup:
        """Starts the ranks with a copy of the agent and joins them to a process group."""
        config, heartbeat = self._context.config, self._context.heartbeat
        shared = ray.put(agent)
        for worker in self._workers:
            worker.start(shared)
        heartbeat.set_idle("for its ranks")
        self.run_on_all_ranks("ready", "starts", [()] * len(self._workers), lambda: None)
        heartbeat.set_busy(STARTING_ACTIVITY)
        listener, patience = _listener(), min(config.stall_limit, EXCHANGE_TIMEOUT_S)
        host, port = listener.getsockname()
        address, size = f"{host}:{port}", 1 + len(self._workers)
        own = partial(join, rank=0, size=size, address=address, device=device, patience=patience, listener=listener)
        return self.run_on_all_ranks("join", "joins the others", [(address, patience)] * len(self._workers), own)

    def run_on_all_ranks(
        self, method: str, what: str, arguments: Sequence[Sequence[Any]], own: Callable[[], Result]
    ) -> Result:
        """Runs one operation on all ranks: further ranks call `method` with their arguments, rank 0 calls `own`.

        Raises:
            RankLost: another rank failed or died; its crash report is written.
            Exception: raised by `own`.
        """
        limits = [worker.result_limit for worker in self._workers]
        references = [worker.submit(method, what, *each) for worker, each in zip(self._workers, arguments, strict=True)]
        try:
            done = own()
        except RankLost as error:
            raise RankLost(
                "\n".join([str(error), *self._failed(references, self._context.config.control_limit)])
            ) from error
        failed = self._failed(references, max(limits))
        if failed:
            raise RankLost("\n".join(failed))
        for worker in self._workers:
            worker.add_completed()
        return done

    def _failed(self, references: Sequence[ObjectRef[Any]], seconds: float) -> list[str]:
        """Waits for the results; returns a line for each rank that failed, and writes its crash report."""
        answered = ray.wait(list(references), num_returns=len(references), timeout=seconds)[0]
        failed = []
        for worker, reference in zip(self._workers, references, strict=True):
            cause = f"has not answered in {seconds:g} s"
            if reference in answered:
                try:
                    ray.get(reference, timeout=FETCH_SECONDS)
                    continue
                except RayError as error:
                    cause = f"{type(error).__name__}: {error}"
            if lost_before_start(cause):
                failed.append(f"{worker.name} is lost: {cause}")
                continue
            crashes = self._context.crashes
            text = crashes.explained(worker.name, cause, temporary_folder_problem())
            file = crashes.record_failure(worker.name, self._context.counted_restarts + 1, text, [])
            shown = error_line(cause if text == cause else text.partition("\n")[0])
            failed.append(f"{worker.name} is lost, see {file}: {shown}")
        return failed


class RankZeroLearner(Learner):
    """A `Learner` that gets the batches of all ranks and runs every operation on all of them."""

    def __init__(
        self,
        agent: Agent,
        config: LearnerConfig,
        *,
        dataset_lanes: int,
        generator: torch.Generator,
        group: DistributedGroup,
        rank_workers: RankWorkers,
    ) -> None:
        super().__init__(agent, config, dataset_lanes=dataset_lanes, generator=generator, group=group)
        self._rank_workers = rank_workers
        self._joiner = LaneJoiner(pinned=self.device.type == "cuda", fetch_seconds=0.0)  # it has its unrolls

    def begin_update(self, *, demonstrated: Unroll | None, rollout: Unroll | None = None) -> Mapping[str, float]:
        size = self.group.size
        own, *others = [
            (lanes_of_rank(demonstrated, rank, size), lanes_of_rank(rollout, rank, size)) for rank in range(size)
        ]
        begin = super().begin_update

        def learn() -> Mapping[str, float]:
            return begin(**self._joiner.assemble(demonstrated=own[0], rollout=own[1]))

        return self._rank_workers.run_on_all_ranks("update", "learns", others, learn)

    def state(self) -> dict[str, Any]:
        return self._rank_workers.run_on_all_ranks("state", "saves", [()] * (self.group.size - 1), super().state)

    def load_state(self, state: Mapping[str, Any]) -> None:
        weights, saved = ray.put(self.weights()), ray.put(dict(state))
        others = [(weights, saved)] * (self.group.size - 1)
        self._rank_workers.run_on_all_ranks("load", "loads", others, partial(super().load_state, state))


def _listener() -> socket.socket:
    """A socket that listens at an address where other machines of the cluster reach this one."""
    untyped: Any = ray.util
    return socket.create_server((untyped.get_node_ip_address(), 0))
