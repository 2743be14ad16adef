"""A cluster of two nodes, the second of which is lost with an actor and a replica on it.

    python lost_node.py FOLDER    # writes what came of it to FOLDER/found.json

A program of its own: which cluster is there is written down where any other program on the machine would find it,
unless RAY_TMPDIR says otherwise, and a process can be of one cluster only.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import fake_workers
import numpy as np
import ray
from actor_pipelines import TIMEOUT_SECONDS, await_pid, receive_calls, start_pipeline
from clusters import START_LIMIT
from ray.cluster_utils import Cluster

from interplay.reward.reward_functions import LaneState, ScoredUnroll
from interplay.runtime.config import Resources, RuntimeConfig
from interplay.runtime.crashes import CrashReports
from interplay.runtime.messages import UnrollMessage
from interplay.runtime.ray.actor_pipeline import PendingUnroll
from interplay.runtime.ray.cluster_session import start_with_retries
from interplay.runtime.ray.learner_context import LearnerContext
from interplay.runtime.ray.replicas import Replicas, ScoreRequest
from interplay.runtime.ray.worker_placement import ResourceRequest, reserve_resources

STORE = {"object_store_memory": 80 * 2**20}
ROOM = {"num_cpus": 4, **STORE}  # for both parts, which the first node has no room for


class Wide(fake_workers.CountingActor):
    """Makes unrolls that are too large to be sent along with an answer: they stay on the node that made them."""

    def unroll(self, number: int) -> UnrollMessage:
        message = super().unroll(number)
        message.arrays["ballast"] = np.zeros(100_000)
        return message


def scored(replicas: Replicas, call: PendingUnroll, states: LaneState) -> ScoredUnroll:
    """The answer about an unroll."""
    answer: ScoredUnroll | ScoreRequest = replicas.ask(call.reference, states)
    while isinstance(answer, ScoreRequest):
        assert ray.wait([answer.reference], timeout=TIMEOUT_SECONDS)[0], "no answer"
        answer = replicas.answer(answer)
    return answer


def pulled_out(raylet: int) -> None:
    """A node ends as its machine does: all of it at once, and nobody is told."""
    children = [int(pid) for pid in Path(f"/proc/{raylet}/task/{raylet}/children").read_text().split()]
    for pid in (raylet, *children):
        with suppress(ProcessLookupError):  # which go with their raylet by themselves, too
            os.kill(pid, signal.SIGKILL)


def main(folder: Path) -> None:
    """See the module."""
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
    line = start_pipeline(context.add_worker("actor-0", Wide))
    replicas = Replicas([context.add_worker("reward-0", fake_workers.DoublingReward)], retries=1)
    replicas.start()

    numbers, paid, states = [], [], LaneState()
    came = receive_calls(line, 3)
    nodes = {line.worker.name: await_pid(line.worker), "reward-0": await_pid(replicas.workers[0])}
    for call in [*came[:2], None, *came[2:], *([None] * 3)]:
        if call is None and nodes:  # the third unroll has come, and is not judged yet
            nodes.clear()
            pulled_out(node.all_processes["raylet"][0].process.pid)
            cluster.remove_node(node, allow_graceful=False)
            start_with_retries(lambda: cluster.add_node(wait=False, **ROOM), START_LIMIT)
            continue
        if call is None:
            (call,) = receive_calls(line, 1)
        answer = scored(replicas, call, states)
        assert answer.reward is not None and answer.lane_state.reward is not None
        numbers.append(call.number)
        paid.append(float(answer.reward.max()))
        states = answer.lane_state
    counted = int(answer.lane_state.reward.hidden)
    restarts = {worker.name: worker.restarts for worker in (line.worker, *replicas.workers)}
    came_of_it = {"numbers": numbers, "paid": paid, "counted": counted, "restarts": restarts}
    (folder / "found.json").write_text(json.dumps(came_of_it))  # stdout is Ray's, too
    ray.shutdown()
    cluster.shutdown()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
