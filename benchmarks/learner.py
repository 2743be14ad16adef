"""The cost of a learner update by agent size and compute settings, and its share of the device's peak.

    python benchmarks/learner.py                              # nano, 18m, 71m; T = 50, 96 + 96 lanes; on a GPU
    python benchmarks/learner.py --quick                      # nano and 5m, small unrolls; the default on a CPU
    python benchmarks/learner.py --sizes 71m --recompute 8 --profile
    python benchmarks/learner.py --json learner.json          # also write the numbers as JSON (- for stdout)

Unrolls are random, half rollouts and half demonstrations, with pictures of 72x96 like the Playhouse's. All settings
of a size take turns, so that noise of the machine affects them equally; the best time is the cost of the code (on a
CPU, in CPU seconds). FlopCounterMode counts the arithmetic once, without recomputation; the device's peak is its best
product of two large matrices in the same precision, measured here. Launches are the kernels, copies and graphs that the
host launches in an update, by torch's profiler; on a CPU, the ATen operations that are not views. On a GPU the learner
is first compared with one on the CPU, and moved from the GPU to the CPU. Apart from this package only torch and numpy
are needed: make typing, then PYTHONPATH=.typing python3 benchmarks/learner.py.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from reporting.json_numbers import add_json_option, write_json

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
from reporting.update_profiles import clock, largest, launches
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from interplay.agent.network import Agent
from interplay.agent.observation import Arrays, Layout
from interplay.agent.sizes import SIZES
from interplay.agent.unroll import Unroll, allocate_demonstration, allocate_rollout
from interplay.env.playhouse.house.action_codec import COMPONENTS
from interplay.env.world import WorldSpec
from interplay.learner.config import LearnerConfig
from interplay.learner.device import find_device
from interplay.learner.learner import Learner
from interplay.runtime.batch_sources import BatchBuffers

SPEC = WorldSpec(
    name="random",
    version=1,
    roles=("setter", "solver"),
    frames_per_step=8,
    frames_per_second=30.0,
    image=(72, 96, 3),
    vector=0,
    movement=COMPONENTS,
    utterances=True,
    poses=0,
)
WORDS = 500  # size of the vocabulary
SPEAKS = 0.05  # share of steps with an utterance
WAYS: dict[str, dict[str, Any]] = {
    "fp32": {},
    "fp32 channels_last": {"channels_last": True},
    "fp32 compiled": {"compile": True},
    "bf16": {"precision": "bf16"},
    "bf16 compiled": {"precision": "bf16", "compile": True},
    "bf16 compiled channels_last": {"precision": "bf16", "compile": True, "channels_last": True},
    # With the fused step that the device decides, as graphs have it: what a graph is compared with.
    "fp32 check_lag": {"check_lag": 2},
    "bf16 check_lag": {"precision": "bf16", "check_lag": 2},
    "fp32 cuda_graph": {"check_lag": 2, "cuda_graph": True},
    "bf16 cuda_graph": {"precision": "bf16", "check_lag": 2, "cuda_graph": True},
    "bf16 compiled cuda_graph": {"precision": "bf16", "compile": True, "check_lag": 2, "cuda_graph": True},
}
GRAPHS = tuple(way for way, switches in WAYS.items() if switches.get("cuda_graph"))
SETTLING = 4  # updates before the clock starts; a graph is recorded in the third or, if rows do not fit, a later one
HEADINGS = "recompute   best ms    median  frames/s      x  of peak     GB    apart launches"
CHUNKS = (0, 4, 8, 16, 32)  # tried in turn if memory is insufficient


@dataclass(frozen=True)
class Plan:
    """The measurements to make."""

    device: str
    sizes: tuple[str, ...]
    ways: tuple[str, ...]
    steps: int
    lanes: int  # of rollouts, and as many of demonstrations
    updates: int
    recompute: int | None  # None: as little as memory allows
    accumulate: int = 1  # parts of a batch


@dataclass
class Row:
    """One setting of one size."""

    size: str
    way: str
    recompute: int
    first: float  # seconds of the first update, compilation included
    best: float  # seconds of an update
    median: float
    frames: float  # learned from per second, at best
    rows: float  # through the network per second: the last row of a rollout lane is not a frame
    gflop: float  # per row, forward and backward
    share: float  # of the device's measured peak in this precision
    memory: float | None  # peak GB on a GPU; None on a CPU
    apart: float  # relative difference of the first gradient norm from that of the first setting
    launches: int | None = None  # by the host, an update; None if it can't be counted


def agent_of(size: str) -> Agent:
    config = SIZES[size]
    torch.manual_seed(1)
    return Agent(config, Layout(SPEC, config.utterance_length, config.actions_per_step), WORDS)


def fill(arrays: Arrays, layout: Layout, rng: np.random.Generator) -> None:
    """Fills arrays with random rows of long episodes."""
    lead = arrays["first"].shape
    arrays["first"][:] = rng.random(lead) < 0.01
    arrays["last"][:-1] = arrays["first"][1:]
    arrays["image"][:] = rng.integers(256, size=arrays["image"].shape, dtype=np.uint8)
    bins = np.array(layout.bins)
    for key in ("movement", "previous"):
        arrays[key][:] = rng.integers(bins, size=arrays[key].shape)
    arrays["spoke"][:] = rng.random(lead) < SPEAKS
    for key in ("heard", "said", "tokens"):
        arrays[key][..., :5] = rng.integers(4, WORDS, size=(*lead, 5))
        arrays[key][..., 5] = 3  # the end
    arrays["tokens"][~arrays["spoke"]] = 0


def unrolls(agent: Agent, steps: int, lanes: int, seed: int = 0, device: torch.device | None = None) -> dict[str, Any]:
    """The arguments of one update; for a GPU in page-locked memory, as under Ray."""
    rng = np.random.default_rng(seed)
    shown, earned = allocate_demonstration(agent.layout, steps, lanes), allocate_rollout(agent.layout, steps, lanes)
    for arrays in (shown, earned):
        fill(arrays, agent.layout, rng)
    shown["cloned"][:] = True
    lead = earned["first"].shape
    for key in ("movement_log_prob", "language_log_prob"):
        earned[key][:] = rng.normal(-2, 0.5, size=earned[key].shape)
    earned["reward"] = rng.normal(size=(steps, lanes)).astype(np.float32)
    earned["reference_gate"] = np.zeros(lead, np.float32)
    state = agent.initial_state(lanes).to_arrays()
    if device is not None and device.type == "cuda":
        shown, earned = (BatchBuffers(1, pinned=True).concatenate([arrays])[1] for arrays in (shown, earned))
    return {"demonstrated": Unroll(shown), "rollout": Unroll(earned, state)}


def learner_of(size: str, lanes: int, **switches: Any) -> Learner:
    return Learner(
        agent_of(size), LearnerConfig(**switches), dataset_lanes=lanes, generator=torch.Generator().manual_seed(2)
    )


def flop_of_a_row(size: str, device: str) -> float:
    """Operations per row of the network, forward and backward, at the batch's average share of utterances."""
    lanes = 2
    learner = learner_of(size, lanes, device=device)
    given = unrolls(learner.agent, 9, lanes)
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        learner.update(**given)
    return float(counter.get_total_flops() / network_rows(9, lanes))


def frames(steps: int, lanes: int) -> int:
    """Frames per update: T steps of rollout lanes, T + 1 of demonstration lanes."""
    return lanes * (2 * steps + 1)


def network_rows(steps: int, lanes: int) -> int:
    """Rows per update: T + 1 of all lanes."""
    return 2 * lanes * (steps + 1)


def peak(device: torch.device, dtype: torch.dtype) -> float:
    """Operations per second in the best of several products of two random square matrices."""
    side = 8192 if device.type == "cuda" else 1024
    one, other = (torch.randn(side, side, device=device).to(dtype) for _ in range(2))
    taken: list[float] = []
    while sum(taken) < 3.0:
        start = clock(device)
        one @ other
        taken.append(clock(device) - start)
    return 2.0 * side**3 / min(taken)


def begin(plan: Plan, size: str, way: str) -> tuple[Learner, Row]:
    """A learner after its first update; recomputes more if memory is insufficient."""
    device = find_device(plan.device)
    for chunks in CHUNKS if plan.recompute is None else (plan.recompute,):
        learner = learner_of(
            size, plan.lanes, device=plan.device, recompute=chunks, accumulate=plan.accumulate, **WAYS[way]
        )
        given = unrolls(learner.agent, plan.steps, plan.lanes, 0, device)
        if device.type == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats(device)
        start = clock(device)
        try:
            metrics = learner.update(**given)
        except torch.OutOfMemoryError:
            say(f"{size} {way}: recompute={chunks} does not fit into memory")
            del learner
            continue
        first, peak_gb = clock(device) - start, None
        if device.type == "cuda":
            peak_gb = torch.cuda.max_memory_allocated(device) / 1e9
        return learner, Row(size, way, chunks, first, 0, 0, 0, 0, 0, 0, peak_gb, metrics["gradient_norm"])
    raise SystemExit(f"{size} {way}: memory does not suffice; try fewer --lanes")


def measured(plan: Plan, size: str, peaks: Mapping[str, float], profiled: bool) -> Iterator[Row]:
    """Measures all settings of one size, in turns."""
    device, gflop = find_device(plan.device), flop_of_a_row(size, plan.device) / 1e9
    begun = {way: begin(plan, size, way) for way in plan.ways}
    given = [unrolls(begun[plan.ways[0]][0].agent, plan.steps, plan.lanes, seed, device) for seed in range(2)]
    taken: dict[str, list[float]] = {way: [] for way in plan.ways}
    for way in (way for way in plan.ways if way in GRAPHS):
        for turn in range(SETTLING):
            begun[way][0].update(**given[turn % 2])
    for turn in range(plan.updates):
        for way, (learner, _) in begun.items():
            start = clock(device)
            learner.update(**given[turn % 2])
            taken[way].append(clock(device) - start)
    counted = {way: launches(learner, given[0]) for way, (learner, _) in begun.items()}
    reference = begun[plan.ways[0]][1].apart
    for way, (learner, row) in begun.items():
        row.best, row.median = min(taken[way]), float(np.median(taken[way]))
        row.frames, row.gflop = frames(plan.steps, plan.lanes) / row.best, gflop
        row.rows = network_rows(plan.steps, plan.lanes) / row.best
        row.share = row.rows * gflop * 1e9 / peaks[learner.config.precision]
        row.apart, row.launches = abs(row.apart / reference - 1), counted[way]
        yield row
        if profiled:
            say(largest(learner, given[0]))


def agreement(device: str) -> str:
    """Compares two updates on `device` and on the CPU, then a third on the CPU after moving the saved state."""
    here, there = (learner_of("nano", 4, device=place) for place in (device, "cpu"))
    worst = 0.0
    for number in range(2):
        given = unrolls(here.agent, 6, 4, number)
        mine, theirs = here.update(**given), there.update(**given)
        worst = max(worst, *(abs(mine[name] - theirs[name]) / max(0.1, abs(theirs[name])) for name in theirs))
    file = io.BytesIO()
    torch.save({"weights": here.agent.state_dict(), "state": here.state()}, file)
    file.seek(0)
    saved = torch.load(file, map_location="cpu", weights_only=True)
    moved = learner_of("nano", 4, device="cpu")
    moved.agent.load_state_dict(saved["weights"])
    moved.load_state(saved["state"])
    given = unrolls(here.agent, 6, 4, 2)
    stayed, taken = here.update(**given)["loss"], moved.update(**given)["loss"]
    return (
        f"on {device} and on the CPU: metrics of two updates differ by {worst:.1e} at most (relative); "
        f"saved there and taken here, the loss of the third is {taken:.6g}, there {stayed:.6g}"
    )


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def planned() -> tuple[Plan, argparse.Namespace]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="auto", help="cpu, cuda, cuda:1, ...; auto: a GPU if there is one")
    parser.add_argument("--quick", action="store_true", help="small settings, the default on a CPU")
    parser.add_argument("--sizes", help="comma-separated, of " + ", ".join(SIZES))
    parser.add_argument("--ways", help="comma-separated, of " + ", ".join(WAYS))
    parser.add_argument("--steps", type=int, help="T")
    parser.add_argument("--lanes", type=int, help="of rollouts, and as many of demonstrations")
    parser.add_argument("--updates", type=int, help="per setting, after the first update")
    parser.add_argument("--recompute", type=int, help="chunks; default: as few as fit into memory")
    parser.add_argument("--accumulate", type=int, default=1, help="parts of a batch, one after another")
    parser.add_argument("--profile", action="store_true", help="also print the most expensive operations to stderr")
    add_json_option(parser)
    options = parser.parse_args()
    device = find_device(options.device)
    small = options.quick or device.type == "cpu"
    sizes = options.sizes or ("nano,5m" if small else "nano,18m,71m")
    # Compiling C++ takes minutes and gains least on a CPU, so there it must be named; graphs are for GPUs.
    left_out = {way for way in WAYS if device.type == "cpu" and ("compiled" in way or way in GRAPHS)}
    ways = options.ways or ",".join(way for way in WAYS if way not in left_out)
    plan = Plan(
        device=str(device),
        sizes=tuple(sizes.split(",")),
        ways=tuple(ways.split(",")),
        steps=options.steps or (6 if small else 50),
        lanes=options.lanes or (4 if small else 96),
        updates=options.updates or (6 if small else 10),
        recompute=options.recompute,
        accumulate=options.accumulate,
    )
    unknown = [name for name in plan.sizes if name not in SIZES] + [way for way in plan.ways if way not in WAYS]
    if unknown:
        parser.error(f"{', '.join(unknown)}: not known; sizes: {', '.join(SIZES)}; ways: {', '.join(WAYS)}")
    return plan, options


def main() -> None:
    plan, options = planned()
    device = find_device(plan.device)
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else f"CPU, {torch.get_num_threads()} thread(s)"
    peaks = {"fp32": peak(device, torch.float32), "bf16": peak(device, torch.bfloat16)}
    say(f"{name}: T = {plan.steps}, {plan.lanes} + {plan.lanes} lanes; peaks " + peaks_text(peaks))
    agreed = agreement(plan.device) if device.type == "cuda" else None
    if agreed is not None:
        say(agreed)
    print(f"{'':34}{HEADINGS}")
    rows = []
    for size in plan.sizes:
        base = 0.0
        for row in measured(plan, size, peaks, options.profile):
            base = base or row.frames
            rows.append(row)
            memory = "-" if row.memory is None else f"{row.memory:.1f}"
            print(
                f"{row.size + ' ' + row.way:34}{row.recompute:9}{row.best * 1e3:10.1f}{row.median * 1e3:10.1f}"
                f"{row.frames:10.0f}{row.frames / base:7.2f}{row.share:9.1%}{memory:>7}{row.apart:9.0e}"
                f"{'-' if row.launches is None else row.launches:>9}",
                flush=True,
            )
    result = {"device": name, "torch": torch.__version__, "plan": asdict(plan), "peaks": peaks}
    write_json(options.json, {**result, "agreement": agreed, "rows": [asdict(row) for row in rows]})


def peaks_text(peaks: Mapping[str, float]) -> str:
    return ", ".join(f"{precision} {rate / 1e12:.3g} TFLOP/s" for precision, rate in peaks.items())


if __name__ == "__main__":
    main()
