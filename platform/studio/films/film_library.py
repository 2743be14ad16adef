"""The films of the web process: packs from the cache on disk, drawn by the film process where they are missing."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
import subprocess
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interplay.studio.web.framing import packed, receive_packed, start_process

logger = logging.getLogger(__name__)

GIGABYTE = 10**9
ATTEMPTS = 2  # a request that ended the process twice is not made a third time


class FilmFailed(RuntimeError):
    """The film can't be drawn; the message states why."""


class FilmsUnavailable(FilmFailed):
    """No film can be drawn now, as on a full disk; the recording may be sound."""


@dataclass(frozen=True)
class FilmSource:
    """A recorded episode: its file, and the hash of its bytes."""

    path: Path
    sha256: str


class FilmLibrary:
    """Packs by episode. The oldest films go once all take more than `limit_gb`.

    Its other methods than `forget` belong to the event loop of the web process; the film process starts with the first
    request.
    """

    def __init__(self, folder: Path, *, height: int, quality: int, limit_gb: float) -> None:
        self._folder = folder
        self._height = height
        self._quality = quality
        self._limit = limit_gb * GIGABYTE
        self._process: subprocess.Popen[bytes] | None = None
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None  # from and to the process
        self._asking = asyncio.Lock()  # the process answers one request after another
        self._drawing: dict[Path, asyncio.Task[None]] = {}
        self._forgotten: set[Path] = set()  # folders of deleted episodes
        self._dropping = threading.Lock()

    async def plan(self, source: FilmSource) -> Mapping[str, Any]:
        """What the film consists of, as `FilmPlan.to_json` gives it."""
        plan: dict[str, Any] = json.loads(await self._content(source, "plan", "plan.json"))
        return plan

    async def pack(self, source: FilmSource, part: str | int) -> bytes:
        """The strip ("strip") or a chunk of the full film (its number).

        Raises:
            FilmFailed: it can't be drawn.
            FilmsUnavailable: no film can be drawn now.
        """
        return await self._content(source, part, f"{part}.pack")

    def forget(self, source: FilmSource) -> None:
        """Removes what is cached of an episode, now and again when a drawing that is under way has ended. May be called
        from any thread.
        """
        self._forgotten.add(self._place(source))
        shutil.rmtree(self._place(source), ignore_errors=True)

    def keep_only(self, sources: Iterable[FilmSource]) -> None:
        """Forgets the films of all other recordings, such as replaced ones. May be called from any thread."""
        known = {self._place(source) for source in sources}
        cached = {film for film in self._folder.iterdir() if film.is_dir()} if self._folder.exists() else set()
        for film in (cached | {file.parent for file in list(self._drawing)}) - known:
            self._forgotten.add(film)
            shutil.rmtree(film, ignore_errors=True)

    def close(self) -> None:
        """Ends the film process."""
        if self._streams is not None:
            self._streams[1].close()
        if self._process is not None:
            self._process.terminate()

    def _place(self, source: FilmSource) -> Path:
        return self._folder / f"{source.sha256[:32]}-{self._height}-{self._quality}"

    async def _content(self, source: FilmSource, part: str | int, name: str) -> bytes:
        for _ in range(ATTEMPTS):
            file = await self._made(source, part, name)
            with suppress(FileNotFoundError):  # dropped before it was read
                return await asyncio.to_thread(file.read_bytes)
        raise FilmFailed("the film was dropped from the cache before it was read; raise studio.films_gb")

    async def _made(self, source: FilmSource, part: str | int, name: str) -> Path:
        """The file of a part, drawn now if it is missing; requests for the same part wait for one drawing."""
        file = self._place(source) / name
        with suppress(FileNotFoundError):  # dropped in the meantime: it is drawn again
            os.utime(file.parent)
            if file.exists():
                return file
        if file not in self._drawing:
            task = asyncio.create_task(self._draw(source, part))
            self._drawing[file] = task
            task.add_done_callback(lambda _: self._drawing.pop(file, None))
        await asyncio.shield(self._drawing[file])
        return file

    async def _draw(self, source: FilmSource, part: str | int) -> None:
        request = {"path": str(source.path), "folder": str(self._place(source)), "part": part}
        for _ in range(ATTEMPTS):
            try:
                error = await self._ask(request)
            except ConnectionError:
                continue
            except OSError as failed:
                logger.error("films can't be drawn: %s", failed)
                raise FilmsUnavailable(str(failed)) from failed
            if self._place(source) in self._forgotten:
                break
            if error:
                logger.error("the film of %s can't be drawn: %s", source.path, error)
                raise FilmFailed(error)
            await asyncio.to_thread(self._drop_oldest, self._place(source))
            return
        if self._place(source) in self._forgotten:
            self.forget(source)
            raise FilmFailed("this recording was deleted")
        raise FilmFailed("the process that draws films ended while it drew this one")

    async def _ask(self, request: Mapping[str, Any]) -> str:
        """What is wrong with the recording, empty for nothing.

        Raises:
            ConnectionError: the process ended before it answered.
            OSError: the process can draw nothing, as on a full disk.
        """
        async with self._asking:
            if self._process is None or self._process.poll() is not None or self._streams is None:
                if self._process is not None:
                    self._process.terminate()
                self._process, ours = start_process(
                    "interplay.studio.films.film_process", str(self._height), str(self._quality)
                )
                self._streams = await asyncio.open_connection(sock=ours)
            reader, writer = self._streams
            self._streams = None  # until the answer has been read, so that no other request receives it
            writer.write(packed(request))
            await writer.drain()
            answer = await receive_packed(reader)
            if not isinstance(answer, dict):
                raise ConnectionError("the film process ended")
            self._streams = reader, writer
            if "system_error" in answer:
                raise OSError(answer["system_error"])
            return str(answer.get("error", ""))

    def _drop_oldest(self, keep: Path) -> None:
        with self._dropping:
            found = {film: _age_and_size(film) for film in self._folder.iterdir() if film.is_dir()}
            total = sum(size for _, size in found.values())
            for film in sorted(found, key=lambda each: found[each]):
                if total <= self._limit:
                    return
                if film != keep:
                    shutil.rmtree(film, ignore_errors=True)
                    total -= found[film][1]


def _age_and_size(film: Path) -> tuple[float, int]:
    """When a film was used last, and its bytes; files that are renamed or removed in the meantime do not count."""
    used, size = 0.0, 0
    with suppress(FileNotFoundError):
        used = film.stat().st_mtime
        for file in film.iterdir():
            with suppress(FileNotFoundError):
                size += file.stat().st_size
    return used, size
