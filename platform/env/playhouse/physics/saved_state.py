"""A moment as the flat vector that episodes keep, and a saved episode as bytes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.house.house_layout import House
from interplay.env.playhouse.physics.contacts import DEEDS, NUMBERS, nothing_done
from interplay.env.playhouse.physics.simulation import Moment

VERSION = 1
MAGIC = b"playhouse"
HEAD = 1 + 8 + 2  # of a pose vector: time, two avatars, two hands
SLOT = 3 + 4 + 1  # for each loose object: position, quaternion, at rest
# Settings are hashed under the names that they had when the format was fixed, so that older states stay readable.
_HASHED_NAMES = {"colors": "colours", "unique_colors": "unique_colours", "start_in_corner": "overlook"}
REMEMBERED = len(DEEDS) * NUMBERS  # for each thing, after all slots: what was done to it


def poses_length(config: PlayhouseConfig) -> int:
    """The same for every house of these settings: there is a slot for as many things as a house can have."""
    return _bare_length(config) + (REMEMBERED * config.most_things if config.track_contacts else 0)


def _bare_length(config: PlayhouseConfig) -> int:
    """Of the poses of a house that remembers no deeds."""
    return HEAD + SLOT * config.objects[1]


def write_poses(moment: Moment, house: House, config: PlayhouseConfig) -> NDArray[np.float32]:
    """[poses_length]; the furniture stands where the house has it and is left out."""
    poses = np.zeros(poses_length(config), dtype=np.float32)
    first, count = len(house.furniture), len(house.objects)
    poses[0] = moment.time
    poses[1:9] = moment.avatars.ravel()
    poses[9:11] = [-1 if index is None else index for index in moment.holding]
    slots = poses[HEAD : HEAD + SLOT * count].reshape(count, SLOT)
    slots[:, :3] = moment.positions[first:]
    slots[:, 3:7] = moment.quaternions[first:]
    slots[:, 7] = moment.resting[first:]
    if moment.deeds is not None:
        bare = _bare_length(config)
        poses[bare : bare + moment.deeds.size] = moment.deeds.ravel()
    return poses


def read_poses(poses: NDArray[np.float32], now: Moment, house: House, config: PlayhouseConfig) -> Moment:
    """The moment in a pose vector; `now` is any moment of the same house, for its furniture. Vectors that were recorded
    before houses remembered deeds show a house in which nothing is known to have been done.

    Raises:
        ValueError: a vector of another length.
    """
    bare = _bare_length(config)
    if poses.shape not in {(poses_length(config),), (bare,)}:
        raise ValueError(
            f"the poses of this world are [{poses_length(config)}], got {list(poses.shape)}: "
            "they were recorded under other settings"
        )
    first, count = len(house.furniture), len(house.objects)
    slots = poses[HEAD : HEAD + SLOT * count].reshape(count, SLOT)
    positions, quaternions, resting = now.positions.copy(), now.quaternions.copy(), now.resting.copy()
    positions[first:], quaternions[first:], resting[first:] = slots[:, :3], slots[:, 3:7], slots[:, 7] > 0.5
    held = [None if index < 0 else int(index) for index in poses[9:11].tolist()]
    avatars = poses[1:9].reshape(2, 4).copy()
    deeds = None
    if config.track_contacts:
        deeds = nothing_done(len(house.things)).astype(np.float32)
        if len(poses) > bare:
            deeds.ravel()[:] = poses[bare : bare + deeds.size]
    return Moment(float(poses[0]), positions, quaternions, avatars, (held[0], held[1]), resting, deeds)


@dataclass(frozen=True)
class Saved:
    """What a saved episode holds."""

    seed: int
    frame: int
    last_said: Mapping[str, str]  # by role
    numbers: NDArray[np.float64]  # of `Simulation.save`
    deeds: NDArray[np.float64] | None  # of `Memory`, flat; None where nothing was remembered


def config_hash(config: PlayhouseConfig) -> str:
    """Hash of the settings that determine houses and their physics. Settings of rendering and contact tracking do not
    affect a saved state and are left out."""
    fields = {_HASHED_NAMES.get(name, name): value for name, value in asdict(config).items()}
    for name in ("image", "field_of_view", "antialias", "components", "track_contacts"):
        del fields[name]
    if not config.may_stock_bins:
        del fields["stocked_bins"]  # no effect here, and older saved states do not have it
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()[:16]


def to_bytes(saved: Saved, config: PlayhouseConfig) -> bytes:
    """One line that says what it is, then the numbers, and those of the deeds, as little-endian float64."""
    head = {
        "version": VERSION,
        "config": config_hash(config),
        "seed": saved.seed,
        "frame": saved.frame,
        "last_said": dict(saved.last_said),
        "numbers": len(saved.numbers),
    }
    numbers = saved.numbers
    if saved.deeds is not None:
        head["deeds"] = len(saved.deeds)
        numbers = np.concatenate([numbers, saved.deeds])
    return MAGIC + json.dumps(head).encode() + b"\n" + numbers.astype("<f8").tobytes()


def from_bytes(state: bytes, config: PlayhouseConfig) -> Saved:
    """Raises ValueError for bytes that this world, at this version and these settings, did not save."""
    line, _, body = state.partition(b"\n")
    if not line.startswith(MAGIC):
        raise ValueError(f"these {len(state)} bytes are not a saved Playhouse: they begin with {state[:12]!r}")
    try:
        head = json.loads(line[len(MAGIC) :])
    except ValueError as error:
        raise ValueError("this saved Playhouse is damaged: its first line is no JSON") from error
    if head.get("version") != VERSION:
        raise ValueError(f"this Playhouse reads saved states of version {VERSION}, got {head.get('version')!r}")
    if head["config"] != config_hash(config):
        raise ValueError(
            f"the state was saved under other settings (hash {head['config']}, here {config_hash(config)}): "
            "make the world from the settings recorded with the episode"
        )
    count, remembered = head["numbers"], head.get("deeds", 0)
    if len(body) != 8 * (count + remembered):
        raise ValueError(f"this saved Playhouse is cut short: {len(body)} bytes of {8 * (count + remembered)}")
    numbers = np.frombuffer(body, dtype="<f8").astype(np.float64)
    deeds = numbers[count:] if remembered else None
    return Saved(head["seed"], head["frame"], head["last_said"], numbers[:count], deeds)
