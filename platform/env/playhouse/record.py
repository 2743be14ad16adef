"""A moment as the flat vector that episodes keep, and a saved episode as bytes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from interplay.env.playhouse.config import PlayhouseConfig
from interplay.env.playhouse.layout import House
from interplay.env.playhouse.simulation import Moment

VERSION = 1
MAGIC = b"playhouse"
HEAD = 1 + 8 + 2  # of a pose vector: time, two avatars, two hands
SLOT = 3 + 4 + 1  # for each loose object: position, quaternion, at rest


def poses_length(config: PlayhouseConfig) -> int:
    """The same for every house of these settings: there is a slot for as many objects as a house can have."""
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
    return poses


def read_poses(poses: NDArray[np.float32], now: Moment, house: House, config: PlayhouseConfig) -> Moment:
    """The moment in a pose vector; `now` is any moment of the same house, for its furniture.

    Raises:
        ValueError: a vector of another length.
    """
    if poses.shape != (poses_length(config),):
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
    return Moment(float(poses[0]), positions, quaternions, avatars, (held[0], held[1]), resting)


@dataclass(frozen=True)
class Saved:
    """What a saved episode holds."""

    seed: int
    frame: int
    last_said: Mapping[str, str]  # by role
    numbers: NDArray[np.float64]  # of `Simulation.save`


def config_hash(config: PlayhouseConfig) -> str:
    """Of what shapes the houses and their motion; how they are drawn does not matter to a saved state."""
    fields = asdict(config)
    for name in ("image", "field_of_view", "antialias", "components"):
        del fields[name]
    if not config.may_stock_bins:
        del fields["stocked_bins"]  # it shapes nothing, and saved states are older than it
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()[:16]


def to_bytes(saved: Saved, config: PlayhouseConfig) -> bytes:
    """One line that says what it is, then the numbers as little-endian float64."""
    head = {
        "version": VERSION,
        "config": config_hash(config),
        "seed": saved.seed,
        "frame": saved.frame,
        "last_said": dict(saved.last_said),
        "numbers": len(saved.numbers),
    }
    return MAGIC + json.dumps(head).encode() + b"\n" + saved.numbers.astype("<f8").tobytes()


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
    if len(body) != 8 * head["numbers"]:
        raise ValueError(f"this saved Playhouse is cut short: {len(body)} bytes of {8 * head['numbers']}")
    return Saved(head["seed"], head["frame"], head["last_said"], np.frombuffer(body, dtype="<f8").astype(np.float64))
