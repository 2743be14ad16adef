"""How many pairs and raters a studio serves on this machine, over its own protocol.

    python benchmarks/studio.py                                  # all pieces, three minutes, six at most
    python benchmarks/studio.py --pieces 3x30 --seconds 10       # 3 pairs at 30 pictures a second
    python benchmarks/studio.py --json studio.json

Pairs play the Playhouse at 288x384: each seat answers every picture with an input, and presses or releases a key each
half second, at any moment between two pictures; a key's time ends with the first picture that shows it, before the
browser decodes it. Raters scrub: each asks for a random chunk of a film that was drawn, and decodes one picture of it;
marks are set at the same time. The clients run on the same cores. Goals are for two idle cores; shares of a core depend
less on the load.

Each piece runs in a process of its own with a limit of `--limit` seconds. One that fails or takes longer is named, the
others are measured all the same, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from reporting.json_numbers import add_json_option, write_json

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import simplejpeg

from interplay.env.world import Start
from interplay.launch.compose import compose
from interplay.stages.collect_stage import collect
from interplay.stages.live_config import LiveConfig
from interplay.stages.run import open_run
from interplay.stages.studio_config import StudioConfig, StudioLimits
from interplay.studio.films.film_drawing import read_pack
from interplay.studio.live.live_client import LivePlayer, LiveRefused, LiveVisitor
from interplay.studio.people.invitation import make_invitation
from interplay.studio.studies.study import FIRST_STUDY
from interplay.studio.web.server import running, studio_address
from interplay.studio.web.studio_context import ServedRun

SIZE = (288, 384)
KEY_SECONDS = 0.5
MARK_SECONDS = 0.5
FILM_SECONDS = 300.0
JOIN_SECONDS = 40.0  # for a thread or a studio to stop
RATERS = "raters"
PIECES = ("3x30", "6x15", f"8{RATERS}")
GOALS = {
    "pictures a second and seat": (">=", 0.97),  # share of what was asked for
    "key to picture p50, ms": ("<=", 60.0),
    "scrub p95, ms": ("<=", 100.0),
    "mark acknowledged p95, ms": ("<=", 50.0),
}
Numbers = dict[str, float]
LIMITS = StudioLimits(entrances_per_minute=1000)


class PieceFailed(RuntimeError):
    """A piece of the benchmark has no numbers; the message says why."""


@dataclass(frozen=True)
class Served:
    """A running studio."""

    root: Path
    origin: str
    process: subprocess.Popen[bytes]

    def visitors(self, role: str, count: int) -> list[LiveVisitor]:
        """People that have come in."""
        code = make_invitation(self.root, [role], uses=count, seconds=3600)
        visitors = [LiveVisitor(self.origin) for _ in range(count)]
        for visitor in visitors:
            visitor.enter(code)
        return visitors

    def cpu(self) -> dict[str, float]:
        """CPU seconds of the web process and of those that it started, by name."""
        found: dict[str, float] = {}
        for process in (self.process.pid, *_children(self.process.pid)):
            words = Path(f"/proc/{process}/cmdline").read_bytes().decode().split("\0")
            name = next(word.rpartition(".")[2] for word in words if word.startswith("interplay."))
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            found[name] = found.get(name, 0.0) + seconds
        return found


def _children(process: int) -> list[int]:
    files = Path(f"/proc/{process}/task").glob("*/children")
    return [int(child) for file in files for child in file.read_text().split()]


@contextmanager
def served(root: Path, live: LiveConfig) -> Iterator[Served]:
    """A studio over the run in `root`."""
    config = StudioConfig(port=0, size=SIZE, limits=LIMITS, live=live)
    env = json.loads((root / "config.json").read_text())["env"]
    with running(ServedRun(root, env, 30.0, 1, config), quiet=True) as process:
        yield Served(root, studio_address(root), process)


@contextmanager
def at_work(jobs: Sequence[Callable[[], None]], stop: threading.Event) -> Iterator[None]:
    """Runs each job in a thread of its own during the block, and sets `stop` at its end. Raises what a job raised."""
    with ThreadPoolExecutor(len(jobs)) as pool:
        futures = [pool.submit(job) for job in jobs]
        try:
            yield
        finally:
            stop.set()
        for future in futures:
            future.result(JOIN_SECONDS)


def percentiles(what: str, seconds: Sequence[float]) -> Numbers:
    """The median and the 95th percentile in milliseconds. Raises ValueError without a measured time."""
    if not seconds:
        raise ValueError(f"{what}: nothing was timed; measure for longer, as with --seconds 20")
    return {f"{what} p{q}, ms": float(np.percentile(seconds, q)) * 1000 for q in (50, 95)}


class SeatDriver:
    """Answers every picture of a seat with an input, and times keys while `measuring`."""

    def __init__(self, player: LivePlayer, seed: int, measuring: threading.Event, stop: threading.Event) -> None:
        self.player, self._rng = player, random.Random(seed)
        self._measuring, self._stop = measuring, stop
        self.keys: list[float] = []
        self.pictures = 0

    def run(self) -> None:
        """Plays until it is to stop."""
        held, due, waiting = 0, 0.0, None
        while not self._stop.is_set():
            soon = waiting is None and self._measuring.is_set()
            message = self.player.receive(min(1.0, max(0.0, due - time.monotonic())) if soon else 1.0)
            now = time.monotonic()
            if soon and now >= due:
                held, due = held ^ 1, now + KEY_SECONDS * self._rng.uniform(0.5, 1.5)
                self.player.move(held)
                waiting = (self.player.seq, now)
            if message is None or message["kind"] != "picture":
                if not soon:
                    self.player.send("release")
                continue
            if not self._measuring.is_set():
                self.player.move(0)
                continue
            self.pictures += 1
            if waiting is not None and self.player.applied >= waiting[0]:
                self.keys.append(now - waiting[1])
                waiting = None
            self.player.move(held, self._rng.gauss(0, 2), 0.0)


def measure_pairs(root: Path, pairs: int, pictures: int, seconds: float) -> Numbers:
    """Plays this many pairs at this rate of pictures."""
    live = LiveConfig(seconds=600, sessions=pairs, pictures=pictures, leave_seconds=600)  # the first wait for the last
    measuring, stop = threading.Event(), threading.Event()
    with served(root, live) as studio:
        drivers: list[SeatDriver] = []
        visitors = studio.visitors("play", 2 * pairs)
        for visitor in visitors:
            visitor.post("/api/live/consent", {"version": visitor.get("/api/live")["version"]})
        for first, second in zip(visitors[::2], visitors[1::2], strict=True):
            for visitor in (first, second):
                visitor.post("/api/live/join", {"ready": True})
            for visitor in (first, second):
                drivers.append(SeatDriver(visitor.sit(*visitor.join()), len(drivers), measuring, stop))
                drivers[-1].player.until("hello", seconds=FILM_SECONDS)
        with at_work([driver.run for driver in drivers], stop):
            time.sleep(6.0)  # the countdown, and the first seconds
            before, began = studio.cpu(), time.monotonic()
            measuring.set()
            time.sleep(seconds)
            took, after = time.monotonic() - began, studio.cpu()
        rungs = [m["rung"] for driver in drivers for m in driver.player.messages if m["kind"] == "rate"]
        slowest = min(driver.pictures for driver in drivers) / took
    return {
        "pictures a second and seat": sum(driver.pictures for driver in drivers) / took / len(drivers),
        "pictures a second, slowest seat": slowest,
        **percentiles("key to picture", [key for driver in drivers for key in driver.keys]),
        "lowest rung of the ladder": float(max(rungs, default=0)),
        "core share of a session": (after["session_process"] - before["session_process"]) / took / pairs,
        "core share of the web process": (after["server"] - before["server"]) / took,
    }


def measure_raters(root: Path, raters: int, seconds: float) -> Numbers:
    """Lets this many raters scrub over drawn films, and one more set marks."""
    with served(root, LiveConfig()) as studio:
        visitors = studio.visitors("mark", raters + 1)
        items = [_item(visitor) for visitor in visitors]
        for visitor, (item, film) in zip(visitors, items, strict=True):
            for chunk in range(film["chunks"]):
                visitor.fetch(f"/api/items/{item}/full/{chunk}")
        stop = threading.Event()
        scrubs: list[float] = []
        marks: list[float] = []

        def scrub(number: int) -> None:
            rng, (item, film) = random.Random(number), items[number]
            while not stop.is_set():
                began = time.monotonic()
                pack = visitors[number].fetch(f"/api/items/{item}/full/{rng.randrange(film['chunks'])}")
                simplejpeg.decode_jpeg(rng.choice(read_pack(pack)))
                scrubs.append(time.monotonic() - began)
                stop.wait(rng.uniform(0.05, 0.2))

        def mark() -> None:
            rng, (item, film) = random.Random(0), items[raters]
            while not stop.is_set():
                body = {"id": uuid.uuid4().hex, "frame": rng.randrange(film["frames"]), "sign": 1}
                began = time.monotonic()
                visitors[raters].post(f"/api/items/{item}/marks", body)
                marks.append(time.monotonic() - began)
                stop.wait(MARK_SECONDS * rng.random())

        before, began = studio.cpu(), time.monotonic()
        with at_work([*(partial(scrub, number) for number in range(raters)), mark], stop):
            time.sleep(seconds)
        took, after = time.monotonic() - began, studio.cpu()
    return {
        "scrubs a second": len(scrubs) / took,
        **percentiles("scrub", scrubs),
        **percentiles("mark acknowledged", marks),
        "core share of the web process": (after["server"] - before["server"]) / took,
    }


def _item(visitor: LiveVisitor) -> tuple[str, dict[str, Any]]:
    """An item of a rater and its film; the first of a recording is drawn now."""
    study = visitor.get("/api/studies")["studies"][0]
    consent = study["consent"]
    visitor.post("/api/studies/marks/consent", {"version": consent["version"], "ticked": consent["must"]})
    item = visitor.post("/api/mark/marks/next")["item"]["item"]
    until = time.monotonic() + FILM_SECONDS
    while True:
        try:
            return item, visitor.get(f"/api/items/{item}/film")
        except (LiveRefused, TimeoutError):
            if time.monotonic() > until:
                raise


def recorded(folder: Path, episodes: int) -> Path:
    """A run of the Playhouse with recorded episodes."""
    words = [f"run.dir={folder}", "run.name=studio", "env=playhouse", "collect.heldout=0", "tracking.wandb=disabled"]
    run = open_run(compose([*words, f"collect.episodes={episodes}", "collect.steps=40"]))
    collect(run, replace(run.config.collect, episodes=episodes))
    studies = run.root / "studio" / "studies"
    studies.mkdir(parents=True)
    study = FIRST_STUDY.model_copy(update={"raters": 100})  # so that a few recordings are enough
    (studies / "marks-v1.json").write_text(study.model_dump_json())
    world = run.make_world()
    world.reset(Start(seed=1))
    world.picture(world.spec.solver, *SIZE)  # compiles the renderer, which is not measured
    world.close()
    return run.root


def measured(piece: str, root: Path, seconds: float) -> Numbers:
    """The numbers of one piece: "3x30" are 3 pairs at 30 pictures a second, "8raters" 8 raters and one that marks."""
    if piece.endswith(RATERS):
        return measure_raters(root, int(piece.removesuffix(RATERS)), seconds)
    pairs, pictures = map(int, piece.split("x"))
    return measure_pairs(root, pairs, pictures, seconds)


def in_process(piece: str, root: Path, seconds: float, limit: float) -> Numbers:
    """The numbers of a piece that runs in a process of its own.

    Raises:
        PieceFailed: it fails, or does not end within `limit` seconds.
    """
    words = [sys.executable, __file__, "--pieces", piece, "--root", str(root), "--seconds", str(seconds)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            written, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            process.terminate()  # it ends the studio that it started
            try:
                process.communicate(timeout=JOIN_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
            raise PieceFailed(f"did not end within {limit:g} s") from None
    if process.returncode:
        raise PieceFailed(f"exit status {process.returncode}; its messages above say why")
    numbers: Numbers = json.loads(written)
    return numbers


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pieces", nargs="+", default=PIECES, help=f"pairs x pictures, or raters; {' '.join(PIECES)}")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each measurement")
    parser.add_argument("--limit", type=float, default=90.0, help="seconds of each piece, at most")
    add_json_option(parser)
    parser.add_argument("--root", type=Path, help="measure one piece over this run, in this process; print JSON alone")
    options = parser.parse_args()
    if options.root is not None:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the studio ends as well
        print(json.dumps(measured(options.pieces[0], options.root, options.seconds)))
        return 0
    found: dict[str, Numbers] = {}
    failed: dict[str, str] = {}
    loads = {"before": os.getloadavg()[0]}
    with tempfile.TemporaryDirectory() as folder:
        root = recorded(Path(folder), 4)
        for piece in options.pieces:
            try:
                # A run of its own: sessions that an earlier piece left would be resumed, and take places in the studio.
                own = Path(shutil.copytree(root, Path(folder) / piece))
                found[piece] = in_process(piece, own, options.seconds, options.limit)
                table(title(piece), found[piece], 0 if piece.endswith(RATERS) else int(piece.partition("x")[2]))
            except PieceFailed as error:
                failed[piece] = str(error)
                print(f"{title(piece)}\n  not measured: {error}", flush=True)
    loads["after"] = os.getloadavg()[0]
    print(f"load average before {loads['before']:.1f}, after {loads['after']:.1f}; {os.cpu_count()} cores")
    result = {"size": SIZE, "numbers": found, "failed": failed, "goals": GOALS, "load": loads}
    write_json(options.json, result)
    return 1 if failed else 0


def title(piece: str) -> str:
    """A piece in words."""
    if piece.endswith(RATERS):
        return f"{piece.removesuffix(RATERS)} raters scrub, one marks"
    pairs, pictures = piece.split("x")
    return f"{pairs} pairs at {pictures} pictures/s"


def table(words: str, numbers: Numbers, pictures: int) -> None:
    """Prints the numbers of one measurement with their goals."""
    print(words)
    for name, value in numbers.items():
        sign, goal = GOALS.get(name, ("", 0.0))
        goal = goal * pictures if name.startswith("pictures") else goal
        missed = sign and (value < goal if sign == ">=" else value > goal)
        aim = f"   goal {sign} {goal:g}" if sign else ""
        print(f"  {name:40}{value:10.2f}{aim}{'   missed' if missed else ''}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
