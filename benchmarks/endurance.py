"""Runs training under Ray for a long time, and checks that no resource grows.

    python benchmarks/endurance.py                                  # two minutes, to try it
    python benchmarks/endurance.py --minutes 62 --folder endurance  # an hour; writes its results to a folder

The stages before reinforcement run once in a small world. Then `interplay reinforce runtime=ray` trains in it, with
setter-replay actors, a dataset actor, a reward replica and a supervised learner that saves often; every 15 seconds
each process of its tree is sampled. A worker's memory is its anonymous and swapped memory; report.json also has PSS
and RSS. Ctrl-C ends the run early and still reports. The exit code is 1 if memory, threads, open files or the object
store grew by more than a small rate per hour in the second half, if an unroll was lost or used twice, or if the run
failed.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType

from watching.findings import Row, faults, rows, table
from watching.processes import living, tree
from watching.sample import Sample, Watch

INTERPLAY = (sys.executable, "-c", "import sys; from interplay.launch.cli import main; sys.exit(main())")
ENDLESS = 1_000_000_000  # updates
START_LIMIT = 300.0  # seconds until the first update
SAVE_LIMIT = 180.0  # seconds for a run to save and stop
STOPPED = 130  # exit code of a run that was stopped and has saved
BEFORE = ("collect", "clone", "mark", "reward")
SETTINGS = (
    "run.name=run",
    "tracking.wandb=disabled",
    "runtime.threads=1",
    "agent=nano",
    "env=room",
    "env.objects=[2,3]",
    "env.image=[16,24]",
    *(f"collect.{setting}" for setting in ("lanes=4", "episodes=24", "heldout=2", "steps=40")),
    *(
        f"{stage}.{setting}"
        for stage in ("clone", "reward", "reinforce")
        for setting in ("dataset.lanes=2", "dataset.steps=8")
    ),
    *(f"{stage}.training.updates=4" for stage in ("clone", "reward")),
    "reinforce.training.checkpoint_every=100",
    "reward.measure_every=4",
    f"reinforce.training.updates={ENDLESS}",
    "reinforce.training.log_every=20",
    "reinforce.measure_every=200",
    "reinforce.heldout_episodes=2",
    *(f"reinforce.actor.{setting}" for setting in ("lanes=4", "steps=8", "episode_steps=20")),
)
UNDER_RAY = ("runtime=ray", "runtime.actors=2")


class Broken(RuntimeError):
    """The run ended by itself or did not start. The message ends with its last output."""


@dataclass(frozen=True)
class Plan:
    """The run and how it is sampled."""

    root: Path  # runs/ of the run
    minutes: float
    every: float  # seconds between samples
    settings: tuple[str, ...] = ()  # of the run, in addition to SETTINGS

    @property
    def stage(self) -> Path:
        """The folder of the reinforce stage."""
        return self.root / "run" / "reinforce"


@dataclass(frozen=True)
class Watched:
    """The samples, and how the run ended."""

    samples: list[Sample]
    ended: str  # in words
    broken: bool


def prepared(plan: Plan, stop: threading.Event) -> None:
    """Runs the stages before reinforcement; returns early once `stop` is set.

    Raises:
        Broken: a stage failed.
    """
    for verb in BEFORE:
        child = _started(plan, verb, ())
        while child.poll() is None and not stop.wait(0.1):
            pass
        if stop.is_set():
            _ended(child)
            return
        if child.returncode:
            raise Broken(f"interplay {verb} ended with code {child.returncode}\n{_said(plan, verb)}")


def watched(plan: Plan, stop: threading.Event) -> Watched:
    """Starts the run, samples it until the time is over or `stop` is set, and ends it.

    Raises:
        Broken: it did not start.
    """
    (plan.stage / "status.json").unlink(missing_ok=True)  # of an earlier run
    child = _started(plan, "reinforce", UNDER_RAY)
    watch, samples = Watch(child.pid, plan.stage), list[Sample]()
    try:
        _begun(plan, child, watch, stop)
        watch.begin()
        while not stop.is_set() and child.poll() is None:
            sample = watch.look()
            samples.append(sample)
            say(sample_line(sample))
            left = 60 * plan.minutes - sample.seconds
            if left <= 0:
                break
            stop.wait(min(plan.every, left))
        if child.poll() is not None:
            ended = f"the run ended by itself with code {child.returncode}\n{_said(plan, 'reinforce')}"
            return Watched(samples, ended, broken=True)
    finally:
        _ended(child)
    if child.returncode != STOPPED:
        return Watched(samples, f"asked to stop, it ended with {child.returncode}\n{_said(plan, 'reinforce')}", True)
    return Watched(samples, "stopped early, and saved" if stop.is_set() else "stopped in time, and saved", broken=False)


def _begun(plan: Plan, child: subprocess.Popen[str], watch: Watch, stop: threading.Event) -> None:
    """Waits for the first new update; a resumed run first reports its last update before the resume."""
    limit, before = time.monotonic() + START_LIMIT, None
    while not stop.wait(0.2):
        status = watch.status()
        if before is None and status["workers"]:
            before = status["update"]
        if before is not None and status["update"] > before:
            return
        if child.poll() is not None:
            raise Broken(f"the run ended with code {child.returncode}\n{_said(plan, 'reinforce')}")
        if time.monotonic() > limit:
            raise Broken(f"the run has learned nothing in {START_LIMIT:.0f} s\n{_said(plan, 'reinforce')}")


def _started(plan: Plan, verb: str, more: Sequence[str]) -> subprocess.Popen[str]:
    """Starts `interplay VERB` in its own session, so that it only receives the SIGINT that `_ended` sends."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    plan.root.mkdir(parents=True, exist_ok=True)
    with (plan.root / f"{verb}.log").open("w") as log:
        return subprocess.Popen(
            [*INTERPLAY, verb, f"run.dir={plan.root}", *SETTINGS, *more, *plan.settings],
            env={**os.environ, **one}, stdin=subprocess.DEVNULL, stdout=log, stderr=log, text=True,
            start_new_session=True,
        )  # fmt: skip


def _ended(child: subprocess.Popen[str]) -> None:
    """Lets the run save and stop; kills it and all its processes if it does not."""
    started = {(process.pid, process.began) for process in tree(child.pid)}
    try:
        if child.poll() is None:
            child.send_signal(signal.SIGINT)
            child.wait(SAVE_LIMIT)
    except subprocess.TimeoutExpired:
        say(f"the run has not stopped within {SAVE_LIMIT:.0f} s and is killed")
    finally:
        for process in living():
            if (process.pid, process.began) in started:
                with suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)
        child.wait(20)


def _said(plan: Plan, verb: str) -> str:
    """The end of a verb's output."""
    return (plan.root / f"{verb}.log").read_text()[-2000:]


def sample_line(sample: Sample) -> str:
    """A sample as one line."""
    memory = sum(use.own for use in sample.uses.values())
    return (
        f"{sample.seconds / 60:6.1f} min{sample.updates:9,} updates{memory:9,.0f} MB in {len(sample.uses)} workers"
        f"{sample.objects:7.1f} MB of objects{sample.restarts:3} restarts"
    )


def write(found: Sequence[Row], seen: Watched, folder: Path) -> None:
    """report.json and memory.png."""
    from watching.picture import draw  # slow to import; Ctrl-C during the import would print a traceback

    folder.mkdir(parents=True, exist_ok=True)
    report = {
        "ended": seen.ended,
        "faults": [*faults(found), *seen.samples[-1].lost],
        "rows": [{**asdict(row), "verdict": row.verdict} for row in found],
        "samples": [asdict(sample) for sample in seen.samples],
    }
    (folder / "report.json").write_text(json.dumps(report, indent=1) + "\n")
    draw(seen.samples, folder / "memory.png")


def say(text: str) -> None:
    """Prints at once, also into a file."""
    print(text, flush=True)


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--every", type=float, default=15.0, metavar="SECONDS", help="between samples")
    parser.add_argument("--folder", type=Path, help="for report.json, memory.png and the run itself; kept")
    parser.add_argument("settings", nargs="*", metavar="KEY=VALUE", help="settings of the run")
    return parser


def endure(plan: Plan, folder: Path, stop: threading.Event) -> int:
    """Prepares, watches and reports; returns the exit code."""
    try:
        prepared(plan, stop)
        seen = Watched([], "stopped before the run started", broken=False)
        if not stop.is_set():
            seen = watched(plan, stop)
    except Broken as error:
        say(str(error))
        return 1
    if not seen.samples:
        say(seen.ended)
        return 1 if seen.broken else STOPPED
    found = rows(seen.samples)
    write(found, seen, folder)
    last = seen.samples[-1]
    say(f"\n{table(found)}\n\n{last.updates:,} updates of {last.taken:,} unrolls in {last.seconds / 60:.0f} minutes")
    wrong = [*faults(found), *last.lost]
    say("\n".join([seen.ended, *wrong]))
    return 1 if wrong or seen.broken else 0


def main() -> int:
    """See the module docstring."""
    options = arguments().parse_args()
    stop = threading.Event()

    def ask(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, ask)
    with tempfile.TemporaryDirectory(prefix="endurance-") as temporary:
        folder = (options.folder or Path(temporary)).resolve()
        plan = Plan(folder / "runs", options.minutes, options.every, tuple(options.settings))
        try:
            return endure(plan, folder, stop)
        except KeyboardInterrupt:  # Ctrl-C twice
            say("stopped at once")
            return STOPPED


if __name__ == "__main__":
    sys.exit(main())
