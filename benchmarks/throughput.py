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

A contestant that fails, or whose learning stops, is told at once and in the report; the others go on. The report is
written after each run. Ctrl-C ends it early and still tells what was finished. It ends with 1 where anything failed.
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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

from contest.standings import KEEPING, Failure, Result, standings, table

from interplay.runtime.allocator import retention_environment

HERE = Path(__file__).parent
CONTESTANTS = HERE / "contestants"
VENVS = HERE.parent / ".cache" / "peers"
MARK = "INTERPLAY_BENCHMARK"  # in the environment of every process of one run, however it was started
TICKS = os.sysconf("SC_CLK_TCK")
START_LIMIT = 240.0  # seconds until the window must have begun
STALL_LIMIT = 120.0  # seconds within which, in the window, new frames must be learned from
IDEAL_LIMIT = 600.0  # seconds in which the ideal must be measured
STOPPED = 130  # the exit code after Ctrl-C
FAILED = (RuntimeError, OSError, subprocess.SubprocessError)  # what race and ideal raise

T = TypeVar("T")
Report = dict[str, Any]  # what JSON is to hold of a part of all that is run; "failures" is in each

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
    kept = retention_environment() if keeps else {}
    return {**os.environ, **one, **kept, MARK: mark, "PYTHONPATH": str(CONTESTANTS), "RAY_DEDUP_LOGS": "0"}


def race(name: str, plan: Plan) -> Result:
    """One run: waits until learning has begun and settled, then counts for `plan.seconds`.

    Raises:
        RuntimeError: it ended, did not begin, stalled or told no number; the message holds the last of what it wrote.
        OSError, subprocess.SubprocessError: it was not installed or not started, or it does not end.
    """
    mark, program = uuid.uuid4().hex, name.removesuffix(KEEPING)
    with tempfile.TemporaryDirectory(prefix="throughput-") as folder, _errors() as errors:
        command = [python_of(program), str(CONTESTANTS / f"with_{program}.py"), *plan.words(folder)]
        around = environment(mark, keeps=program != name)
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=around, cwd=folder)
        assert child.stdout is not None
        os.set_blocking(child.stdout.fileno(), False)
        try:
            return _watched(name, plan, child, mark)
        except (RuntimeError, ValueError) as error:
            raise RuntimeError(f"{error}\n{_last(errors)}") from error
        finally:
            end(mark, child)


def _errors() -> IO[str]:
    """A file for what a process writes to stderr, be it text or not."""
    return tempfile.TemporaryFile("w+", errors="replace")


def _last(errors: IO[str]) -> str:
    errors.seek(0)
    return errors.read()[-2000:]


def _watched(name: str, plan: Plan, child: subprocess.Popen[str], mark: str) -> Result:
    """Follows a run's words. The window begins with the third update told, when all is warm, and ends with one.

    Raises:
        RuntimeError: it ended, did not begin within START_LIMIT, or learned from nothing new for STALL_LIMIT.
        ValueError: what it wrote is no text, or a word lacks its number.
    """
    parameters, frames, updates = 0, 0, 0
    begun: tuple[int, float, dict[int, Used]] | None = None
    limit = time.monotonic() + START_LIMIT
    while True:
        if child.poll() is not None:
            raise RuntimeError(f"{name} ended with code {child.returncode} before the window was over")
        if time.monotonic() > limit and begun is None:
            raise RuntimeError(f"{name} has not begun to learn within {START_LIMIT:g} s")
        if time.monotonic() > limit:
            raise RuntimeError(f"{name} has begun, and then learned from no new frames for {STALL_LIMIT:g} s")
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
            if begun is not None:
                limit = now[1] + STALL_LIMIT
        time.sleep(0.05)


def _between(before: dict[int, Used], after: dict[int, Used]) -> tuple[float, float]:
    """CPU seconds of all processes, and of the busiest alone."""
    used = sum(map(sum, after.values())) - sum(map(sum, before.values()))
    return used, max((each.own - before.get(pid, Used(0.0, 0.0)).own for pid, each in after.items()), default=0.0)


def _lines(child: subprocess.Popen[str]) -> list[str]:
    assert child.stdout is not None
    return [line.strip() for line in child.stdout.readlines() if line.endswith("\n")]


def ideal(plan: Plan) -> dict[str, float]:
    """CPU seconds a frame of world, inference and learner alone, with memory that is fetched once.

    Raises:
        RuntimeError: it failed, or took longer than IDEAL_LIMIT; the message holds the last of what it wrote.
    """
    with tempfile.TemporaryDirectory() as folder, _errors() as errors:
        command = [sys.executable, str(CONTESTANTS / "with_parts.py"), *plan.words(folder)]
        around = environment("parts", keeps=True)
        try:
            text = subprocess.check_output(command, stderr=errors, text=True, env=around, timeout=IDEAL_LIMIT)
            parts: dict[str, float] = json.loads(text)
        except (subprocess.SubprocessError, ValueError) as error:
            raise RuntimeError(f"{error}\n{_last(errors)}") from error
    return parts


def attempt(turn: int, name: str, run: Callable[[], T], failures: list[Failure]) -> T | None:
    """What a run comes to; None where it fails, which is told at once and added to `failures`."""
    try:
        return run()
    except FAILED as error:
        failures.append(Failure(turn, name, str(error)))
        say(f"turn {turn}: {name} failed: {error}")
        return None


def scaling(plan: Plan, actors: Sequence[int]) -> Iterator[Report]:
    """Frames a second of 1 to many Ray actors, and how many cores they and the busiest process kept busy.

    Prints as it goes and yields the report so far after each number. Linear is told from the first that finished.
    """
    rows: list[dict[str, float]] = []
    failures: list[Failure] = []
    say(f"{'actors':>6}{'frames/s':>10}{'of linear':>11}{'cores busy':>12}{'by one process':>16}   of {os.cpu_count()}")
    for turn, number in enumerate(actors, 1):
        run = partial(race, "interplay_ray", replace(plan, workers=number))
        result = attempt(turn, f"interplay_ray with {number} actors", run, failures)
        if result is not None:
            rows.append(_scaled(number, result, rows))
        yield {"rows": list(rows), "failures": [asdict(failure) for failure in failures]}


def _scaled(number: int, result: Result, rows: Sequence[dict[str, float]]) -> dict[str, float]:
    """One more row, which is printed; `rows`: those before."""
    rate = result.frames / result.wall
    first = rows[0]["frames_per_second"] / rows[0]["actors"] if rows else rate / number
    row = {
        "actors": number,
        "frames_per_second": rate,
        "of_linear": rate / (first * number),
        "cores_busy": result.cpu / result.wall,
        "cores_busy_by_one_process": result.busiest / result.wall,
    }
    busy = f"{row['cores_busy']:12.2f}{row['cores_busy_by_one_process']:16.2f}"
    say(f"{number:6}{rate:10,.0f}{row['of_linear']:11.0%}{busy}")
    return row


def contest(plan: Plan, names: Sequence[str], runs: int) -> Iterator[Report]:
    """Turns of everyone: prints as it goes, yields the report so far after each run, and prints the table at the end.

    The table comes, too, where it is broken off. Where the ideal fails, its turn has no shares of it.
    """
    turns: list[dict[str, Result]] = []
    ideals: list[dict[str, float]] = []
    failures: list[Failure] = []
    try:
        for turn in range(1, runs + 1):
            turns.append({})
            ideals.append({})
            ideals[-1].update(attempt(turn, "the ideal", partial(ideal, plan), failures) or {})
            for name in names:
                result = attempt(turn, name, partial(race, name, plan), failures)
                if result is not None:
                    turns[-1][name] = result
                    say(f"turn {turn} of {runs}: {name} {result.per_cpu:,.0f} frames a CPU second")
                yield {
                    "plan": asdict(plan),
                    "ideals": ideals,
                    "turns": [{each: asdict(run) for each, run in finished.items()} for finished in turns],
                    "standings": [asdict(standing) for standing in standings(turns, ideals)],
                    "failures": [asdict(failure) for failure in failures],
                }
    finally:
        aim = f"{IDEAL_GOAL:.0%}" if plan.size == "small" else ""
        say("\n" + table(plan.heading(runs), standings(turns, ideals), ideals, aim=aim) + "\n")
        for failure in failures:
            say(failure.line())


def keep(report: dict[str, Report], file: str | None) -> None:
    """Writes what there is so far; to stdout only when all is over."""
    if file and file != "-":
        Path(file).write_text(json.dumps(report, indent=1))


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


def main(words: Sequence[str] | None = None) -> int:
    """See the module; returns the exit code."""
    told = arguments().parse_args(words)
    parts: dict[str, Iterator[Report]] = {}
    if told.scaling:
        slow = Plan("small", 1, told.worlds, told.unroll, 0.0, 5e-3, told.seconds)
        parts["scaling"] = scaling(slow, (1, 2, 4, 8, 16))
    for size in told.size or ([] if told.scaling else ["small"]):
        plan = Plan(size, told.workers, told.worlds, told.unroll, 1e-4, 0.0, told.seconds)
        parts[size] = contest(plan, contestants(told.peer, served=told.served, keeps=told.keeping), told.runs)
    report: dict[str, Report] = {}
    try:
        for name, part in parts.items():
            for so_far in part:
                report[name] = so_far
                keep(report, told.json)
    except KeyboardInterrupt:
        return STOPPED
    finally:
        if told.json == "-":
            sys.stdout.write(json.dumps(report, indent=1))
    return int(any(part["failures"] for part in report.values()))


if __name__ == "__main__":
    sys.exit(main())
