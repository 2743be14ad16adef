"""How fast recorded episodes become the rows of a batch: long dialogues in houses, whose pictures are drawn from poses.

    python benchmarks/store.py                          # records 6 episodes (a minute), then measures
    python benchmarks/store.py --folder STORE           # keeps them there, and uses them the next time
    python benchmarks/store.py --json store.json

Times are CPU seconds of one thread. "Cold" means that neither the episode nor its pictures are in memory, as with data
much larger than the cache. "Drawn by the learner": `dataset.drawn_by=learner`, where a row holds poses and its share of
the window's house, which is made anew for each marked window. The way that draws a whole episode for each window is
measured in the same run, on fewer windows, so that the ratio between both does not depend on the machine's load.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from reporting.json_numbers import add_json_option, write_json

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from interplay.actors.dataset_actor import DatasetActor, DatasetConfig
from interplay.actors.row_writer import RowWriter
from interplay.agent.observation import Arrays, Layout
from interplay.agent.unroll import allocate_demonstration
from interplay.env.playhouse.world import Playhouse
from interplay.env.world import World
from interplay.episodes.decoded_episode import decode_for_role, resimulate
from interplay.episodes.lane_reader import EpisodeSource, LaneReader
from interplay.episodes.moment_windows import MomentReader, marked_moments
from interplay.episodes.snapshot import Snapshot
from interplay.episodes.vocabulary import Vocabulary
from interplay.gpu_render.recorded_views import RecordedViews
from interplay.launch.compose import compose
from interplay.stages.collect_stage import collect
from interplay.stages.mark_stage import mark
from interplay.stages.run import Run, open_run

ROWS = 51  # of a window: T = 50
LANES = 96
GOALS = {
    "marked windows a second, cold": (">=", 45.0),
    "windows of a stream a second, cold": (">=", 60.0),
    "first unroll of 96 lanes, s": ("<=", 3.0),
    "memory of 96 lanes besides the batches, MB": ("<=", 500.0),
}
Report = dict[str, float]


@contextmanager
def timed(seconds: list[float]) -> Iterator[None]:
    start = time.thread_time()
    yield
    seconds.append(time.thread_time() - start)


def recorded(folder: Path, episodes: int) -> Run:
    """A run with marked episodes of five minutes (1,125 steps)."""
    settings = ["experiment=house", f"run.dir={folder}", "run.name=store", "collect.heldout=0"]
    settings += [f"collect.episodes={episodes}", "tracking.wandb=disabled", "mark.raters=[anna]"]
    run = open_run(compose(settings))
    collect(run, run.config.collect)
    mark(run)
    with run.store() as store:
        if not (run.snapshot_path("bench")).exists():
            store.snapshot("bench")
    return run


def rate(windows: int, pull: Callable[[], object]) -> float:
    """Windows a CPU second, with the median time of a window: a busy machine slows some of them."""
    seconds: list[float] = []
    for _ in range(windows):
        with timed(seconds):
            pull()
    return 1 / float(np.median(seconds))


def measure(run: Run, windows: int) -> Report:
    snapshot, world = Snapshot(run.snapshot_path("bench")), run.make_world()
    layout = Layout(world.spec, run.config.agent.utterance_length, run.config.agent.actions_per_step)
    assert isinstance(world, Playhouse), "pictures are drawn from poses"
    views = RecordedViews(world.config)
    drawing, describing = (RowWriter(layout, Vocabulary([], run.config.agent.tokens), views=v) for v in (None, views))
    pictures, rows_of_poses = (allocate_demonstration(layout, ROWS - 1, 1, length) for length in (0, views.length))

    def fill(reader: LaneReader | MomentReader, writer: RowWriter = drawing, block: Arrays = pictures) -> None:
        at = 0
        for window in reader.next(0, ROWS):
            writer.write(block, 0, at, window)
            at += window.stop - window.start

    def describe(reader: LaneReader | MomentReader, *, new_house: bool) -> None:
        if new_house:
            views._known.cache_clear()
        views.begin()
        fill(reader, describing, rows_of_poses)

    def lane(cache_bytes: int, world: World = world) -> LaneReader:
        return LaneReader(snapshot, 1, 0, world=world, cache_bytes=cache_bytes, stagger=False)

    marked = MomentReader(EpisodeSource(snapshot, world, "solver", 0), marked_moments(snapshot), 0)
    fill(marked)  # compiles the renderer
    report: Report = {"marked windows a second, cold": rate(windows, lambda: fill(marked))}
    stream = lane(0)
    report["windows of a stream a second, cold"] = rate(windows, lambda: fill(stream))
    described = rate(windows, lambda: describe(marked, new_house=True))
    report["marked windows a second, cold, drawn by the learner"] = described
    stream = lane(0)
    described = rate(windows, lambda: describe(stream, new_house=False))
    report["windows of a stream a second, cold, drawn by the learner"] = described
    report["bytes of a row, drawn here"] = row_bytes(pictures)
    report["bytes of a row, drawn by the learner"] = row_bytes(rows_of_poses) + views.scenes().nbytes / ROWS
    whole = rate(3, lambda: draw_whole(snapshot, world))
    report["whole episodes drawn a second, as before"] = whole
    report["marked windows: ratio to drawing the whole episode"] = report["marked windows a second, cold"] / whole
    rows = snapshot.read(snapshot.ids[0]).meta.steps + 1
    before = whole * rows / ROWS
    report["windows of a stream: ratio to drawing the whole episode"] = (
        report["windows of a stream a second, cold"] / before
    )
    warm, passes = lane(2**31), rows // ROWS * len(snapshot.ids) + 1
    for _ in range(passes):
        fill(warm)
    report["windows of a stream a second, drawn before"] = rate(4 * windows, lambda: fill(warm))
    return report | first_unroll(run, snapshot, layout)


def row_bytes(block: Arrays) -> float:
    """Bytes of one row of a batch."""
    return sum(array.nbytes for array in block.values()) / ROWS


def draw_whole(snapshot: Snapshot, world: World) -> None:
    """What a window cost when its whole episode was decoded and drawn."""
    drawn = draw_whole.__dict__.setdefault("drawn", [0])
    episode = snapshot.read(snapshot.ids[drawn[0] % len(snapshot.ids)])
    drawn[0] += 1
    decoded = decode_for_role(episode, "solver", marks=snapshot.marks([episode.meta.id]), world=world)
    images = [views["solver"].image for _, views, _ in resimulate(world, episode, ("solver",))]
    dataclasses.replace(decoded, images=np.stack([image for image in images if image is not None]))


def first_unroll(run: Run, snapshot: Snapshot, layout: Layout) -> Report:
    """Every lane reads an episode that is not in memory, as with a data set larger than the cache."""
    config = DatasetConfig(lanes=LANES, steps=ROWS - 1, blocks=1)
    actor = DatasetActor(
        reader=LaneReader(snapshot, LANES, 0, world=run.make_world(), cache_bytes=0, stagger=True),
        layout=layout,
        vocabulary=Vocabulary([], run.config.agent.tokens),
        config=config,
        rng=np.random.default_rng(0),
    )
    for array in actor._blocks[0].values():  # touch the pages of the batch, which do not count as memory of the readers
        array.fill(0)
    seconds: list[float] = []
    before = resident()
    with timed(seconds):
        actor.unroll()
    return {
        "first unroll of 96 lanes, s": seconds[0],
        "memory of 96 lanes besides the batches, MB": resident() - before,
    }


def resident() -> float:
    """Resident memory of this process, megabytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="records the episodes here, or uses those that are here")
    parser.add_argument("--episodes", type=int, default=6)
    parser.add_argument("--windows", type=int, default=60, help="windows of each kind")
    add_json_option(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        report = measure(recorded(options.folder or Path(temporary), options.episodes), options.windows)
    for name, value in report.items():
        sign, goal = GOALS.get(name, ("", 0.0))
        missed = sign and (value < goal if sign == ">=" else value > goal)
        print(f"{name:58}{value:10.2f}{f'   goal {sign} {goal:g}' if sign else ''}{'   missed' if missed else ''}")
    stated: dict[str, Any] = {"episodes": options.episodes, "rows": ROWS, "numbers": report, "goals": GOALS}
    write_json(options.json, stated)


if __name__ == "__main__":
    main()
