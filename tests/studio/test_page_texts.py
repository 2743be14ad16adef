"""The texts of the pages: each that a page names is in the table, and each in the table is named by a page."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from small_house import fill_store
from studio_client import open_studio

from interplay.studio.people.own_data_routes import kept_of
from interplay.studio.web.page_routes import MISSING, PAGES, STATIC

WORDS = json.loads((STATIC / "words" / "en.json").read_text())
SOURCES = [file for kind in ("*.html", "*.js") for file in sorted(STATIC.rglob(kind))]
NAMED = re.compile(r"""(?:data-(?:word|label|hint)="|['`])([a-z]+\.[a-z0-9_]+)["'`]""")
BUILT = re.compile(r"`([a-z]+\.(?:[a-z]+_)?)\$\{")  # as `key.${action}`


def test_every_text_that_a_page_names_exists() -> None:
    missing = {
        f"{file.name}: {name}"
        for file in SOURCES
        for name in NAMED.findall(file.read_text())
        if name not in WORDS and not name.endswith((".js", ".css", ".html", ".json"))
    }
    assert not missing


def test_every_text_is_used() -> None:
    everything = "".join(file.read_text() for file in SOURCES)
    built = tuple(BUILT.findall(everything))
    assert not [name for name in WORDS if f"{name}" not in everything and not name.startswith(built)]


def test_all_that_is_kept_of_a_person_is_named(tmp_path: Path) -> None:
    fill_store(tmp_path, 1)
    with open_studio(tmp_path) as studio:
        kept = kept_of(studio, "p-root")
    assert kept and not [name for name in kept if f"forget.{name}" not in WORDS]


@pytest.mark.parametrize("file", sorted({MISSING, *PAGES.values()}))
def test_a_page_holds_no_script_or_style_of_its_own(file: str) -> None:
    text = (STATIC / file).read_text()
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|<script(?![^>]*src=)|https?:", text), "the policy forbids it"


def test_a_page_links_to_pages_that_exist() -> None:
    for file in SOURCES:
        for link in re.findall(r"""(?:href="|assign\('|replace\('|href: ')(/[^"'#?$]*)""", file.read_text()):
            path = link.removeprefix("/static/")
            assert link in PAGES or (STATIC / path).is_file() or link.startswith("/api/"), f"{file.name}: {link}"
