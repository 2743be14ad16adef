"""Trained frames per CPU second: Interplay, a minimal loop, the computed ideal, and other platforms on request.

    python benchmarks/throughput.py                              # Interplay, the minimal loop and the ideal
    python benchmarks/throughput.py --peer rllib --peer torchrl  # also peers, in their own virtual environments
    python benchmarks/throughput.py --size large --runs 3 --json throughput.json
    python benchmarks/throughput.py --served                     # also Interplay with one inference server
    python benchmarks/throughput.py --peer rllib --keeping       # also the peer with freed memory kept
    python benchmarks/throughput.py --scaling                    # 1 to 16 actors, with worlds that sleep 5 ms per step

All contestants play the same world of noise (72x96x3, a fixed cost per step) with the same number of worlds and
networks of one size, and learn from each frame once. Contestants with workers decide for the worlds of one worker at
a time, contestants of one process for all worlds. A referee process measures from outside how many frames were
learned from and how many CPU seconds the whole process tree took, in a window after the start. Runs take turns, so
that noise of the machine affects all; ratios and shares of the ideal are computed within a turn, and their medians
are reported, with minimum and maximum.

A contestant that fails or stops learning is reported at once and in the report; the others continue. The report is
written after each run. Ctrl-C ends the contest early and still reports the finished runs. The exit code is 1 if
anything failed.
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
MARK = "INTERPLAY_BENCHMARK"  # environment variable that marks every process of one run, however it was started
TICKS = os.sysconf("SC_CLK_TCK")
START_LIMIT = 240.0  # seconds until the window must have started
STALL_LIMIT = 120.0  # seconds without new frames after which a run has stalled
IDEAL_LIMIT = 600.0  # time limit for measuring the ideal
STOPPED = 130  # the exit code after Ctrl-C
FAILED = (RuntimeError, OSError, subprocess.SubprocessError)  # what race and ideal raise

T = TypeVar("T")
Report = dict[str, Any]  # JSON of one part of the benchmark; each has "failures"

# Pinned versions of the peers, each installed into its own virtual environment, with the torch that Interplay pins.
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
    """The settings that every contestant gets."""

    size: str
    workers: int
    worlds: int
    unroll: int
    work: float
    wait: float
    seconds: float  # length of the window

    def heading(self, turns: int) -> str:
        """The comparison in words."""
        worlds = f"{self.workers} x {self.worlds} worlds of {1e3 * self.work:g} ms"
        return f"network {self.size}, {worlds}, T = {self.unroll}, {turns} turns of {self.seconds:.0f} s"

    def words(self, folder: str) -> list[str]:
        """A contestant's command line."""
        named = {name: getattr(self, name) for name in ("size", "workers", "worlds", "unroll", "work", "wait")}
        return [word for name, value in named.items() for word in (f"--{name}", str(value))] + ["--folder", folder]


class Used(NamedTuple):
    """CPU seconds of a process."""

    own: float
    reaped: float  # of its ended children


def cpu_of(mark: str) -> dict[int, Used]:
    """CPU seconds of each living process of a run, by process id."""
    found = {}
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        try:
            if f"{MARK}={mark}".encode() not in (process / "environ").read_bytes():
                continue
            fields = (process / "stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue  # it has just ended, or belongs to another user
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
    """Terminates every process of a run."""
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
    """The interpreter of a contestant; a peer's virtual environment is created the first time."""
    if name not in PEERS:
        return sys.executable
    venv = VENVS / name
    stamp = venv / ".installed"
    if not stamp.exists() or stamp.read_text() != " ".join(PEERS[name]):
        say(f"{name}: creating {venv}, once (minutes)")
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(venv)], check=True)
        pip = [str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, PEERS[name][0]], check=True)
        subprocess.run([*pip, *PEERS[name]], check=True)
        stamp.write_text(" ".join(PEERS[name]))
    return str(venv / "bin" / "python")


def environment(mark: str, *, keeps: bool) -> dict[str, str]:
    """One compute thread per process, and the contestants' folder to import from."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    kept = retention_environment() if keeps else {}
    return {**os.environ, **one, **kept, MARK: mark, "PYTHONPATH": str(CONTESTANTS), "RAY_DEDUP_LOGS": "0"}


def race(name: str, plan: Plan) -> Result:
    """Makes one run: waits until learning is under way, then counts for `plan.seconds`.

    Raises:
        RuntimeError: it ended, did not start, stalled or printed no number; the message has the end of its output.
        OSError, subprocess.SubprocessError: it could not be installed, started or ended.
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
    """A file for the stderr of a process, which may not be valid text."""
    return tempfile.TemporaryFile("w+", errors="replace")


def _last(errors: IO[str]) -> str:
    errors.seek(0)
    return errors.read()[-2000:]


def _watched(name: str, plan: Plan, child: subprocess.Popen[str], mark: str) -> Result:
    """Follows a run's output. The window starts with the third reported update, after warm-up, and ends with an update.

    Raises:
        RuntimeError: it ended, did not start within START_LIMIT, or learned from no new frames for STALL_LIMIT.
        ValueError: its output is not text, or a number is missing.
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
    """CPU seconds of all processes, and of the busiest one."""
    used = sum(map(sum, after.values())) - sum(map(sum, before.values()))
    return used, max((each.own - before.get(pid, Used(0.0, 0.0)).own for pid, each in after.items()), default=0.0)


def _lines(child: subprocess.Popen[str]) -> list[str]:
    assert child.stdout is not None
    return [line.strip() for line in child.stdout.readlines() if line.endswith("\n")]


def ideal(plan: Plan) -> dict[str, float]:
    """CPU seconds per frame of world, inference and learner, each alone, with memory allocated once.

    Raises:
        RuntimeError: it failed, or took longer than IDEAL_LIMIT; the message has the end of its output.
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
    """The result of a run; None if it fails, which is printed and added to `failures`."""
    try:
        return run()
    except FAILED as error:
        failures.append(Failure(turn, name, str(error)))
        say(f"turn {turn}: {name} failed: {error}")
        return None


def scaling(plan: Plan, actors: Sequence[int]) -> Iterator[Report]:
    """Measures frames per second of 1 to many Ray actors, and how many cores they and the busiest process use.

    Prints each row and yields the report so far after it. Linear scaling is relative to the first finished row.
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
    """Computes and prints one more row; `rows` are the earlier ones."""
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
    """Runs all contestants in turns; prints, yields the report so far after each run, and prints the table at the end.

    The table is printed after an interruption, too. A turn without an ideal has no shares of it.
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
    """Writes the report so far to a file; `main` prints it to stdout at the end."""
    if file and file != "-":
        Path(file).write_text(json.dumps(report, indent=1))


def say(text: str) -> None:
    """Prints to stderr, because JSON may go to stdout."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def contestants(peers: Sequence[str], *, served: bool, keeps: bool) -> list[str]:
    """The contestants in order, each a file in `contestants/`. With `keeps`, peers also run with freed memory kept."""
    others = ["loop", f"loop{KEEPING}", *peers, *(f"{peer}{KEEPING}" for peer in peers if keeps)]
    ours = ["interplay", "interplay_alone", "interplay_process", "interplay_ray"]
    return [*ours, *(["interplay_served"] if served else []), *others]


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", action="append", default=[], choices=sorted(PEERS))
    parser.add_argument("--size", action="append", choices=("small", "large"), help="small; none with --scaling")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--worlds", type=int, default=16)
    parser.add_argument("--unroll", type=int, default=50)
    parser.add_argument("--served", action="store_true", help="also Interplay with actors.inference=service")
    parser.add_argument("--keeping", action="store_true", help="each peer also with freed memory kept")
    parser.add_argument("--scaling", action="store_true", help="1 to 16 Ray actors, instead of the contest")
    parser.add_argument("--json", help="a file, or - for stdout")
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """See the module docstring; returns the exit code."""
    options = arguments().parse_args(words)
    parts: dict[str, Iterator[Report]] = {}
    if options.scaling:
        slow = Plan("small", 1, options.worlds, options.unroll, 0.0, 5e-3, options.seconds)
        parts["scaling"] = scaling(slow, (1, 2, 4, 8, 16))
    for size in options.size or ([] if options.scaling else ["small"]):
        plan = Plan(size, options.workers, options.worlds, options.unroll, 1e-4, 0.0, options.seconds)
        parts[size] = contest(
            plan, contestants(options.peer, served=options.served, keeps=options.keeping), options.runs
        )
    report: dict[str, Report] = {}
    try:
        for name, part in parts.items():
            for so_far in part:
                report[name] = so_far
                keep(report, options.json)
    except KeyboardInterrupt:
        return STOPPED
    finally:
        if options.json == "-":
            sys.stdout.write(json.dumps(report, indent=1))
    return int(any(part["failures"] for part in report.values()))


if __name__ == "__main__":
    sys.exit(main())
