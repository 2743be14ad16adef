"""Kills, full disks and other processes: the store loses no episode and no mark."""

from __future__ import annotations

import errno
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from fake_corridor import Corridor, record_episode
from filled_store import episode, filled

from interplay.episodes.encoding import encode
from interplay.episodes.episode import Mark
from interplay.episodes.store import EpisodeStore


def appending(root: Path) -> subprocess.Popen[str]:
    """A process that appends episodes to the store until it is killed, and prints their ids."""
    recorded = root.parent / f"{root.name}.npz"
    recorded.write_bytes(encode(record_episode(Corridor(poses=False), seed=1, steps=60)[0]))
    command = [sys.executable, str(Path(__file__).parent / "appender.py"), str(root), str(recorded)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("attempt", range(4))
def test_a_kill_loses_no_appended_episode(tmp_path: Path, attempt: int) -> None:
    """SIGKILL at a random point of a random append, several times over the same store."""
    rng = np.random.default_rng(attempt)
    said: list[str] = []
    for _ in range(2):
        with appending(tmp_path) as child:
            assert child.stdout is not None
            said += [child.stdout.readline().strip() for _ in range(int(rng.integers(1, 6)))]
            for _ in range(int(rng.integers(1, 60_000))):  # a random moment without a clock
                pass
            child.send_signal(signal.SIGKILL)
            said += child.stdout.read().split()
    store = EpisodeStore(tmp_path)
    found = store.reindex()
    ids = store.ids()
    assert set(said) <= set(ids)
    assert len(ids) <= len(said) + 2  # at most the one under way, each time
    assert found.unreadable == () == found.missing
    for one in ids:
        assert store.read(one).meta.steps == 60
    assert not list(tmp_path.glob("episodes/*/*.tmp"))


def test_old_temporary_files_are_removed_and_recent_ones_kept(tmp_path: Path) -> None:
    store, _ = filled(tmp_path)
    folder = next((tmp_path / "episodes").iterdir())
    half = folder / "half.npz.17.tmp"
    half.write_bytes(b"half")
    assert store.reindex().swept == 0
    os.utime(half, (0, 0))
    assert store.reindex().swept == 1
    assert len(store.ids()) == 4


def test_reading_works_while_another_process_appends(tmp_path: Path) -> None:
    store, ids = filled(tmp_path)
    snapshot = store.snapshot("first")
    store.close()
    with appending(tmp_path) as child:
        assert child.stdout is not None
        for _ in range(5):
            assert child.stdout.readline().strip() not in ("", *ids)
            assert [snapshot.read(one).meta.id for one in snapshot.ids] == ids
        child.send_signal(signal.SIGKILL)


def test_a_full_disk_is_an_error_of_the_system_and_the_store_goes_on(tmp_path: Path) -> None:
    store, ids = filled(tmp_path)
    store._rows("PRAGMA max_page_count = 1")  # sets it to the pages that there are
    with pytest.raises(OSError, match="No space left on device") as full:
        store.add_ratings([(ids[0], f"{number} {'x' * 1000}") for number in range(100)])
    assert full.value.filename == str(tmp_path / "catalogue.db")
    store._rows("PRAGMA max_page_count = 100000")
    store.add_marks([Mark(ids[1], "ann", 4, 1)])
    assert [mark.episode for mark in store.marks()] == [ids[1]]


def journal_alone(store: EpisodeStore, mark: Mark, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails to keep a mark after it is in the journal, before the catalog is committed, as a full disk may."""

    def failing(database: sqlite3.Connection) -> None:
        raise OSError(errno.ENOSPC, "full")

    with monkeypatch.context() as patch:
        patch.setattr(store, "_note_journaled", failing)
        with pytest.raises(OSError, match="full"):
            store.add_marks([mark])


@pytest.mark.parametrize(
    "write",
    [
        lambda store, ids: store.add_marks([Mark(ids[0], "bob", 4, 1)]),
        lambda store, ids: store.append(episode(9)),
        lambda store, ids: store.erase_marks("bob"),  # replaces the journal
    ],
    ids=["mark", "episode", "erasure"],
)
def test_a_change_that_was_journaled_and_not_committed_is_in_the_catalog_with_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[EpisodeStore, list[str]], object]
) -> None:
    store, ids = filled(tmp_path)
    store.add_marks([Mark(ids[0], "ann", 4, 1)])
    journal_alone(store, Mark(ids[1], "ann", 4, 1), monkeypatch)
    write(store, ids)
    assert {mark.episode for mark in store.marks() if mark.rater == "ann"} == set(ids[:2])


def test_a_line_of_the_journal_that_was_cut_does_not_hide_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, ids = filled(tmp_path)
    store.add_marks([Mark(ids[0], "ann", 4, 1)])
    with (tmp_path / "marks.jsonl").open("ab") as journal:
        journal.write(b'{"time": 1.0, "chan')
    store.append(episode(9))
    journal_alone(store, Mark(ids[1], "ann", 4, 1), monkeypatch)
    store.add_marks([Mark(ids[2], "ann", 4, 1)])
    assert {mark.episode for mark in store.marks()} == set(ids[:3])
