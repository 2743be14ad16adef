"""The physics of one house as a compiled MuJoCo model.

A house compiles in under a millisecond, so each has a model of its own that holds nothing it does not need: walls and
furniture as static geoms, one free body an object, and for each player an avatar on two slides and a hand. A hand is a
mocap body with one weld to every object; taking hold of an object switches its weld on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from interplay.env.playhouse.house.category import BodyPart
from interplay.env.playhouse.house.house_layout import House, PlacedThing
from interplay.env.playhouse.house.rooms import WALL_HEIGHT, Wall, thick_walls

TIMESTEP = 1 / 120  # seconds
SUBSTEPS = 4  # in a frame
AIR = 0.01  # N s / m, and N m s: what slows a loose thing; discs would wobble for seconds without it
THIN, SLIM = 0.06, 0.15  # meters: a hand can pull through a wall what is thinner, half, or slimmer across its length
HARD = (0.95, 0.98)  # impedance of its contacts; MuJoCo's own are (0.9, 0.95), as soft as a hand's pull
AVATAR_RADIUS = 0.22
AVATAR_HALF_HEIGHT = 0.72
AVATAR_MASS = 40.0  # kg
AVATAR_GAIN = 500.0  # N s / m: it takes full speed within a few frames
AVATAR_FORCE = 400.0  # N, the most it pushes with

# Contact bits. Two geoms touch when the type of one meets the affinity of the other.
STATIC, OBJECT, THICK = 1, 2, 16  # a thin or slim thing touches thick walls instead of the true ones
AVATARS = (4, 8)

BOX, CYLINDER, SPHERE = mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_CYLINDER, mujoco.mjtGeom.mjGEOM_SPHERE
_GEOMS = {"box": BOX, "cylinder": CYLINDER, "ellipsoid": SPHERE}


@dataclass(frozen=True)
class HouseModel:
    """A compiled model and where things are in it. K objects, in the order of `House.objects`; two players."""

    model: mujoco.MjModel
    geom_thing: tuple[int, ...]  # by geom: the index of the thing it belongs to, -1 for walls, floor and avatars
    object_geoms: tuple[tuple[int, ...], ...]  # by object
    avatar_bodies: tuple[int, int]

    def weld(self, player: int, obj: int) -> int:
        """The index of the weld between a player's hand and an object."""
        objects = len(self.object_geoms)
        return player * objects + obj


def build_model(house: House, *, setter_solid: bool) -> HouseModel:
    """The physics of a house; everything loose starts asleep, where the layout put it."""
    spec = mujoco.MjSpec()
    _options(spec)
    owners: list[int] = []  # of each geom, in the order in which MuJoCo will number them: body by body
    thick = thick_walls(house.rooms, house.walls)
    shell = ((_planes(spec), STATIC | THICK), (_slabs(spec, house.walls), STATIC), (_slabs(spec, thick), THICK))
    for geoms_of_house, touches in shell:
        for geom in geoms_of_house:
            _static(geom, touches)
            owners.append(-1)
    for thing in house.furniture:
        for part in thing.category.proxies:
            _static(_piece(spec.worldbody.add_geom(), thing, part, placed=True), STATIC | THICK)
            owners.append(thing.index)
    for player, start in enumerate(house.starts):
        _avatar(spec, player, start, solid=setter_solid or player == 1)
        owners.append(-1)
    for player in range(2):
        spec.worldbody.add_body(name=f"hand{player}", mocap=True)
    geoms = []
    for thing in house.objects:
        _loose(spec, thing)
        geoms.append(tuple(range(len(owners), len(owners) + len(thing.category.proxies))))
        owners += [thing.index] * len(thing.category.proxies)
    _welds(spec, [f"thing{thing.index}" for thing in house.objects])
    model = spec.compile()
    avatars = model.body("avatar0").id, model.body("avatar1").id
    return HouseModel(model, tuple(owners), tuple(geoms), avatars)


def _options(spec: mujoco.MjSpec) -> None:
    option = spec.option
    option.timestep = TIMESTEP
    option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    option.cone = mujoco.mjtCone.mjCONE_PYRAMIDAL
    option.iterations = 8
    option.enableflags = int(mujoco.mjtEnableBit.mjENBL_SLEEP)
    option.sleep_tolerance = 0.005  # meters a second: smaller and towers tremble awake, larger and boxes sleep on edge


def _planes(spec: mujoco.MjSpec) -> Iterator[mujoco.MjsGeom]:
    """The floor and the ceiling."""
    plane = mujoco.mjtGeom.mjGEOM_PLANE
    yield spec.worldbody.add_geom(type=plane, size=(0, 0, 1))
    yield spec.worldbody.add_geom(type=plane, size=(0, 0, 1), pos=(0, 0, WALL_HEIGHT), quat=(0, 1, 0, 0))


def _slabs(spec: mujoco.MjSpec, walls: Sequence[Wall]) -> Iterator[mujoco.MjsGeom]:
    for wall in walls:
        yield spec.worldbody.add_geom(type=BOX, pos=wall.center, size=wall.half)


def _static(geom: mujoco.MjsGeom, touches: int) -> None:
    geom.contype, geom.conaffinity = touches, 0
    geom.friction = (0.9, 0.01, 0.002)


def _piece(geom: mujoco.MjsGeom, thing: PlacedThing, part: BodyPart, *, placed: bool) -> mujoco.MjsGeom:
    """Shapes one proxy of a thing, in the frame of the house where `placed`, otherwise in the thing's own."""
    rotation, offset = part.rotation(), np.array(part.offset) * thing.scale
    if placed:
        cos, sin = np.cos(thing.yaw), np.sin(thing.yaw)
        turn = np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
        rotation, offset = turn @ rotation, np.array(thing.position) + turn @ offset
    quaternion = np.empty(4)
    mujoco.mju_mat2Quat(quaternion, rotation.flatten())
    half = np.array(part.half) * thing.scale
    geom.type = _GEOMS[part.primitive]
    geom.size = (half[0], half[2], 0.0) if part.primitive == "cylinder" else half
    geom.pos, geom.quat = offset, quaternion
    return geom


def _avatar(spec: mujoco.MjSpec, player: int, start: tuple[float, float, float], *, solid: bool) -> None:
    """A cylinder just above the floor, driven along x and y at a wanted velocity."""
    body = spec.worldbody.add_body(name=f"avatar{player}", pos=(start[0], start[1], AVATAR_HALF_HEIGHT + 0.02))
    body.sleep = mujoco.mjtSleepPolicy.mjSLEEP_NEVER
    geom = body.add_geom(type=CYLINDER, size=(AVATAR_RADIUS, AVATAR_HALF_HEIGHT, 0), mass=AVATAR_MASS)
    geom.contype = AVATARS[player] if solid else 0
    geom.conaffinity = STATIC | (sum(AVATARS) - AVATARS[player] if solid else 0)
    geom.priority, geom.condim = 2, 1  # avatars slide along whatever they touch
    for name, axis in (("x", (1, 0, 0)), ("y", (0, 1, 0))):
        joint = body.add_joint(name=f"avatar{player}{name}", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis)
        motor = spec.add_actuator(target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.set_to_velocity(kv=AVATAR_GAIN)
        motor.forcelimited = True
        motor.forcerange = (-AVATAR_FORCE, AVATAR_FORCE)


def _loose(spec: mujoco.MjSpec, thing: PlacedThing) -> None:
    turn = (float(np.cos(thing.yaw / 2)), 0.0, 0.0, float(np.sin(thing.yaw / 2)))
    body = spec.worldbody.add_body(name=f"thing{thing.index}", pos=thing.position, quat=turn)
    body.sleep = mujoco.mjtSleepPolicy.mjSLEEP_INIT
    joint = body.add_freejoint()
    joint.damping = (AIR, 0.0, 0.0)  # a polynomial of the speed
    rolls = thing.category.shape in ("sphere", "cylinder")
    thickness, width, _ = sorted(thing.half_extents)
    for part in thing.category.proxies:
        geom = _piece(body.add_geom(), thing, part, placed=False)
        geom.density = thing.category.density
        geom.contype, geom.conaffinity = OBJECT, STATIC | OBJECT | sum(AVATARS)
        geom.condim = 6 if rolls else 3
        geom.friction = (0.9, 0.01, 0.004) if rolls else (0.9, 0.01, 0.002)
        if thickness < THIN or width < SLIM:
            geom.conaffinity = THICK | OBJECT | sum(AVATARS)
        if thickness < THIN:
            geom.solimp[:2] = HARD
            geom.priority = 1


def _welds(spec: mujoco.MjSpec, objects: Sequence[str]) -> None:
    """Every hand with every object, all let go: center upon center."""
    for player in range(2):
        for name in objects:
            weld = spec.add_equality(name1=f"hand{player}", name2=name)
            weld.type = mujoco.mjtEq.mjEQ_WELD
            weld.objtype = mujoco.mjtObj.mjOBJ_BODY
            weld.active = False
            data = np.zeros(12)
            data[6], data[10] = 1.0, 1.0  # no turn between the two; torque weighs as much as force
            weld.data = data
            weld.solref = (0.04, 1.0)
