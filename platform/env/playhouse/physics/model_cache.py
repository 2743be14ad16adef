"""Models of houses that differ only in their loose objects are compiled once, and rewritten for each house.

Rewriting a model takes a tenth of the time of compiling it and of allocating its data, and gives the same numbers, bit
for bit. The simulation of the next house runs on the arrays of an earlier one.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from interplay.env.playhouse.house.house_layout import House
from interplay.env.playhouse.physics.model import SLEEPS, HouseModel, build_model, upright_quaternion

KEPT_MODELS = 4  # of the houses simulated last, with their data 0.2 MB each

# Arrays of a model, by body and by geom, in which the rows of an object depend on its category and size. What depends
# on these and on places is left to `mj_setConst`.
_BODY_ARRAYS = ("body_mass", "body_inertia", "body_ipos")
_GEOM_ARRAYS = (
    *("geom_type", "geom_size", "geom_pos", "geom_conaffinity", "geom_condim", "geom_priority"),
    *("geom_friction", "geom_solimp"),
)

_Rows = tuple[NDArray[np.generic], ...]  # of one object: in each of `_BODY_ARRAYS`, then in each of `_GEOM_ARRAYS`


class ModelCache:
    """Models of the houses of one world, and the data of their simulations. Not thread-safe."""

    def __init__(self, *, setter_solid: bool) -> None:
        self._setter_solid = setter_solid
        self._kept: dict[Hashable, tuple[HouseModel, mujoco.MjData]] = {}  # by `_structure`, the last one used last
        self._rows: dict[tuple[str, str], _Rows] = {}  # by category and size

    def get(self, house: House) -> tuple[HouseModel, mujoco.MjData]:
        """Returns the model of a house, and data in its initial state. Both may be those of an earlier house, whose
        simulation must not be used any more."""
        kinds = [(thing.category.name, thing.size) for thing in house.objects]
        structure = _structure(house)
        found = self._kept.pop(structure, None)
        if found is not None and all(kind in self._rows for kind in kinds):
            compiled, data = found
            _rewrite(compiled, data, house, [self._rows[kind] for kind in kinds])
        else:
            compiled = build_model(house, setter_solid=self._setter_solid)
            data = mujoco.MjData(compiled.model)
            for index, kind in enumerate(kinds):
                if kind not in self._rows:
                    self._rows[kind] = _rows(compiled, index)
        self._kept[structure] = compiled, data
        if len(self._kept) > KEPT_MODELS:
            del self._kept[next(iter(self._kept))]
        return compiled, data


def _structure(house: House) -> Hashable:
    """Equal for houses whose models differ only in the rows of their avatars and of their loose objects."""
    return (
        tuple((room.low, room.high) for room in house.rooms),
        house.walls,
        tuple((thing.category.name, thing.size, thing.position, thing.yaw) for thing in house.furniture),
        tuple(len(thing.category.proxies) for thing in house.objects),
    )


def _rows(compiled: HouseModel, index: int) -> _Rows:
    """Copies of the rows of an object in a model as it was compiled."""
    model, geoms = compiled.model, list(compiled.object_geoms[index])
    bodies = [compiled.object_bodies[index]]
    return (
        *(getattr(model, name)[bodies] for name in _BODY_ARRAYS),
        *(getattr(model, name)[geoms] for name in _GEOM_ARRAYS),
    )


def _rewrite(compiled: HouseModel, data: mujoco.MjData, house: House, objects: Sequence[_Rows]) -> None:
    """Makes the model that of another house of equal structure, and resets the data."""
    model, first_body, first_geom = compiled.model, compiled.object_bodies[0], compiled.object_geoms[0][0]
    columns = zip(*objects, strict=True)
    for name in _BODY_ARRAYS:
        getattr(model, name)[first_body:] = np.concatenate(next(columns))
    for name in _GEOM_ARRAYS:
        getattr(model, name)[first_geom:] = np.concatenate(next(columns))
    poses = np.array([(*thing.position, *upright_quaternion(thing.yaw)) for thing in house.objects])
    places, quaternions, first_avatar = model.body_pos, model.body_quat, compiled.avatar_bodies[0]
    places[first_avatar : first_avatar + 2, :2] = [start[:2] for start in house.starts]
    places[first_body:], quaternions[first_body:] = poses[:, :3], poses[:, 3:]
    model.qpos0[4:] = model.qpos_spring[4:] = poses.ravel()
    model.tree_sleep_policy[2:] = SLEEPS
    mujoco.mj_setConst(model, data)
    # Added up in the compiler's order; the solver's tolerance depends on it. The means of mass and size are those of an
    # earlier house: only MuJoCo's own renderer reads them.
    model.stat.meaninertia = np.cumsum(model.dof_M0)[-1] / model.nv
    mujoco.mj_resetData(model, data)
