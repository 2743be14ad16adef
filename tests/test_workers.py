"""Distribution of the tests over the workers of pytest-xdist: a file's fixtures are built once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from worker_units import starts_first, unit_of

OURS = [Path(__file__).with_name(name) for name in ("conftest.py", "process_state.py", "worker_units.py")]
FILE = """
import os, pytest
@pytest.fixture(scope="module")
def built(): {path}.open("a").write("x")
@pytest.mark.parametrize("number", range(8))
def test_uses_it(built, number): pass
"""


def test_the_tests_of_a_file_and_those_with_ray_or_a_browser_are_units() -> None:
    assert unit_of("tests/agent/test_packed.py::test_x[1::2]") == "tests/agent/test_packed.py"
    with_ray = {"test_ray_runs", "test_ray_ranks", "test_inference_service", "test_supervision"}
    assert {unit_of(f"tests/runtime/{name}.py::test_y") for name in with_ray} == {"ray"}
    assert unit_of("tests/runtime/test_batching.py::test_y") != "ray"
    assert unit_of("tests/runtime/test_ray_workers.py::test_y") == "tests/runtime/test_ray_workers.py"
    first = [
        name for name in ("ray_workers", "ray_runs", "batching") if starts_first(f"tests/runtime/test_{name}.py::y")
    ]
    assert first == ["ray_workers", "ray_runs"]
    assert (
        unit_of("tests/studio/test_pages.py::test_y")
        == unit_of("tests/studio/test_live_browser.py::test_z")
        == "browser"
    )


@pytest.mark.slow
def test_a_fixture_of_a_file_is_built_once(tmp_path: Path) -> None:
    for ours in OURS:
        (tmp_path / ours.name).write_text(ours.read_text())
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = browser\n")
    for name in "ab":
        (tmp_path / f"test_{name}.py").write_text(
            FILE.format(path=f"__import__('pathlib').Path({str(tmp_path / name)!r})")
        )
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadfile", "-p", "no:cacheprovider"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert "16 passed" in ended.stdout, ended.stdout + ended.stderr
    assert [(tmp_path / name).read_text() for name in "ab"] == ["x", "x"]
