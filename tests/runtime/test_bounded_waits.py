"""Nothing waits without an end: a part that hangs must never hang those who wait for it. Read from the source."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PLATFORM = Path(__file__).parents[2] / "platform"
FILES = [*sorted((PLATFORM / "runtime" / "ray").glob("*.py")), PLATFORM / "reward" / "service.py"]

# What waits, the place of its time limit among the positional arguments, and the keyword for it.
WAITS = {
    "get": (None, "timeout"),  # ray.get, Queue.get
    "wait": (0, "timeout"),  # ray.wait, Event.wait, Condition.wait, PlacementGroup.wait
    "join": (0, "timeout"),
    "result": (0, "timeout"),
    "acquire": (1, "timeout"),
}
KEYWORDS = ("timeout", "timeout_seconds")


def endless(source: str) -> list[str]:
    """The calls of this source that may wait without an end."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        name = node.func.attr
        of = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
        if name not in WAITS or _reads_a_mapping(node, name) or _joins_text(node, name):
            continue
        place, _ = WAITS[name]
        named = any(keyword.arg in KEYWORDS for keyword in node.keywords)
        if not named and (of == "ray" or place is None or len(node.args) <= place):
            found.append(f"line {node.lineno}: {ast.unparse(node)}")
    return found


def _reads_a_mapping(node: ast.Call, name: str) -> bool:
    """`has.get("CPU", 0)` gets at once; `queue.get()` and `ray.get(reference)` wait."""
    return name == "get" and len(node.args) >= 1 and isinstance(node.args[0], ast.Constant)


def _joins_text(node: ast.Call, name: str) -> bool:
    """`", ".join(words)`, and the buffers' own."""
    if name != "join":
        return False
    assert isinstance(node.func, ast.Attribute)
    return isinstance(node.func.value, ast.Constant) or ast.unparse(node.func.value).endswith("buffers")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_nothing_waits_without_an_end(file: Path) -> None:
    assert not endless(file.read_text())


@pytest.mark.parametrize(
    "source",
    ["ray.get(x)", "ray.wait([x])", "queue.get()", "thread.join()", "future.result()", "event.wait()"],
)
def test_an_endless_wait_is_seen(source: str) -> None:
    assert endless(source)


@pytest.mark.parametrize(
    "source",
    [
        "ray.get(x, timeout=3)",
        "ray.wait([x], timeout=0)",
        "thread.join(3)",
        "event.wait(3)",
        "', '.join(x)",
        "d.get('a', 0)",
    ],
)
def test_a_bounded_one_is_let_through(source: str) -> None:
    assert not endless(source)


def test_the_files_are_there() -> None:
    assert {"part", "played", "supervision", "service"} <= {file.stem for file in FILES}
