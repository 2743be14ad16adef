"""Pictures of the Playhouse a second: by Triton on a GPU, and by numba on one core, from the same poses.

    python benchmarks/gpu_render.py                        # a table; a line says so where there is no GPU
    python benchmarks/gpu_render.py --views 512 4800 --json gpu_render.json

Each row is measured several times, the device at rest before and after: the best is the cost of the code, the median
that of this machine under its load. A row of the GPU includes the upload of the poses. The pictures of the first are
compared with numba's: at most one gray level apart, in at most 0.1% of the pixels.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from reporting.json_numbers import add_json_option, write_json

from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.house.house_layout import House, make_house
from interplay.env.playhouse.render.scene import Scene, start_poses
from interplay.gpu_render.batched_views import draw_views
from interplay.gpu_render.packed_houses import PackedHouses, pack_houses
from interplay.gpu_render.packed_views import pack_views, player_cameras

SOLVER = 1


@dataclass(frozen=True)
class Row:
    """One measurement: milliseconds for `views` pictures, or rows of poses."""

    name: str
    views: int
    best_ms: float
    median_ms: float

    @property
    def per_second(self) -> float:
        return 1e3 * self.views / self.best_ms


@dataclass(frozen=True)
class Views:
    """What the solver sees in each house at N random moments."""

    houses: Sequence[House]
    avatars: Sequence[NDArray[np.float32]]  # of each house [N, 2, 4]

    def packed(self, houses: PackedHouses) -> NDArray[np.float32]:
        rows = []
        for number, (house, avatars) in enumerate(zip(self.houses, self.avatars, strict=True)):
            positions, quaternions, _ = (np.repeat(poses[None], len(avatars), axis=0) for poses in start_poses(house))
            cameras = player_cameras(avatars, SOLVER)
            rows.append(pack_views(houses, number, positions, quaternions, avatars, cameras, SOLVER))
        return np.concatenate(rows)

    def draw(self, scenes: Sequence[Scene], config: PlayhouseConfig) -> NDArray[np.uint8]:
        pictures = []
        for scene, avatars in zip(scenes, self.avatars, strict=True):
            positions, quaternions, _ = start_poses(scene.house)
            for pair in avatars:
                *eye, yaw, pitch = player_cameras(pair[None], SOLVER)[0].tolist()
                seen = (np.array(eye, np.float32), yaw, pitch, config.field_of_view, *config.image)
                picture, _, _ = scene.draw(positions, quaternions, pair, *seen, SOLVER, config.antialias)
                pictures.append(picture)
        return np.stack(pictures)


def sampled(houses: Sequence[House], count: int) -> Views:
    """About `count` moments, the same number in each house: players near their starts, looking in random directions."""
    rng = np.random.default_rng(0)
    each = -(-count // len(houses))
    avatars = []
    for house in houses:
        start = start_poses(house)[2]
        noise = rng.uniform(-1, 1, (each, 2, 4)) * np.array([0.3, 0.3, np.pi, 0.5])
        avatars.append((start + noise).astype(np.float32))
    return Views(houses, avatars)


def measure(name: str, views: int, run: Callable[[], object], times: int) -> Row:
    run()
    taken = []
    for _ in range(times):
        rest()
        start = time.perf_counter()
        run()
        rest()
        taken.append(1e3 * (time.perf_counter() - start))
    return Row(name, views, min(taken), float(np.median(taken)))


def rest() -> None:
    """Waits until a GPU has finished its work."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def on_the_gpu(
    views: Views, config: PlayhouseConfig, times: int, expected: NDArray[np.uint8] | None
) -> tuple[Row, float | None]:
    """The row of a GPU, and the share of pixels that differ from `expected`, if that is given.

    Raises:
        RuntimeError: they differ by more than one gray level, or in more than 0.1% of the pixels.
    """
    packed = pack_houses(views.houses, "cuda")
    rows = views.packed(packed)

    def draw() -> torch.Tensor:
        return draw_views(packed, rows, *config.image, config.field_of_view, config.antialias)

    row = measure(f"Triton on {torch.cuda.get_device_name()}", len(rows), draw, times)
    if expected is None:
        return row, None
    apart = np.abs(draw().cpu().numpy().astype(int) - expected).max(axis=-1)
    share = float((apart > 0).mean())
    if apart.max() > 1 or share > 0.001:
        raise RuntimeError(f"pictures differ by up to {apart.max()} gray levels, in {share:.2%} of the pixels")
    return row, share


def why_not() -> str | None:
    """Why the GPU is left out; None if it is measured."""
    if not torch.cuda.is_available():
        return "torch sees no GPU: only one core of the CPU was measured"
    if importlib.util.find_spec("triton") is None:
        return "triton is not installed (pip install '.[triton]'): only one core of the CPU was measured"
    return None


def table(rows: Sequence[Row]) -> str:
    lines = [f"{'':<40} {'views':>6} {'best ms':>9} {'median ms':>9} {'a second':>10}"]
    lines += [
        f"{row.name:<40} {row.views:>6} {row.best_ms:>9.2f} {row.median_ms:>9.2f} {row.per_second:>10,.0f}"
        for row in rows
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--views", type=int, nargs="+", default=[96, 960, 9600], help="pictures in a call")
    parser.add_argument("--houses", type=int, default=12)
    parser.add_argument("--size", type=int, nargs=2, default=[72, 96], metavar=("HEIGHT", "WIDTH"))
    parser.add_argument("--antialias", action="store_true")
    parser.add_argument("--times", type=int, default=7)
    add_json_option(parser)
    options = parser.parse_args()
    config = PlayhouseConfig(image=tuple(options.size), antialias=options.antialias)
    houses = [make_house(config, seed) for seed in range(options.houses)]
    scenes = [Scene(house, config) for house in houses]
    on_cpu, fewest = pack_houses(houses, "cpu"), sampled(houses, min(options.views))
    row_bytes, picture_bytes = fewest.packed(on_cpu)[0].nbytes, 3 * options.size[0] * options.size[1]
    expected = fewest.draw(scenes, config)
    count = len(expected)
    rows = [
        measure("numba on one core", count, lambda: fewest.draw(scenes, config), options.times),
        measure("poses packed on one core", count, lambda: fewest.packed(on_cpu), options.times),
    ]
    share, missing = None, why_not()
    if missing is None:
        for views in sorted(options.views):
            is_fewest = views == min(options.views)
            row, found = on_the_gpu(sampled(houses, views), config, options.times, expected if is_fewest else None)
            rows, share = [*rows, row], share if found is None else found
    print(table(rows))
    print(f"bytes: {row_bytes:,} a row of poses, {picture_bytes:,} a picture ({picture_bytes / row_bytes:.0f} times)")
    print(missing or f"pixels that differ from numba's: {share:.4%}, by one gray level")
    numbers = [{**asdict(row), "per_second": row.per_second} for row in rows]
    results = {"rows": numbers, "row_bytes": row_bytes, "picture_bytes": picture_bytes, "differing_share": share}
    write_json(options.json, {**results, "missing": missing})


if __name__ == "__main__":
    main()
