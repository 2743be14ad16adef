"""Lets a run under Ray go on for long, and looks whether anything of it grows.

    python benchmarks/endurance.py                                  # two minutes, to see how it goes
    python benchmarks/endurance.py --minutes 62 --folder endurance  # an hour, and what comes of it in a folder

A small world is recorded, cloned, marked and rewarded. Then `interplay reinforce runtime=ray` plays and learns in it,
with setter-replay actors, a dataset actor, a reward replica and a supervised learner that saves often; every quarter of
a minute each process of its tree is looked at. A part's memory is what no file could give back (anonymous and swapped);
PSS and RSS stand beside it in report.json. Ctrl-C ends it early and still tells what was seen. It ends with 1 where
memory, threads, open files or the object store grew by more than a little an hour in the second half, where an unroll
was lost or counted twice, or where the run broke.
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
SAVE_LIMIT = 180.0  # seconds in which a run that is asked to stop has stopped
STOPPED = 130  # a run that was asked to stop and has saved
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
    "reinforce.heldout_every=200",
    "reinforce.heldout_episodes=2",
    *(f"reinforce.actor.{setting}" for setting in ("lanes=4", "steps=8", "episode_steps=20")),
)
UNDER_RAY = ("runtime=ray", "runtime.actors=2")


class Broken(RuntimeError):
    """The run ended by itself, or has not begun. The message ends with the last that it said."""


@dataclass(frozen=True)
class Plan:
    """What is to be watched."""

    root: Path  # runs/ of the run
    minutes: float
    every: float  # seconds between two looks
    settings: tuple[str, ...] = ()  # of the run, beside those above

    @property
    def stage(self) -> Path:
        """Of reinforcement."""
        return self.root / "run" / "reinforce"


@dataclass(frozen=True)
class Watched:
    """What was seen, and how it ended."""

    samples: list[Sample]
    ended: str  # in words
    broken: bool


def prepared(plan: Plan, stop: threading.Event) -> None:
    """Does what comes before reinforcement; ends early where it is asked to stop.

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
    """Starts the run, looks at it until the time is over or `stop` is set, and ends it.

    Raises:
        Broken: it has not begun.
    """
    (plan.stage / "status.json").unlink(missing_ok=True)  # what an earlier run said
    child = _started(plan, "reinforce", UNDER_RAY)
    watch, samples = Watch(child.pid, plan.stage), list[Sample]()
    try:
        _begun(plan, child, watch, stop)
        watch.begin()
        while not stop.is_set() and child.poll() is None:
            sample = watch.look()
            samples.append(sample)
            say(told(sample))
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
    """Waits for the first updates: a run that goes on tells the last of those before it first."""
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
    """Types `interplay VERB` in a session of its own: a Ctrl-C typed here is passed on when it is time."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    plan.root.mkdir(parents=True, exist_ok=True)
    with (plan.root / f"{verb}.log").open("w") as log:
        return subprocess.Popen(
            [*INTERPLAY, verb, f"run.dir={plan.root}", *SETTINGS, *more, *plan.settings],
            env={**os.environ, **one}, stdin=subprocess.DEVNULL, stdout=log, stderr=log, text=True,
            start_new_session=True,
        )  # fmt: skip


def _ended(child: subprocess.Popen[str]) -> None:
    """Asks the run to save and stop; ends it and all that it started where it does not."""
    started = {(process.pid, process.began) for process in tree(child.pid)}
    try:
        if child.poll() is None:
            child.send_signal(signal.SIGINT)
            child.wait(SAVE_LIMIT)
    except subprocess.TimeoutExpired:
        say(f"the run has not stopped within {SAVE_LIMIT:.0f} s, and is ended")
    finally:
        for process in living():
            if (process.pid, process.began) in started:
                with suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)
        child.wait(20)


def _said(plan: Plan, verb: str) -> str:
    """The last that a verb said."""
    return (plan.root / f"{verb}.log").read_text()[-2000:]


def told(sample: Sample) -> str:
    """A look in a line."""
    memory = sum(use.own for use in sample.uses.values())
    return (
        f"{sample.seconds / 60:6.1f} min{sample.updates:9,} updates{memory:9,.0f} MB in {len(sample.uses)} parts"
        f"{sample.objects:7.1f} MB of objects{sample.restarts:3} restarts"
    )


def write(found: Sequence[Row], seen: Watched, folder: Path) -> None:
    """report.json and memory.png."""
    from watching.picture import draw  # which takes a second to load, in which a Ctrl-C would be a traceback

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
    """As it goes, also into a file."""
    print(text, flush=True)


def arguments() -> argparse.ArgumentParser:
    """What can be typed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--every", type=float, default=15.0, metavar="SECONDS", help="between two looks")
    parser.add_argument("--folder", type=Path, help="for report.json, memory.png and the run itself; kept")
    parser.add_argument("settings", nargs="*", metavar="KEY=VALUE", help="of the run, as interplay takes them")
    return parser


def endure(plan: Plan, folder: Path, stop: threading.Event) -> int:
    """Prepares, watches and tells; returns the exit code."""
    try:
        prepared(plan, stop)
        seen = Watched([], "stopped before the run had begun", broken=False)
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
    """See the module."""
    typed = arguments().parse_args()
    stop = threading.Event()

    def ask(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, ask)
    with tempfile.TemporaryDirectory(prefix="endurance-") as temporary:
        folder = (typed.folder or Path(temporary)).resolve()
        plan = Plan(folder / "runs", typed.minutes, typed.every, tuple(typed.settings))
        try:
            return endure(plan, folder, stop)
        except KeyboardInterrupt:  # typed twice
            say("stopped at once")
            return STOPPED


if __name__ == "__main__":
    sys.exit(main())
