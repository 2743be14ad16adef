"""What the README and the pages of docs/ tell people to type can be typed: verbs and settings exist, quick ones run."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest
from tiny_runs import tiny

from interplay.launch.cli import VERBS, configured, main

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```bash\n(.*?)^```", re.DOTALL | re.MULTILINE)
QUICK = ("look", "doctor", "print-config", "--help")
LINK = re.compile(r"\]\(([^)#:]+)\)")


def typed(text: str) -> list[list[str]]:
    """The `interplay` and `make` lines of a page's bash blocks, and inline `interplay VERB`s, as words."""
    lines = [line for block in BLOCK.findall(text) for line in block.replace("\\\n", " ").splitlines()]
    lines += re.findall(r"`((?:interplay|make) [^`\n]+)`", text)
    words = [shlex.split(line, comments=True) for line in lines]
    return [line for line in words if line and Path(line[0]).name in ("interplay", "make")]


COMMANDS = [(page.name, line) for page in PAGES for line in typed(page.read_text())]
MAKES = sorted({target for _, line in COMMANDS if line[0] == "make" for target in line[1:] if "=" not in target})
SHOWN = sorted({" ".join(line[1:]) for _, line in COMMANDS if line[0] != "make" and "..." not in line})


def test_the_pages_show_commands() -> None:
    assert {"demo", "test"} <= set(MAKES)
    assert any(line.startswith("print-config") for line in SHOWN)
    assert any(line.startswith("demo") for line in SHOWN)


@pytest.mark.parametrize("target", MAKES)
def test_a_target_that_is_shown_exists(target: str) -> None:
    assert re.search(rf"^{re.escape(target)}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.parametrize("shown", SHOWN)
def test_a_command_that_is_shown_can_be_typed(shown: str) -> None:
    verb, *settings = shown.split()
    if verb != "--help":
        assert verb in VERBS
        configured(verb, settings)


@pytest.mark.parametrize("shown", [line for line in SHOWN if line.split()[0] in QUICK and "71m" not in line])
def test_a_quick_command_that_is_shown_runs(shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*shown.split(), *(tiny(tmp_path, house=("env.image=[16,24]",)) if shown == "look" else [])]) == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_links_to_what_is_there(page: Path) -> None:
    missing = [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    assert not missing


def test_the_readme_says_which_python(tmp_path: Path) -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        wanted = tomllib.load(file)["tool"]["ruff"]["target-version"]  # py311
    assert f"Python {wanted[2]}.{wanted[3:]}" in (ROOT / "README.md").read_text()
