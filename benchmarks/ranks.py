"""What an update costs the process of rank 0 when several ranks share a large batch.

    python benchmarks/ranks.py                        # 8 ranks, 204 MB, by references and by copies in turns
    python benchmarks/ranks.py --ranks 4 --updates 10
    python benchmarks/ranks.py --json ranks.json

Batch, object store, worker processes and calls are real, and so is the joining of each rank's lanes; the update itself
is a pause of `--compute` seconds, and all processes are on this machine. "references" is what a run does; "copies",
where rank 0 joined the whole batch and sent every rank its lanes, is measured for comparison. CPU time is that of rank
0's process, all threads. The same unrolls are used in every update.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from reporting.json_numbers import add_json_option, write_json

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import ray

from interplay.agent.recurrent import RecurrentState
from interplay.agent.unroll import Unroll
from interplay.runtime.batch_sources import BatchBuffers
from interplay.runtime.config import Resources, RuntimeConfig
from interplay.runtime.crashes import CrashReports
from interplay.runtime.messages import UnrollMessage
from interplay.runtime.ray.learner_context import LearnerContext
from interplay.runtime.ray.rank_zero import RankWorkers
from interplay.runtime.ray.unroll_parts import (
    LaneJoiner,
    LanePiece,
    ReferencedUnroll,
    UnrollPart,
    concatenate_parts,
    lanes_of_rank,
)
from interplay.runtime.ray.worker_placement import RANK, ResourceRequest, reserve_resources

STEPS = 50
HEIGHT, WIDTH = 72, 96
GOAL_MS, GOAL_EFFICIENCY = 10.0, 0.9
WAYS = ("references", "copies")


def message(number: int, lanes: int) -> UnrollMessage:
    """An unroll with pictures, words and movements."""
    lead = (STEPS + 1, lanes)
    arrays: dict[str, Any] = {"image": np.full((*lead, HEIGHT, WIDTH, 3), number, np.uint8)}
    arrays |= {name: np.zeros((*lead, 16), np.int16) for name in ("tokens", "heard", "said")}
    arrays |= {name: np.zeros(lead, np.float32) for name in ("env_reward", "success", "language_log_prob")}
    arrays |= {name: np.zeros(lead, bool) for name in ("first", "last", "spoke")}
    arrays["movement"] = np.zeros((*lead, 8, 8), np.int8)
    state: Any = RecurrentState(np.zeros((lanes, 1024), np.float32), np.zeros((lanes, 1024), np.float32))
    return UnrollMessage(number, arrays, state, 0, ["episode"] * lanes, b"")


class ToyActor:
    """Puts unrolls into the object store."""

    def unroll(self, number: int, lanes: int) -> UnrollMessage:
        """One of them."""
        return message(number, lanes)


class ToyRank:
    """Joins its lanes and pauses."""

    def __init__(self, compute: float) -> None:
        self._compute = compute
        self._joiner = LaneJoiner(pinned=False, fetch_seconds=60.0)

    def ready(self) -> None:
        """Returns once the process runs."""

    def references(self, demonstrated: list[LanePiece], rollout: list[LanePiece]) -> None:
        """An update from references."""
        self._joiner.assemble(demonstrated=demonstrated, rollout=rollout)
        time.sleep(self._compute)

    def copies(self, demonstrated: Unroll, rollout: Unroll) -> None:
        """An update from copies."""
        time.sleep(self._compute)


def own_lanes(unroll: Unroll, rank: int, size: int) -> Unroll:
    """Copies the lanes of a rank."""
    own = unroll.select(slice(rank * unroll.lanes // size, (rank + 1) * unroll.lanes // size))
    return replace(own, arrays={key: np.ascontiguousarray(array) for key, array in own.arrays.items()})


class RankZero:
    """Makes updates in either way."""

    def __init__(self, ranks: RankWorkers, parts: dict[str, list[UnrollPart]], size: int, compute: float) -> None:
        self._ranks, self._parts, self._size, self._compute = ranks, parts, size, compute
        self._buffers = {(way, kind): BatchBuffers(1) for way in WAYS for kind in parts}
        self._joiner = LaneJoiner(pinned=False, fetch_seconds=0.0)

    def take(self, way: str) -> dict[str, Unroll]:
        """What the streams hand over."""
        taken: dict[str, Unroll] = {}
        for kind, parts in self._parts.items():
            buffers = self._buffers[way, kind]
            number, arrays = concatenate_parts(parts, buffers, referenced=way == "references")
            buffers.release(number)
            taken[kind] = ReferencedUnroll(arrays, parts=parts) if way == "references" else Unroll(arrays)
        return taken

    def update(self, way: str, batch: dict[str, Unroll]) -> None:
        """One update of all ranks."""
        share: Any = lanes_of_rank if way == "references" else own_lanes
        own, *others = [[share(unroll, rank, self._size) for unroll in batch.values()] for rank in range(self._size)]

        def learn() -> None:
            if way == "references":
                self._joiner.assemble(demonstrated=own[0], rollout=own[1])
            time.sleep(self._compute)

        self._ranks.run_on_all_ranks(way, "learns", others, learn)


def measure(options: argparse.Namespace, folder: Path) -> list[dict[str, Any]]:
    """Updates in both ways, in turns."""
    size = options.ranks
    memory = 3 * 2**30
    ray.init(address="local", num_cpus=16, include_dashboard=False, log_to_driver=False, object_store_memory=memory)
    config = RuntimeConfig(kind="ray", learners=size, learner=Resources(cpus=0.2))
    requests = [ResourceRequest(f"{RANK}-{rank}", Resources(cpus=0.2)) for rank in range(1, size)]
    context = LearnerContext(
        config, reserve_resources(requests, config), CrashReports(folder, 1, "toys", 5, 3600.0), 0, 0
    )
    workers = [context.add_worker(request.name, partial(ToyRank, options.compute)) for request in requests]
    for worker in workers:
        worker.start()
    ranks = RankWorkers(workers, context)
    ranks.run_on_all_ranks("ready", "starts", [()] * len(workers), lambda: None)
    actor: Any = ray.remote(ToyActor).options(num_cpus=0.2).remote()

    def parts_of(count: int) -> list[UnrollPart]:
        made = [actor.unroll.remote(number, options.lanes // count) for number in range(count)]
        return [UnrollPart(each, ray.get(each, timeout=60.0), {}) for each in made]

    parts = {"demonstrated": parts_of(options.datasets), "rollout": parts_of(options.unrolls)}
    zero = RankZero(ranks, parts, size, options.compute)
    megabytes = sum(part.message.nbytes for each in parts.values() for part in each) / 1e6
    print(f"{size} ranks, {2 * options.lanes} lanes, {megabytes:.0f} MB a batch")
    rows = []
    for turn in range(options.turns):
        for way in WAYS:
            zero.update(way, zero.take(way))  # allocates
            rows.append({"way": way, "turn": turn, **timed(zero, way, options.updates, options.compute)})
            line = "{way:12} join {join_ms:6.1f} ms, update {update_ms:6.1f} ms of CPU; {efficiency:4.0%}"
            print(line.format_map(rows[-1]))
    context.close()
    ray.shutdown()
    return rows


def timed(zero: RankZero, way: str, updates: int, compute: float) -> dict[str, float]:
    """CPU milliseconds of rank 0, and the pause as a share of the time that an update takes with a batch at hand."""
    join = update = wall = 0.0
    for _ in range(updates):
        cpu = time.process_time()
        batch = zero.take(way)
        joined, began = time.process_time(), time.monotonic()
        zero.update(way, batch)
        join, update, wall = join + joined - cpu, update + time.process_time() - joined, wall + time.monotonic() - began
    return {
        "join_ms": 1e3 * join / updates,
        "update_ms": 1e3 * update / updates,
        "efficiency": compute * updates / wall,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--lanes", type=int, default=96, help="demonstrated, and as many played")
    parser.add_argument("--unrolls", type=int, default=16, help="that the played lanes come from")
    parser.add_argument("--datasets", type=int, default=4, help="unrolls that the demonstrated lanes come from")
    parser.add_argument("--compute", type=float, default=0.15, help="seconds that an update pauses")
    parser.add_argument("--updates", type=int, default=20)
    parser.add_argument("--turns", type=int, default=3)
    add_json_option(parser)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(options, Path(folder))
    best = {way: min((row for row in rows if row["way"] == way), key=lambda row: row["update_ms"]) for way in WAYS}
    low, high = best["references"]["update_ms"], best["copies"]["update_ms"]
    efficiency = best["references"]["efficiency"]
    print(f"lowest: {low:.1f} ms of rank 0 an update, goal {GOAL_MS:g}; {low / high:.2f} of that with copies; ", end="")
    print(f"{efficiency:.0%} of the time the ranks compute, goal {GOAL_EFFICIENCY:.0%}")
    write_json(options.json, {"rows": rows, "goals": [GOAL_MS, GOAL_EFFICIENCY]})


if __name__ == "__main__":
    main()
