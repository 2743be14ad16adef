"""One name, one meaning: no public class or type alias is defined twice, and no two modules share a name."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SHARED_MODULE_NAMES = {"__init__", "config", "world"}  # each names the same thing in every folder that has one
LIBRARY = ROOT / "platform" / "env" / "commai"  # its names are those that task files of CommAI-env import


def sources() -> list[Path]:
    return [file for folder in ("platform", "conf", "launch") for file in sorted((ROOT / folder).rglob("*.py"))]


def defined_types(file: Path) -> Iterator[str]:
    """The public classes and type aliases (assignments to a CamelCase name) at the top of a module."""
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            names = (target.id for target in node.targets if isinstance(target, ast.Name))
            yield from (name for name in names if name[0].isupper() and not name.isupper())


def repeated(places: dict[str, list[str]]) -> str:
    return "\n".join(f"{name}: {', '.join(found)}" for name, found in sorted(places.items()) if len(found) > 1)


def test_no_public_type_is_defined_twice() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for file in sources():
        for name in defined_types(file):
            if not name.startswith("_") and not file.is_relative_to(LIBRARY):
                places[name].append(str(file.relative_to(ROOT)))
    assert {"World", "Task", "Image"} <= set(places), "the walk misses classes or aliases"
    assert not (twice := repeated(places)), twice


def test_no_two_modules_share_a_name() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for file in sources():
        if file.stem not in SHARED_MODULE_NAMES and not file.is_relative_to(LIBRARY):
            places[file.stem].append(str(file.relative_to(ROOT)))
    assert not (twice := repeated(places)), twice
