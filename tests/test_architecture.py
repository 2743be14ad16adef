"""The pages about the code name files, classes and functions that exist, and the order of imports that is enforced."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from test_boundaries import COMMAI_LAYERS, LAYERS, PLAYHOUSE_LAYERS, VOXEL_LAYERS

ROOT = Path(__file__).parents[1]
PAGE = "".join((ROOT / "docs" / f"{name}.md").read_text() for name in ("architecture", "extending"))
FILES = sorted(set(re.findall(r"`((?:platform|launch|conf|tests|docs)/[^`\s]*)`", PAGE)))
ROWS = re.findall(r"^\| `(\w+)` \| `(platform/[^`]+)` \| (.+) \|$", PAGE, re.MULTILINE)
METHODS = sorted(set(re.findall(r"`([A-Z]\w+)\.(\w+)`", PAGE)))
NAMES = sorted(set(re.findall(r"`([A-Za-z]+(?:_[a-z]+)*)`", PAGE)))
NOT_CODE = {"clone", "reward", "reinforce"}  # stages


@cache
def definitions(file: Path) -> dict[str, set[str]]:
    """The top-level classes with their methods, and the functions, of a module."""
    found: dict[str, set[str]] = {}
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.ClassDef):
            found[node.name] = set(members(node))
        elif isinstance(node, ast.FunctionDef):
            found[node.name] = set()
    return found


def members(node: ast.ClassDef) -> Iterator[str]:
    for item in node.body:
        if isinstance(item, ast.FunctionDef):
            yield item.name
        elif isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            yield item.target.id


def everywhere() -> dict[str, set[str]]:
    """The definitions of the whole package."""
    found: dict[str, set[str]] = {}
    for file in (ROOT / "platform").rglob("*.py"):
        for name, methods in definitions(file).items():
            found[name] = found.get(name, set()) | methods
    return found


def test_the_page_was_read() -> None:
    assert len(FILES) > 40
    assert len(ROWS) > 20
    assert len(METHODS) > 5


def test_the_constants_that_contributors_are_to_change_exist() -> None:
    named = re.findall(r"`([A-Z_]+)` in\s+`([^`]+\.py)`", (ROOT / "CONTRIBUTING.md").read_text())
    assert len(named) > 1
    for constant, file in named:
        assert re.search(rf"^{constant}\b.* = ", (ROOT / file).read_text(), re.MULTILINE), f"{constant} of {file}"


@pytest.mark.parametrize("path", FILES)
def test_a_file_that_the_page_names_exists(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize(("name", "path", "methods"), ROWS)
def test_a_row_of_the_table_is_true(name: str, path: str, methods: str) -> None:
    found = definitions(ROOT / path)
    assert name in found
    assert set(re.findall(r"`(\w+)`", methods)) <= found[name]


@pytest.mark.parametrize(("name", "method"), METHODS)
def test_a_method_that_the_page_names_exists(name: str, method: str) -> None:
    assert method in everywhere()[name]


def test_every_class_and_function_that_the_page_names_exists() -> None:
    found = everywhere()
    known = set(found).union(*found.values()) | NOT_CODE
    assert {name for name in NAMES if name not in known} == set()


@pytest.mark.parametrize("layers", [LAYERS, PLAYHOUSE_LAYERS, COMMAI_LAYERS, VOXEL_LAYERS])
def test_the_order_of_imports_is_the_enforced_one(layers: tuple[set[str], ...]) -> None:
    assert " < ".join(", ".join(sorted(layer)) for layer in layers) in PAGE
