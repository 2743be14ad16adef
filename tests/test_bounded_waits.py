"""Every blocking wait in the source has a time limit, so that one hanging process cannot hang the others."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TypeGuard

import pytest

PLATFORM = Path(__file__).parents[1] / "platform"
FILES = [path for folder in (PLATFORM, PLATFORM.parent / "launch") for path in sorted(folder.rglob("*.py"))]

# Blocking calls: the position of the time limit among the positional arguments, and its keyword.
WAITS = {
    "get": (1, "timeout"),  # ray.get, Queue.get
    "wait": (0, "timeout"),  # ray.wait, Event.wait, Condition.wait, PlacementGroup.wait, Popen.wait
    "wait_for": (1, "timeout"),  # Condition.wait_for
    "communicate": (1, "timeout"),  # Popen.communicate
    "join": (0, "timeout"),
    "result": (0, "timeout"),
    "acquire": (1, "timeout"),
}
KEYWORDS = ("timeout", "timeout_seconds")


def unbounded_waits(source: str) -> list[str]:
    """The calls of this source that may wait without a time limit."""
    found, tree = [], ast.parse(source)
    limited = {id(node.args[0]) for node in ast.walk(tree) if _limits_a_coroutine(node)}
    for node in ast.walk(tree):
        if id(node) in limited:
            continue
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        name = node.func.attr
        owner = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
        if name not in WAITS or _reads_a_mapping(node, name) or _joins_text(node, name):
            continue
        place, _ = WAITS[name]
        limits = [keyword.value for keyword in node.keywords if keyword.arg in KEYWORDS]
        limits += node.args[place : place + 1] if owner != "ray" else []
        if not limits or any(isinstance(limit, ast.Constant) and limit.value is None for limit in limits):
            found.append(f"line {node.lineno}: {ast.unparse(node)}")
    return found


def _limits_a_coroutine(node: ast.AST) -> TypeGuard[ast.Call]:
    """Whether this is `asyncio.wait_for(coroutine, timeout=...)`, itself checked as every other wait."""
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "asyncio.wait_for" and bool(node.args)


def _reads_a_mapping(node: ast.Call, name: str) -> bool:
    """`has.get("CPU", 0)` returns immediately; `queue.get()`, `queue.get(True)` and `ray.get(reference)` wait."""
    if name != "get" or not node.args or ast.unparse(node.func) == "ray.get":
        return False
    return not (isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, bool))


def _joins_text(node: ast.Call, name: str) -> bool:
    """Whether a `join` joins text or paths instead of waiting."""
    if name != "join":
        return False
    assert isinstance(node.func, ast.Attribute)
    return isinstance(node.func.value, ast.Constant) or ast.unparse(node.func.value).endswith(("os.path",))


def test_every_wait_has_a_time_limit() -> None:
    found = {str(file.relative_to(PLATFORM.parent)): unbounded_waits(file.read_text()) for file in FILES}
    assert not {name: calls for name, calls in found.items() if calls}


@pytest.mark.parametrize(
    "source",
    [
        "ray.get(x)",
        "ray.get('x')",
        "ray.get(x, timeout=None)",
        "asyncio.wait_for(event.wait(), timeout=None)",
        "ray.wait([x])",
        "queue.get()",
        "queue.get(True)",
        "thread.join()",
        "future.result()",
        "event.wait()",
        "event.wait(None)",
        "changed.wait_for(lambda: done)",
        "child.communicate()",
    ],
)
def test_an_unbounded_wait_is_found(source: str) -> None:
    assert unbounded_waits(source)


@pytest.mark.parametrize(
    "source",
    [
        "ray.get(x, timeout=3)",
        "ray.wait([x], timeout=0)",
        "thread.join(3)",
        "event.wait(3)",
        "asyncio.wait_for(event.wait(), timeout=3)",
        "queue.get(True, 3)",
        "changed.wait_for(lambda: done, 3)",
        "', '.join(x)",
        "d.get('a', 0)",
    ],
)
def test_a_bounded_wait_is_allowed(source: str) -> None:
    assert not unbounded_waits(source)


def test_the_sources_are_found() -> None:
    assert {"worker", "learner_supervision", "prefetcher", "cli", "verbs"} <= {file.stem for file in FILES}
