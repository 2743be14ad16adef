"""What an unroll costs the learner's process under Ray, with a few actors or a thousand.

    python benchmarks/scale.py                              # 64 and 1,000 actors, reward replicas, metrics and status
    python benchmarks/scale.py --actors 16 64 256 1000 --replicas 0
    python benchmarks/scale.py --wait 1 --lag 4             # slow actors: how many the lag bound leaves busy
    python benchmarks/scale.py --json scale.json

The learner's side is the real one: streams, lag bound, scoring, heartbeats, status, Ray. The actors are toys: a few
processes answer for all of them, each unroll after `--wait` seconds, with small pictures. The learner does not learn.
CPU time is that of the learner's process, all threads, in a window after the start; no network is between them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from reporting.json_numbers import add_json_option, write_json

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import ray
import torch
from numpy.typing import NDArray

from interplay.agent.recurrent import RecurrentState
from interplay.reward.reward_functions import LaneState, ProgressReward, ScoredUnroll
from interplay.runtime.backpressure import idle_actors_advice
from interplay.runtime.config import ReplicasConfig, RuntimeConfig
from interplay.runtime.crashes import CrashReports
from interplay.runtime.heartbeat import HeartbeatReading
from interplay.runtime.messages import UnrollMessage
from interplay.runtime.ray.learner_context import LearnerContext
from interplay.runtime.ray.reward_replicas import Replicas, ScoringPool, unrolls_of_call
from interplay.runtime.ray.rollout_stream import RolloutStream
from interplay.runtime.ray.worker_restarts import WorkerHandle

STEPS = 50
START_SECONDS = 600.0  # at most, beside the window: Ray, a thousand toys, the first unroll, the end
GOAL_MS, GOAL_RATIO = 1.5, 1.3
STATUS_SECONDS = 0.25  # between two looks of a run's driver at the status


def toy_arrays(lanes: int, side: int) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays of an unroll."""
    lead = (STEPS + 1, lanes)
    utterances = {name: np.zeros((*lead, 16), np.int16) for name in ("tokens", "heard", "said")}
    floats = {name: np.zeros(lead, np.float32) for name in ("env_reward", "progress", "success")}
    chances = {name: np.zeros(lead, np.float32) for name in ("movement_log_prob", "language_log_prob")}
    return {
        "image": np.zeros((*lead, side, side * 4 // 3, 3), np.uint8),
        "first": np.zeros(lead, bool),
        "last": np.zeros(lead, bool),
        "row": np.zeros(lead, np.int32),
        "movement": np.zeros((*lead, 1, 8), np.int8),
        "spoke": np.zeros(lead, bool),
        **utterances,
        **floats,
        **chances,
    }


class ToyProcess:
    """Answers for many actors and replicas."""

    def __init__(self, lanes: int, side: int, wait: float) -> None:
        self._arrays, self._lanes, self._wait = toy_arrays(lanes, side), lanes, wait
        self._state: Any = RecurrentState(np.zeros((lanes, 64), np.float32), np.zeros((lanes, 64), np.float32))
        self._rng = np.random.default_rng(0)

    async def call(self, method: str, activity: str, *arguments: Any) -> Any:
        """Plays."""
        number, _, version = arguments
        if self._wait:
            await asyncio.sleep(self._wait * (0.8 + 0.4 * self._rng.random()))
        reading = await self.heartbeat()
        episodes = ["episode"] * self._lanes
        return UnrollMessage(number, self._arrays, self._state, version, episodes, bytes(2000), heartbeat=reading)

    async def call_each(self, method: str, activity: str, others: Sequence[Any], *firsts: Any) -> list[ScoredUnroll]:
        """Scores."""
        return [ScoredUnroll(np.zeros((STEPS, self._lanes), np.float32), LaneState(), 1) for _ in firsts]

    async def heartbeat(self) -> HeartbeatReading:
        """A heartbeat, as of a worker that is half busy."""
        return HeartbeatReading("plays unroll", 0.0, time.monotonic() / 2, time.monotonic(), os.getpid())


class ToyHandle(WorkerHandle):
    """A handle whose process is one of a few that answer for all."""

    processes: ClassVar[list[Any]] = []
    started: ClassVar[int] = 0

    def start(self, *arguments: Any) -> None:
        self.actor = self.processes[ToyHandle.started % len(self.processes)]
        ToyHandle.started += 1
        self.incarnation += 1

    def kill(self) -> None:
        """The process answers for others, too."""


def measure(actors: int, options: argparse.Namespace) -> dict[str, Any]:
    """Takes batches for a while, as a learner without weights."""
    torch.set_num_threads(1)
    config = RuntimeConfig(
        kind="ray",
        actors=actors,
        unrolls_per_batch=options.batch,
        max_lag=options.lag,
        reward=ReplicasConfig(replicas=max(1, options.replicas)),
    )
    memory = 2 * 2**30
    ray.init(address="local", num_cpus=8, include_dashboard=False, log_to_driver=False, object_store_memory=memory)
    remote = ray.remote(ToyProcess).options(max_concurrency=4000, num_cpus=0.1)
    ToyHandle.processes = [remote.remote(options.lanes, options.side, options.wait) for _ in range(options.processes)]
    ray.get([process.heartbeat.remote() for process in ToyHandle.processes])
    with tempfile.TemporaryDirectory() as folder:
        crashes = CrashReports(Path(folder), 1, "toys", 5, 3600.0)
        placement: Any = None  # toys are not placed
        context = LearnerContext(config, placement, crashes, 0, 0)

        def handles(name: str, count: int) -> list[WorkerHandle]:
            made: list[WorkerHandle] = [
                ToyHandle(f"{name}-{index}", dict, placement=placement, crashes=crashes, config=config)
                for index in range(count)
            ]
            context.workers += made
            context.pace_heartbeats()
            return made

        workers = handles("actor", actors)
        replicas = handles("reward", options.replicas)
        scorer = Replicas(replicas, retries=3) if replicas else ProgressReward()
        stream = RolloutStream(
            workers=workers,
            scoring=ScoringPool(scorer, unrolls_of_call(config)),
            inference=None,
            reference=None,
            newer=lambda: None,
            lanes=options.lanes,
            context=context,
            pinned=False,
        )
        report = run(stream, context, options)
        stream.close()
    ray.shutdown()
    return {"actors": actors, **report}


def run(stream: RolloutStream, context: LearnerContext, options: argparse.Namespace) -> dict[str, Any]:
    weights: dict[str, NDArray[Any]] = {"weight": np.zeros(1000, np.float32)}
    version = unrolls = 0
    started, cpu, shown = time.monotonic(), 0.0, 0.0
    began = started
    while cpu == 0.0 or time.monotonic() - started < options.seconds or unrolls == 0:
        if cpu == 0.0 and time.monotonic() - began > options.warm:
            started, cpu, unrolls = time.monotonic(), time.process_time(), 0
        batch = stream.take(lambda: lambda: weights, version, ahead=lambda: True, stopped=lambda: False)
        version, unrolls = version + 1, unrolls + len(batch.taken)
        stream.stats()
        if time.monotonic() - shown > STATUS_SECONDS:
            context.status()
            shown = time.monotonic()
    seconds = time.monotonic() - started
    return {
        "cpu_ms": 1e3 * (time.process_time() - cpu) / unrolls,
        "unrolls_per_second": unrolls / seconds,
        "of_all_actors": unrolls * options.wait / seconds / len(stream._workers) if options.wait else None,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--actors", type=int, nargs="+", default=[64, 1000])
    parser.add_argument(
        "--replicas", type=int, default=4, help="of the reward model; 0: scored in the learner's process"
    )
    parser.add_argument("--batch", type=int, default=16, help="unrolls of a batch")
    parser.add_argument("--lag", type=int, default=None, help="runtime.max_lag; by default all actors have work")
    parser.add_argument("--lanes", type=int, default=1, help="of an unroll")
    parser.add_argument("--side", type=int, default=8, help="height of a picture")
    parser.add_argument("--wait", type=float, default=0.0, help="seconds an unroll takes to play")
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--warm", type=float, default=5.0, help="seconds before the window")
    parser.add_argument("--processes", type=int, default=1, help="that answer for the toys")
    parser.add_argument("--turns", type=int, default=3, help="the sizes take turns; the lowest cost of each counts")
    add_json_option(parser)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.actors[0], options)))
        return
    rows = []
    print(f"{'actors':>8}{'max_lag':>9}{'CPU ms an unroll':>18}{'unrolls/s':>11}{'of all actors':>15}")
    for actors in list(options.actors) * options.turns:
        lag = -(-actors // options.batch) + 1 if options.lag is None else options.lag
        total = options.batch * options.lanes
        advice = idle_actors_advice(actors=actors, unrolls_per_batch=options.batch, max_lag=lag, lanes=total)
        if advice is not None:
            print(advice, file=sys.stderr)
        row = fresh(actors, lag, options) | {"max_lag": lag}
        rows.append(row)
        share = "" if row["of_all_actors"] is None else f"{row['of_all_actors']:.0%}"
        print(f"{actors:8}{lag:9}{row['cpu_ms']:18.2f}{row['unrolls_per_second']:11.1f}{share:>15}", flush=True)
    best = {actors: min(row["cpu_ms"] for row in rows if row["actors"] == actors) for actors in options.actors}
    low, high = best[min(best)], best[max(best)]
    print(f"lowest: {low:.2f} ms with {min(best)}, goal {GOAL_MS}; {high:.2f} with {max(best)}, ", end="")
    print(f"{high / low:.2f} times as much, goal {GOAL_RATIO}")
    write_json(options.json, {"rows": rows, "lowest": best, "ratio": high / low, "goals": [GOAL_MS, GOAL_RATIO]})


def fresh(actors: int, lag: int, options: argparse.Namespace) -> dict[str, Any]:
    """Measures in a process of its own."""
    passed = ("replicas", "batch", "lanes", "side", "wait", "seconds", "warm", "processes")
    settings = [text for name in passed for text in (f"--{name}", str(getattr(options, name)))]
    command = [sys.executable, __file__, *settings, "--actors", str(actors), "--lag", str(lag), "--one"]
    limit = START_SECONDS + options.warm + options.seconds
    ended = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=limit)
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


if __name__ == "__main__":
    main()
