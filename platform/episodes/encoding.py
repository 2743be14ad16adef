"""An episode as one npz file that `np.load` opens.

Members, in this order: `initial_state`, `actions/<role>`, `env_reward`, then in windows of about 400 frames
`poses/<nnnn>`, `images/<role>/<nnnn>` and `vectors/<role>/<nnnn>`, and `episode.json` last, so that a file that has
it is complete. Two-dimensional arrays are stored in column-major order: a constant column (a body at rest, a held
action) is then one long run, which deflate compresses to almost nothing.
"""

from __future__ import annotations

import dataclasses
import io
import json
import logging
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from interplay.episodes.episode import FORMAT_VERSION, Episode, EpisodeMeta, Prompt, Utterance
from interplay.episodes.stored_rows import NpzBytes, StoredRows

WINDOW_FRAMES = 400
META_MEMBER = "episode.json"
# Left out of `META_MEMBER` where empty:
OPTIONAL_FIELDS = {"endings", "prompts", "ended", "people", "reasons"}
_REMEDY = "restore it from a copy, or remove it and type interplay reindex"
DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, KeyError, TypeError, ValueError, OSError)  # raised by readers
EpisodeArrays = Mapping[str, NDArray[Any]]
ContentT = TypeVar("ContentT")


class DamagedEpisode(ValueError):
    """The file of an episode is missing, truncated or inconsistent."""


class UnknownFormat(ValueError):
    """The file of an episode was written by a newer version of the platform."""


class UnknownEpisode(KeyError):
    """The store lists no episode of this id; it may have been deleted in the meantime."""

    def __str__(self) -> str:  # without the quotes that a KeyError adds
        return str(self.args[0])


def encode(episode: Episode) -> bytes:
    """Returns the npz file. Raises ValueError if arrays and metadata disagree, so that no such file is ever stored."""
    disagreement = _disagreement(episode)
    if disagreement:
        raise ValueError(f"episode {episode.meta.id}: {disagreement}")
    arrays = dict(_members(episode))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w") as member:
                laid_out = np.asfortranarray(array) if array.ndim == 2 else np.ascontiguousarray(array)
                np.lib.format.write_array(member, laid_out, allow_pickle=False)
        streams = {name: {"dtype": array.dtype.str, "shape": list(array.shape)} for name, array in arrays.items()}
        archive.writestr(META_MEMBER, json.dumps(meta_to_json(episode.meta) | {"streams": streams}))
    return buffer.getvalue()


def decode(data: bytes, *, source: str, trusted: bool = False) -> Episode:
    """Decodes the bytes of an npz file; `source` names the file in errors.

    The poses of `trusted` bytes, whose hash was verified, are inflated when they are read.

    Raises:
        DamagedEpisode: the bytes are not a complete episode.
        UnknownFormat: they were written by a newer version of the platform.
    """
    try:
        archive = NpzBytes(data)
        meta, shapes = _read_meta(archive, source)
        names = [name for name in _array_names(archive) if not (trusted and name.startswith("poses/"))]
        arrays = {name.removesuffix(".npy"): archive.array(name) for name in names}
        episode = _assemble(meta, arrays)
        if trusted:
            episode = _with_stored_poses(episode, archive, shapes)
    except (DamagedEpisode, UnknownFormat):
        raise
    except (*DAMAGE, EOFError, RuntimeError, MemoryError) as error:
        raise DamagedEpisode(f"{source} is damaged ({error!r}); {_REMEDY}") from error
    disagreement = _disagreement(episode)
    if disagreement:
        raise DamagedEpisode(f"{source} is inconsistent: {disagreement}")
    return episode


def load(path: Path) -> Episode:
    """Reads an episode. Raises as `decode` does; a missing file counts as damaged."""
    return decode(read_bytes(path), source=str(path))


def load_meta(path: Path, data: bytes | None = None) -> EpisodeMeta:
    """Reads the metadata of an episode without its arrays; `data` is the content of the file if it has been read.
    Raises as `load` does."""
    try:
        with zipfile.ZipFile(path if data is None else io.BytesIO(data)) as archive:
            return _read_meta(archive, str(path))[0]
    except (DamagedEpisode, UnknownFormat):
        raise
    except DAMAGE as error:
        raise DamagedEpisode(f"{path} is damaged ({error!r}); {_REMEDY}") from error


def read_bytes(path: Path) -> bytes:
    """The bytes of an episode's file. Raises DamagedEpisode if it is missing or unreadable."""
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise DamagedEpisode(f"{path} is missing; restore it from a copy, or type interplay reindex") from error
    except OSError as error:
        remedy = "give this user the right to read it" if isinstance(error, PermissionError) else _REMEDY
        raise DamagedEpisode(f"{path} can't be read ({error.strerror}); {remedy}") from error


def meta_to_json(meta: EpisodeMeta) -> dict[str, Any]:
    """JSON-able fields of the metadata."""
    fields = dataclasses.asdict(meta)
    return {name: value for name, value in fields.items() if value or name not in OPTIONAL_FIELDS}


def meta_from_json(fields: Mapping[str, Any]) -> EpisodeMeta:
    """Builds the metadata from JSON. Raises TypeError, KeyError or ValueError if a field is wrong."""
    known = {field.name for field in dataclasses.fields(EpisodeMeta)}
    kept: dict[str, Any] = {name: value for name, value in fields.items() if name in known}
    kept["control"] = {
        role: [(int(frame), str(who)) for frame, who in runs] for role, runs in fields["control"].items()
    }
    kept["utterances"] = tuple(Utterance(**utterance) for utterance in fields["utterances"])
    kept["tasks"] = tuple((int(frame), dict(task)) for frame, task in fields["tasks"])
    kept["endings"] = tuple((int(frame), str(how)) for frame, how in fields.get("endings", ()))
    kept["reasons"] = tuple((int(frame), str(why)) for frame, why in fields.get("reasons", ()))
    kept["prompts"] = tuple(Prompt(**prompt) for prompt in fields.get("prompts", ()))
    return EpisodeMeta(**kept)


def _members(episode: Episode) -> Iterator[tuple[str, NDArray[Any]]]:
    yield "initial_state", np.frombuffer(episode.initial_state, np.uint8)
    for role, actions in episode.actions.items():
        yield f"actions/{role}", actions
    yield "env_reward", episode.env_reward
    rows = max(1, WINDOW_FRAMES // episode.meta.frames_per_step)
    if episode.poses is not None:
        yield from _windows("poses", episode.poses, rows)
    for role, images in episode.images.items():
        yield from _windows(f"images/{role}", images, rows)
    for role, vectors in episode.vectors.items():
        yield from _windows(f"vectors/{role}", vectors, rows)


def _windows(name: str, array: NDArray[Any] | StoredRows, rows: int) -> Iterator[tuple[str, NDArray[Any]]]:
    for number, start in enumerate(range(0, len(array), rows)):
        yield f"{name}/{number:04d}", array[start : start + rows]


def _array_names(archive: zipfile.ZipFile | NpzBytes) -> list[str]:
    return [name for name in archive.namelist() if name != META_MEMBER]


def _with_stored_poses(episode: Episode, archive: NpzBytes, shapes: Mapping[str, Any]) -> Episode:
    windows = sorted(name for name in shapes if name.startswith("poses/"))
    if not windows:
        return episode
    counts = [int(shapes[name]["shape"][0]) for name in windows]
    return dataclasses.replace(episode, poses=StoredRows(archive, [f"{name}.npy" for name in windows], counts))


def _read_meta(archive: zipfile.ZipFile | NpzBytes, source: str) -> tuple[EpisodeMeta, Mapping[str, Any]]:
    """The metadata, and the dtype and shape of each array by name."""
    fields = json.loads(archive.read(META_MEMBER))
    version = int(fields["version"])
    if version > FORMAT_VERSION:
        raise UnknownFormat(
            f"{source} has format version {version}, this platform reads up to {FORMAT_VERSION}; "
            "update the platform to read it"
        )
    streams = set(fields["streams"])
    stored = {name.removesuffix(".npy") for name in _array_names(archive)}
    if streams != stored:
        raise DamagedEpisode(f"{source} should hold {sorted(streams)}, it holds {sorted(stored)}")
    return meta_from_json(fields), fields["streams"]


def _assemble(meta: EpisodeMeta, arrays: EpisodeArrays) -> Episode:
    def of_roles(kind: str) -> dict[str, NDArray[Any]]:
        roles = dict.fromkeys(name.split("/")[1] for name in arrays if name.startswith(f"{kind}/"))
        return {role: joined(f"{kind}/{role}") for role in roles}

    def joined(prefix: str) -> NDArray[Any]:
        return np.concatenate([arrays[name] for name in sorted(arrays) if name.startswith(f"{prefix}/")])

    return Episode(
        meta=meta,
        initial_state=arrays["initial_state"].tobytes(),
        actions={name.split("/")[1]: array for name, array in arrays.items() if name.startswith("actions/")},
        env_reward=arrays["env_reward"],
        poses=joined("poses") if any(name.startswith("poses/") for name in arrays) else None,
        images=of_roles("images"),
        vectors=of_roles("vectors"),
    )


def _disagreement(episode: Episode) -> str:
    """Describes contradictions between an episode and its metadata; empty if they agree."""
    meta = episode.meta
    if len(meta.endings) > len(meta.tasks):
        return f"{len(meta.endings)} tasks ended, of {len(meta.tasks)} that were asked"
    if meta.frames % meta.frames_per_step:
        return f"{meta.frames} frames are not a whole number of steps of {meta.frames_per_step}"
    by_row: dict[str, NDArray[Any] | StoredRows] = {f"images/{role}": array for role, array in episode.images.items()}
    by_row |= {f"vectors/{role}": array for role, array in episode.vectors.items()}
    if episode.poses is not None:
        by_row["poses"] = episode.poses
    expected = [(f"actions/{role}", len(array), meta.frames) for role, array in episode.actions.items()]
    expected.append(("env_reward", len(episode.env_reward), meta.steps))
    expected += [(name, len(array), meta.steps + 1) for name, array in by_row.items()]
    return "; ".join(f"{name} has {seen} rows, not {wanted}" for name, seen, wanted in expected if seen != wanted)


log = logging.getLogger(__name__)


class ReadableSource(Protocol):
    """A store or a snapshot."""

    def read(self, episode: str) -> Episode:
        """Returns an episode by its id; raises DamagedEpisode or UnknownFormat if its file can't be read, and
        UnknownEpisode if a store does not list it any more."""


class UnreadableEpisodes:
    """The episodes whose files could not be read; each is logged once."""

    def __init__(self, consequence: str = "skipped") -> None:
        """`consequence`: begins the log message."""
        self.ids: set[str] = set()
        self._consequence = consequence

    def read(self, episode: str, read: Callable[[], ContentT]) -> ContentT | None:
        """The result of `read`, which reads the file of an episode; None if it can't be read."""
        try:
            return read()
        except (DamagedEpisode, UnknownFormat) as error:
            if episode not in self.ids:
                log.warning("%s: %s", self._consequence, error)
                self.ids.add(episode)
            return None


def iter_readable(source: ReadableSource, ids: Iterable[str]) -> Iterator[Episode]:
    """Yields the readable episodes of these ids in their order; logs the others."""
    for identifier in ids:
        try:
            episode = source.read(identifier)
        except (DamagedEpisode, UnknownFormat, UnknownEpisode) as error:
            log.warning("skipped: %s", error)
        else:
            yield episode
