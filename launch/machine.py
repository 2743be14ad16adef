"""Cores and memory that this process may use, within the limits of a container."""

from __future__ import annotations

import os
import re
from pathlib import Path


def usable_cores(root: Path) -> float:
    """Cores that this process may use: its affinity, lowered by a container's quota (cgroup v2 or v1) under `root`."""
    allowed = float(len(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else float(os.cpu_count() or 1)
    quota = _text(root / "sys/fs/cgroup/cpu.max").split()
    if not quota:
        group = root / "sys/fs/cgroup/cpu"
        quota = [*_text(group / "cpu.cfs_quota_us").split(), *_text(group / "cpu.cfs_period_us").split()]
    if len(quota) == 2 and quota[0] not in ("max", "-1"):
        return min(allowed, int(quota[0]) / int(quota[1]))
    return allowed


def free_memory(root: Path) -> int | None:
    """Bytes that are still free: /proc/meminfo, lowered by a cgroup's limit; None where neither exists."""
    available = re.search(r"^MemAvailable:\s+(\d+) kB", _text(root / "proc/meminfo"), re.MULTILINE)
    free = [int(available.group(1)) * 1024] if available else []
    group = root / "sys/fs/cgroup"
    for limit, used in (
        (group / "memory.max", group / "memory.current"),
        (group / "memory/memory.limit_in_bytes", group / "memory/memory.usage_in_bytes"),
    ):
        most, now = _text(limit).strip(), _text(used).strip()
        if most.isdigit() and now.isdigit():  # for no limit, v2 has "max" and v1 a huge number
            free.append(int(most) - int(now))
    return min(free) if free else None


def total_memory(root: Path) -> int | None:
    """Bytes of memory of the machine, lowered by a cgroup's limit; None where the system does not report it."""
    total = re.search(r"^MemTotal:\s+(\d+) kB", _text(root / "proc/meminfo"), re.MULTILINE)
    group = root / "sys/fs/cgroup"
    limits = [_text(group / name).strip() for name in ("memory.max", "memory/memory.limit_in_bytes")]
    sizes = [int(limit) for limit in limits if limit.isdigit()]
    return min([*sizes, int(total.group(1)) * 1024]) if total else None


def _text(path: Path) -> str:
    """The text of a small file; empty where it does not exist or may not be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return ""
