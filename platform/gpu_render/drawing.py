"""Kernel that draws the views whose primitives `placing.place` has placed, a tile of pixels per program."""

from __future__ import annotations

import triton.language as tl

from interplay.gpu_render.casting import cast, darken
from interplay.gpu_render.compiled_kernel import kernel, launched_kernel
from interplay.gpu_render.kernel_constants import (
    BASIS,
    COLUMNS,
    EYE_IN,
    HOUSE,
    HOUSE_COLUMNS,
    INVERSE,
    PLACED_COLUMNS,
    RIGHT_IN,
    WORLD,
)
from interplay.gpu_render.painting import color
from interplay.gpu_render.rotations import load_nine, load_three, turn


@kernel
def _point(at: tl.tensor, basis: tl.tuple, u: tl.tensor, v: tl.tensor, depth: tl.tensor, mask: tl.tensor) -> tl.tuple:
    """The points that the pixels show, in the unit frames of their primitives."""
    o, e = load_three(at + EYE_IN, mask), load_three(at + RIGHT_IN, mask)
    d = turn(
        load_nine(at + INVERSE, mask),
        basis[0] + v * basis[6],
        basis[1] + v * basis[7],
        basis[2] + v * basis[8],
    )
    return (
        o[0] + depth * (d[0] + u * e[0]),
        o[1] + depth * (d[1] + u * e[1]),
        o[2] + depth * (d[2] + u * e[2]),
    )


@launched_kernel(varying=("row_length", "most_primitives"), unaligned=("views", "pictures"))
def draw(
    views: tl.tensor,
    row_length: tl.tensor,
    primitives: tl.tensor,
    spans: tl.tensor,
    openings: tl.tensor,
    placed: tl.tensor,
    rectangles: tl.tensor,
    most_primitives: tl.tensor,
    us: tl.tensor,
    vs: tl.tensor,
    pictures: tl.tensor,
    height: tl.tensor,
    width: tl.tensor,
    WIDE: tl.constexpr,
    TALL: tl.constexpr,
) -> None:
    """Program (n, k) draws tile k of view n, row by row.

    Args:
        views, primitives, spans, placed, rectangles: as `place` takes and fills them. openings: of `PackedHouses`.
        us, vs: float32 [width] and [height], slopes of columns and rows.
        pictures: uint8 [N, height, width, 3], filled.
        WIDE, TALL: size of a tile, powers of two.
    """
    view = tl.program_id(0).to(tl.int64)
    row = views + view * row_length
    house = spans + HOUSE_COLUMNS * tl.load(row + HOUSE).to(tl.int32)
    parts = primitives + tl.load(house) * COLUMNS
    placed += view * most_primitives * PLACED_COLUMNS
    rectangles += view * most_primitives * 4
    tiles = tl.cdiv(width, WIDE)
    left, top = tl.program_id(1) % tiles * WIDE, tl.program_id(1) // tiles * TALL
    pixel = tl.arange(0, WIDE * TALL)
    x, y = left + pixel % WIDE, top + pixel // WIDE
    mask = (x < width) & (y < height)
    u, v = tl.load(us + x, mask, 0.0), tl.load(vs + y, mask, 0.0)
    count, last = tl.load(house + 2), tl.load(house + 1)
    depth, index = cast(parts, placed, rectangles, openings, count, u, v, left, top, WIDE, TALL)
    light = darken(parts, placed, rectangles, count, last, u, v, depth, index, left, top, WIDE, TALL)
    shown = tl.where(index >= 0, index, 0)
    depth = tl.where(index >= 0, depth, 1.0)
    at = placed + shown * PLACED_COLUMNS
    basis = load_nine(row + BASIS, True)
    q = _point(at, basis, u, v, depth, mask)
    world = load_nine(at + WORLD, mask)
    slope = tl.load(us + 1) - tl.load(us)
    red, green, blue = color(parts + shown * COLUMNS, q, world, index, depth, light, slope)
    out = pictures + ((view * height + y) * width + x) * 3
    tl.store(out, red, mask)
    tl.store(out + 1, green, mask)
    tl.store(out + 2, blue, mask)
