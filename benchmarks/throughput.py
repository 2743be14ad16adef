"""Trained frames a CPU second: Interplay, a minimal loop, the arithmetic ideal, and other platforms on request.

    python benchmarks/throughput.py                              # Interplay, the minimal loop and the ideal
    python benchmarks/throughput.py --peer rllib --peer torchrl  # ... and peers, in virtual environments of their own
    python benchmarks/throughput.py --size large --runs 3 --json throughput.json
    python benchmarks/throughput.py --served                     # ... and Interplay with one network for all actors
    python benchmarks/throughput.py --peer rllib --keeping       # ... and the peer with memory kept as Interplay's is
    python benchmarks/throughput.py --scaling                    # 1 to 16 actors, with worlds that sleep 5 ms a step

Everyone plays the same world of noise (72x96x3, a known price a step) with the same number of worlds and networks of
one size, and learns from each frame once. Those with workers decide for the worlds of one worker at a time, those of
one process for all. A referee reads from outside how many frames were learned from and how many CPU seconds the whole
tree of processes took, in a window after the start. Runs take turns, so that a noisy machine is noisy to all; ratios
and shares of the ideal are taken within a turn, and their medians are told, with the least and the most.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from contest.standings import KEEPING, Result, standings, table

from interplay.runtime.allocator import keeping

HERE = Path(__file__).parent
CONTESTANTS = HERE / "contestants"
VENVS = HERE.parent / ".cache" / "peers"
MARK = "INTERPLAY_BENCHMARK"  # in the environment of every process of one run, however it was started
TICKS = os.sysconf("SC_CLK_TCK")
START_LIMIT = 240.0  # seconds until the first frames must be learned from

# Pins of peers, each installed into a virtual environment of its own; torch is the one that Interplay pins.
TORCH = "torch==2.13.0"
PEERS: dict[str, tuple[str, ...]] = {
    "rllib": (TORCH, "ray[rllib]==2.60.0"),
    "sample_factory": (TORCH, "sample-factory==2.1.1"),
    "torchrl": (TORCH, "torchrl==0.14.1", "gymnasium==1.4.0"),
    "cleanrl": (TORCH, "gymnasium==1.4.0"),  # its recipe: see the contestant
}
IDEAL_GOAL = 0.75  # with the small network


@dataclass(frozen=True)
class Plan:
    """What everyone is told."""

    size: str
    workers: int
    worlds: int
    unroll: int
    work: float
    wait: float
    seconds: float  # of the window

    def heading(self, turns: int) -> str:
        """What is compared."""
        worlds = f"{self.workers} x {self.worlds} worlds of {1e3 * self.work:g} ms"
        return f"network {self.size}, {worlds}, T = {self.unroll}, {turns} turns of {self.seconds:.0f} s"

    def words(self, folder: str) -> list[str]:
        """A contestant's command line."""
        named = {name: getattr(self, name) for name in ("size", "workers", "worlds", "unroll", "work", "wait")}
        return [word for name, value in named.items() for word in (f"--{name}", str(value))] + ["--folder", folder]


class Used(NamedTuple):
    """CPU seconds of a process."""

    own: float
    reaped: float  # of its children that have ended


def cpu_of(mark: str) -> dict[int, Used]:
    """What each living process of a run has used so far, by process id."""
    found = {}
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        try:
            if f"{MARK}={mark}".encode() not in (process / "environ").read_bytes():
                continue
            fields = (process / "stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue  # it has just ended, or is none of ours
        user, system, reaped_user, reaped_system = (int(value) / TICKS for value in fields[11:15])
        found[int(process.name)] = Used(user + system, reaped_user + reaped_system)
    return found


def processes_of(mark: str) -> Iterator[int]:
    """The process ids of a run."""
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and f"{MARK}={mark}".encode() in (process / "environ").read_bytes():
                yield int(process.name)
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue


def end(mark: str, child: subprocess.Popen[str]) -> None:
    """Ends every process of a run."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in processes_of(mark):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                continue
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline and any(processes_of(mark)):
            time.sleep(0.1)
    child.wait(timeout=10)


def python_of(name: str) -> str:
    """The interpreter that a contestant runs in; a peer's is made the first time."""
    if name not in PEERS:
        return sys.executable
    venv = VENVS / name
    stamp = venv / ".installed"
    if not stamp.exists() or stamp.read_text() != " ".join(PEERS[name]):
        say(f"{name}: making {venv}, once (minutes)")
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(venv)], check=True)
        pip = [str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, PEERS[name][0]], check=True)
        subprocess.run([*pip, *PEERS[name]], check=True)
        stamp.write_text(" ".join(PEERS[name]))
    return str(venv / "bin" / "python")


def environment(mark: str, *, keeps: bool) -> dict[str, str]:
    """One thread of arithmetic a process, and the contestants' folder to import from."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    kept = keeping() if keeps else {}
    return {**os.environ, **one, **kept, MARK: mark, "PYTHONPATH": str(CONTESTANTS), "RAY_DEDUP_LOGS": "0"}


def race(name: str, plan: Plan) -> Result:
    """One run: waits until learning has begun and settled, then counts for `plan.seconds`.

    Raises:
        RuntimeError: it ended, or did not begin; the message holds the last of what it wrote.
    """
    mark, program = uuid.uuid4().hex, name.removesuffix(KEEPING)
    with tempfile.TemporaryDirectory(prefix="throughput-") as folder, tempfile.TemporaryFile("w+") as errors:
        command = [python_of(program), str(CONTESTANTS / f"with_{program}.py"), *plan.words(folder)]
        around = environment(mark, keeps=program != name)
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=around, cwd=folder)
        assert child.stdout is not None
        os.set_blocking(child.stdout.fileno(), False)
        try:
            return _watched(name, plan, child, mark)
        except RuntimeError as error:
            errors.seek(0)
            raise RuntimeError(f"{error}\n{errors.read()[-2000:]}") from error
        finally:
            end(mark, child)


def _watched(name: str, plan: Plan, child: subprocess.Popen[str], mark: str) -> Result:
    """Follows a run's words. The window begins with the third update told, when all is warm, and ends with one."""
    parameters, frames, updates = 0, 0, 0
    begun: tuple[int, float, dict[int, Used]] | None = None
    limit = time.monotonic() + START_LIMIT
    while True:
        if child.poll() is not None:
            raise RuntimeError(f"{name} ended with code {child.returncode} before the window was over")
        if begun is None and time.monotonic() > limit:
            raise RuntimeError(f"{name} has not begun to learn within {START_LIMIT:.0f} s")
        for line in _lines(child):
            word, _, number = line.partition(" ")
            if word == "parameters":
                parameters = int(number)
            if word != "trained" or int(number) == frames:
                continue
            frames, updates = int(number), updates + 1
            now = (frames, time.monotonic(), cpu_of(mark))
            if begun is None and updates >= 3:
                begun = now
            elif begun is not None and now[1] - begun[1] >= plan.seconds:
                return Result(name, now[0] - begun[0], now[1] - begun[1], *_between(begun[2], now[2]), parameters)
        time.sleep(0.05)


def _between(before: dict[int, Used], after: dict[int, Used]) -> tuple[float, float]:
    """CPU seconds of all processes, and of the busiest alone."""
    used = sum(map(sum, after.values())) - sum(map(sum, before.values()))
    return used, max((each.own - before.get(pid, Used(0.0, 0.0)).own for pid, each in after.items()), default=0.0)


def _lines(child: subprocess.Popen[str]) -> list[str]:
    assert child.stdout is not None
    return [line.strip() for line in child.stdout.readlines() if line.endswith("\n")]


def ideal(plan: Plan) -> dict[str, float]:
    """CPU seconds a frame of world, inference and learner alone, with memory that is fetched once."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(CONTESTANTS / "with_parts.py"), *plan.words(folder)]
        around = environment("parts", keeps=True)
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=around)
    parts: dict[str, float] = json.loads(done.stdout)
    return parts


def scaling(plan: Plan, actors: Sequence[int]) -> list[dict[str, float]]:
    """Frames a second of 1 to many Ray actors, and how many cores they and the busiest process kept busy."""
    rows: list[dict[str, float]] = []
    say(f"{'actors':>6}{'frames/s':>10}{'of linear':>11}{'cores busy':>12}{'by one process':>16}   of {os.cpu_count()}")
    for number in actors:
        result = race("interplay_ray", Plan(**{**asdict(plan), "workers": number}))
        rate = result.frames / result.wall
        first = rows[0]["frames_per_second"] / rows[0]["actors"] if rows else rate / number
        row = {
            "actors": number,
            "frames_per_second": rate,
            "of_linear": rate / (first * number),
            "cores_busy": result.cpu / result.wall,
            "cores_busy_by_one_process": result.busiest / result.wall,
        }
        rows.append(row)
        busy = f"{row['cores_busy']:12.2f}{row['cores_busy_by_one_process']:16.2f}"
        say(f"{number:6}{rate:10,.0f}{row['of_linear']:11.0%}{busy}")
    return rows


def contest(plan: Plan, names: Sequence[str], runs: int) -> dict[str, object]:
    """Turns of everyone; prints as it goes."""
    turns, ideals = [], []
    for turn in range(runs):
        ideals.append(ideal(plan))
        results: dict[str, Result] = {}
        for name in names:
            results[name] = race(name, plan)
            say(f"turn {turn + 1} of {runs}: {name} {results[name].per_cpu:,.0f} frames a CPU second")
        turns.append(results)
    found = standings(turns, ideals)
    aim = f"{IDEAL_GOAL:.0%}" if plan.size == "small" else ""
    say("\n" + table(plan.heading(runs), found, ideals, aim=aim) + "\n")
    return {
        "plan": asdict(plan),
        "ideals": ideals,
        "turns": [{name: asdict(result) for name, result in turn.items()} for turn in turns],
        "standings": [asdict(standing) for standing in found],
    }


def say(text: str) -> None:
    """To people; JSON may go to stdout."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def contestants(peers: Sequence[str], *, served: bool, keeps: bool) -> list[str]:
    """Who runs, in this order; each has a file in `contestants/`. With `keeps`, peers run again with memory kept."""
    others = ["loop", f"loop{KEEPING}", *peers, *(f"{peer}{KEEPING}" for peer in peers if keeps)]
    return ["interplay", "interplay_alone", "interplay_ray", *(["interplay_served"] if served else []), *others]


def arguments() -> argparse.ArgumentParser:
    """What can be typed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", action="append", default=[], choices=sorted(PEERS))
    parser.add_argument("--size", action="append", choices=("small", "large"), help="small; none with --scaling")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--worlds", type=int, default=16)
    parser.add_argument("--unroll", type=int, default=50)
    parser.add_argument("--served", action="store_true", help="also Interplay with actors.inference=service")
    parser.add_argument("--keeping", action="store_true", help="each peer also with memory kept")
    parser.add_argument("--scaling", action="store_true", help="1 to 16 Ray actors, instead of the contest")
    parser.add_argument("--json", help="a file, or - for stdout")
    return parser


def main() -> None:
    """See the module."""
    told = arguments().parse_args()
    report: dict[str, object] = {}
    if told.scaling:
        slow = Plan("small", 1, told.worlds, told.unroll, 0.0, 5e-3, told.seconds)
        report["scaling"] = scaling(slow, (1, 2, 4, 8, 16))
    for size in told.size or ([] if told.scaling else ["small"]):
        plan = Plan(size, told.workers, told.worlds, told.unroll, 1e-4, 0.0, told.seconds)
        report[size] = contest(plan, contestants(told.peer, served=told.served, keeps=told.keeping), told.runs)
    if told.json:
        text = json.dumps(report, indent=1)
        (sys.stdout.write(text) if told.json == "-" else Path(told.json).write_text(text))


if __name__ == "__main__":
    main()
