"""Columns, kinds and lengths as the constants that kernels may read; their values are part of a compiled kernel."""

from __future__ import annotations

import numpy as np
import triton.language as tl

from interplay.env.playhouse.physics.model import EYE_HEIGHT_M
from interplay.env.playhouse.render import raycast
from interplay.env.playhouse.render.room_shading import FLOOR_PATTERNS, WALL_PATTERNS
from interplay.gpu_render import packed_houses, packed_views

# Kinds of primitives.
BOX, ELLIPSOID, CYLINDER = tl.constexpr(raycast.BOX), tl.constexpr(raycast.ELLIPSOID), tl.constexpr(raycast.CYLINDER)
CONE, ROOM, SHADOW = tl.constexpr(raycast.CONE), tl.constexpr(raycast.ROOM), tl.constexpr(raycast.SHADOW)

# Columns of a primitive in `PackedHouses.primitives`.
KIND, OWNER, NAME = (
    tl.constexpr(packed_houses.KIND),
    tl.constexpr(packed_houses.OWNER),
    tl.constexpr(packed_houses.NAME),
)
OFFSET, ROTATION = tl.constexpr(packed_houses.OFFSET), tl.constexpr(packed_houses.ROTATION)
HALVES, COLOR = tl.constexpr(packed_houses.HALVES), tl.constexpr(packed_houses.COLOR)
FLOOR, PAPER = tl.constexpr(packed_houses.FLOOR), tl.constexpr(packed_houses.PAPER)
WALL_COLOR = tl.constexpr(packed_houses.WALL_COLOR)
FIRST_OPENING, LAST_OPENING = tl.constexpr(packed_houses.FIRST_OPENING), tl.constexpr(packed_houses.LAST_OPENING)
COLUMNS, OPENING_COLUMNS = tl.constexpr(packed_houses.COLUMNS), tl.constexpr(packed_houses.OPENING_COLUMNS)
HOUSE_COLUMNS = tl.constexpr(packed_houses.HOUSE_COLUMNS)
SETTER_HEAD, SOLVER_HEAD = tl.constexpr(packed_houses.SETTER_HEAD), tl.constexpr(packed_houses.SOLVER_HEAD)

# Columns of a row of `pack_views`.
HOUSE, HIDDEN = tl.constexpr(packed_views.HOUSE), tl.constexpr(packed_views.HIDDEN)
EYE, BASIS = tl.constexpr(packed_views.EYE), tl.constexpr(packed_views.BASIS)
AVATARS, THINGS = tl.constexpr(packed_views.AVATARS), tl.constexpr(packed_views.THINGS)
AVATAR_COLUMNS, THING_COLUMNS = tl.constexpr(packed_views.AVATAR_COLUMNS), tl.constexpr(packed_views.THING_COLUMNS)

# Columns of a placed primitive: the eye and the directions forward, right and up in its unit frame, the matrix from
# world offsets to that frame, and the rotation from the part's frame to the world's. The last two are empty.
EYE_IN, FORWARD_IN, RIGHT_IN, UP_IN = tl.constexpr(0), tl.constexpr(3), tl.constexpr(6), tl.constexpr(9)
INVERSE, WORLD, PLACED_COLUMNS = tl.constexpr(12), tl.constexpr(21), tl.constexpr(32)

# Patterns of floors and walls.
WOOD, TILE = tl.constexpr(FLOOR_PATTERNS["wood"]), tl.constexpr(FLOOR_PATTERNS["tile"])
CHECKER, CARPET = tl.constexpr(FLOOR_PATTERNS["checker"]), tl.constexpr(FLOOR_PATTERNS["carpet"])
STRIPES, MATS = tl.constexpr(FLOOR_PATTERNS["stripes"]), tl.constexpr(FLOOR_PATTERNS["mats"])
WALLPAPER, DADO = tl.constexpr(WALL_PATTERNS["stripes"]), tl.constexpr(WALL_PATTERNS["dado"])
BOARDS, TILES = tl.constexpr(WALL_PATTERNS["boards"]), tl.constexpr(WALL_PATTERNS["tiles"])

INFINITY = tl.constexpr(float("inf"))
WALL_FIRST = tl.constexpr(1.0 - 1e-5)
NEAR = tl.constexpr(0.005)  # near plane, meters
EYE_HEIGHT = tl.constexpr(EYE_HEIGHT_M)
FINE = tl.constexpr(0.02)  # meters per pixel up to which seams and weaves are drawn
DADO_HEIGHT, BOARDS_HEIGHT, SKIRTING_HEIGHT = tl.constexpr(0.9), tl.constexpr(1.2), tl.constexpr(0.09)

# float32 numbers that meet float64 ones.
TILE_TONE, TILE_STEP = tl.constexpr(float(np.float32(0.94))), tl.constexpr(float(np.float32(0.08)))
JOINT_TONE = tl.constexpr(float(np.float32(1.12)))
MAT_TONE, MAT_STEP = tl.constexpr(float(np.float32(0.84))), tl.constexpr(float(np.float32(0.12)))
HALF_UP = tl.constexpr(float(np.float32(0.499)))
