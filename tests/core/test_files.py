from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from unreadable_file import unreadable

from interplay.core import files
from interplay.core.files import (
    LEFTOVER_SECONDS,
    JsonLines,
    check_replaceable,
    replacing,
    temporary_folder,
    write_whole,
)


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_whole(path, "old")
    with pytest.raises(RuntimeError), replacing(path) as temporary:
        temporary.write_text("ne")
        assert path.read_text() == "old"
        raise RuntimeError
    assert path.read_text() == "old"
    write_whole(path, "grün")
    assert path.read_bytes() == "grün".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_cannot_be_replaced_is_named_and_nothing_is_made(tmp_path: Path) -> None:
    check_replaceable(tmp_path / "new" / "a.json")
    assert not list(tmp_path.iterdir())
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(IsADirectoryError) as folder:
        check_replaceable(tmp_path / "folder")
    with pytest.raises(NotADirectoryError) as file:
        check_replaceable(tmp_path / "file" / "b" / "c.json")
    assert [raised.value.filename for raised in (folder, file)] == [str(tmp_path / "folder"), str(tmp_path / "file")]
    with unreadable(tmp_path), pytest.raises(PermissionError) as closed:
        check_replaceable(tmp_path / "d.json")
    assert closed.value.filename == str(tmp_path / "d.json")


@contextmanager
def half_written(path: Path) -> Iterator[Path]:
    """The temporary file of a process that writes `path` while entered, and is killed on leaving."""
    script = (
        "import signal, sys; from pathlib import Path; from interplay.core.files import replacing\n"
        "with replacing(Path(sys.argv[1])) as temporary:\n"
        "    temporary.write_text('half'); print(flush=True); signal.pause()\n"
    )
    with subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None and process.stdout.readline()
            (temporary,) = path.parent.glob("*.tmp")
            yield temporary
        finally:
            process.kill()


def test_what_a_killed_process_left_is_removed_and_what_a_living_one_writes_stays(tmp_path: Path) -> None:
    path = tmp_path / "stage [1].json"
    with half_written(path) as temporary:
        os.utime(temporary, (0, 0))  # a process that was suspended may write long afterwards
        write_whole(path, "whole")
        assert temporary.read_text() == "half"
    write_whole(tmp_path / "other.json", "whole")
    write_whole(path, "whole", is_new=True)
    assert temporary.exists(), "only a write of the same file looks for leftovers"
    write_whole(path, "whole")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["other.json", "stage [1].json"]


def test_a_temporary_folder_is_removed_with_its_content_also_after_a_kill(tmp_path: Path) -> None:
    script = (
        "import signal, sys; from pathlib import Path; from interplay.core.files import temporary_folder\n"
        "with temporary_folder(Path(sys.argv[1]), 'work') as folder:\n"
        "    (folder / 'half').touch(); print(flush=True); signal.pause()\n"
    )
    with subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None and process.stdout.readline()
            (of_other,) = tmp_path.iterdir()
            with temporary_folder(tmp_path, "work") as folder:
                (folder / "half").touch()
                assert of_other.exists() and sorted(tmp_path.iterdir()) == sorted([folder, of_other])
        finally:
            process.kill()
    assert [*tmp_path.iterdir()] == [of_other]
    with pytest.raises(KeyboardInterrupt), temporary_folder(tmp_path, "work") as folder:
        assert folder.exists() and not of_other.exists()
        raise KeyboardInterrupt
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("name", ["a.json.0123abcd.1.tmp", "a.json.1.tmp"], ids=["another machine", "earlier version"])
def test_a_process_that_cannot_be_looked_up_has_left_what_is_a_day_old(tmp_path: Path, name: str) -> None:
    temporary = tmp_path / name
    temporary.write_text("half")
    write_whole(tmp_path / "a.json", "whole")
    assert temporary.exists()
    os.utime(temporary, (0, time.time() - LEFTOVER_SECONDS))
    write_whole(tmp_path / "a.json", "whole")
    assert not temporary.exists()


def test_only_a_durable_file_waits_for_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    write_whole(tmp_path / "a", b"1", durable=False)
    assert not synced
    write_whole(tmp_path / "a", b"2")
    assert len(synced) == 2  # the file, then its folder


def test_a_line_cut_short_is_neither_read_nor_kept(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    lines = JsonLines(path, key="update")
    assert lines.read() == lines.newest(3) == []
    for update in range(1, 5):
        lines.append({"update": update})
    with path.open("a") as file:
        file.write('{"update": 5, "pla')
    assert [row["update"] for row in lines.read()] == [1, 2, 3, 4]
    assert lines.newest(2) == [{"update": 3}, {"update": 4}]
    lines.append({"update": 6})
    assert [row["update"] for row in lines.read()] == [1, 2, 3, 4, 6]
    lines.drop_after(3)
    assert path.read_text() == '{"update": 1}\n{"update": 2}\n{"update": 3}\n'
    path.write_text('{"upd')
    lines.append({"update": 1})
    assert path.read_text() == '{"update": 1}\n'
    lines.drop_after(None)
    assert path.read_text() == ""


@pytest.mark.parametrize("line", ["[1]", '"text"', "5", '{"step": 1}', '{"update": "x"}', "\xff"])
def test_a_line_that_is_not_a_row_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "ledger.jsonl"
    path.write_text('{"update": 1}\n' + line + "\n", encoding="latin-1")
    for read in (JsonLines(path, key="update").read, lambda: JsonLines(path, key="update").newest(1)):
        with pytest.raises(ValueError, match=r"ledger\.jsonl: .* is not a row of ledger"):
            read()


def test_newest_reads_beyond_its_first_attempt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "TAIL_BYTES", (5, 40))
    path = tmp_path / "metrics.jsonl"
    lines = JsonLines(path, key="step")
    for step in range(100):
        lines.append({"step": step})
    for count in (1, 2, 50, 1000):
        assert lines.newest(count) == lines.read()[-count:]
