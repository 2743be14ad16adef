"""A run of the Playhouse from which datasets are exported."""

from __future__ import annotations

import hashlib
from pathlib import Path

from interplay.launch.cli import main

HOUSE = ("env=room", "env.objects=[2,3]", "env.image=[32,48]", "collect.setter.kinds={go: 5, color: 5}")


def export(folder: Path, dataset: str, *settings: str, code: int = 0) -> None:
    assert main(["export", "minari", dataset, f"run.dir={folder}", "run.name=run", *settings]) == code


def digest(folder: Path) -> dict[str, str]:
    """Hashes of the files of a store, without those that SQLite makes while it is open."""
    files = [file for file in folder.rglob("*") if file.is_file() and file.suffix not in (".db-shm", ".db-wal")]
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
