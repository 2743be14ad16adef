"""MuJoCo model of one house.

Each house gets a minimal model, which compiles in about a millisecond: static geoms for walls and furniture, one free
body per object, and per player an avatar on two slide joints and a hand. A hand is a mocap body with one weld to every
object; a grasp activates the weld. `ModelCache` avoids compilations.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import mujoco
import numpy as np

from interplay.env.arrays import Float64Array
from interplay.env.playhouse.house.catalog import CATEGORIES, SIZES
from interplay.env.playhouse.house.category import BodyPart
from interplay.env.playhouse.house.house_layout import House, PlacedThing
from interplay.env.playhouse.house.rooms import WALL_HEIGHT_M, thick_walls

TIMESTEP_S = 1 / 120
SUBSTEPS_PER_FRAME = 4
AIR_DAMPING = 0.01  # N s / m and N m s, on loose objects; without it discs wobble for seconds
THIN_M, SLIM_M = 0.06, 0.15  # half extents below which a hand could pull an object through a wall
HARD_IMPEDANCE = (0.95, 0.98)  # of a thin object's contacts; MuJoCo's default (0.9, 0.95) is as soft as a hand's pull
AVATAR_RADIUS_M = 0.22
AVATAR_HALF_HEIGHT_M = 0.72
AVATAR_FLOOR_GAP_M = 0.02
MARGIN_M = 0.001  # least gap of an avatar that touches nothing; far above the tolerance of MuJoCo's search for contacts
AVATAR_MASS_KG = 40.0
AVATAR_GAIN = 500.0  # N s / m: reaches full speed within a few frames
AVATAR_MAX_FORCE_N = 400.0
EYE_HEIGHT_M = 1.45
MIN_PITCH_RAD, MAX_PITCH_RAD = math.radians(-75.0), math.radians(60.0)
REACH_M = 2.2  # of a grasp, from the eye
GRASP_AIM_RAD = 0.05  # angular tolerance of a grasp in each direction

# Collision bits. Two geoms collide if the contype of one and the conaffinity of the other share a bit.
STATIC, OBJECT, THICK = 1, 2, 16  # thin and slim objects collide with thick walls instead of the true ones
AVATARS = (4, 8)

SLEEPS, WAKES = int(mujoco.mjtSleepPolicy.mjSLEEP_INIT), int(mujoco.mjtSleepPolicy.mjSLEEP_ALLOWED)  # of an object

BOX, CYLINDER, SPHERE = mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_CYLINDER, mujoco.mjtGeom.mjGEOM_SPHERE
_GEOMS = {"box": BOX, "cylinder": CYLINDER, "ellipsoid": SPHERE}


@dataclass(frozen=True)
class HouseModel:
    """Compiled model with index tables. K objects, in the order of `House.objects`; two players."""

    model: mujoco.MjModel
    geom_thing: tuple[int, ...]  # by geom: the index of the thing it belongs to, -1 for walls, floor and avatars
    object_geoms: tuple[tuple[int, ...], ...]  # by object; the last geoms, one object after another
    object_bodies: tuple[int, ...]  # the last bodies
    avatar_bodies: tuple[int, int]

    def weld(self, player: int, obj: int) -> int:
        """Index of the weld between a player's hand and an object."""
        objects = len(self.object_geoms)
        return player * objects + obj

    @cached_property
    def thick_walls(self) -> tuple[Float64Array, Float64Array]:
        """Low and high corners of the thick walls, [W, 3] each."""
        walls = self.model.geom_contype == THICK
        middles, halves = self.model.geom_pos[walls], self.model.geom_size[walls]
        return middles - halves, middles + halves

    @cached_property
    def obstacles(self) -> Float64Array:
        """Bounds of walls and furniture at the height of the avatars, [N, 4]: low x, low y, high x, high y."""
        model = self.model
        upright = model.geom_type != mujoco.mjtGeom.mjGEOM_PLANE  # an avatar never touches floor and ceiling
        static = np.flatnonzero((model.geom_bodyid == 0) & ((model.geom_contype & STATIC) != 0) & upright)
        turns = np.empty((len(static), 9))
        for turn, quaternion in zip(turns, model.geom_quat[static], strict=True):
            mujoco.mju_quat2Mat(turn, quaternion)
        rotations, boxes = turns.reshape(-1, 3, 3), model.geom_aabb[static]
        centers = model.geom_pos[static] + (rotations @ boxes[:, :3, None])[..., 0]
        halves = (np.abs(rotations) @ boxes[:, 3:, None])[..., 0]
        lows, highs = centers - halves, centers + halves
        low_enough = lows[:, 2] <= AVATAR_FLOOR_GAP_M + 2 * AVATAR_HALF_HEIGHT_M + MARGIN_M
        bounds: Float64Array = np.concatenate([lows[:, :2], highs[:, :2]], axis=1)[low_enough]
        return bounds


def build_model(house: House, *, setter_solid: bool) -> HouseModel:
    """Builds the model of a house; loose objects start asleep at their layout positions."""
    spec = mujoco.MjSpec()
    _set_options(spec)
    for plane in _add_planes(spec):
        _make_static(plane, STATIC | THICK)
    thick = thick_walls(house.rooms, house.walls)
    for walls, touches in ((house.walls, STATIC), (thick, THICK)):
        for wall in walls:
            geom = spec.worldbody.add_geom()  # attributes are set in a tenth of the time that arguments take
            geom.type, geom.pos, geom.size = BOX, wall.center, wall.half
            _make_static(geom, touches)
    owners = [-1] * (2 + len(house.walls) + len(thick))  # by geom, in MuJoCo's numbering: body by body
    for thing in house.furniture:
        for proxy in _proxies(thing.category.name, thing.size, thing.yaw):
            geom = spec.worldbody.add_geom()
            geom.type, geom.size, offset, geom.quat = proxy
            geom.pos = np.array(thing.position) + offset
            _make_static(geom, STATIC | THICK)
            owners.append(thing.index)
    for player, start in enumerate(house.starts):
        _add_avatar(spec, player, start, solid=setter_solid or player == 1)
        owners.append(-1)
    for player in range(2):
        spec.worldbody.add_body(name=f"hand{player}", mocap=True)
    geoms = []
    for thing in house.objects:
        _add_object(spec, thing)
        geoms.append(tuple(range(len(owners), len(owners) + len(thing.category.proxies))))
        owners += [thing.index] * len(thing.category.proxies)
    _add_welds(spec, [f"thing{thing.index}" for thing in house.objects])
    model = spec.compile()
    avatars = model.body("avatar0").id, model.body("avatar1").id
    bodies = tuple(range(model.nbody - len(geoms), model.nbody))
    return HouseModel(model, tuple(owners), tuple(geoms), bodies, avatars)


def bounding_radii(compiled: HouseModel) -> Float64Array:
    """Radii of the bounding balls around the objects' centers, [K], meters."""
    at, bounds = compiled.model.geom_pos, compiled.model.geom_rbound
    balls = [max(float(np.linalg.norm(at[g]) + bounds[g]) for g in geoms) for geoms in compiled.object_geoms]
    return np.array(balls, np.float64)


def upright_quaternion(yaw: float) -> tuple[float, float, float, float]:
    return float(np.cos(yaw / 2)), 0.0, 0.0, float(np.sin(yaw / 2))


def _set_options(spec: mujoco.MjSpec) -> None:
    option = spec.option
    option.timestep = TIMESTEP_S
    option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    option.cone = mujoco.mjtCone.mjCONE_PYRAMIDAL
    option.iterations = 8
    option.enableflags = int(mujoco.mjtEnableBit.mjENBL_SLEEP)
    option.sleep_tolerance = 0.005  # m/s: below it towers never sleep, above it boxes sleep on an edge


def _add_planes(spec: mujoco.MjSpec) -> Iterator[mujoco.MjsGeom]:
    """The floor and the ceiling."""
    plane = mujoco.mjtGeom.mjGEOM_PLANE
    yield spec.worldbody.add_geom(type=plane, size=(0, 0, 1))
    yield spec.worldbody.add_geom(type=plane, size=(0, 0, 1), pos=(0, 0, WALL_HEIGHT_M), quat=(0, 1, 0, 0))


def _make_static(geom: mujoco.MjsGeom, touches: int) -> None:
    geom.contype, geom.conaffinity = touches, 0
    geom.friction = (0.9, 0.01, 0.002)


class _Proxy(NamedTuple):
    """Shape of a collision proxy, in the frame of its thing or, if that is turned, around its center."""

    type: mujoco.mjtGeom
    size: Float64Array
    offset: Float64Array
    quaternion: Float64Array


@lru_cache(maxsize=1024)  # furniture is turned by quarters
def _proxies(category: str, size: str, yaw: float | None = None) -> tuple[_Proxy, ...]:
    """The collision proxies of a thing, turned by `yaw` unless it is None."""
    return tuple(_proxy(part, SIZES[size], yaw) for part in CATEGORIES[category].proxies)


def _proxy(part: BodyPart, scale: float, yaw: float | None) -> _Proxy:
    rotation, offset = part.rotation(), np.array(part.offset) * scale
    if yaw is not None:
        cos, sin = np.cos(yaw), np.sin(yaw)
        turn = np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
        rotation, offset = turn @ rotation, turn @ offset
    quaternion = np.empty(4)
    mujoco.mju_mat2Quat(quaternion, rotation.flatten())
    half = np.array(part.half) * scale
    if part.primitive == "cylinder":
        half = np.array([half[0], half[2], 0.0])
    return _Proxy(_GEOMS[part.primitive], half, offset, quaternion)


def _add_avatar(spec: mujoco.MjSpec, player: int, start: tuple[float, float, float], *, solid: bool) -> None:
    """Adds a cylinder just above the floor with velocity actuators along x and y."""
    body = spec.worldbody.add_body(
        name=f"avatar{player}", pos=(start[0], start[1], AVATAR_HALF_HEIGHT_M + AVATAR_FLOOR_GAP_M)
    )
    body.sleep = mujoco.mjtSleepPolicy.mjSLEEP_NEVER
    geom = body.add_geom(type=CYLINDER, size=(AVATAR_RADIUS_M, AVATAR_HALF_HEIGHT_M, 0), mass=AVATAR_MASS_KG)
    geom.contype = AVATARS[player] if solid else 0
    geom.conaffinity = STATIC | (sum(AVATARS) - AVATARS[player] if solid else 0)
    geom.priority, geom.condim = 2, 1  # frictionless: avatars slide along obstacles
    for name, axis in (("x", (1, 0, 0)), ("y", (0, 1, 0))):
        joint = body.add_joint(name=f"avatar{player}{name}", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis)
        motor = spec.add_actuator(target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.set_to_velocity(kv=AVATAR_GAIN)
        motor.forcelimited = True
        motor.forcerange = (-AVATAR_MAX_FORCE_N, AVATAR_MAX_FORCE_N)


def _add_object(spec: mujoco.MjSpec, thing: PlacedThing) -> None:
    body = spec.worldbody.add_body(name=f"thing{thing.index}", pos=thing.position, quat=upright_quaternion(thing.yaw))
    body.sleep = mujoco.mjtSleepPolicy(SLEEPS)
    joint = body.add_freejoint()
    joint.damping = (AIR_DAMPING, 0.0, 0.0)  # a polynomial of the speed
    rolls = thing.category.shape in ("sphere", "cylinder")
    thickness, width, _ = sorted(thing.half_extents)
    for proxy in _proxies(thing.category.name, thing.size):
        geom = body.add_geom()
        geom.type, geom.size, geom.pos, geom.quat = proxy
        geom.density = thing.category.density
        geom.contype, geom.conaffinity = OBJECT, STATIC | OBJECT | sum(AVATARS)
        geom.condim = 6 if rolls else 3
        geom.friction = (0.9, 0.01, 0.004) if rolls else (0.9, 0.01, 0.002)
        if thickness < THIN_M or width < SLIM_M:
            geom.conaffinity = THICK | OBJECT | sum(AVATARS)
        if thickness < THIN_M:
            geom.solimp[:2] = HARD_IMPEDANCE
            geom.priority = 1


def _add_welds(spec: mujoco.MjSpec, objects: Sequence[str]) -> None:
    """Adds an inactive weld between every hand and every object, center to center."""
    for player in range(2):
        for name in objects:
            weld = spec.add_equality(name1=f"hand{player}", name2=name)
            weld.type = mujoco.mjtEq.mjEQ_WELD
            weld.objtype = mujoco.mjtObj.mjOBJ_BODY
            weld.active = False
            data = np.zeros(12)
            data[6], data[10] = 1.0, 1.0  # no relative rotation; torque scale 1
            weld.data = data
            weld.solref = (0.04, 1.0)
