"""Colors of pixels from what they show; a transcription of `shading.py` and `room_shading.py` in
`platform/env/playhouse/render/`.

Every pixel computes the patterns of all floors and walls and selects one. Tones of floors, and products of a color and
light, are float64 where the numba renderer's are.
"""

from __future__ import annotations

import triton.language as tl

from interplay.gpu_render.compiled_kernel import kernel
from interplay.gpu_render.kernel_constants import (
    BOARDS,
    BOARDS_HEIGHT,
    BOX,
    CARPET,
    CHECKER,
    COLOR,
    CONE,
    CYLINDER,
    DADO,
    DADO_HEIGHT,
    FINE,
    FLOOR,
    HALF_UP,
    HALVES,
    JOINT_TONE,
    KIND,
    MAT_STEP,
    MAT_TONE,
    MATS,
    OFFSET,
    PAPER,
    ROOM,
    SKIRTING_HEIGHT,
    STRIPES,
    TILE,
    TILE_STEP,
    TILE_TONE,
    TILES,
    WALL_COLOR,
    WALLPAPER,
    WOOD,
)
from interplay.gpu_render.rotations import load_three, turn


@kernel
def _light(x: tl.tensor, y: tl.tensor, z: tl.tensor) -> tl.tensor:
    """Brightness of a white surface with this unit normal."""
    window = tl.div_rn(0.48 * x + 0.30 * y + 0.82 * z + 0.35, 1.35)
    fill = -0.66 * x + -0.60 * y + 0.45 * z
    return 0.64 + 0.35 * tl.maximum(window, 0.0) + 0.12 * tl.maximum(fill, 0.0)


@kernel
def _fraction(x: tl.tensor) -> tl.tensor:
    return x - tl.floor(x)


@kernel
def _odd(x: tl.tensor, y: tl.tensor) -> tl.tensor:
    return (tl.floor(x).to(tl.int32) + tl.floor(y).to(tl.int32)) & 1


@kernel
def _wood(x: tl.tensor, y: tl.tensor, fine: tl.tensor) -> tl.tensor:
    row = tl.floor(y * 5.0)
    shift = _fraction(row * 0.381966)
    plank = tl.floor(x * 0.7 + shift)
    tone = _fraction(row * 0.618034 + plank * 0.414214)
    seam = tl.minimum(_fraction(y * 5.0), _fraction(x * 0.7 + shift) * 7.0)
    return 0.90 + 0.14 * tone - tl.where(fine & (seam < 0.06), 0.12, 0.0)


@kernel
def _floor_tone(pattern: tl.tensor, x: tl.tensor, y: tl.tensor, fine: tl.tensor) -> tl.tensor:
    """Brightness, float64, of the floor at x, y in meters."""
    tone = tl.full(x.shape, 1.0, tl.float64)
    tone = tl.where(pattern == WOOD, _wood(x, y, fine).to(tl.float64), tone)
    tile = TILE_TONE + TILE_STEP * _odd(x * 2.5, y * 2.5).to(tl.float64)
    joint = fine & (tl.minimum(_fraction(x * 2.5), _fraction(y * 2.5)) < 0.06)
    tone = tl.where(pattern == TILE, tl.where(joint, JOINT_TONE, tile), tone)
    checker = tl.where(_odd(x * 2.0, y * 2.0) != 0, 0.80, 1.14)
    tone = tl.where(pattern == CHECKER, checker.to(tl.float64), tone)
    weave = _fraction(tl.floor(x * 16.0) * 0.618034 + tl.floor(y * 16.0) * 0.414214)
    tone = tl.where(pattern == CARPET, tl.where(fine, 0.96 + 0.06 * weave, 1.0).to(tl.float64), tone)
    stripes = tl.where(_fraction(y * 1.5) < 0.5, 0.91, 1.05)
    tone = tl.where(pattern == STRIPES, stripes.to(tl.float64), tone)
    mat = (tl.floor(x).to(tl.int32) + 2 * tl.floor(y).to(tl.int32)) & 3
    return tl.where(pattern == MATS, MAT_TONE + MAT_STEP * mat.to(tl.float64), tone)


@kernel
def _wall_tone(paper: tl.tensor, along: tl.tensor, height: tl.tensor) -> tl.tensor:
    """Brightness of the wall, `along` meters from its corner."""
    tone = tl.where((paper == WALLPAPER) & (_fraction(along * 2.5) < 0.5), 0.93, 1.04)
    tone = tl.where(paper == WALLPAPER, tone, 1.0)
    board = tl.where(_fraction(along * 3.0) < 0.2, 0.86, 1.02)
    tone = tl.where((paper == BOARDS) & (height < BOARDS_HEIGHT), board, tone)
    tile = tl.where(_odd(along * 2.5, height * 2.5) != 0, 0.95, 1.03)
    return tl.where(paper == TILES, tile, tone)


@kernel
def _corner(distance: tl.tensor) -> tl.tensor:
    near = tl.maximum(1.0 - distance * 3.0, 0.0)
    return 1.0 - 0.16 * near * near


@kernel
def _room_channel(
    level: tl.tensor, ceiling: tl.tuple, ground: tl.tensor, wall: tl.tensor, light: tl.tensor
) -> tl.tensor:
    """One channel of a room's color, float64 in 0.499 - 255.499."""
    color = tl.where(level, tl.where(ceiling[0], ceiling[1], ground), wall)
    return tl.minimum(color * light.to(tl.float64), 255.0) + HALF_UP


@kernel
def _room_color(part: tl.tensor, q: tl.tuple, depth: tl.tensor, light: tl.tensor, slope: tl.tensor) -> tl.tuple:
    """The color at the point q of a room's unit box, three times float64."""
    mask = depth > 0.0
    h0, h1, h2 = load_three(part + HALVES, mask)
    cx, cy, _cz = load_three(part + OFFSET, mask)
    pattern, paper = tl.load(part + FLOOR).to(tl.int32), tl.load(part + PAPER).to(tl.int32)
    qx, qy, qz = q
    ax, ay, az = tl.abs(qx), tl.abs(qy), tl.abs(qz)
    none = tl.zeros_like(ax)
    level, above, east = (az >= ax) & (az >= ay), qz > 0.0, ax >= ay
    tone = _floor_tone(pattern, cx + qx * h0, cy + qy * h1, depth * slope < FINE)
    dimmed = _light(none, none, none + 1.0) * _corner(tl.minimum((1.0 - ax) * h0, (1.0 - ay) * h1))
    ground = dimmed.to(tl.float64) * tone
    along, height = tl.where(east, (1.0 - ay) * h1, (1.0 - ax) * h0), (qz + 1.0) * h2
    normal_x = tl.where(east, tl.where(qx > 0.0, -1.0, 1.0), 0.0)
    normal_y = tl.where(east, 0.0, tl.where(qy > 0.0, -1.0, 1.0))
    bare = _light(normal_x, normal_y, none) * _corner(tl.minimum(along, height))
    skirting = height < SKIRTING_HEIGHT
    shade = tl.where(skirting, bare, bare * _wall_tone(paper, along, height))
    panel = tl.where(paper == DADO, DADO_HEIGHT, tl.where(paper == BOARDS, BOARDS_HEIGHT, none))
    floor, wall = load_three(part + COLOR, mask), load_three(part + WALL_COLOR, mask)
    boards, low = paper == BOARDS, height < panel
    red = tl.where(skirting, 225.0, tl.where(low, tl.where(boards, 196.0, floor[0]), wall[0]))
    green = tl.where(skirting, 222.0, tl.where(low, tl.where(boards, 164.0, floor[1]), wall[1]))
    blue = tl.where(skirting, 214.0, tl.where(low, tl.where(boards, 124.0, floor[2]), wall[2]))
    return (
        _room_channel(level, (above, 240.0), floor[0] * ground, (red * shade).to(tl.float64), light),
        _room_channel(level, (above, 240.0), floor[1] * ground, (green * shade).to(tl.float64), light),
        _room_channel(level, (above, 236.0), floor[2] * ground, (blue * shade).to(tl.float64), light),
    )


@kernel
def _normal(kind: tl.tensor, q: tl.tuple, half: tl.tuple) -> tl.tuple:
    """The unit normal at the point q of a unit shape, in the part's frame."""
    x, y, z = q
    ax, ay, az = tl.abs(x), tl.abs(y), tl.abs(z)
    along_x = (kind == BOX) & (ax >= ay) & (ax >= az)
    along_y = (kind == BOX) & (along_x == 0) & (ay >= az)
    along_z = (kind == BOX) & (along_x == 0) & (along_y == 0)
    along_z |= (kind == CYLINDER) & (z * z >= x * x + y * y)
    base = (kind == CONE) & (z < -0.999)
    flat = along_x | along_y | along_z | base
    z = tl.where(kind == CYLINDER, 0.0, tl.where(kind == CONE, (1.0 - z) * 0.25, z))
    nx, ny, nz = tl.div_rn(x, half[0]), tl.div_rn(y, half[1]), tl.div_rn(z, half[2])
    scale = tl.div_rn(1.0, tl.sqrt_rn(nx * nx + ny * ny + nz * nz + 1e-12))
    side_x, side_y = tl.where(x > 0.0, 1.0, -1.0), tl.where(y > 0.0, 1.0, -1.0)
    side_z = tl.where((q[2] > 0.0) & (base == 0), 1.0, -1.0)
    return (
        tl.where(flat, tl.where(along_x, side_x, 0.0), nx * scale),
        tl.where(flat, tl.where(along_y, side_y, 0.0), ny * scale),
        tl.where(flat, tl.where(along_z | base, side_z, 0.0), nz * scale),
    )


@kernel
def _byte(x: tl.tensor) -> tl.tensor:
    return x.to(tl.int32).to(tl.uint8)


@kernel
def color(
    part: tl.tensor,
    q: tl.tuple,
    world: tl.tuple,
    index: tl.tensor,
    depth: tl.tensor,
    light: tl.tensor,
    slope: tl.tensor,
) -> tl.tuple:
    """Red, green and blue, uint8, of each pixel.

    Args:
        part: the row of each pixel's primitive in the table of the houses. world: its rotation, nine values.
        q: the point that the pixel shows, in the primitive's unit frame.
        index: number of the primitive, -1 where nothing is shown. depth: finite.
        light: as `darken` computes it. slope: of one pixel.
    """
    kind = tl.load(part + KIND).to(tl.int32)
    mask = depth > 0.0
    x, y, z = _normal(kind, q, load_three(part + HALVES, mask))
    x, y, z = turn(world, x, y, z)
    bright = light * _light(x, y, z)
    red, green, blue = load_three(part + COLOR, mask)
    room_red, room_green, room_blue = _room_color(part, q, depth, light, slope)
    red = tl.where(kind == ROOM, _byte(room_red), _byte(tl.minimum(red * bright, 255.0) + 0.499))
    green = tl.where(kind == ROOM, _byte(room_green), _byte(tl.minimum(green * bright, 255.0) + 0.499))
    blue = tl.where(kind == ROOM, _byte(room_blue), _byte(tl.minimum(blue * bright, 255.0) + 0.499))
    nothing = index < 0
    return (
        tl.where(nothing, 206, red).to(tl.uint8),
        tl.where(nothing, 208, green).to(tl.uint8),
        tl.where(nothing, 212, blue).to(tl.uint8),
    )
