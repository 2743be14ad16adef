"""The numbers that a GPU is to reach, and whether it computes what the CPU computes: in one process of seven minutes.

    python benchmarks/gpu_acceptance.py --json acceptance.json
    python benchmarks/gpu_acceptance.py --device cpu --large nano --steps 2 --lanes 2 --updates 1   # tries the script

| number | at least |
|---|---|
| learner: share of 788 TFLOP/s in an update of `71m` in bf16, eager and compiled | 45%, in at most 120 GB |
| reward: frames a second that a reward model of `71m` scores, alone and with the reference policy | 8,000 |
| decisions: a second by the inference service of `71m`, for 256 to 1,024 lanes in requests of 16 | 10,000 |
| nano: frames a second of the learner in the loop of training, as a CUDA graph | 500,000 |

The file is written after each number, so that a stop loses none. A measurement that fails is recorded with its error,
and the next one begins; one that would begin after `--seconds` is left out. Apart from this package only torch and
numpy are needed.
"""

from __future__ import annotations

import argparse
import gc
import time
import traceback
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import gpu_parts as parts
import learner as updates  # benchmarks/learner.py
import torch
from reporting.json_numbers import add_json_option, write_json

from interplay.agent.inference_device import InferenceDevice, expect_any_batch_size
from interplay.agent.network import Agent
from interplay.agent.recurrent import RecurrentState
from interplay.agent.remote_policy import DecisionRequest
from interplay.agent.sizes import SIZES
from interplay.agent.weights import export_weights
from interplay.learner.device import find_device
from interplay.reward.learned_reward import LearnedReward
from interplay.reward.reward_functions import LaneState, WithReferenceGate
from interplay.runtime.inference_model import InferenceModel

ASSUMED_PEAK = 788e12  # operations a second of large products in bf16 on an H200, as in docs/scale.md
REQUEST_LANES = 16  # of one actor
COMPILED = "bf16 compiled channels_last"
GRAPH, COMPILED_GRAPH, WITHOUT_GRAPH = "bf16 cuda_graph", "bf16 compiled cuda_graph", "bf16 check_lag"
COMPARED = "fp32 cuda_graph", "fp32 check_lag"

Numbers = Mapping[str, Any]


def measurements(options: argparse.Namespace) -> dict[str, Callable[[], Numbers]]:
    """What is measured, by its name: what needs a compiler comes late, because it takes minutes."""
    if options.device.type == "cpu":
        return {
            "learner": partial(large, options, "bf16"),
            "reward": partial(reward, options),
            "decisions": partial(decisions, options),
            "nano": partial(nano, options, WITHOUT_GRAPH),
            "gradient in bf16": partial(gradient, options),
        }
    return {
        "GPU and CPU": lambda: {"agreement": updates.agreement(str(options.device))},
        "learner": partial(large, options, "bf16"),
        "reward": partial(reward, options),
        "decisions": partial(decisions, options),
        "nano": partial(nano, options, GRAPH),
        "learner compiled": partial(large, options, COMPILED),
        "graph and eager": partial(same_updates, options),
        "gradient in bf16": partial(gradient, options),
        "nano compiled": partial(nano, options, COMPILED_GRAPH),
    }


def large(options: argparse.Namespace, way: str) -> Numbers:
    """Updates of the large network, one after another without waiting for their metrics."""
    device, size = options.device, options.large
    flop = updates.flop_of_a_row(size, str(device)) * updates.network_rows(options.steps, options.lanes)
    switches = {**updates.WAYS[way], "check_lag": 2, "accumulate": options.accumulate}
    learner = updates.learner_of(size, options.lanes, device=str(device), **switches)
    given = [updates.unrolls(learner.agent, options.steps, options.lanes, seed, device) for seed in range(2)]
    first, _ = parts.looped(learner, given, 1)
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    ms, cpu_ms = parts.looped(learner, given, options.updates)
    gb = torch.cuda.max_memory_allocated(device) / 1e9 if device.type == "cuda" else None
    frames, rate = 1e3 * updates.frames(options.steps, options.lanes) / ms, 1e3 * flop / ms
    shares = {"share_of_788": rate / ASSUMED_PEAK, "share_of_peak": rate / updates.peak(device, torch.bfloat16)}
    took = {"way": way, "first_ms": first, "ms": ms, "cpu_ms": cpu_ms, "gb": gb, "tflop": flop / 1e12}
    return {**took, "frames_per_s": frames, **shares}


def reward(options: argparse.Namespace) -> Numbers:
    """Frames scored a second in bf16: by the reward model alone, and with the gate of the reference policy."""
    on, policy = InferenceDevice(options.device, "bf16"), updates.agent_of(options.large)
    model = Agent(policy.config, policy.layout, updates.WORDS, utility=True)
    alone = LearnedReward(model, 1, on)
    arrays = updates.unrolls(policy, options.steps, options.lanes, 0, options.device)["rollout"].arrays
    found = {}
    for name, function in {"alone": alone, "with reference": WithReferenceGate(alone, policy, on)}.items():
        ms = parts.best_ms(partial(function.score, arrays, LaneState()), options.device, options.updates)
        found[name] = {"ms": ms, "frames_per_s": 1e3 * options.steps * options.lanes / ms}
    return found


def decisions(options: argparse.Namespace) -> Numbers:
    """Decisions a second in bf16, by number of lanes, with the kernels of attention that the server uses."""
    expect_any_batch_size()
    agent = updates.agent_of(options.large)
    service = InferenceModel(agent, InferenceDevice(options.device, "bf16"))
    service.publish(1, export_weights(agent), [])
    found = {}
    for lanes in options.deciding:
        run = partial(service.decide, requests(agent, lanes))
        start = time.perf_counter()
        run()
        first = 1e3 * (time.perf_counter() - start)  # of this number of lanes
        ms = parts.best_ms(run, options.device, options.updates)
        found[str(lanes)] = {"first_ms": first, "ms": ms, "per_s": 1e3 * lanes / ms}
    torch.backends.cuda.enable_cudnn_sdp(True)  # torch's default, for the other measurements
    return found


def requests(agent: Agent, lanes: int) -> list[DecisionRequest]:
    """Requests of actors with `REQUEST_LANES` lanes each, `lanes` in all."""
    arrays = updates.unrolls(agent, 1, lanes)["rollout"].arrays
    width, made = agent.config.lstm, []
    for start in range(0, lanes, REQUEST_LANES):
        own = slice(start, start + REQUEST_LANES)
        seen = {key: arrays[key][:1, own] for key in agent.layout.observations(0, 0)}
        zeros = torch.zeros(seen["first"].shape[1], width).numpy()
        random = torch.Generator().manual_seed(start).get_state().numpy()
        made.append(DecisionRequest(seen, RecurrentState(zeros, zeros), random, 1))
    return made


def nano(options: argparse.Namespace, way: str) -> Numbers:
    """Frames a second of `nano` in the loop of training."""
    learner = updates.learner_of("nano", options.lanes, device=str(options.device), **updates.WAYS[way])
    given = [updates.unrolls(learner.agent, options.steps, options.lanes, seed, options.device) for seed in range(2)]
    parts.looped(learner, given, updates.SETTLING)
    ms, cpu_ms = parts.looped(learner, given, 4 * options.updates)
    rate = 1e3 * updates.frames(options.steps, options.lanes) / ms
    return {"way": way, "ms": ms, "cpu_ms": cpu_ms, "frames_per_s": rate}


def same_updates(options: argparse.Namespace) -> Numbers:
    """How far the metrics of updates as a graph are at most from those without one, relative to the larger of 0.1 and
    the metric: in float32."""
    apart = 0.0
    graph, eager = (updates.learner_of("nano", 4, device=str(options.device), **updates.WAYS[way]) for way in COMPARED)
    for number in range(updates.SETTLING + 2):
        given = updates.unrolls(graph.agent, 6, 4, number)
        found, expected = graph.update(**given), eager.update(**given)
        apart = max(apart, *(abs(found[name] - each) / max(0.1, abs(each)) for name, each in expected.items()))
    return {"apart": apart}


def gradient(options: argparse.Namespace) -> Numbers:
    """How far the gradient in bf16 is from that in float32, by size of the network: a share of its norm, and the
    cosine."""
    found = {}
    for size in dict.fromkeys(("nano", options.large)):
        given = argparse.Namespace(**{**vars(options), "size": size})
        one, other = (
            torch.cat([each.reshape(-1) for each in parts.gradients(given, way).values()])
            for way in ({}, {"precision": "bf16"})
        )
        cosine = float(torch.nn.functional.cosine_similarity(one, other, dim=0))
        found[size] = {"apart": float((other - one).norm() / one.norm()), "cosine": cosine}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", type=find_device, default="auto")
    parser.add_argument("--large", default="71m", choices=tuple(SIZES), help="the large network")
    parser.add_argument("--steps", type=int, default=50, help="T")
    parser.add_argument("--lanes", type=int, default=96, help="of rollouts, and as many of demonstrations")
    parser.add_argument("--deciding", type=int, nargs="+", default=[256, 512, 1024], help="lanes of decisions")
    parser.add_argument("--accumulate", type=int, default=6, help="parts of a batch of the large network")
    parser.add_argument("--updates", type=int, default=5, help="or other repetitions")
    parser.add_argument("--seconds", type=float, default=400.0, help="after which no measurement begins")
    add_json_option(parser)
    options = parser.parse_args()
    start = time.monotonic()
    gpu = options.device.type == "cuda"
    name = torch.cuda.get_device_name(options.device) if gpu else "CPU"
    results: dict[str, Any] = {"device": name, "torch": torch.__version__, "numbers": {}}
    for title, measure in measurements(options).items():
        seconds = time.monotonic() - start
        found: Numbers = {"left out": f"{seconds:.0f} s had passed"}
        if seconds < options.seconds:
            try:
                found = measure()
            except Exception as error:  # noqa: BLE001 - whatever a GPU raises: the other numbers count, too
                traceback.print_exc()
                found = {"error": f"{type(error).__name__}: {error}"}
        results["numbers"][title] = {**found, "seconds": time.monotonic() - start - seconds}
        print(f"{title:18}{results['numbers'][title]}", flush=True)
        write_json(options.json, results)
        gc.collect()  # a learner with graphs, which refer to it
        if gpu:
            torch.cuda.empty_cache()
    if failed := [title for title, found in results["numbers"].items() if "error" in found or "left out" in found]:
        raise SystemExit(f"without a result: {', '.join(failed)}")


if __name__ == "__main__":
    main()
