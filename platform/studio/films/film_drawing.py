"""Drawing of films: every frame of a recorded episode, by executing its recorded actions again.

Stored are only the states at the rows (one for each step of F frames). Executed again from the recorded start, the
actions give the frames between them. If the rows reached this way equal the recorded ones bit for bit, every frame is
as it was played; otherwise the film shows the recorded rows alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import simplejpeg
from numpy.typing import NDArray

from interplay.env.arrays import Image
from interplay.env.world import Start, World
from interplay.episodes.decoded_episode import resimulate
from interplay.episodes.episode import Episode

STRIP_HEIGHT = 144
FULL_EVERY = 2  # frames between two pictures of the full film; 1 where a step has an odd number of frames
CHUNK = 32  # pictures in a pack of the full film


@dataclass(frozen=True)
class FilmPlan:
    """What a film consists of: the strip, one picture a row, and the full film, in chunks.

    A picture of number i shows frame i * every; `strip_every` is the number of frames in a step.
    """

    frames: int
    rows: int
    rate: float  # frames a second
    strip_every: int
    strip_size: tuple[int, int]  # height, width
    exact: bool  # whether every frame is known, or only the rows
    full_every: int
    full_size: tuple[int, int]
    full_pictures: int
    chunk: int = CHUNK

    @property
    def chunks(self) -> int:
        """The number of packs of the full film."""
        return -(-self.full_pictures // self.chunk)

    def to_json(self) -> dict[str, Any]:
        """The fields, and the number of chunks."""
        return {**asdict(self), "chunks": self.chunks}


@dataclass(frozen=True)
class EpisodeFrames:
    """The moments of an episode, as poses [frames + 1, P] or, in worlds without poses, as recorded pictures [rows]."""

    plan: FilmPlan
    poses: NDArray[np.float32] | None
    images: Sequence[Image]


def execute(world: World, episode: Episode, height: int) -> EpisodeFrames:
    """Executes an episode again and returns its moments; `height` is that of the full film.

    Raises:
        ValueError: the world shows no pictures, or it is not the one that was recorded.
    """
    spec, meta = world.spec, episode.meta
    if spec.image is None:
        raise ValueError(f"recording {meta.id} was made in {spec.name}, which shows no pictures")
    poses = _poses_of_frames(world, episode)
    exact = poses is not None
    images: list[Image] = []
    if episode.poses is None:
        images = [view[spec.solver].image for _, view, _ in resimulate(world, episode, (spec.solver,))]  # type: ignore[misc]
    elif poses is None:
        poses = episode.poses[:]
    aspect = spec.image[1] / spec.image[0]
    # The full film has a picture of every row's frame, so that one of the strip is replaced by that of the same frame.
    every = FULL_EVERY if meta.frames_per_step % FULL_EVERY == 0 else 1
    every = every if exact else meta.frames_per_step
    plan = FilmPlan(
        frames=meta.frames,
        rows=meta.steps + 1,
        rate=spec.frames_per_second,
        strip_every=meta.frames_per_step,
        strip_size=(STRIP_HEIGHT, round(STRIP_HEIGHT * aspect)),
        exact=exact,
        full_every=every,
        full_size=(height, round(height * aspect)),
        full_pictures=meta.frames // every + 1,
    )
    return EpisodeFrames(plan, poses, images)


def _poses_of_frames(world: World, episode: Episode) -> NDArray[np.float32] | None:
    """The poses of every frame, [frames + 1, P]; None if they are not those that were recorded."""
    if episode.poses is None:
        return None
    recorded = episode.poses[:]
    every = episode.meta.frames_per_step
    said = {role: episode.said(role) for role in episode.actions}
    world.reset(Start(state=episode.initial_state), observers=())
    poses = np.empty((episode.meta.frames + 1, world.spec.poses), np.float32)
    poses[0] = world.poses()
    for frame in range(episode.meta.frames):
        step, within = divmod(frame, every)
        spoken = {role: text for role, texts in said.items() if within == 0 and (text := texts[step]) is not None}
        try:
            world.frame({role: rows[frame] for role, rows in episode.actions.items()}, spoken, observers=())
        except NotImplementedError:
            return None
        poses[frame + 1] = world.poses()
        if within == every - 1 and poses[frame + 1].tobytes() != recorded[step + 1].tobytes():
            return None
    return poses if poses[0].tobytes() == recorded[0].tobytes() else None


def draw(world: World, episode: Episode, moments: EpisodeFrames, part: str | int, quality: int) -> list[bytes]:
    """The JPEGs of a part: "strip" with one picture a row, or the number of a chunk of the full film.

    Raises:
        ValueError: the film has no such chunk.
    """
    plan = moments.plan
    if isinstance(part, str):
        numbers, every, size = range(plan.rows), plan.strip_every, plan.strip_size
    elif 0 <= part < plan.chunks:
        first = part * plan.chunk
        numbers = range(first, min(first + plan.chunk, plan.full_pictures))
        every, size = plan.full_every, plan.full_size
    else:
        raise ValueError(f"the film has {plan.chunks} chunks, there is no chunk {part}")
    indices = [number * every if plan.exact else number for number in numbers]
    if moments.poses is None:
        return [_encoded(moments.images[index], quality) for index in indices]
    world.reset(Start(state=episode.initial_state), observers=())
    pictures = []
    for index in indices:
        world.show(moments.poses[index])
        pictures.append(_encoded(world.film(*size), quality))
    return pictures


def _encoded(picture: Image, quality: int) -> bytes:
    pixels = np.ascontiguousarray(picture)
    return bytes(simplejpeg.encode_jpeg(pixels, quality=quality, colorspace="RGB", colorsubsampling="444"))


def write_pack(pictures: Sequence[bytes]) -> bytes:
    """The pack of these JPEGs: pictures of a film in one file.

    Little-endian: the number of pictures as u32, the offsets of their starts and of the end of the last as u32 from the
    start of the file, then the JPEGs. A browser reads a pack with two typed arrays.
    """
    lengths = np.array([len(picture) for picture in pictures], np.int64)
    start = 4 * (len(pictures) + 2)
    offsets = start + np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    header = np.concatenate([[len(pictures)], offsets]).astype("<u4")
    return header.tobytes() + b"".join(pictures)


def read_pack(pack: bytes) -> list[bytes]:
    """The JPEGs of a pack.

    Raises:
        ValueError: the bytes are no pack.
    """
    count = int(np.frombuffer(pack[:4], "<u4")[0]) if len(pack) >= 4 else -1
    if count < 0 or len(pack) < 4 * (count + 2):
        raise ValueError(f"{len(pack)} bytes are not a pack of pictures")
    offsets = np.frombuffer(pack[4 : 4 * (count + 2)], "<u4").astype(int)
    if offsets[-1] != len(pack) or (np.diff(offsets) < 0).any():
        raise ValueError(f"the pack of {count} pictures is cut short")
    return [pack[start:end] for start, end in itertools.pairwise(offsets)]
