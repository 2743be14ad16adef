"""Damaged files of a store: a clear error, no hang, unchanged episodes, and a repair that restores the records."""

from __future__ import annotations

import contextlib
import re
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest
from fake_corridor import Corridor, record_episode
from hypothesis import example, given, seed, settings
from hypothesis import strategies as st
from tiny_runs import interplay, refused, tiny

from interplay.episodes.catalog_index import DamagedCatalog
from interplay.episodes.encoding import DamagedEpisode, iter_readable
from interplay.episodes.episode import Mark
from interplay.episodes.episode_catalog import EpisodeCatalog
from interplay.episodes.repair import repair
from interplay.episodes.snapshot import Snapshot
from interplay.episodes.store import EpisodeStore

FILES = ("catalogue.db", "marks.jsonl", "snapshots/first.db", "episodes")  # the last: one of the episode files
MARKS = 300  # so that the tables span several pages


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run's folder with a store of four episodes, many marks, one undone mark, one deleted episode."""
    root = tmp_path_factory.mktemp("sound") / "run"
    with EpisodeStore(root / "store", create=True) as store:
        for number in range(4):
            store.append(record_episode(Corridor(), seed=number, steps=6)[0])
        ids = store.ids()
        store.add_marks([Mark(ids[n % 3], f"rater {n % 7}", n % 24, 1, id=f"{n:032x}") for n in range(MARKS)])
        store.undo(f"{7:032x}")
        store.delete(ids[3])
        store.snapshot("first")
    return root


def copy(sound: Path, to: Path) -> Path:
    """The store of a copy of the run, as a process that ended in order left it."""
    shutil.copytree(sound, to / "run")
    return to / "run" / "store"


def contents(store: Path) -> dict[Path, bytes]:
    return {path.relative_to(store): path.read_bytes() for path in store.glob("episodes/*/*.npz") if path.is_file()}


def state(root: Path) -> tuple[list[str], list[Mark]]:
    with EpisodeStore(root) as store:
        return store.ids(), store.marks()


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def garbage(path: Path) -> None:
    path.write_bytes(b"\x00\xffnot a database" * 400)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def missing(path: Path) -> None:
    path.unlink()


def without_a_table(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("DROP TABLE seats")
        database.commit()


DAMAGE = (truncated, emptied, garbage, folder, missing, without_a_table)


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_catalog_is_named_and_rebuilt(
    sound: Path, tmp_path: Path, damage: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    root = copy(sound, tmp_path)
    before, episodes = state(root), contents(root)
    damage(root / "catalogue.db")
    typed = f"interplay reindex run.name=run run.dir={tmp_path.resolve()}"
    with pytest.raises(DamagedCatalog, match=rf"catalogue\.db .*marks.jsonl.*{re.escape(typed)}"):
        EpisodeStore(root)
    interplay("reindex", [f"run.dir={tmp_path}", "run.name=run"])
    said = capsys.readouterr().out
    assert f"lists 3 episodes and {MARKS - 1} marks" in said
    assert state(root) == before
    assert contents(root) == episodes
    kept = list(root.glob("damaged/*/catalogue.db"))
    assert len(kept) == (damage not in (emptied, missing))
    assert not kept or str(kept[0].parent) in said


@pytest.mark.parametrize("damage", [garbage, folder, missing, emptied])
def test_the_catalog_alone_is_enough(sound: Path, tmp_path: Path, damage: Callable[[Path], None]) -> None:
    root = copy(sound, tmp_path)
    before = state(root)
    damage(root / "marks.jsonl")
    repair(root)
    assert state(root) == before
    missing(root / "catalogue.db")
    repair(root)  # from the journal, which was written anew
    assert state(root) == before


def test_a_repair_names_damaged_files_of_listed_episodes(sound: Path, tmp_path: Path) -> None:
    root = copy(sound, tmp_path)
    assert repair(root).damaged_episodes == ()
    with EpisodeStore(root) as store:
        cut, whole = (root / path for path in list(store.paths().values())[:2])
    cut.write_bytes(cut.read_bytes()[:500])
    said = "\n".join(repair(root).sentences())
    assert f"Listed, but {cut} is damaged" in said and str(whole) not in said
    assert "restore it from a copy, or remove it and type interplay reindex" in said
    cut.unlink()
    assert "Listed episodes without a file, which are left out now: 1." in repair(root).sentences()


def test_without_a_journal_the_readable_rows_of_the_catalog_are_kept(sound: Path, tmp_path: Path) -> None:
    root = copy(sound, tmp_path)
    _, marks = state(root)
    missing(root / "marks.jsonl")
    data = bytearray((root / "catalogue.db").read_bytes())
    for page in range(4096, len(data), 4096):  # those of the table and of its index that hold a mark from the middle
        if f"{MARKS // 2:032x}".encode() in data[page : page + 4096]:
            data[page : page + 4096] = bytes(4096)
    (root / "catalogue.db").write_bytes(data)
    found = repair(root)
    kept = {mark.id for mark in state(root)[1]}
    assert 0 < found.salvaged < MARKS
    assert kept < {mark.id for mark in marks}
    assert found.salvaged == len(kept) + 1  # the undone one
    assert f"{0:032x}" in kept and f"{MARKS - 1:032x}" in kept  # read from both ends
    assert any("no marks.jsonl" in line for line in found.sentences())


@pytest.mark.parametrize("damage", [truncated, emptied, garbage, folder, missing])
def test_a_damaged_snapshot_and_episode_are_named(
    sound: Path, tmp_path: Path, damage: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    root = copy(sound, tmp_path)
    path = root / "snapshots" / "first.db"
    data = path.read_bytes()
    path.chmod(0o644)
    damage(path)
    with pytest.raises(ValueError, match=r"first\.db"):
        Snapshot(path)
    if path.is_dir():
        path.rmdir()
    path.unlink(missing_ok=True)
    with EpisodeStore(root) as store:
        assert store.snapshot("first").path.read_bytes() == data  # the same episodes and marks: the same hash
        damage(next(root.glob(f"episodes/*/{store.ids()[0]}.npz")))
        with pytest.raises(DamagedEpisode, match=store.ids()[0]):
            store.read(store.ids()[0])
        assert [one.meta.id for one in iter_readable(store, store.ids())] == store.ids()[1:]
    assert "skipped" in caplog.text


def test_an_impossible_store_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "config.json").write_text("{}")
    said = refused("reindex", [f"run.dir={tmp_path}", "run.name=none"], capsys)
    assert "is not an episode store" in said and "run.name=NAME" in said
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="can't be made"):
        EpisodeStore(tmp_path / "file", create=True)


@pytest.mark.parametrize("verb", ["collect", "clone", "reindex", "report"])
@pytest.mark.parametrize("link", ["run/store", "run/store/episodes", "run"])
def test_a_link_to_a_missing_folder_is_named_with_a_remedy(
    verb: str, link: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / link
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(tmp_path / "disk" / "unplugged")
    said = refused(verb, tiny(tmp_path), capsys)
    assert f"{place} is a link to {tmp_path}/disk/unplugged, a folder that does not exist; " in said
    assert "mount that folder again, or remove the link" in said
    assert "File exists" not in said
    assert place.is_symlink() and not (tmp_path / "disk").exists()


@st.composite
def edits(draw: st.DrawFn) -> tuple[str, Callable[[bytes], bytes]]:
    """One of the store's files, and what happens to its bytes."""
    name = draw(st.sampled_from(FILES))
    at = draw(st.floats(0, 1, exclude_max=True))
    noise = draw(st.binary(min_size=1, max_size=64))
    kind = draw(st.sampled_from(("cut", "overwrite", "insert", "flip")))

    def edit(data: bytes) -> bytes:
        start = int(at * len(data))
        if kind == "cut":
            return data[:start]
        if kind == "flip":
            return data[:start] + bytes([data[start] ^ (1 << noise[0] % 8)]) + data[start + 1 :]
        return data[:start] + noise + data[start + (len(noise) if kind == "overwrite" else 0) :]

    return name, edit


@seed(20261123)
@settings(max_examples=30, derandomize=False, database=None)
@example(("catalogue.db", lambda data: data.replace(b"CREATE TABLE marks", b"CREATE TABLE mar\x80s")))
@given(edits())
def test_no_damage_is_a_traceback_or_touches_an_episode(
    sound: Path, tmp_path_factory: pytest.TempPathFactory, edit: tuple[str, Callable[[bytes], bytes]]
) -> None:
    name, change = edit
    root = copy(sound, tmp_path_factory.mktemp("fuzzed"))
    path = root / name if name != "episodes" else next(root.glob("episodes/*/*.npz"))
    path.chmod(0o644)
    path.write_bytes(change(path.read_bytes()))
    episodes = contents(root)
    used(root)
    found = repair(root)
    assert len(found.index.unreadable) <= (name == "episodes")
    assert contents(root) == episodes
    used(root)
    with EpisodeStore(root) as store:
        assert store.entries() is not None
    if name == "marks.jsonl":
        ids, marks = state(root)
        assert (ids, [mark for mark in marks if mark.id != "late"]) == state(
            copy(sound, tmp_path_factory.mktemp("kept"))
        )


def used(root: Path) -> None:
    """Reads everything as the stages do; it raises only errors for users."""
    with contextlib.suppress(ValueError), EpisodeStore(root) as store:
        list(iter_readable(store, store.ids()))
        store.entries()
        store.marks()
        store.reindex()
        store.add_marks([Mark(store.ids()[0], "late", 1, 1, id="late")])
    with contextlib.suppress(ValueError):
        snapshot = Snapshot(root / "snapshots" / "first.db")
        try:
            list(iter_readable(snapshot, snapshot.ids))
            snapshot.entries()
            snapshot.marks()
        finally:
            snapshot.close()


@pytest.mark.parametrize("lost", ["catalogue.db", "marks.jsonl"])
def test_ratings_survive_the_loss_of_the_catalog_or_of_the_journal(sound: Path, tmp_path: Path, lost: str) -> None:
    root = copy(sound, tmp_path)
    with EpisodeStore(root) as store:
        store.add_ratings([(episode, rater) for episode in store.ids() for rater in ("silent", "rater 1")])
        raters = store.raters()
        assert all("silent" in each for each in raters.values())
    truncated(root / lost)
    repair(root)
    with EpisodeStore(root) as store:
        assert store.raters() == raters
        store.add_ratings([(store.ids()[0], "late")])
        assert "late" in store.raters()[store.ids()[0]]


@pytest.mark.parametrize("rewritten", [False, True])
def test_what_a_power_cut_took_from_the_catalog_is_taken_from_the_journal(
    sound: Path, tmp_path: Path, rewritten: bool
) -> None:
    root = copy(sound, tmp_path)
    if rewritten:
        with EpisodeStore(root) as store:
            store.erase_marks("rater 3")
    before = (root / "catalogue.db").read_bytes()
    with EpisodeStore(root) as store:
        kept, flagged, *_ = store.ids()
        store.add_marks([Mark(kept, "late", 3, 1, id="a" * 32), Mark(kept, "late", 4, 1, id="b" * 32)])
        store.undo("b" * 32)
        store.add_ratings([(kept, "silent")])
        store.flag(flagged, "unusable")
    expected = state(root)
    for file in root.glob("catalogue.db*"):
        file.unlink()
    (root / "catalogue.db").write_bytes(before)  # as if no change of the catalog had reached the disk
    with EpisodeStore(root) as store:
        assert (store.ids(), store.marks()) == expected
        assert [mark.id for mark in store.marks(rater="late")] == ["a" * 32]
        assert "silent" in store.raters()[kept] and store.flags() == {flagged: "unusable"}
        assert not store.marks(rater="rater 3") or not rewritten


def test_a_repair_that_was_killed_loses_no_marks(sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = copy(sound, tmp_path)
    expected = state(root)
    missing(root / "catalogue.db")
    with monkeypatch.context() as patched:
        patched.setattr(EpisodeCatalog, "replay", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            repair(root)
    with EpisodeStore(root) as store:
        store.reindex()  # as every stage that records or marks
    assert state(root) == expected


def test_a_catalog_that_has_all_of_its_journal_is_not_written_when_it_is_opened(sound: Path, tmp_path: Path) -> None:
    root = copy(sound, tmp_path)
    with EpisodeStore(root) as store:
        expected = store.marks()
    before = (root / "catalogue.db").read_bytes()
    with EpisodeStore(root) as store:
        assert store.marks() == expected
    assert (root / "catalogue.db").read_bytes() == before
