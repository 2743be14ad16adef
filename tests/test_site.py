"""The documentation site builds without a warning, and asks nothing of the network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# What makes a browser load something; a link to follow is harmless.
LOADED = re.compile(r"""<(?:script|img|iframe|source)[^>]+src=["'](https?:[^"']+)|<link[^>]+href=["'](https?:[^"']+)""")


@pytest.mark.slow
def test_the_site_builds_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    subprocess.run(["make", "-s", "typing"], cwd=ROOT, check=True, timeout=60)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert built.returncode == 0, built.stderr
    pages = {page.relative_to(tmp_path).as_posix(): page.read_text() for page in tmp_path.rglob("*.html")}
    expected = {"index.html", "architecture.html", "settings.html", "reference/learner.html"}
    assert expected | {"reference/env-playhouse.html"} <= set(pages)
    assert "interplay.learner.vtrace.vtrace" in pages["reference/learner.html"]
    worlds = pages["reference/env.html"]
    assert '<span class="nf">WorldSpec</span>' in worlds, "a dataclass has its parameters"
    assert "frames in one agent step" in worlds, "a field has its comment"
    assert [found for text in pages.values() for found in LOADED.findall(text)] == []
    assert not [style for style in tmp_path.rglob("*.css") if "url(http" in style.read_text()]
