"""What a GPU does in the parts around an update: the loop, the direction of the gradient, scoring and acting.

    python benchmarks/gpu_parts.py loop --size 71m --way "bf16 compiled channels_last" --accumulate 6
    python benchmarks/gpu_parts.py gradient --size 18m     # against float32, eager, on the same device
    python benchmarks/gpu_parts.py serve --size 71m        # reward model with reference policy, and decisions
    python benchmarks/gpu_parts.py loop --device cpu --size nano --steps 4 --lanes 2 --updates 2

`loop` makes updates as training does, next to a thread that fetches the weights of each, with `learner.check_lag` 0
and 2. It shows milliseconds an update, of them CPU time of this process, and on a GPU by torch's profiler: kernels
launched, synchronizing calls, and milliseconds in which the GPU was busy, which are also given as a share of an update
without the profiler. Apart from this package only torch and numpy are needed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import learner as updates  # benchmarks/learner.py
import torch
from reporting.update_profiles import busy_seconds

from interplay.agent.inference_device import InferenceDevice
from interplay.agent.network import Agent
from interplay.agent.policy import LocalPolicy
from interplay.agent.sizes import SIZES
from interplay.learner.device import find_device
from interplay.learner.learner import Learner
from interplay.reward.learned_reward import LearnedReward
from interplay.reward.reward_functions import LaneState, WithReferenceGate

LAGS = (0, 2)  # of `learner.check_lag`
PROFILED = 3  # updates
LAUNCHES, WAITS = ("LaunchKernel", "GraphLaunch"), ("Synchronize",)  # in the names of CUDA's calls
LANES_SCORED, LANES_DECIDED = (6, 16, 96), (16, 64, 256, 1024)


def rest(device: torch.device) -> None:
    """Waits until the device has finished its work."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def best_ms(run: Callable[[], object], device: torch.device, times: int) -> float:
    """Milliseconds of the fastest of several calls, the device at rest before and after."""
    run()
    taken = []
    for _ in range(times):
        rest(device)
        start = time.perf_counter()
        run()
        rest(device)
        taken.append(time.perf_counter() - start)
    return 1e3 * min(taken)


def looped(learner: Learner, given: Sequence[Mapping[str, Any]], count: int) -> tuple[float, float]:
    """Milliseconds of an update in the loop: of the clock, and of this process' CPU time."""
    with ThreadPoolExecutor(1) as actors:
        rest(learner.device)
        start, cpu, fetched = time.perf_counter(), time.process_time(), None
        for number in range(count):
            learner.begin_update(**given[number % len(given)])
            if fetched is not None:
                fetched.result(timeout=600)
            fetched = actors.submit(learner.snapshot())
        learner.settle()
        rest(learner.device)
        return 1e3 * (time.perf_counter() - start) / count, 1e3 * (time.process_time() - cpu) / count


def profiled(learner: Learner, given: Sequence[Mapping[str, Any]], wall_ms: float) -> dict[str, float]:
    """By torch's profiler, an update: kernels launched, synchronizing calls, and milliseconds in which the GPU was
    busy, also as a share of `wall_ms`, which an update takes without the profiler."""
    kinds = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=kinds) as profile:
        looped(learner, given, PROFILED)
    events = profile.key_averages()

    def calls(names: tuple[str, ...]) -> float:
        found = [
            int(each.count) for each in events if each.key.startswith("cu") and any(name in each.key for name in names)
        ]
        return sum(found) / PROFILED

    busy = 1e3 * busy_seconds(profile) / PROFILED
    return {"launches": calls(LAUNCHES), "waits": calls(WAITS), "busy_ms": busy, "busy": busy / wall_ms}


def loop(options: argparse.Namespace) -> None:
    """Prints one line for each `check_lag`."""
    for lag in LAGS:
        way = {**updates.WAYS[options.way], "check_lag": lag}
        learner = updates.learner_of(
            options.size, options.lanes, device=str(options.device), accumulate=options.accumulate, **way
        )
        sizes = options.steps, options.lanes
        given = [updates.unrolls(learner.agent, *sizes, seed, options.device) for seed in range(2)]
        looped(learner, given, updates.SETTLING)  # compiles and records
        wall, cpu = looped(learner, given, options.updates)
        frames = 1e3 * updates.frames(options.steps, options.lanes) / wall
        show(f"{options.size} {options.way} check_lag={lag}", {"ms": wall, "cpu_ms": cpu, "frames_per_s": frames})
        if learner.device.type == "cuda":
            show("    profiled", profiled(learner, given, wall))


def gradient(options: argparse.Namespace) -> None:
    """Prints how far the gradient of each way is from that of float32: of the whole, and of the worst tensor."""
    true = gradients(options, {})
    ways: dict[str, dict[str, Any]] = {"bf16": {"precision": "bf16"}, "accumulate=2": {"accumulate": 2}}
    ways["check_lag=2"] = {"check_lag": 2}
    if options.device.type == "cuda":
        ways |= {"fp32 compiled": updates.WAYS["fp32 compiled"], "bf16 compiled": updates.WAYS["bf16 compiled"]}
        ways |= {"on the CPU": {"device": "cpu"}} if options.size == "nano" else {}
    for name, way in ways.items():
        found = gradients(options, way)
        one, other = (torch.cat([each.reshape(-1) for each in named.values()]) for named in (true, found))
        cosine = float(torch.nn.functional.cosine_similarity(one, other, dim=0))
        apart = {
            key: float((found[key] - each).norm() / each.norm()) for key, each in true.items() if each.norm() > 1e-6
        }
        worst = max(apart, key=lambda key: apart[key])
        numbers = {"apart": float((other - one).norm() / one.norm()), "cosine": cosine, "worst": apart[worst]}
        show(f"{options.size} {name}", numbers, worst)


def gradients(options: argparse.Namespace, way: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    """The gradient of one update on at most 8 lanes of 12 steps, in float64 on the host."""
    lanes, steps = min(options.lanes, 8), min(options.steps, 12)
    learner = updates.learner_of(options.size, lanes, **{"device": str(options.device), **way})
    learner.update(**updates.unrolls(learner.agent, steps, lanes))
    named = learner.agent.named_parameters()
    return {name: each.grad.detach().cpu().double() for name, each in named if each.grad is not None}


def serve(options: argparse.Namespace) -> None:
    """Prints rows scored a second by a reward model and a reference policy, and decisions a second, by precision."""
    for precision in ("fp32", "bf16"):
        on = InferenceDevice(options.device, precision)
        policy = updates.agent_of(options.size)
        model = Agent(policy.config, policy.layout, updates.WORDS, utility=True)
        function = WithReferenceGate(LearnedReward(model, 1, on), policy, on)
        for lanes in sorted({min(lanes, options.lanes) for lanes in LANES_SCORED}):
            arrays = updates.unrolls(policy, options.steps, lanes)["rollout"].arrays
            ms = best_ms(partial(function.score, arrays, LaneState()), options.device, options.updates)
            rate = 1e3 * options.steps * lanes / ms
            show(f"{options.size} scores {lanes} lanes in {precision}", {"ms": ms, "frames_per_s": rate})
        for lanes in sorted({min(lanes, 16 * options.lanes) for lanes in LANES_DECIDED}):
            arrays = updates.unrolls(policy, 1, lanes)["rollout"].arrays
            one = {key: arrays[key][:1] for key in policy.layout.observations(0, 0)}
            acting = LocalPolicy(policy, torch.Generator().manual_seed(0), on=on)
            ms = best_ms(partial(acting.decide, one, acting.initial_state(lanes)), options.device, options.updates)
            show(f"{options.size} decides for {lanes} lanes in {precision}", {"ms": ms, "per_s": 1e3 * lanes / ms})


def show(name: str, numbers: Mapping[str, float], note: str = "") -> None:
    """Prints a line."""
    print(f"{name:52}" + "  ".join(f"{key} {value:.4g}" for key, value in numbers.items()) + f"  {note}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("loop", "gradient", "serve"))
    parser.add_argument("--device", type=find_device, default="auto")
    parser.add_argument("--size", default="nano", choices=tuple(SIZES))
    parser.add_argument("--way", default="bf16", choices=tuple(updates.WAYS))
    parser.add_argument("--steps", type=int, default=50, help="T")
    parser.add_argument("--lanes", type=int, default=96, help="of rollouts, and as many of demonstrations")
    parser.add_argument("--accumulate", type=int, default=1, help="parts of a batch, in `loop`")
    parser.add_argument("--updates", type=int, default=10, help="or other repetitions")
    options = parser.parse_args()
    {"loop": loop, "gradient": gradient, "serve": serve}[options.part](options)


if __name__ == "__main__":
    main()
