"""Files that survive a kill: written atomically, synced to disk, or appended to line by line."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from glob import escape
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO

TEMPORARY_SUFFIX = ".tmp"  # suffix of a file that is being written
LEFTOVER_SECONDS = 24 * 3600.0  # no write takes that long without touching its temporary file
TAIL_BYTES = (2**16, 2**20, 2**24)  # how much of a file's end `JsonLines.newest` reads, one attempt after another


def sync(path: Path) -> None:
    """Forces a file's content or a folder's entries to disk: only then does a write or a rename survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def fingerprint(path: Path) -> str:
    """A hash of a file's content, 16 hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def check_links(path: Path) -> None:
    """Checks that neither `path` nor a folder above it is a link to a folder that does not exist.

    Raises:
        ValueError: one of them is such a link. Without this check, creating the folder would fail with "File exists".
    """
    for place in (path, *path.parents):
        if place.is_symlink() and not place.exists():
            raise ValueError(
                f"{place} is a link to {place.readlink()}, a folder that does not exist; mount that folder again, or "
                "remove the link to begin with an empty one"
            )


def check_replaceable(*paths: Path) -> None:
    """Checks that `replacing` can write these files, before the work whose results they are to hold.

    Raises:
        OSError: one of them can't be written: it is a folder, or its folder is a file, or can't be written to.
    """
    for path in paths:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "a folder is in the place of this file", str(path))
        folder = next(each for each in path.absolute().parents if each.exists())
        if not folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "a file is in the place of this folder", str(folder))
        try:
            with TemporaryFile(dir=folder) as file:
                file.write(b"0")  # a full disk may have room for the name of a file, but not for its content
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from error


@contextmanager
def replacing(path: Path, *, durable: bool = True, is_new: bool = False) -> Iterator[Path]:
    """Yields the path of a temporary file in the same folder and renames it to `path` on leaving.

    A reader sees the old file or the whole new one. An exception removes the temporary file and leaves the old file.

    Args:
        durable: syncs the new file to disk, so that it survives a power cut from then on.
        is_new: no file has had this name, so the folder, which may be large, is not searched for temporary files that
            killed processes have left. Otherwise these are removed first.
    """
    if not is_new:
        remove_leftovers(path.parent.glob(f"{escape(path.name)}.*{TEMPORARY_SUFFIX}"))
    temporary = path.with_name(f"{path.name}.{_process_table()}.{os.getpid()}{TEMPORARY_SUFFIX}")
    try:
        yield temporary
        if durable:
            sync(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    if durable:
        sync(path.parent)


@contextmanager
def temporary_folder(parent: Path, name: str) -> Iterator[Path]:
    """Yields a new hidden folder in `parent`, and removes it on leaving with all that is still in it.

    Folders of this name that killed processes have left are removed first.
    """
    remove_leftovers(parent.glob(f".{escape(name)}.*{TEMPORARY_SUFFIX}"))
    folder = parent / f".{name}.{_process_table()}.{os.getpid()}{TEMPORARY_SUFFIX}"
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def remove_leftovers(temporaries: Iterable[Path]) -> int:
    """Removes the given temporary files and folders whose process has ended, and returns how many were removed."""
    removed = 0
    for temporary in temporaries:
        with suppress(FileNotFoundError, PermissionError):  # just renamed by its process, or owned by another user
            if _is_left_over(temporary):
                if temporary.is_dir():
                    shutil.rmtree(temporary)
                else:
                    temporary.unlink()
                removed += 1
    return removed


def _is_left_over(temporary: Path) -> bool:
    """Whether the process that made a temporary file of `replacing`, or a `temporary_folder`, has ended.

    A process of another machine or container can't be looked up: its file counts as left over after `LEFTOVER_SECONDS`
    without a write. So do files of earlier versions, whose names state the process alone.
    """
    *_, table, process = ("", *temporary.name.removesuffix(TEMPORARY_SUFFIX).split("."))
    if table != _process_table():
        return time.time() - temporary.stat().st_mtime >= LEFTOVER_SECONDS
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # it runs, as another user
        return False
    return False


@cache
def _process_table() -> str:
    """Identifies the scope in which process ids are unique: a PID namespace of one boot of a machine."""
    start = Path("/proc/sys/kernel/random/boot_id").read_text()
    return hashlib.sha256(f"{start}{Path('/proc/self/ns/pid').readlink()}".encode()).hexdigest()[:8]


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Holds the lock file at `path` during the block, and waits until no other process or thread holds it."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def private_folder(path: Path) -> None:
    """Makes a folder that only its owner may read; one that exists keeps its permissions."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir(mode=0o700, exist_ok=True)


def private_file(path: Path) -> None:
    """Makes an empty file that only its owner may read; one that exists keeps its content and its permissions."""
    if not path.exists():
        path.touch(mode=0o600)


def write_whole(
    path: Path, data: bytes | str, *, durable: bool = True, private: bool = False, is_new: bool = False
) -> None:
    """Writes a file atomically; see `replacing`. Text is encoded as UTF-8. With `private`, only its owner reads it."""
    with replacing(path, durable=durable, is_new=is_new) as temporary:
        if private:
            private_file(temporary)
        temporary.write_bytes(data.encode() if isinstance(data, str) else data)


class JsonLines:
    """A file with one JSON object a line, each with a number under `key` that never decreases.

    A last line without its newline was cut short by a kill: it is not read, and the next append replaces it.
    """

    def __init__(self, path: Path | str, *, key: str) -> None:
        self.path = Path(path)
        self._key = key

    def append(self, row: Mapping[str, Any]) -> None:
        """Writes one row. It survives the end of the process, but not a power cut before the next `sync`."""
        with self.path.open("a+b") as file:
            file.truncate(_end_of_lines(file))
            file.write(json.dumps(row).encode() + b"\n")

    def length(self) -> int:
        """Bytes of the complete lines. Raises OSError if the file does not exist."""
        with self.path.open("rb") as file:
            return _end_of_lines(file)

    def read(self) -> list[dict[str, Any]]:
        """All rows; none if the file does not exist.

        Raises:
            ValueError: a complete line is not a valid row.
        """
        lines = _whole_lines(self.path.read_bytes()) if self.path.exists() else []
        return [self._row(line, f"line {number}") for number, line in enumerate(lines, 1)]

    def readable(self, start: int = 0) -> tuple[list[dict[str, Any]], int]:
        """All valid rows from byte `start` on, and the number of complete lines there that are not valid."""
        rows = []
        lines = _whole_lines(self.path.read_bytes()[start:]) if self.path.exists() else []
        for line in lines:
            with suppress(ValueError):
                rows.append(self._row(line, "a line"))
        return rows, len(lines) - len(rows)

    def newest(self, count: int) -> list[dict[str, Any]]:
        """The last rows, at most `count`, without reading a long file from its start; none if it does not exist.

        Raises:
            ValueError: one of these lines is not a valid row.
        """
        if not self.path.exists():
            return []
        size = self.path.stat().st_size
        lines: list[bytes] = []
        with self.path.open("rb") as file:
            for tail in (*TAIL_BYTES, size):
                start = max(0, size - tail)
                file.seek(start)
                lines = _whole_lines(file.read())[1 if start else 0 :]  # the first may have lost its beginning
                if start == 0 or len(lines) >= count:
                    break
        return [self._row(line, "a line near its end") for line in lines[-count:]]

    def drop_after(self, last: int | None) -> None:
        """Keeps the rows up to the number `last` (None: no rows), atomically and synced to disk."""
        kept = [] if last is None else [row for row in self.read() if row[self._key] <= last]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(self.path, "".join(json.dumps(row) + "\n" for row in kept))

    def _row(self, line: bytes, where: str) -> dict[str, Any]:
        try:
            row: dict[str, Any] = json.loads(line)
            int(row[self._key])
        except (ValueError, KeyError, TypeError) as error:
            text = line.decode(errors="replace").strip()[:80]
            raise ValueError(f"{self.path}: {where} is not a row of {self.path.stem}: {text!r}") from error
        return row


def _end_of_lines(file: BinaryIO) -> int:
    """Where the last complete line of a file ends."""
    end = file.seek(0, os.SEEK_END)
    file.seek(max(0, end - 1))
    if file.read() in (b"", b"\n"):
        return end
    file.seek(0)
    return file.read().rfind(b"\n") + 1


def _whole_lines(data: bytes) -> list[bytes]:
    return [line + b"\n" for line in data.split(b"\n")[:-1]]
