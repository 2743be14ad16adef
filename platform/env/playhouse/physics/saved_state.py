"""Serialization: a moment as the float32 vector stored with episodes, and a saved episode as bytes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.house.house_layout import House
from interplay.env.playhouse.physics.contacts import EVENT_FIELDS, EVENT_KINDS, no_contacts
from interplay.env.playhouse.physics.simulation import Moment
from interplay.env.saved_header import check_size, read_header

VERSION = 1
MAGIC_BYTES, WHAT = b"playhouse", "Playhouse"
POSE_HEADER_LENGTH = 1 + 8 + 2  # time, two avatars, two hands
OBJECT_POSE_LENGTH = 3 + 4 + 1  # per loose object: position, quaternion, at rest
# Settings are hashed under the names that they had when the format was fixed, so that older states stay readable.
_HASHED_NAMES = {"colors": "colours", "unique_colors": "unique_colours", "start_in_corner": "overlook"}
# Settings of rendering, contact tracking, names and scripted solvers, which a saved state does not depend on.
_WITHOUT_EFFECT = (
    "image",
    "field_of_view",
    "antialias",
    "components",
    "track_contacts",
    "name_weights",
    "look_before_answering",
)
CONTACTS_PER_THING = len(EVENT_KINDS) * EVENT_FIELDS  # after all object poses


def poses_length(config: PlayhouseConfig) -> int:
    """Length of a pose vector: the same for all houses of these settings."""
    return _length_without_contacts(config) + (CONTACTS_PER_THING * config.most_things if config.track_contacts else 0)


def _length_without_contacts(config: PlayhouseConfig) -> int:
    """Length of a pose vector without contact events."""
    return POSE_HEADER_LENGTH + OBJECT_POSE_LENGTH * config.objects[1]


def write_poses(moment: Moment, house: House, config: PlayhouseConfig) -> NDArray[np.float32]:
    """Encodes a moment as [poses_length]. Furniture is omitted: it does not move."""
    poses = np.zeros(poses_length(config), dtype=np.float32)
    first = len(house.furniture)
    poses[0] = moment.time
    poses[1:9] = moment.avatars.ravel()
    poses[9:11] = [-1 if index is None else index for index in moment.holding]
    slots = _object_slots(poses, house)
    slots[:, :3] = moment.positions[first:]
    slots[:, 3:7] = moment.quaternions[first:]
    slots[:, 7] = moment.resting[first:]
    if moment.contacts is not None:
        contacts_start = _length_without_contacts(config)
        poses[contacts_start : contacts_start + moment.contacts.size] = moment.contacts.ravel()
    return poses


def read_poses(poses: NDArray[np.float32], reference: Moment, house: House, config: PlayhouseConfig) -> Moment:
    """Decodes a pose vector. `reference` is any moment of the same house, for its furniture. Vectors recorded before
    contact events existed decode without any event.

    Raises:
        ValueError: a vector of another length.
    """
    contacts_start = _length_without_contacts(config)
    _check_length(poses, config)
    first, slots = len(house.furniture), _object_slots(poses, house)
    positions, quaternions, resting = reference.positions.copy(), reference.quaternions.copy(), reference.resting.copy()
    positions[first:], quaternions[first:], resting[first:] = slots[:, :3], slots[:, 3:7], slots[:, 7] > 0.5
    held = [None if index < 0 else int(index) for index in poses[9:11].tolist()]
    avatars = poses[1:9].reshape(2, 4).copy()
    contacts = None
    if config.track_contacts:
        contacts = no_contacts(len(house.things)).astype(np.float32)
        if len(poses) > contacts_start:
            contacts.ravel()[:] = poses[contacts_start : contacts_start + contacts.size]
    return Moment(float(poses[0]), positions, quaternions, avatars, (held[0], held[1]), resting, contacts)


def read_drawn_poses(
    poses: NDArray[np.float32], reference: Moment, house: House, config: PlayhouseConfig
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """What pictures of n moments show, decoded from pose vectors [n, length]: positions [n, N, 3] and quaternions
    [n, N, 4] of the house's things, and avatars [n, 2, 4], as in `Moment`.

    Raises:
        ValueError: vectors of another length.
    """
    _check_length(poses[0], config)
    first, stop = len(house.furniture), POSE_HEADER_LENGTH + OBJECT_POSE_LENGTH * len(house.objects)
    slots = poses[:, POSE_HEADER_LENGTH:stop].reshape(len(poses), len(house.objects), OBJECT_POSE_LENGTH)
    positions = np.repeat(reference.positions[None], len(poses), axis=0)
    quaternions = np.repeat(reference.quaternions[None], len(poses), axis=0)
    positions[:, first:], quaternions[:, first:] = slots[:, :, :3], slots[:, :, 3:7]
    return positions, quaternions, poses[:, 1:9].reshape(len(poses), 2, 4).copy()


def _check_length(poses: NDArray[np.float32], config: PlayhouseConfig) -> None:
    if poses.shape not in {(poses_length(config),), (_length_without_contacts(config),)}:
        raise ValueError(
            f"the poses of this world are [{poses_length(config)}], got {list(poses.shape)}: "
            "they were recorded under other settings"
        )


def _object_slots(poses: NDArray[np.float32], house: House) -> NDArray[np.float32]:
    """The part of a pose vector with the poses of the loose objects, a view [objects, OBJECT_POSE_LENGTH]."""
    count = len(house.objects)
    return poses[POSE_HEADER_LENGTH : POSE_HEADER_LENGTH + OBJECT_POSE_LENGTH * count].reshape(count, -1)


@dataclass(frozen=True)
class SavedEpisode:
    """Contents of a saved episode."""

    seed: int
    frame: int
    last_said: Mapping[str, str]  # by role
    numbers: NDArray[np.float64]  # of `Simulation.save`
    contacts: NDArray[np.float64] | None  # of `ContactLog`, flat; None if contacts were not tracked


def config_hash(config: PlayhouseConfig) -> str:
    """Hash of the settings that determine houses and their physics."""
    fields = {_HASHED_NAMES.get(name, name): value for name, value in asdict(config).items()}
    for name in _WITHOUT_EFFECT:
        del fields[name]
    if not config.may_stock_bins:
        del fields["stocked_bins"]  # no effect here, and older saved states do not have it
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()[:16]


def to_bytes(saved: SavedEpisode, config: PlayhouseConfig) -> bytes:
    """A JSON header line, then the simulation state and the contact events as little-endian float64."""
    head = {
        "version": VERSION,
        "config": config_hash(config),
        "seed": saved.seed,
        "frame": saved.frame,
        "last_said": dict(saved.last_said),
        "numbers": len(saved.numbers),
    }
    numbers = saved.numbers
    if saved.contacts is not None:
        head["deeds"] = len(saved.contacts)
        numbers = np.concatenate([numbers, saved.contacts])
    return MAGIC_BYTES + json.dumps(head).encode() + b"\n" + numbers.astype("<f8").tobytes()


def from_bytes(state: bytes, config: PlayhouseConfig) -> SavedEpisode:
    """Raises ValueError for bytes that were not saved by this world with this version and these settings."""
    head, body = read_header(
        state,
        magic=MAGIC_BYTES,
        what=WHAT,
        version=VERSION,
        settings=config_hash(config),
        entries=("seed", "frame", "last_said", "numbers"),
    )
    count, contact_count = head["numbers"], head.get("deeds", 0)
    check_size(body, 8 * (count + contact_count), WHAT)
    numbers = np.frombuffer(body, dtype="<f8").astype(np.float64)
    contacts = numbers[count:] if contact_count else None
    return SavedEpisode(head["seed"], head["frame"], head["last_said"], numbers[:count], contacts)
