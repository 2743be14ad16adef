"""Draws many views of the Playhouse on a GPU."""

from __future__ import annotations

import math
import threading

import numpy as np
import torch
from torch import Tensor

from interplay.agent.inference_device import send
from interplay.env.arrays import Float32Array
from interplay.env.playhouse.render.scene import Camera, pixel_slopes
from interplay.gpu_render.packed_houses import PackedHouses
from interplay.gpu_render.packed_views import HOUSE, row_length
from interplay.gpu_render.triton_found import has_triton, is_interpreted

_PLACED_BYTES = 64 << 20  # of one launch, so that the placed primitives stay in a GPU's cache
_BLOCK = 64  # primitives that one program places, by one thread each
_WIDE, _TALL = 32, 8  # pixels that one program draws
_INTERPRETER = threading.Lock()


def draw_views(
    houses: PackedHouses,
    views: Float32Array,
    height: int,
    width: int,
    field_of_view: float,
    antialias: bool = False,
) -> Tensor:
    """Draws N views on the device of `houses`: what `Scene.draw` draws from the same poses.

    Scratch memory: 64 MB; with `antialias` up to a few hundred MB more, for four pictures of each of the views that
    are drawn at once.

    Args:
        views: [N, `row_length`], rows of `pack_views` with the same `houses`.
        field_of_view: vertical, degrees. antialias: averages 2 x 2 rays per pixel.

    Returns:
        uint8 [N, height, width, 3].

    Raises:
        ModuleNotFoundError: triton is not installed.
        ValueError: the houses are on the CPU (unless TRITON_INTERPRET=1 was set at the start, which interprets the
            kernels, slowly), `views` has another shape or type or names a house that was not packed, or a size or
            field of view that no picture has.
    """
    device = houses.primitives.device
    _check_picture(height, width, field_of_view)
    _check_views(houses, views)
    check_drawing(device, "or draw with Scene.draw")
    rows = send(torch.from_numpy(np.ascontiguousarray(views)), device)  # kernels step from row to row
    # Where triton launches; its interpreter serves one thread at a time.
    with torch.cuda.device(device) if device.type == "cuda" else _INTERPRETER:
        return _draw(houses, rows, height, width, field_of_view, antialias)


def _draw(
    houses: PackedHouses, views: Tensor, height: int, width: int, field_of_view: float, antialias: bool
) -> Tensor:
    # Here, because triton is optional, and because importing it decides whether kernels are interpreted.
    from interplay.gpu_render.drawing import draw
    from interplay.gpu_render.kernel_constants import PLACED_COLUMNS
    from interplay.gpu_render.placing import place

    device, most = views.device, houses.most_primitives
    pictures = torch.empty((len(views), height, width, 3), dtype=torch.uint8, device=device)
    if antialias:
        height, width = 2 * height, 2 * width
    slope = Camera((0.0, 0.0, 0.0), 0.0, 0.0, field_of_view).slope(height)
    us, vs = (send(torch.from_numpy(slopes), device) for slopes in pixel_slopes(slope, height, width))
    columns = PLACED_COLUMNS.value
    chunk = max(1, min(len(views), _PLACED_BYTES // (4 * columns * most)))
    placed = torch.empty((chunk, most, columns), dtype=torch.float32, device=device)
    rectangles = torch.empty((chunk, most, 4), dtype=torch.int32, device=device)
    finer = torch.empty((chunk, height, width, 3), dtype=torch.uint8, device=device) if antialias else None
    house = (houses.primitives, houses.spans)
    blocks, tiles = math.ceil(most / _BLOCK), math.ceil(width / _WIDE) * math.ceil(height / _TALL)
    # Without fused multiplications and additions, which round otherwise than the CPU.
    exact = {"enable_fp_fusion": False}
    for first in range(0, len(views), chunk):
        rows = views[first : first + chunk]
        out = pictures[first : first + chunk] if finer is None else finer[: len(rows)]
        shape = (views.shape[1], *house)
        picture = (slope, height, width)
        place[len(rows), blocks](
            rows, *shape, placed, rectangles, most, *picture, BLOCK=_BLOCK, num_warps=_BLOCK // 32, **exact
        )
        tables = (*shape, houses.openings, placed, rectangles, most)
        draw[len(rows), tiles](rows, *tables, us, vs, out, height, width, WIDE=_WIDE, TALL=_TALL, **exact)
        if finer is not None:
            pictures[first : first + chunk] = _halved(out)
    return pictures


def _halved(pictures: Tensor) -> Tensor:
    """Averages 2 x 2 pixels as `halve`: uint8 [N, H, W, 3] from [N, 2H, 2W, 3]."""
    count, height, width, _ = pictures.shape
    total = pictures.view(count, height // 2, 2, width // 2, 2, 3).sum(dim=(2, 4), dtype=torch.int16)
    return ((total + 2) >> 2).to(torch.uint8)


def check_drawing(device: torch.device, otherwise: str) -> None:
    """Checks that views can be drawn on a device.

    Args:
        otherwise: what else to do, for the message, as "or set dataset.drawn_by=actor".

    Raises:
        ModuleNotFoundError: triton is not installed.
        ValueError: the device is not a GPU, and triton does not interpret.
    """
    if not has_triton():
        raise ModuleNotFoundError(
            "views are drawn by the package 'triton', which is not installed; type in the checkout: "
            f"pip install '.[triton]', {otherwise}",
            name="triton",
        )
    if device.type != "cuda" and not is_interpreted():
        raise ValueError(f"views are drawn on a GPU, and this is {device}: give device='cuda', {otherwise}")


def _check_picture(height: int, width: int, field_of_view: float) -> None:
    if height < 2 or width < 2:
        raise ValueError(f"a picture of {height} x {width} pixels: give at least 2 x 2")
    if not 0.0 < field_of_view < 180.0:
        raise ValueError(f"field_of_view={field_of_view}: above 0 and below 180 degrees")


def _check_views(houses: PackedHouses, views: Float32Array) -> None:
    length = row_length(houses.most_things)
    if views.dtype != np.float32 or views.ndim != 2 or views.shape[1] < length:
        raise ValueError(
            f"views is {views.dtype} {list(views.shape)}; these houses need float32 [N, {length}] or longer rows: pack "
            "them with pack_views and the same houses"
        )
    numbers = views[:, HOUSE]
    if len(views) and not 0 <= numbers.min() <= numbers.max() < len(houses.things):
        raise ValueError(
            f"views are of houses {numbers.min():.0f} to {numbers.max():.0f}; {len(houses.things)} were packed, "
            "numbered from 0"
        )
