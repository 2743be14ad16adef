from __future__ import annotations

import dataclasses
import os
import shutil
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from fake_corridor import assert_same_episode
from filled_store import episode, filled

from interplay.episodes import episode_catalog
from interplay.episodes import store as store_module
from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.encoding import DamagedEpisode
from interplay.episodes.episode import Mark
from interplay.episodes.repair import repair
from interplay.episodes.snapshot import Snapshot
from interplay.episodes.store import EpisodeFiles, EpisodeStore


def test_an_appended_episode_is_read_back(tmp_path: Path) -> None:
    store = EpisodeStore(tmp_path, create=True)
    written = episode(1)
    store.append(written)
    assert_same_episode(store.read(written.meta.id), written)
    assert store.meta(written.meta.id) == store.read(written.meta.id).meta
    assert len(store) == 1
    with pytest.raises(FileExistsError, match="immutable"):
        store.append(written)
    with pytest.raises(KeyError, match="no episode 'x'"):
        store.read("x")


def test_episodes_are_found_by_their_metadata(tmp_path: Path) -> None:
    store, ids = filled(tmp_path)
    store.add_marks([Mark(ids[2], "ann", 4, 1)])
    assert store.ids() == sorted(ids)
    assert store.ids(split="heldout") == [ids[0]]
    assert store.ids(split="train", round=1) == ids[2:]
    assert store.ids(kinds={"solver": "scripted"}) == ids
    assert store.ids(kinds={"solver": ["human", "agent"]}) == []
    assert store.ids(tasks=["go", "lift"]) == ids
    assert store.ids(tasks=["lift"]) == []
    assert store.select(EpisodeFilter(only_tasks=["go", "lift"])) == ids
    assert store.select(EpisodeFilter(only_tasks=["lift"])) == []
    assert store.ids(marked=True) == [ids[2]]
    assert store.ids(marked=False, round=1) == [ids[3]]
    assert [entry.steps for entry in store.entries(EpisodeFilter(rounds_before=1))] == [6, 6]


def test_metadata_of_intact_files_are_read_without_decoding_the_arrays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    store, ids = filled(tmp_path)
    written, damaged = (store.root / store.path(identifier) for identifier in ids[:2])
    with monkeypatch.context() as without:
        without.setattr(store_module, "decode", Mock(side_effect=AssertionError("decoded")))
        assert [meta.id for meta in store.intact_metas()] == sorted(ids)
    content = damaged.read_bytes()
    damaged.write_bytes(content[:100] + bytes(8) + content[108:])
    with zipfile.ZipFile(written, "a") as archive:
        archive.comment = b"another hash, and a whole episode"
    assert [meta.id for meta in store.intact_metas()] == sorted({*ids} - {ids[1]})
    assert f"{damaged} is damaged" in caplog.text


def test_access_to_a_catalog_does_not_look_files_up_for_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, ids = filled(tmp_path)
    monkeypatch.setattr(episode_catalog, "typed_name", Mock(side_effect=AssertionError("looked up again")))
    assert store.entry(ids[0]).id == ids[0] and store.ids() == sorted(ids)


def test_a_mistyped_path_is_refused_and_makes_no_store(tmp_path: Path) -> None:
    filled(tmp_path / "run" / "store")
    for typed, hint in (("rnu/store", "as runs/demo/store"), ("run", "its store is .*run/store")):
        with pytest.raises(
            ValueError, match=rf"{typed} is not an episode store: .*{hint}.*make a new one: EpisodeStore"
        ):
            EpisodeStore(tmp_path / typed)
    assert [path.name for path in tmp_path.glob("*")] == ["run"]
    assert [path.name for path in tmp_path.glob("run/*")] == ["store"]


def test_a_closed_store_or_snapshot_says_so(tmp_path: Path) -> None:
    with EpisodeStore(tmp_path, create=True) as store:
        snapshot = store.snapshot("mine")
    snapshot.close()
    for closed, file in ((store, "catalogue.db"), (snapshot, "mine.db")):
        with pytest.raises(ValueError, match=rf"{file} has been closed; open its store or snapshot again$"):
            closed.select(EpisodeFilter())


def test_a_temporary_controller_is_found_too(tmp_path: Path) -> None:
    plain = episode(1)
    control = {**plain.meta.control, "solver": [(0, "agent"), (8, "human")]}
    store = EpisodeStore(tmp_path, create=True)
    store.append(dataclasses.replace(plain, meta=dataclasses.replace(plain.meta, control=control)))
    assert store.ids(kinds={"solver": "human"}) == [plain.meta.id]


def test_reindex_rebuilds_the_index_and_loses_no_mark(tmp_path: Path) -> None:
    store, ids = filled(tmp_path)
    before = store.entries()
    store.add_marks([Mark(ids[1], "ann", 4, 1)])
    with sqlite3.connect(tmp_path / "catalogue.db") as database:
        database.execute("DELETE FROM episodes")
        database.execute("DELETE FROM seats")
    database.close()
    assert store.reindex().added == tuple(sorted(ids))
    assert store.entries() == before
    assert [mark.episode for mark in store.marks()] == [ids[1]]
    assert store.reindex().added == ()


def test_reindex_adds_files_of_other_processes(tmp_path: Path) -> None:
    store, _ids = filled(tmp_path)
    other = episode(9)
    EpisodeFiles(tmp_path).place(other)
    assert len(store) == 4
    assert store.reindex().added == (other.meta.id,)
    assert len(store) == 5


def test_reindex_names_what_it_cannot_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store, ids = filled(tmp_path)
    folder = next((tmp_path / "episodes").iterdir())
    (folder / "broken.npz").write_bytes(b"not a zip")
    (folder / f"{ids[0]}.npz").unlink()
    found = store.reindex()
    assert [Path(name).name for name in found.unreadable] == ["broken.npz"]
    assert found.missing == (ids[0],)
    assert store.ids() == ids[1:]
    assert "broken.npz" in caplog.text


def test_a_deleted_episode_stays_deleted(tmp_path: Path) -> None:
    store, ids = filled(tmp_path)
    path = next((tmp_path / "episodes").glob(f"*/{ids[0]}.npz"))
    kept = tmp_path / "copy.npz"
    shutil.copy(path, kept)
    store.delete(ids[0])
    store.delete(ids[1])
    store.reindex()
    assert store.ids() == ids[2:]
    assert len(store) == 2
    store.restore(ids[1])
    assert store.ids() == ids[1:]
    assert store.purge() == [ids[0]]
    assert store.purge() == []
    assert not path.exists()
    shutil.copy(kept, path)
    store.reindex()
    store.restore(ids[0])  # too late
    assert store.ids() == ids[1:]
    with pytest.raises(KeyError):
        store.delete("x")


def test_marks_are_kept_by_rater_and_undone_softly(tmp_path: Path) -> None:
    store, ids = filled(tmp_path)
    first, second = Mark(ids[0], "ann", 8, 1), Mark(ids[0], "bob", 4, -1)
    third = Mark(ids[1], "ann", 0, -1)
    store.add_marks([first, second, third, first])
    assert store.marks() == [first, second, third]
    assert store.marks(rater="ann") == [first, third]
    assert store.marks([ids[0]], rater="bob") == [second]
    store.undo(first.id)
    assert store.marks() == [second, third]
    store.add_marks([first])  # sent once more by a client that had no answer
    assert store.marks() == [second, third]
    with pytest.raises(KeyError, match="no mark 'x'"):
        store.undo("x")
    with pytest.raises(KeyError, match="no episode"):
        store.add_marks([Mark("x", "ann", 0, 1)])


@pytest.mark.parametrize("frame", [-1, 24, 1_000_000])
def test_a_mark_outside_of_its_episode_is_refused(tmp_path: Path, frame: int) -> None:
    store, ids = filled(tmp_path)
    assert store.meta(ids[0]).frames == 24
    with pytest.raises(ValueError, match=f"a mark of ann is at frame {frame}; episode {ids[0]} has the frames 0 to 23"):
        store.add_marks([Mark(ids[0], "ann", 0, 1), Mark(ids[0], "ann", frame, 1)])
    assert not store.marks()
    store.add_marks([Mark(ids[0], "ann", 23, 1)])


@pytest.mark.parametrize(("frame", "sign"), [(1.5, 1), (True, 1), (np.int64(4), 1), (4, 1.0), (4, np.int8(-1))])
def test_a_mark_that_could_not_be_read_again_is_not_made(frame: Any, sign: Any) -> None:
    with pytest.raises(ValueError, match=r"a mark's (frame|sign) must be an int, got .*; write int"):
        Mark("x", "ann", frame, sign)


def test_raters_without_a_mark_are_kept(tmp_path: Path) -> None:
    store, ids = filled(tmp_path)
    store.add_marks([Mark(ids[0], "ann", 8, 1)])
    store.add_ratings([(ids[0], "bob"), (ids[1], "bob"), (ids[1], "ann"), (ids[1], "ann")])
    expected = {ids[0]: ("ann", "bob"), ids[1]: ("ann", "bob")}
    assert store.raters() == expected
    assert store.raters([ids[1], ids[2]]) == {ids[1]: ("ann", "bob")}
    assert store.ids(marked=True) == [ids[0]]
    assert [entry.id for entry in store.entries(EpisodeFilter(rated=True))] == ids[:2]
    assert [entry.id for entry in store.entries(EpisodeFilter(rated=False))] == ids[2:]
    with pytest.raises(KeyError, match="no episode"):
        store.add_ratings([("x", "ann")])
    snapshot = store.snapshot("rated", EpisodeFilter(rated=True))
    store.add_ratings([(ids[0], "eve")])
    store.close()
    assert (snapshot.ids, snapshot.raters()) == (tuple(ids[:2]), expected)
    assert snapshot.raters([ids[1]]) == {ids[1]: ("ann", "bob")}
    with EpisodeStore(tmp_path) as again:
        assert again.raters() == {**expected, ids[0]: ("ann", "bob", "eve")}


def has_scan(database: sqlite3.Connection, ask: Callable[[], object]) -> bool:
    """Whether one of the queries of `ask` reads a whole table."""
    queries: list[str] = []
    database.set_trace_callback(queries.append)
    ask()
    database.set_trace_callback(None)
    asked = [text for text in queries if text.startswith("SELECT")]
    plan = [row[3] for query in asked for row in database.execute(f"EXPLAIN QUERY PLAN {query}")]
    assert any("SEARCH" in step for step in plan)
    return any("SCAN" in step and "subquery" not in step and "json_each" not in step for step in plan)


@pytest.mark.parametrize("ask", [Snapshot.marks, Snapshot.raters, Snapshot.read])
def test_one_episode_is_found_by_an_index(tmp_path: Path, ask: Callable[[Snapshot, Any], object]) -> None:
    """A scan of all marks for each episode that a stream decodes took most of the time of a stage."""
    store, ids = filled(tmp_path)
    store.add_marks([Mark(ids[0], "ann", 8, 1)])
    store.add_ratings([(ids[0], "bob")])
    snapshot = store.snapshot("one")
    assert not has_scan(snapshot._database, lambda: ask(snapshot, ids[0] if ask is Snapshot.read else [ids[0]]))


def test_the_entry_of_one_episode_is_found_by_an_index(tmp_path: Path) -> None:
    store, ids = filled(tmp_path)
    with store._reading() as database:
        assert not has_scan(database, lambda: store.entry(ids[0]))


def test_stores_and_snapshots_of_before_ratings_are_read(tmp_path: Path) -> None:
    """Their raters are those who left a mark; a store without others writes the same snapshots as before."""
    store, ids = filled(tmp_path)
    store.add_marks([Mark(ids[0], "ann", 8, 1)])
    snapshot = store.snapshot("first")
    store.close()
    with sqlite3.connect(tmp_path / "catalogue.db") as database:
        database.execute("DROP TABLE ratings")
    database.close()
    with sqlite3.connect(snapshot.path) as database:
        assert not database.execute("SELECT * FROM sqlite_master WHERE name = 'ratings'").fetchall()
    database.close()
    assert snapshot.raters() == {ids[0]: ("ann",)}
    assert snapshot.select(EpisodeFilter(rated=True)) == [ids[0]]
    with EpisodeStore(tmp_path) as again:
        assert again.raters() == {ids[0]: ("ann",)}
        again.add_ratings([(ids[1], "bob")])
        assert again.snapshot("second").raters() == {ids[0]: ("ann",), ids[1]: ("bob",)}


def test_everything_is_there_after_reopening(tmp_path: Path) -> None:
    store, ids = filled(tmp_path)
    store.add_marks([Mark(ids[0], "ann", 8, 1)])
    store.delete(ids[1])
    store.close()
    with EpisodeStore(tmp_path) as again:
        assert again.ids() == [ids[0], *ids[2:]]
        assert len(again.marks()) == 1


def test_a_store_in_a_folder_that_cannot_be_written_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, ids = filled(tmp_path)
    marks = [Mark(ids[0], "rater", 1, 1)]
    store.add_marks(marks)
    store.close()
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)  # root, as whom tests may run, may write
    with EpisodeStore(tmp_path) as again:
        assert again.ids() == ids and again.marks() == marks and again.read(ids[0]).meta.id == ids[0]
        with pytest.raises(PermissionError, match=r"catalogue\.db"):
            again.add_marks([Mark(ids[0], "rater", 2, 1)])
        assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_links_to_a_store_that_cannot_be_written_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `cp -rs` makes them: a report can then be written next to them."""
    store, ids = filled(tmp_path / "frozen")
    store.close()
    shutil.copytree(tmp_path / "frozen", tmp_path / "links", copy_function=os.symlink)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "frozen").rglob("*")}
    frozen = str(tmp_path / "frozen")
    monkeypatch.setattr(os, "access", lambda path, mode: not (mode & os.W_OK and str(path).startswith(frozen)))
    with EpisodeStore(tmp_path / "links") as again:
        assert again.ids() == ids and again.read(ids[0]).meta.id == ids[0]
        assert {path: path.stat().st_mtime_ns for path in (tmp_path / "frozen").rglob("*")} == before


def test_a_catalog_of_a_newer_platform_is_refused(tmp_path: Path) -> None:
    EpisodeStore(tmp_path, create=True).close()
    with sqlite3.connect(tmp_path / "catalogue.db") as database:
        database.execute("PRAGMA user_version = 7")
    database.close()
    with pytest.raises(ValueError, match="format version 7"):
        EpisodeStore(tmp_path)


def test_a_snapshot_never_changes(tmp_path: Path) -> None:
    store, ids = filled(tmp_path)
    store.add_marks([Mark(ids[2], "ann", 4, 1), Mark(ids[0], "ann", 4, 1)])
    snapshot = store.snapshot("first", EpisodeFilter(split="train"))
    digest = snapshot.hash
    mark = store.marks([ids[2]])[0]
    store.undo(mark.id)
    store.append(episode(7))
    store.delete(ids[3])
    again = Snapshot(tmp_path / "snapshots" / "first.db")
    assert again.hash == digest
    assert again.ids == tuple(ids[1:])
    assert again.marks() == [mark]
    assert again.select(EpisodeFilter(round=1, marked=True)) == [ids[2]]
    assert [entry.id for entry in again.entries()] == ids[1:]
    assert_same_episode(again.read(ids[3]), store.read(ids[3]))
    with pytest.raises(KeyError, match="does not list"):
        again.read(ids[0])
    with pytest.raises(FileExistsError, match="choose another name"):
        store.snapshot("first")
    assert store.snapshot("second", EpisodeFilter(split="train")).hash != digest


def test_a_snapshot_notices_another_file(tmp_path: Path) -> None:
    store, ids = filled(tmp_path)
    snapshot = store.snapshot("first")
    paths = [next((tmp_path / "episodes").glob(f"*/{id_}.npz")) for id_ in ids[:2]]
    shutil.copy(paths[1], paths[0])
    with pytest.raises(DamagedEpisode, match="hash differs"):
        snapshot.read(ids[0])
    with pytest.raises(ValueError, match="there is no snapshot"):
        Snapshot(tmp_path / "snapshots" / "none.db")


def test_a_flagged_episode_stays_out_unless_asked_for(tmp_path: Path) -> None:
    store, ids = filled(tmp_path)
    store.flag(ids[1], "void")
    with pytest.raises(KeyError, match="no episode 'x'"):
        store.flag("x", "void")
    assert store.ids() == [ids[0], *ids[2:]]
    assert [entry.id for entry in store.entries(EpisodeFilter(flagged=True))] == ids
    assert store.snapshot("plain").ids == (ids[0], *ids[2:])
    assert store.snapshot("all", EpisodeFilter(flagged=True)).ids == tuple(ids)
    store.close()
    (tmp_path / "catalogue.db").unlink()
    repair(tmp_path)  # from the files and the journal
    with EpisodeStore(tmp_path) as again:
        assert again.flags() == {ids[1]: "void"}
        again.unflag(ids[1])
        assert again.ids() == ids


def test_a_catalog_without_flags_gets_them(tmp_path: Path) -> None:
    store, ids = filled(tmp_path)
    store.add_marks([Mark(ids[2], "ann", 4, 1)])
    store.close()
    with sqlite3.connect(tmp_path / "catalogue.db") as database:
        database.execute("DROP TABLE flags")
        database.execute("PRAGMA user_version = 1")
    database.close()
    with EpisodeStore(tmp_path) as again:
        again.flag(ids[0], "void")
        assert again.ids() == ids[1:] and len(again.marks()) == 1


def test_a_file_of_another_process_is_listed(tmp_path: Path) -> None:
    store, ids = filled(tmp_path)
    placed = EpisodeFiles(tmp_path).place(episode(9))
    assert store.take_in(tmp_path / placed.path) == f"{9:028x}"
    assert store.ids() == [*ids, f"{9:028x}"] and store.snapshot("all").read(f"{9:028x}").meta.steps == 6
