"""Compiled rules of the voxel world: gaze, placing and breaking, camera, and the three ways to move.

The functions work on plain arrays, so that one call runs many frames of many worlds. The interface for callers is
`body.py`. Everything is in one file because compiled functions must not call those of
another file (`interplay/env/compiled.py`).

Grid coordinates have their origin at a corner of the zone: x and z are 5.5 larger than world coordinates, so the cell
of a point is its floor. `BODY` indexes the float32 [9] array of a body.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from interplay.env.arrays import Float32Array, Float64Array
from interplay.env.compiled import compiled

WALK, FLY, CELLS = 0, 1, 2  # ways to move: physics, free flight, one cell a frame

X, Y, Z, VX, VY, VZ, YAW, PITCH, HELD = range(9)  # of a body
_FORWARD, _STRAFE, _UP, _JUMP, _TURN, _LOOK, _SELECT, _ATTACK, _USE = range(9)  # of a command

HALF_WIDTH = 0.3
BODY_HEIGHT = 1.8
EYE_HEIGHT = 1.62
REACH = 5.0
MARGIN = 2.0  # how far outside the zone the body may be
CEILING = 12.0  # highest position of the feet
FRAME_SECONDS = 1 / 20
SPEED = 5.0  # cells per second, walking
FLIGHT = 1.0  # cells per frame, flying
GRAVITY = 20.0  # cells per second squared
JUMP_SPEED = math.sqrt(2 * GRAVITY * 1.2)  # reaches a height of 1.2
FASTEST_FALL = 50.0  # cells per second

_LAYERS, _SIZE, _STOCK = 9, 11, 20
_OFFSET = 5.5  # from world to grid coordinates
_LIMIT = _OFFSET + MARGIN  # of |x| and |z|
_SKIN = 1e-4  # overlap that counts as touching
_DIAGONAL = math.sqrt(2.0)  # most of forward and strafe: full speed along both of the world's axes
_EIGHTH = math.sin(math.radians(22.5))


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
def _layer_free(grid: Any, axis: Any, layer: Any, low: Any, high: Any) -> Any:
    """Whether the part of a layer of cells across `axis` (0 x, 1 y, 2 z) that a box would enter is free."""
    x0, x1 = math.floor(low[0] + _SKIN), math.floor(high[0] - _SKIN)
    y0, y1 = math.floor(low[1] + _SKIN), math.floor(high[1] - _SKIN)
    z0, z1 = math.floor(low[2] + _SKIN), math.floor(high[2] - _SKIN)
    if axis == 0:
        x0 = x1 = layer
    elif axis == 1:
        y0 = y1 = layer
    else:
        z0 = z1 = layer
    for y in range(y0, y1 + 1):
        for x in range(x0, x1 + 1):
            for z in range(z0, z1 + 1):
                if _solid(grid, y, x, z):
                    return False
    return True


@compiled
def _sweep(grid: Any, x: Any, y: Any, z: Any, axis: Any, distance: Any) -> Any:
    """How far the body can move along one axis, layer of cells by layer, and whether something stops it."""
    low = (x + _OFFSET - HALF_WIDTH, y, z + _OFFSET - HALF_WIDTH)
    high = (x + _OFFSET + HALF_WIDTH, y + BODY_HEIGHT, z + _OFFSET + HALF_WIDTH)
    if distance > 0:
        leading = high[axis]
        last = math.floor(leading + distance - _SKIN)
        layer = math.floor(leading - _SKIN) + 1
        while layer <= last:
            if not _layer_free(grid, axis, layer, low, high):
                return layer - leading, True
            layer += 1
    elif distance < 0:
        leading = low[axis]
        last = math.floor(leading + distance + _SKIN)
        layer = math.floor(leading + _SKIN) - 1
        while layer >= last:
            if not _layer_free(grid, axis, layer, low, high):
                return layer + 1 - leading, True
            layer -= 1
    return distance, False


@compiled
def _clip(value: Any, low: Any, high: Any) -> Any:
    return low if value < low else (high if value > high else value)


@compiled
def _walk(grid: Any, body: Any, ahead: Any, aside: Any, jump: Any) -> None:
    """One frame of walking, jumping and falling. `ahead`, `aside`: speeds east and south, at most 1 together."""
    x, z = np.float64(body[X]), np.float64(body[Z])
    y: Any = np.float64(body[Y])
    vy: Any = np.float64(body[VY])
    _, grounded = _sweep(grid, x, y, z, 1, -2 * _SKIN)
    grounded = grounded and vy <= 0
    if grounded:
        vy = JUMP_SPEED if jump else 0.0
    rise = 0.0
    if not grounded or jump:
        rise = vy * FRAME_SECONDS - GRAVITY * FRAME_SECONDS * FRAME_SECONDS / 2
        vy = max(vy - GRAVITY * FRAME_SECONDS, -FASTEST_FALL)
        rise = max(rise, -FASTEST_FALL * FRAME_SECONDS)
    moved, blocked = _sweep(grid, x, y, z, 1, rise)
    y += moved
    if blocked:
        vy = 0.0
    if y > CEILING:
        y, vy = CEILING, min(vy, 0.0)
    moved, _ = _sweep(grid, x, y, z, 0, ahead * SPEED * FRAME_SECONDS)
    new_x = _clip(x + moved, -_LIMIT, _LIMIT)
    moved, _ = _sweep(grid, new_x, y, z, 2, aside * SPEED * FRAME_SECONDS)
    new_z = _clip(z + moved, -_LIMIT, _LIMIT)
    body[VX], body[VY], body[VZ] = (new_x - x) / FRAME_SECONDS, vy, (new_z - z) / FRAME_SECONDS
    body[X], body[Y], body[Z] = new_x, y, new_z


@compiled
def _fly(body: Any, ahead: Any, aside: Any, up: Any) -> None:
    """One frame of flying through everything but the ground."""
    x, y, z = np.float64(body[X]), np.float64(body[Y]), np.float64(body[Z])
    new_x = _clip(x + FLIGHT * ahead, -_LIMIT, _LIMIT)
    new_y = _clip(y + FLIGHT * up, 0.0, CEILING)
    new_z = _clip(z + FLIGHT * aside, -_LIMIT, _LIMIT)
    body[VX], body[VY], body[VZ] = (new_x - x) / FRAME_SECONDS, (new_y - y) / FRAME_SECONDS, (new_z - z) / FRAME_SECONDS
    body[X], body[Y], body[Z] = new_x, new_y, new_z


@compiled
def _way_free(grid: Any, x: Any, y: Any, z: Any, dx: Any, dz: Any) -> Any:
    """Whether the body fits into the cell next to it, and for a diagonal into both cells that it brushes."""
    if not _box_free(grid, x + dx, y, z + dz):
        return False
    return dx == 0 or dz == 0 or (_box_free(grid, x + dx, y, z) and _box_free(grid, x, y, z + dz))


@compiled
def cell_step(grid: Any, x: Any, y: Any, z: Any, dx: Any, dz: Any, jump: Any) -> Any:
    """Place of the feet after a step of one cell (dx, dz each -1, 0 or 1), world coordinates.

    `jump` climbs one block where the way is not free. A fall takes no time. Where the step is not possible, the body
    only falls.
    """
    if (dx != 0 or dz != 0) and abs(x + dx) <= _LIMIT and abs(z + dz) <= _LIMIT:
        if _way_free(grid, x, y, z, dx, dz):
            x, z = x + dx, z + dz
        elif jump and y + 1 <= CEILING and _box_free(grid, x, y + 1, z) and _way_free(grid, x, y + 1, z, dx, dz):
            x, y, z = x + dx, y + 1, z + dz
    fallen, _ = _sweep(grid, x, y, z, 1, -CEILING - 1)
    return x, y + fallen, z


@compiled
def _step_cells(grid: Any, body: Any, ahead: Any, aside: Any, jump: Any) -> None:
    """One frame of moving by cells, in the nearest of eight directions."""
    length = math.sqrt(ahead * ahead + aside * aside)
    dx = dz = 0
    if length > 0:
        dx = 0 if abs(ahead) < _EIGHTH * length else (1 if ahead > 0 else -1)
        dz = 0 if abs(aside) < _EIGHTH * length else (1 if aside > 0 else -1)
    body[X], body[Y], body[Z] = cell_step(
        grid, np.float64(body[X]), np.float64(body[Y]), np.float64(body[Z]), dx, dz, jump
    )
    body[VX] = body[VY] = body[VZ] = 0.0


@compiled
def _sharp(value: Any) -> Any:
    """0 for the sine or cosine of a right angle, so that walking north does not drift."""
    return 0.0 if abs(value) < 1e-9 else value


@compiled
def move(grid: Any, body: Any, command: Any, way: Any, auto_jump: Any) -> None:
    """Camera and movement of one frame."""
    yaw = np.float64(body[YAW]) + command[_TURN]
    body[YAW] = yaw - 360.0 * math.floor((yaw + 180.0) / 360.0)
    body[PITCH] = _clip(np.float64(body[PITCH]) + command[_LOOK], -90.0, 90.0)
    turn = math.radians(np.float64(body[YAW]))
    sine, cosine = _sharp(math.sin(turn)), _sharp(math.cos(turn))
    forward, strafe = _clip(command[_FORWARD], -_DIAGONAL, _DIAGONAL), _clip(command[_STRAFE], -_DIAGONAL, _DIAGONAL)
    ahead, aside = -sine * forward - cosine * strafe, cosine * forward - sine * strafe
    jump = command[_JUMP] > 0.5
    if way == FLY:
        _fly(body, ahead, aside, _clip(command[_UP], -1.0, 1.0))
    elif way == CELLS:
        _step_cells(grid, body, ahead, aside, jump or auto_jump)
    else:
        length = math.sqrt(ahead * ahead + aside * aside)
        if length > 1:
            ahead, aside = ahead / length, aside / length
        _walk(grid, body, ahead, aside, jump)


@compiled
def _stock_left(grid: Any, color: Any) -> Any:
    standing = 0
    for block in grid.ravel():
        standing += block == color
    return standing < _STOCK


@compiled
def _touches(x: Any, y: Any, z: Any, cy: Any, cx: Any, cz: Any) -> Any:
    """Whether a body with its feet at (x, y, z) is in a cell."""
    bx, bz = x + _OFFSET, z + _OFFSET
    beside = bx + HALF_WIDTH <= cx + _SKIN or bx - HALF_WIDTH >= cx + 1 - _SKIN
    behind = bz + HALF_WIDTH <= cz + _SKIN or bz - HALF_WIDTH >= cz + 1 - _SKIN
    return not (beside or behind or y + BODY_HEIGHT <= cy + _SKIN or y >= cy + 1 - _SKIN)


@compiled
def _raise(grid: Any, body: Any, y: Any) -> Any:
    """Lifts a body that moves by cells onto the cell at its feet, in layer `y`, if there is room. Returns whether there
    was."""
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
    px, py, pz = np.float64(body[X]), np.float64(body[Y]), np.float64(body[Z])
    yaw, pitch = np.float64(body[YAW]), np.float64(body[PITCH])
    hit, y, x, z, fy, fx, fz = first_hit(grid, px, py + EYE_HEIGHT, pz, yaw, pitch, REACH)
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
    if _touches(px, py, pz, fy, fx, fz) and not (jumps and _raise(grid, body, fy)):
        return False
    grid[fy, fx, fz] = color
    return True


@compiled
def run_worlds(grids: Any, bodies: Any, commands: Any, way: Any, active: Any, changed: Any) -> None:
    """One frame of many worlds: `grids` [N, 9, 11, 11], `bodies` [N, 9], `commands` [N, 9]. Worlds that are not
    `active` [N] stay as they are; `changed` [N] becomes whether a block was placed or removed."""
    for world in range(grids.shape[0]):
        changed[world] = False
        if active[world]:
            changed[world] = act(grids[world], bodies[world], commands[world], way)
            move(grids[world], bodies[world], commands[world], way, False)


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
def run(grid: Any, body: Float32Array, commands: Float64Array, way: int, auto_jump: bool) -> int:
    """Runs the frames of `commands` [frames, 9]; changes `grid` and `body` in place. Returns how often the grid
    changed."""
    changes = 0
    for frame in range(commands.shape[0]):
        changes += act(grid, body, commands[frame], way)
        move(grid, body, commands[frame], way, auto_jump)
    return changes


@compiled
def reachable(grid: Any, x: Any, y: Any, z: Any, climbs: Any) -> Any:
    """The places that a body can walk to by cells, nearest first, for planners.

    Returns (places float64 [n, 3], steps int32 [n], before int32 [n]): feet (x, y, z), the number of steps to there,
    and the row of the place before it, -1 for the first.
    """
    most = 4096
    places = np.zeros((most, 3))
    steps = np.zeros(most, np.int32)
    before = np.full(most, -1, np.int32)
    seen = np.zeros((16, 33, 33), np.bool_)
    places[0] = x, y, z
    seen[math.floor(y + _SKIN), 16, 16] = True
    count, row = 1, 0
    while row < count and count + 8 < most:
        for dx in range(-1, 2):
            for dz in range(-1, 2):
                if dx == 0 and dz == 0:
                    continue
                to_x, to_y, to_z = cell_step(grid, places[row, 0], places[row, 1], places[row, 2], dx, dz, climbs)
                column, layer, line = round(to_x - x) + 16, math.floor(to_y + _SKIN), round(to_z - z) + 16
                if not seen[layer, column, line]:
                    seen[layer, column, line] = True
                    places[count] = to_x, to_y, to_z
                    steps[count] = steps[row] + 1
                    before[count] = row
                    count += 1
        row += 1
    return places[:count], steps[:count], before[:count]


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
