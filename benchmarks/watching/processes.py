"""The processes of a run, as the kernel sees them, and what each of them takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
GONE = (FileNotFoundError, ProcessLookupError)  # it ended while it was looked at
KILOBYTES = 1024.0  # in a megabyte
RAYS_OWN = {
    "gcs_server": "gcs_server",
    "raylet": "raylet",
    "monitor.py": "autoscaler's monitor",
    "log_monitor.py": "log monitor",
    "dashboard.py": "dashboard",
    "ray::DashboardAgent": "dashboard agent",
    "ray::RuntimeEnvAgent": "runtime env agent",
    "ray::IDLE": "idle workers",
}


@dataclass(frozen=True)
class Process:
    """One process."""

    pid: int
    parent: int
    began: int  # ticks since the machine started; ids are given again, and only both name a process
    words: tuple[str, ...]  # of its command line


@dataclass(frozen=True)
class Use:
    """What a process takes, or several together; memory in MB."""

    own: float  # that no file can give back: what leaks
    share: float  # PSS: pages that several share are split between them
    resident: float  # RSS: they count in full
    threads: int
    files: int

    def __add__(self, other: Use) -> Use:
        return Use(
            self.own + other.own,
            self.share + other.share,
            self.resident + other.resident,
            self.threads + other.threads,
            self.files + other.files,
        )


def tree(root: int) -> list[Process]:
    """A process and all that descend from it, parents first; nothing where it has ended."""
    children: dict[int, list[Process]] = {}
    known = {}
    for process in living():
        known[process.pid] = process
        children.setdefault(process.parent, []).append(process)
    found = [known[root]] if root in known else []
    for process in found:  # which grows meanwhile
        found.extend(children.get(process.pid, []))
    return found


def living() -> Iterator[Process]:
    """Every process of this machine."""
    for folder in PROC.iterdir():
        if not folder.name.isdigit():
            continue
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except GONE:
            continue
        yield Process(int(folder.name), int(fields[1]), int(fields[19]), tuple(word for word in words if word))


def use_of(pid: int) -> Use | None:
    """What one process takes now; None where it has ended."""
    folder = PROC / str(pid)
    try:
        memory = _kilobytes((folder / "smaps_rollup").read_text())
        threads = len(list((folder / "task").iterdir()))
        files = len(list((folder / "fd").iterdir()))
    except GONE:
        return None
    if "Rss" not in memory:  # it has ended, and waits for its parent to hear of it
        return None
    own = memory["Pss_Anon"] + memory["SwapPss"]
    return Use(own / KILOBYTES, memory["Pss"] / KILOBYTES, memory["Rss"] / KILOBYTES, threads, files)


def _kilobytes(text: str) -> dict[str, int]:
    """`Pss:   123 kB` and its likes, by name."""
    rows = (line.split() for line in text.splitlines())
    return {row[0].rstrip(":"): int(row[1]) for row in rows if len(row) == 3 and row[2] == "kB"}


def by_name(processes: Iterable[Process], root: int, parts: Mapping[int, str]) -> dict[str, list[int]]:
    """The processes of a run by what they are.

    Args:
        root: the driver's process.
        parts: process ids to the names of the run's parts, as its status says.
    """
    found: dict[str, list[int]] = {}
    for process in processes:
        name = "driver" if process.pid == root else parts.get(process.pid) or _kind(process.words)
        found.setdefault(name, []).append(process.pid)
    return found


def _kind(words: tuple[str, ...]) -> str:
    """What a process is by its command line."""
    for word in words[:4]:  # python -u log_monitor.py ...
        name = word.rpartition("/")[2].split(" ")[0]
        if name in RAYS_OWN:
            return RAYS_OWN[name]
    return "starting or ending"
