"""docs/troubleshooting.md quotes messages that the program has, and links are where people look for them."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "troubleshooting.md").read_text()
CELLS = re.findall(r"^\| ([^|]+) \|[^|]+\|[^|]+\|$", PAGE, re.MULTILINE)
MESSAGES = sorted({span for cell in CELLS for span in re.findall(r"`([^`]+)`", cell) if " " in span})
DIFFERS = "..."  # stands for the parts of a message that differ


def literals_of(source: str) -> Iterator[str]:
    """The texts of a module, with `DIFFERS` for what an f-string fills in."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else DIFFERS for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@cache
def texts() -> tuple[str, ...]:
    """Every text of the program and of the studio's pages."""
    words = json.loads((ROOT / "platform" / "studio" / "static" / "words" / "en.json").read_text())
    files = [file for folder in ("platform", "launch") for file in sorted((ROOT / folder).rglob("*.py"))]
    return (*map(str, words.values()), *(text for file in files for text in literals_of(file.read_text())))


def pattern_of(message: str) -> re.Pattern[str]:
    return re.compile(".*".join(re.escape(part.strip()) for part in message.split(DIFFERS)), re.DOTALL)


def test_the_page_quotes_messages() -> None:
    assert len(MESSAGES) > 30


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_that_is_quoted_is_one_of_the_program(message: str) -> None:
    wanted = pattern_of(message)
    assert any(wanted.search(text) for text in texts())


def test_a_message_that_no_program_has_is_found_out() -> None:
    wanted = pattern_of("the flux of ... has run dry")
    assert not any(wanted.search(text) for text in texts())


@pytest.mark.parametrize("page", ["README.md", "docs/runs.md", "docs/cluster.md"])
def test_a_page_where_people_look_first_links_to_it(page: str) -> None:
    assert "troubleshooting.md" in (ROOT / page).read_text()
