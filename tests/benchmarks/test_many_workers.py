"""The benchmarks of many actors and of many ranks, at the smallest size: they measure what they say they measure."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
TIMEOUT_SECONDS = 600.0  # Ray takes minutes to start on a busy machine


def measured(name: str, file: Path, *settings: str) -> dict[str, Any]:
    command = [sys.executable, str(BENCHMARKS / f"{name}.py"), *settings, "--turns", "1", "--json", str(file)]
    subprocess.run(command, check=True, timeout=TIMEOUT_SECONDS)
    found: dict[str, Any] = json.loads(file.read_text())
    return found


@pytest.mark.slow
def test_actors_by_the_number_are_measured_and_idle_ones_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    sizes = ("--actors", "4", "12", "--batch", "2", "--lag", "3", "--replicas", "1")
    found = measured("scale", tmp_path / "scale.json", *sizes, "--seconds", "2", "--warm", "0.1")
    assert [row["actors"] for row in found["rows"]] == [4, 12]
    assert all(row["cpu_ms"] > 0 and row["unrolls_per_second"] > 0 for row in found["rows"])
    printed = capfd.readouterr()
    assert "4 of 12 actors will always be idle" in printed.err and "times as much, goal 1.3" in printed.out


@pytest.mark.slow
def test_ranks_are_measured_in_both_ways(tmp_path: Path) -> None:
    sizes = ("--ranks", "3", "--lanes", "6", "--unrolls", "2", "--datasets", "1")
    found = measured("ranks", tmp_path / "ranks.json", *sizes, "--compute", "0.01", "--updates", "2")
    assert [row["way"] for row in found["rows"]] == ["references", "copies"]
    assert all(row["update_ms"] > 0 and 0 < row["efficiency"] <= 1 for row in found["rows"])
