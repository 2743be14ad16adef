"""Compiled rules of gaze and hands in the voxel world: what the gaze meets, placing and breaking, and where to aim.

The functions work on plain arrays, so that one call runs many worlds. The interfaces for callers are `gaze.py` and
`building.py`; `dynamics.py` has the rules of movement, and says what the coordinates are. Neither file calls compiled
functions of the other (`interplay/env/compiled.py`), and what both need is in both.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from interplay.env.compiled import compiled

CELLS = 2  # way to move: one cell a frame

X, Y, Z, VX, VY, VZ, YAW, PITCH, HELD = range(9)  # of a body
_FORWARD, _STRAFE, _UP, _JUMP, _TURN, _LOOK, _SELECT, _ATTACK, _USE = range(9)  # of a command

HALF_WIDTH = 0.3
BODY_HEIGHT = 1.8
EYE_HEIGHT = 1.62
REACH = 5.0  # from the eye to the farthest face that the gaze meets
CEILING = 12.0  # highest position of the feet

_LAYERS, _SIZE, _STOCK = 9, 11, 20
_OFFSET = 5.5  # from world to grid coordinates
_SKIN = 1e-4  # overlap that counts as touching


@compiled
def _solid(grid: Any, y: Any, x: Any, z: Any) -> Any:
    """Whether a cell is a block or ground."""
    if y < 0:
        return True
    if y >= _LAYERS or x < 0 or x >= _SIZE or z < 0 or z >= _SIZE:
        return False
    return grid[y, x, z] != 0


@compiled
def _crossing(place: Any, direction: Any) -> Any:
    """Distance along a ray to the next face across one axis, and from each face to the next."""
    if direction > 0:
        return (math.floor(place) + 1 - place) / direction, 1 / direction
    if direction < 0:
        return (place - math.floor(place)) / -direction, -1 / direction
    return np.inf, np.inf


@compiled
def first_hit(grid: Any, x: Any, y: Any, z: Any, yaw: Any, pitch: Any, reach: Any) -> Any:
    """Walks from cell to cell along the gaze from the eye (x, y, z), world coordinates, degrees.

    The cell around the eye is transparent. Returns (hit, y, x, z, free y, free x, free z): the first block or ground
    cell whose face is within reach, and the cell before that face.
    """
    turn, tilt = math.radians(yaw), math.radians(pitch)
    dx, dy, dz = -math.sin(turn) * math.cos(tilt), -math.sin(tilt), math.cos(turn) * math.cos(tilt)
    px, pz = x + _OFFSET, z + _OFFSET
    cx, cy, cz = math.floor(px), math.floor(y), math.floor(pz)
    (next_x, wide_x), (next_y, wide_y), (next_z, wide_z) = _crossing(px, dx), _crossing(y, dy), _crossing(pz, dz)
    while True:
        fx, fy, fz = cx, cy, cz
        if next_y <= next_x and next_y <= next_z:
            distance, next_y = next_y, next_y + wide_y
            cy += 1 if dy > 0 else -1
        elif next_x <= next_z:
            distance, next_x = next_x, next_x + wide_x
            cx += 1 if dx > 0 else -1
        else:
            distance, next_z = next_z, next_z + wide_z
            cz += 1 if dz > 0 else -1
        if distance > reach:
            return False, 0, 0, 0, 0, 0, 0
        if _solid(grid, cy, cx, cz):
            return True, cy, cx, cz, fy, fx, fz


@compiled
def _box_free(grid: Any, x: Any, y: Any, z: Any) -> Any:
    """Whether a body whose feet are at (x, y, z), world coordinates, touches neither blocks nor ground."""
    for cy in range(math.floor(y + _SKIN), math.floor(y + BODY_HEIGHT - _SKIN) + 1):
        for cx in range(math.floor(x + _OFFSET - HALF_WIDTH + _SKIN), math.floor(x + _OFFSET + HALF_WIDTH - _SKIN) + 1):
            for cz in range(
                math.floor(z + _OFFSET - HALF_WIDTH + _SKIN), math.floor(z + _OFFSET + HALF_WIDTH - _SKIN) + 1
            ):
                if _solid(grid, cy, cx, cz):
                    return False
    return True


@compiled
def _touches(x: Any, y: Any, z: Any, cy: Any, cx: Any, cz: Any) -> Any:
    """Whether a body with its feet at (x, y, z) is in a cell."""
    bx, bz = x + _OFFSET, z + _OFFSET
    aside = bx + HALF_WIDTH <= cx + _SKIN or bx - HALF_WIDTH >= cx + 1 - _SKIN
    behind = bz + HALF_WIDTH <= cz + _SKIN or bz - HALF_WIDTH >= cz + 1 - _SKIN
    return not (aside or behind or y + BODY_HEIGHT <= cy + _SKIN or y >= cy + 1 - _SKIN)


@compiled
def _stock_left(grid: Any, color: Any) -> Any:
    standing = 0
    for block in grid.ravel():
        standing += block == color
    return standing < _STOCK


@compiled
def _raise(grid: Any, body: Any, y: Any, x: Any, z: Any) -> Any:
    """Lifts a body that moves by cells onto the cell at its feet, if there is room. Returns whether there was."""
    if math.floor(np.float64(body[Y]) + _SKIN) != y or y + 1 > CEILING:
        return False
    if not _box_free(grid, np.float64(body[X]), float(y + 1), np.float64(body[Z])):
        return False
    body[Y] = y + 1
    return True


@compiled
def act(grid: Any, body: Any, command: Any, way: Any) -> Any:
    """Selects, then breaks or places by the gaze of the body. Returns whether the grid changed."""
    if command[_SELECT] > 0.5:
        body[HELD] = command[_SELECT]
    attack, use = command[_ATTACK] > 0.5, command[_USE] > 0.5
    if attack == use:
        return False
    bx, by, bz = np.float64(body[X]), np.float64(body[Y]), np.float64(body[Z])
    hit, y, x, z, fy, fx, fz = first_hit(
        grid, bx, by + EYE_HEIGHT, bz, np.float64(body[YAW]), np.float64(body[PITCH]), REACH
    )
    if not hit:
        return False
    if attack:
        if y < 0:
            return False
        grid[y, x, z] = 0
        return True
    if fy < 0 or fy >= _LAYERS or fx < 0 or fx >= _SIZE or fz < 0 or fz >= _SIZE or grid[fy, fx, fz] != 0:
        return False
    color = int(body[HELD])
    if not _stock_left(grid, color):
        return False
    jumps = way == CELLS and command[_JUMP] > 0.5
    if _touches(bx, by, bz, fy, fx, fz) and not (jumps and _raise(grid, body, fy, fx, fz)):
        return False
    grid[fy, fx, fz] = color
    return True


@compiled
def act_worlds(grids: Any, bodies: Any, commands: Any, way: Any, active: Any, changed: Any) -> None:
    """`act` in many worlds: `grids` [N, 9, 11, 11], `bodies` [N, 9], `commands` [N, 9]. Worlds that are not `active`
    [N] stay as they are; `changed` [N] becomes whether a block was placed or removed."""
    for world in range(grids.shape[0]):
        changed[world] = active[world] and act(grids[world], bodies[world], commands[world], way)


@compiled
def observe_worlds(grids: Any, bodies: Any, inventories: Any, focuses: Any, nowhere: Any) -> None:
    """Blocks left of each color, `inventories` [N, 6], and cells under the gaze, `focuses` [N, 3]; y = `nowhere` for
    none."""
    for world in range(grids.shape[0]):
        inventories[world] = _STOCK
        for block in grids[world].ravel():
            if block > 0:
                inventories[world, block - 1] -= 1
        x, y, z = np.float64(bodies[world, X]), np.float64(bodies[world, Y]), np.float64(bodies[world, Z])
        yaw, pitch = np.float64(bodies[world, YAW]), np.float64(bodies[world, PITCH])
        hit, cy, cx, cz, _, _, _ = first_hit(grids[world], x, y + EYE_HEIGHT, z, yaw, pitch, REACH)
        focuses[world, 0] = cy if hit else nowhere
        focuses[world, 1], focuses[world, 2] = cx, cz


@compiled
def _some_near(wanted: Any, x: Any, eye: Any, z: Any) -> Any:
    """Whether one of the cells [n, 3] is near enough to the eye to be met."""
    far = REACH + 1.8
    for row in range(wanted.shape[0]):
        dy, dx, dz = wanted[row, 0] + 0.5 - eye, wanted[row, 1] - 5 - x, wanted[row, 2] - 5 - z
        if dy * dy + dx * dx + dz * dz < far * far:
            return True
    return False


@compiled
def best_aim(
    grid: Any, places: Any, costs: Any, mask: Any, attack: Any, yaw: Any, yaws: Any, pitch: Any, pitches: Any
) -> Any:
    """The cheapest place and angles from which the gaze meets a wanted cell, for planners.

    Args:
        grid: int8 [9, 11, 11].
        places: feet of the places to stand, float64 [n, 3], sorted by `costs`, steps to each.
        mask: the wanted cells, bool [9, 11, 11]: a block to break, or a cell to fill.
        attack: whether blocks are to be broken.
        yaw, pitch: the angles now.
        yaws, pitches: the angles to try, degrees.

    Returns (row of the place, yaw, pitch, cost); the row is -1 without any.
    """
    wanted = np.argwhere(mask)
    row, at_yaw, at_pitch, least = -1, 0.0, 0.0, 1e9
    for place in range(places.shape[0]):
        if costs[place] >= least:
            break
        x, y, z = places[place, 0], places[place, 1], places[place, 2]
        eye = y + EYE_HEIGHT
        if not _some_near(wanted, x, eye, z):
            continue
        for tilt in pitches:
            tilting = abs(tilt - pitch) / 45
            for turn in yaws:
                turning = abs((turn - yaw + 180) % 360 - 180) / 45
                cost = costs[place] + max(turning, tilting) + 0.1 * min(turning, tilting)
                if cost >= least:
                    continue
                hit, by, bx, bz, fy, fx, fz = first_hit(grid, x, eye, z, turn, tilt, REACH)
                if not hit:
                    continue
                if attack:
                    if by < 0 or not mask[by, bx, bz]:
                        continue
                else:
                    if fy < 0 or fy >= _LAYERS or fx < 0 or fx >= _SIZE or fz < 0 or fz >= _SIZE:
                        continue
                    if not mask[fy, fx, fz] or _touches(x, y, z, fy, fx, fz):
                        continue
                row, at_yaw, at_pitch, least = place, turn, tilt, cost
    return row, at_yaw, at_pitch, least


@compiled
def best_pillar(grid: Any, places: Any, costs: Any, mask: Any, attack: Any, yaws: Any, pitches: Any, most: Any) -> Any:
    """The cheapest place at which to raise oneself, so that the gaze meets a wanted cell from there, for planners.

    As `best_aim`, with up to `most` blocks under the body. Returns (row of the place, blocks, cost); row -1: none.
    """
    wanted = np.argwhere(mask)
    built = grid.copy()
    one_place = np.zeros((1, 3))
    no_cost = np.zeros(1)
    row, blocks, least = -1, 0, 1e9
    for place in range(places.shape[0]):
        if costs[place] + 3 >= least:
            break
        x, y, z = places[place, 0], places[place, 1], places[place, 2]
        cx, cy, cz = math.floor(x + _OFFSET), math.floor(y + _SKIN), math.floor(z + _OFFSET)
        if cx < 0 or cx >= _SIZE or cz < 0 or cz >= _SIZE:
            continue
        height = 0
        while height < most and cy + height < _LAYERS and costs[place] + 3 * (height + 1) < least:
            if mask[cy + height, cx, cz] or not _box_free(grid, x, float(cy + height + 1), z):
                break
            built[cy + height, cx, cz] = 1
            height += 1
            one_place[0] = x, float(cy + height), z
            if _some_near(wanted, x, cy + height + EYE_HEIGHT, z):
                found, _, _, _ = best_aim(built, one_place, no_cost, mask, attack, 0.0, yaws, 0.0, pitches)
                if found == 0:
                    row, blocks, least = place, height, costs[place] + 3 * height
                    break
        for layer in range(height):
            built[cy + layer, cx, cz] = 0
    return row, blocks, least
