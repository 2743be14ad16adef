"""Where the time of an update goes: launches, the most expensive operations, and the busy share of a GPU."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from interplay.learner.learner import Learner


def clock(device: torch.device) -> float:
    """Seconds: wall time after a GPU has finished its work; CPU time of this process on a CPU, which may be shared."""
    if device.type == "cpu":
        return time.process_time()
    torch.cuda.synchronize(device)
    return time.perf_counter()


class Operations(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch does not annotate it
    """Counts ATen operations that are not views."""

    count: int = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += not func.is_view
        return func(*args, **(kwargs or {}))


def launches(learner: Learner, given: Mapping[str, Any]) -> int | None:
    """What the host launches in an update: kernels, copies and graphs; on a CPU, operations that are not views.

    None for a compiled learner on a CPU: compiled code does not run while `Operations` counts.
    """
    if learner.device.type == "cpu":
        if learner.config.compile:
            return None
        operations = Operations()  # type: ignore[no-untyped-call]  # torch does not annotate it
        with operations:
            learner.update(**given)
        return operations.count
    kinds = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=kinds) as profile:
        learner.update(**given)
        torch.cuda.synchronize(learner.device)
    calls = ("LaunchKernel", "GraphLaunch", "MemcpyAsync", "MemsetAsync")
    return sum(int(event.count) for event in profile.key_averages() if any(call in event.key for call in calls))


def largest(learner: Learner, given: Mapping[str, Any], updates: int = 3) -> str:
    """The most expensive operations by torch's profiler, and the share of time that the GPU was busy."""
    kinds = [torch.profiler.ProfilerActivity.CPU]
    on_gpu = learner.device.type == "cuda"
    if on_gpu:
        kinds.append(torch.profiler.ProfilerActivity.CUDA)
    with torch.profiler.profile(activities=kinds) as profile:
        start = clock(learner.device)
        for _ in range(updates):
            learner.update(**given)
        wall = clock(learner.device) - start
    order = "self_cuda_time_total" if on_gpu else "self_cpu_time_total"
    table = profile.key_averages().table(sort_by=order, row_limit=15, max_name_column_width=60)
    busy = busy_seconds(profile)
    return f"{table}\nthe GPU was busy {busy / wall:.0%} of {wall:.2f} s" if on_gpu else str(table)


def busy_seconds(profile: torch.profiler.profile) -> float:
    """Seconds in which the GPU ran at least one kernel, copy or fill, by torch's profiler."""
    spans = [
        (event.time_range.start, event.time_range.end)
        for event in profile.events()  # type: ignore[no-untyped-call]  # torch does not annotate it
        if event.device_type.name == "CUDA" and not event.is_user_annotation
    ]
    busy, until = 0.0, 0.0
    for start, end in sorted(spans):
        busy += max(0.0, end - max(start, until))
        until = max(until, end)
    return busy / 1e6
