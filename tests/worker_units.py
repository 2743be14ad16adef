"""Units of tests that one worker of pytest-xdist runs."""

from __future__ import annotations

from functools import cache
from pathlib import Path

# By unit: a folder of tests, and the words by which a file in it uses what is started once a session.
SHARED = {"ray": ("runtime", "ray_cluster"), "browser": ("studio", "mark.browser")}
# As long as the other files with the Ray cluster together, and so a unit with a cluster of its own.
LONG = "tests/runtime/test_ray_workers.py"


def starts_first(nodeid: str) -> bool:
    """Whether a test belongs to the units that take longest."""
    unit = unit_of(nodeid)
    return unit in SHARED or unit == LONG


def unit_of(nodeid: str) -> str:
    """The unit of a test: its file, whose fixtures are then built once. All files with the Ray cluster but
    the longest are one unit, as are all with a browser."""
    file = nodeid.partition("::")[0]
    return _shared().get(file, file)


@cache
def _shared() -> dict[str, str]:
    root = Path(__file__).parent
    return {
        path.relative_to(root.parent).as_posix(): unit
        for unit, (folder, words) in SHARED.items()
        for path in root.glob(f"{folder}/test_*.py")
        if words in path.read_text() and path.relative_to(root.parent).as_posix() != LONG
    }
