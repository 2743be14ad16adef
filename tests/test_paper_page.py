"""docs/paper.md names files that exist, and says of each part of the paper where it is or that it is absent."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "paper.md").read_text()
ROWS = [line.strip("|").split(" | ", 1) for line in PAGE.splitlines() if line.startswith("| ")]
LINKS = sorted(set(re.findall(r"\[([^\]]+)\]\(([^)]+)\)", PAGE)))
QUOTED = re.findall(r"`(\w+)` in \[[^\]]+\]\(([^)]+)\)", PAGE)
SECTIONS = ("Section 4", "6.3", "6.4", "6.5", "6.6", "6.7", "A.1", "A.2", "A.5", "A.6", "A.8", "B:", "Table 1")


@pytest.mark.parametrize(("title", "target"), LINKS)
def test_a_link_leads_to_a_file_of_that_name(title: str, target: str) -> None:
    assert (ROOT / "docs" / target).is_file()
    assert Path(target).name == title


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_has_a_row(section: str) -> None:
    assert [part for part, _ in ROWS if part.strip().startswith(section)]


def test_each_row_says_where_a_part_is_or_that_it_is_absent() -> None:
    parts = [(part, found) for part, found in ROWS if part.strip() != "paper"]
    assert len(parts) > 20
    assert not [part for part, found in parts if "](" not in found and "Absent" not in found]


def test_quoted_functions_are_defined_there() -> None:
    assert QUOTED
    for name, target in QUOTED:
        assert f"def {name}(" in (ROOT / "docs" / target).read_text()


def test_the_page_is_found_from_the_readme_and_the_site() -> None:
    assert "(docs/paper.md)" in (ROOT / "README.md").read_text()
    assert ": paper.md\n" in (ROOT / "mkdocs.yml").read_text()
