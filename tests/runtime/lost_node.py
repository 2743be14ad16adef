"""A cluster of two nodes, the second of which is lost with an actor and a replica on it.

    python lost_node.py FOLDER    # writes the results to FOLDER/found.json

A separate program: Ray stores the cluster's address where every program on the machine finds it, unless RAY_TMPDIR is
set, and a process can belong to one cluster only.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import fake_workers
import numpy as np
import ray
from actor_pipelines import TIMEOUT_SECONDS, await_pid, receive_calls, start_pipeline
from clusters import START_LIMIT
from ray.cluster_utils import Cluster

from interplay.runtime.config import Resources, RuntimeConfig
from interplay.runtime.crashes import CrashReports
from interplay.runtime.ray.cluster_session import start_with_retries
from interplay.runtime.ray.learner_context import LearnerContext
from interplay.runtime.ray.reward_replicas import Replicas, ScoreRequest
from interplay.runtime.ray.worker_placement import ResourceRequest, reserve_resources
from interplay.runtime.ray.worker_restarts import PendingUnroll

STORE = {"object_store_memory": 80 * 2**20}
ROOM = {"num_cpus": 4, **STORE}  # for both workers, which do not fit on the first node


class LargeUnrollActor(fake_workers.CountingActor):
    """An actor whose unrolls are too large to be sent with a reply: they stay on the node that made them."""

    def unroll(self, number: int) -> fake_workers.FakeMessage:
        message = super().unroll(number)
        message.arrays["ballast"] = np.zeros(100_000)
        return message


def scored(replicas: Replicas, call: PendingUnroll, unrolls: int) -> fake_workers.FakeScore:
    """Scores an unroll, after `unrolls` of the same lanes."""
    answer: Any = replicas.ask(call.reference, unrolls)
    while isinstance(answer, ScoreRequest):
        assert ray.wait([answer.reference], timeout=TIMEOUT_SECONDS)[0], "no answer"
        answer = replicas.answer(answer)
    return answer


def kill_node(raylet: int) -> None:
    """Kills a node as a power failure does: all processes at once, without notice."""
    children = [int(pid) for pid in Path(f"/proc/{raylet}/task/{raylet}/children").read_text().split()]
    for pid in (raylet, *children):
        with suppress(ProcessLookupError):  # a child may already have ended with its raylet
            os.kill(pid, signal.SIGKILL)


def main(folder: Path) -> None:
    """Runs the scenario of the module's docstring."""
    cluster = Cluster()
    start_with_retries(lambda: cluster.add_node(wait=False, num_cpus=1, include_dashboard=False, **STORE), START_LIMIT)
    node = start_with_retries(lambda: cluster.add_node(wait=False, **ROOM), START_LIMIT)
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    ray.cloudpickle.register_pickle_by_value(fake_workers)
    config = RuntimeConfig("ray", start_limit=TIMEOUT_SECONDS, stall_limit=TIMEOUT_SECONDS)
    names = ("actor-0", "reward-0")
    placement = reserve_resources([ResourceRequest(name, Resources(cpus=2)) for name in names], config)
    context = LearnerContext(
        config, placement, CrashReports(folder, seed=1, config="abc", limit=1, window=3600.0), 0, 0
    )
    pipeline = start_pipeline(context.add_worker("actor-0", LargeUnrollActor))
    replicas = Replicas([context.add_worker("reward-0", fake_workers.DoublingReward)], retries=1)
    replicas.start()

    numbers, paid, scored_unrolls = [], [], 0
    arrived = receive_calls(pipeline, 3)
    nodes = {pipeline.worker.name: await_pid(pipeline.worker), "reward-0": await_pid(replicas.workers[0])}
    for call in [*arrived[:2], None, *arrived[2:], *([None] * 3)]:
        if call is None and nodes:  # the third unroll has arrived but is not scored yet
            nodes.clear()
            kill_node(node.all_processes["raylet"][0].process.pid)
            cluster.remove_node(node, allow_graceful=False)
            start_with_retries(lambda: cluster.add_node(wait=False, **ROOM), START_LIMIT)
            continue
        if call is None:
            (call,) = receive_calls(pipeline, 1)
        answer = scored(replicas, call, scored_unrolls)
        numbers.append(call.number)
        paid.append(float(answer.reward.max()))
        scored_unrolls = answer.lane_state
    restarts = {worker.name: worker.restarts for worker in (pipeline.worker, *replicas.workers)}
    results = {"numbers": numbers, "paid": paid, "scored_unrolls": scored_unrolls, "restarts": restarts}
    (folder / "found.json").write_text(json.dumps(results))  # Ray also writes to stdout
    ray.shutdown()
    cluster.shutdown()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
