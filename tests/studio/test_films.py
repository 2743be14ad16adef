"""Films: every frame as it was played, packs as browsers read them, and a drawing process that may die."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import simplejpeg
from fake_world import FRAMES, LineWorld, record_episode
from hypothesis import given
from hypothesis import strategies as st
from small_house import STEPS, fill_store, house, played

from interplay.episodes.store import EpisodeStore
from interplay.studio.films.film_drawing import draw, execute, read_pack, write_pack
from interplay.studio.films.film_library import FilmFailed, FilmLibrary, FilmSource, FilmsUnavailable


def similar(jpeg: bytes, picture: np.ndarray) -> bool:
    decoded = simplejpeg.decode_jpeg(jpeg, colorspace="RGB").astype(int)
    return bool(np.abs(decoded - picture.astype(int)).mean() < 4)


def test_a_film_shows_every_frame_as_it_was_played() -> None:
    world = house()
    episode, pictures = played(world)
    moments = execute(world, episode, 24)
    plan = moments.plan
    assert plan.exact and plan.frames == STEPS * 8 and plan.full_every == 2 and plan.full_size == (24, 32)
    full = [picture for number in range(plan.chunks) for picture in draw(world, episode, moments, number, 95)]
    assert len(full) == plan.full_pictures == STEPS * 4 + 1
    changed = [i for i in range(1, len(full)) if not similar(full[i - 1], pictures[2 * i])]
    assert len(changed) > STEPS, "pictures of neighboring frames can be told apart"
    assert [i for i, picture in enumerate(full) if not similar(picture, pictures[2 * i])] == []
    strip = draw(world, episode, moments, "strip", 95)
    assert len(strip) == plan.rows == STEPS + 1
    assert simplejpeg.decode_jpeg_header(strip[0])[:2] == plan.strip_size == (144, 192)


def test_where_the_recording_differs_only_rows_are_shown() -> None:
    world = house()
    episode, pictures = played(world)
    assert episode.poses is not None
    poses = episode.poses[:].copy()
    poses[2, 0] = np.nextafter(poses[2, 0], np.float32(9))
    other = replace(episode, poses=poses)
    moments = execute(world, other, 24)
    assert not moments.plan.exact and moments.plan.full_pictures == moments.plan.rows
    (drawn,) = [draw(world, other, moments, 0, 95)]
    assert all(similar(picture, pictures[8 * row]) for row, picture in enumerate(drawn))


def test_a_world_without_poses_shows_its_recorded_pictures() -> None:
    episode, _ = record_episode(LineWorld(), 0, 5)
    moments = execute(LineWorld(), episode, 8)
    assert moments.plan.rows == 6 and moments.plan.frames == 5 * FRAMES


@given(st.lists(st.binary(max_size=30), max_size=6))
def test_a_pack_is_read_as_it_was_written(pictures: list[bytes]) -> None:
    pack = write_pack(pictures)
    assert read_pack(pack) == pictures
    if pictures:
        with pytest.raises(ValueError, match=r"not a pack|cut short"):
            read_pack(pack[:-1] if pictures[-1] else pack[: 4 * len(pictures)])


def stored(root: Path) -> FilmSource:
    """An episode of a small house in a store."""
    (episode,) = fill_store(root, 1)
    with EpisodeStore(root / "store") as store:
        entry = store.entry(episode)
    return FilmSource(root / "store" / entry.path, entry.sha256)


def with_library(folder: Path, limit_gb: float, use: Any) -> Any:
    async def run() -> Any:
        library = FilmLibrary(folder, height=24, quality=85, limit_gb=limit_gb)
        folder.mkdir(exist_ok=True)
        try:
            return await use(library)
        finally:
            library.close()

    return asyncio.run(run())


def test_the_drawing_process_is_replaced_when_it_dies(tmp_path: Path) -> None:
    source = stored(tmp_path)

    async def use(library: FilmLibrary) -> list[bytes]:
        first = await library.plan(source)
        assert library._process is not None
        library._process.kill()
        library._process.wait(30)
        strip = await library.pack(source, "strip")
        assert first["exact"]
        return read_pack(strip)

    assert len(with_library(tmp_path / "films", 1.0, use)) == STEPS + 1


def test_a_film_that_was_being_drawn_when_its_recording_was_deleted_is_removed(tmp_path: Path) -> None:
    source = stored(tmp_path)

    async def use(library: FilmLibrary) -> None:
        await library.plan(source)
        drawing = asyncio.create_task(library.pack(source, "strip"))
        await asyncio.sleep(0)
        library.forget(source)
        with pytest.raises(FilmFailed, match="deleted"):
            await drawing
        assert not list((tmp_path / "films").iterdir())

    with_library(tmp_path / "films", 1.0, use)


def test_files_that_vanish_while_old_films_are_looked_for_disturb_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = stored(tmp_path)
    listed = Path.iterdir

    def with_vanished(folder: Path) -> list[Path]:
        return [*listed(folder), folder / "strip.pack.123.tmp"]

    async def use(library: FilmLibrary) -> None:
        monkeypatch.setattr(Path, "iterdir", with_vanished)
        assert len(read_pack(await library.pack(source, "strip"))) == STEPS + 1

    with_library(tmp_path / "films", 1.0, use)


def test_a_disk_that_takes_no_film_is_no_fault_of_the_recording(tmp_path: Path) -> None:
    source = stored(tmp_path)

    async def use(library: FilmLibrary) -> None:
        library._place(source).touch()  # where the film's folder would be
        with pytest.raises(FilmsUnavailable, match="exists"):
            await library.plan(source)

    with_library(tmp_path / "films", 1.0, use)


def test_a_missing_recording_is_a_line_and_old_films_are_dropped(tmp_path: Path) -> None:
    source = stored(tmp_path)

    async def use(library: FilmLibrary) -> None:
        with pytest.raises(FilmFailed, match="nowhere"):
            await library.plan(FilmSource(Path("/nowhere.npz"), "0" * 64))
        old = tmp_path / "films" / "old"
        old.mkdir()
        (old / "strip.pack").write_bytes(b"x" * 1000)
        both = await asyncio.gather(library.pack(source, 0), library.pack(source, 0))
        assert both[0] == both[1] and not old.exists()

    with_library(tmp_path / "films", 1e-9, use)
