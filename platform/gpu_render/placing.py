"""Kernel that places the primitives of each view: from poses to rays in each primitive's unit frame, and to the screen.

What `platform/env/playhouse/render/transforms.py` does, without portals: every room is drawn in the whole screen, which
changes no pixel.
"""

from __future__ import annotations

import triton.language as tl

from interplay.gpu_render.compiled_kernel import kernel, launched_kernel
from interplay.gpu_render.kernel_constants import (
    AVATAR_COLUMNS,
    AVATARS,
    BASIS,
    COLUMNS,
    EYE,
    EYE_HEIGHT,
    EYE_IN,
    FORWARD_IN,
    HALVES,
    HIDDEN,
    HOUSE,
    HOUSE_COLUMNS,
    INVERSE,
    KIND,
    NAME,
    NEAR,
    OFFSET,
    OWNER,
    PLACED_COLUMNS,
    RIGHT_IN,
    ROTATION,
    SETTER_HEAD,
    SHADOW,
    SOLVER_HEAD,
    THING_COLUMNS,
    THINGS,
    UP_IN,
    WORLD,
)
from interplay.gpu_render.rotations import load_nine, load_three, product, rotation, select, turn


@kernel
def _body(row: tl.tensor, owner: tl.tensor, mask: tl.tensor) -> tl.tuple:
    """Position and rotation of the bodies that own the primitives."""
    is_thing, is_avatar, is_head = owner >= 0, owner < -1, (owner == SETTER_HEAD) | (owner == SOLVER_HEAD)
    thing = row + THINGS + THING_COLUMNS * tl.where(is_thing, owner, 0)
    avatar = row + AVATARS + tl.where(owner <= SOLVER_HEAD, AVATAR_COLUMNS, 0)
    x, y, z = load_three(thing, mask & is_thing)
    w, i, j = load_three(thing + 3, mask & is_thing)
    k = tl.load(thing + 6, mask & is_thing, 0.0)
    avatar_x, avatar_y, cos_yaw = load_three(avatar, mask & is_avatar)
    sin_yaw, cos_pitch, sin_pitch = load_three(avatar + 3, mask & is_avatar)
    x, y = tl.where(is_avatar, avatar_x, x), tl.where(is_avatar, avatar_y, y)
    z = tl.where(is_head, EYE_HEIGHT, z)
    w = tl.where(is_thing, w, tl.where(is_avatar, cos_yaw, 1.0))
    k = tl.where(is_avatar, sin_yaw, k)
    upright = rotation(w, i, j, k)
    none = tl.zeros_like(x)
    tilted = product(upright, rotation(cos_pitch, none, -sin_pitch, none))
    return (x, y, z), select(is_head, tilted, upright)


@kernel
def _part(part: tl.tensor, place: tl.tuple, body: tl.tuple, half: tl.tuple, mask: tl.tensor) -> tl.tuple:
    """Center, rotation, matrix into the unit frame and half-axes of parts."""
    x, y, z = load_three(part + OFFSET, mask)
    world = product(body, load_nine(part + ROTATION, mask))
    center = (
        place[0] + body[0] * x + body[1] * y + body[2] * z,
        place[1] + body[3] * x + body[4] * y + body[5] * z,
        place[2] + body[6] * x + body[7] * y + body[8] * z,
    )
    a, b, c = half
    inverse = (
        tl.div_rn(world[0], a),
        tl.div_rn(world[3], a),
        tl.div_rn(world[6], a),
        tl.div_rn(world[1], b),
        tl.div_rn(world[4], b),
        tl.div_rn(world[7], b),
        tl.div_rn(world[2], c),
        tl.div_rn(world[5], c),
        tl.div_rn(world[8], c),
    )
    axes = (
        world[0] * a,
        world[1] * b,
        world[2] * c,
        world[3] * a,
        world[4] * b,
        world[5] * c,
        world[6] * a,
        world[7] * b,
        world[8] * c,
    )
    return center, world, inverse, axes


@kernel
def _shadow(place: tl.tuple, body: tl.tuple, extent: tl.tuple) -> tl.tuple:
    """Center, matrix into the unit frame and half-axes of the shadow boxes under things, as `_place_shadows`."""
    x = tl.abs(body[0]) * extent[0] + tl.abs(body[1]) * extent[1] + tl.abs(body[2]) * extent[2]
    y = tl.abs(body[3]) * extent[0] + tl.abs(body[4]) * extent[1] + tl.abs(body[5]) * extent[2]
    z = tl.abs(body[6]) * extent[0] + tl.abs(body[7]) * extent[1] + tl.abs(body[8]) * extent[2]
    upright = body[8] > 0.99
    x, y = tl.where(upright, extent[0], x) * 1.25, tl.where(upright, extent[1], y) * 1.25
    cos, sin = tl.where(upright, body[0], 1.0), tl.where(upright, body[3], 0.0)
    bottom = tl.maximum(place[2] - z, 0.0)
    deep = tl.minimum(bottom, 1.2) * 0.5 + 0.02
    none = tl.zeros_like(x)
    center = place[0], place[1], bottom + 0.02 - deep
    inverse = (
        tl.div_rn(cos, x),
        tl.div_rn(sin, x),
        none,
        tl.div_rn(-sin, y),
        tl.div_rn(cos, y),
        none,
        none,
        none,
        tl.div_rn(1.0, deep),
    )
    return center, inverse, (cos * x, -sin * y, none, sin * x, cos * y, none, none, none, deep)


@kernel
def _rectangle(
    offset: tl.tuple, axes: tl.tuple, basis: tl.tuple, slope: tl.tensor, height: tl.tensor, width: tl.tensor
) -> tl.tuple:
    """The screen rectangles x0, x1, y0, y1 of boxes that are `offset` from the eye; the whole screen for a box that is
    partly nearer than the near plane. Ends are excluded, and empty where x1 <= x0."""
    depth, right, up = turn(basis, offset[0], offset[1], offset[2])
    depth_x, right_x, up_x = turn(basis, axes[0], axes[3], axes[6])
    depth_y, right_y, up_y = turn(basis, axes[1], axes[4], axes[7])
    depth_z, right_z, up_z = turn(basis, axes[2], axes[5], axes[8])
    reach = tl.abs(depth_x) + tl.abs(depth_y) + tl.abs(depth_z)
    crosses, behind = depth - reach < NEAR, depth + reach < NEAR
    far = tl.full(depth.shape, 1e9, tl.float32)
    low_u, high_u, low_v, high_v = far, -far, far, -far
    for corner in tl.static_range(8):
        x, y, z = 2.0 * (corner & 1) - 1.0, (corner & 2) - 1.0, 0.5 * (corner & 4) - 1.0
        away = tl.maximum(depth + x * depth_x + y * depth_y + z * depth_z, NEAR)
        u = tl.div_rn(right + x * right_x + y * right_y + z * right_z, away)
        v = tl.div_rn(up + x * up_x + y * up_y + z * up_z, away)
        low_u, high_u = tl.minimum(low_u, u), tl.maximum(high_u, u)
        low_v, high_v = tl.minimum(low_v, v), tl.maximum(high_v, v)
    # Whole pixels, with one extra on each side for float32 rounding.
    across, down = width * 0.5, height * 0.5
    x0 = (tl.maximum(tl.div_rn(low_u, slope), -1e6) + across).to(tl.int32) - 1
    x1 = (tl.minimum(tl.div_rn(high_u, slope), 1e6) + across).to(tl.int32) + 2
    y0 = (down - tl.minimum(tl.div_rn(high_v, slope), 1e6)).to(tl.int32) - 1
    y1 = (down - tl.maximum(tl.div_rn(low_v, slope), -1e6)).to(tl.int32) + 2
    x0, y0 = tl.where(crosses, 0, tl.maximum(x0, 0)), tl.where(crosses, 0, tl.maximum(y0, 0))
    x1, y1 = tl.where(crosses, width, tl.minimum(x1, width)), tl.where(crosses, height, tl.minimum(y1, height))
    return x0, tl.where(behind, 0, x1), y0, y1


@kernel
def _store_nine(at: tl.tensor, values: tl.tuple, mask: tl.tensor) -> None:
    for k in tl.static_range(9):
        tl.store(at + k, values[k], mask)


@kernel
def _store_three(at: tl.tensor, values: tl.tuple, mask: tl.tensor) -> None:
    for k in tl.static_range(3):
        tl.store(at + k, values[k], mask)


@launched_kernel(varying=("row_length", "most_primitives"), unaligned=("views",))
def place(
    views: tl.tensor,
    row_length: tl.tensor,
    primitives: tl.tensor,
    spans: tl.tensor,
    placed: tl.tensor,
    rectangles: tl.tensor,
    most_primitives: tl.tensor,
    slope: tl.tensor,
    height: tl.tensor,
    width: tl.tensor,
    BLOCK: tl.constexpr,
) -> None:
    """Program (n, b) places primitives b * BLOCK and following of view n.

    Args:
        views: float32 [N, row_length], rows of `pack_views`.
        primitives, spans: of `PackedHouses`.
        placed: float32 [N, most_primitives, PLACED_COLUMNS], filled.
        rectangles: int32 [N, most_primitives, 4], filled: x0, x1, y0, y1 in pixels; x1 <= x0 for those not visible.
        slope: float32, of one pixel. height, width: of the picture.
    """
    view = tl.program_id(0).to(tl.int64)
    row = views + view * row_length
    house = spans + HOUSE_COLUMNS * tl.load(row + HOUSE).to(tl.int32)
    number = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = number < tl.load(house + 1)
    part = primitives + (tl.load(house) + number) * COLUMNS
    is_shadow = tl.load(part + KIND, mask, 0.0) == SHADOW
    position, body = _body(row, tl.load(part + OWNER, mask, -1.0).to(tl.int32), mask)
    half = (
        tl.load(part + HALVES, mask, 1.0),
        tl.load(part + HALVES + 1, mask, 1.0),
        tl.load(part + HALVES + 2, mask, 1.0),
    )
    center, world, inverse, axes = _part(part, position, body, half, mask)
    shadow_center, shadow_inverse, shadow_axes = _shadow(position, body, half)
    inverse, axes = select(is_shadow, shadow_inverse, inverse), select(is_shadow, shadow_axes, axes)
    x = tl.where(is_shadow, shadow_center[0], center[0])
    y = tl.where(is_shadow, shadow_center[1], center[1])
    z = tl.where(is_shadow, shadow_center[2], center[2])
    eye_x, eye_y, eye_z = tl.load(row + EYE), tl.load(row + EYE + 1), tl.load(row + EYE + 2)
    basis = load_nine(row + BASIS, True)
    at = placed + (view * most_primitives + number) * PLACED_COLUMNS
    _store_three(at + EYE_IN, turn(inverse, eye_x - x, eye_y - y, eye_z - z), mask)
    _store_three(at + FORWARD_IN, turn(inverse, basis[0], basis[1], basis[2]), mask)
    _store_three(at + RIGHT_IN, turn(inverse, basis[3], basis[4], basis[5]), mask)
    _store_three(at + UP_IN, turn(inverse, basis[6], basis[7], basis[8]), mask)
    _store_nine(at + INVERSE, inverse, mask)
    _store_nine(at + WORLD, world, mask)
    x0, x1, y0, y1 = _rectangle((x - eye_x, y - eye_y, z - eye_z), axes, basis, slope, height, width)
    x1 = tl.where(tl.load(part + NAME, mask, 0.0) == tl.load(row + HIDDEN), 0, x1)
    corner = rectangles + (view * most_primitives + number) * 4
    tl.store(corner, x0, mask)
    tl.store(corner + 1, x1, mask)
    tl.store(corner + 2, y0, mask)
    tl.store(corner + 3, y1, mask)
