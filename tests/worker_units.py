"""Units of tests that one worker of pytest-xdist runs."""

from __future__ import annotations

from functools import cache
from pathlib import Path


def unit_of(nodeid: str) -> str:
    """The unit of a test: its file, whose fixtures are then built once; for all files with the Ray cluster the same."""
    file = nodeid.partition("::")[0]
    return "ray" if file in _files_with_ray() else file


@cache
def _files_with_ray() -> frozenset[str]:
    root = Path(__file__).parent
    found = (path for path in root.glob("runtime/test_*.py") if "ray_cluster" in path.read_text())
    return frozenset(path.relative_to(root.parent).as_posix() for path in found)
