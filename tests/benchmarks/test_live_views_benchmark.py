"""The benchmark of an actor's rows, with two lanes and few steps."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_both_kinds_of_rows_are_measured(tmp_path: Path) -> None:
    file = tmp_path / "numbers.json"
    sizes = ["--lanes", "2", "--steps", "6", "--episode", "4", "--turns", "1", "--json", str(file)]
    command = [sys.executable, str(ROOT / "benchmarks" / "live_views.py"), *sizes]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
    actor, gpu = json.loads(file.read_text())["rows"]
    assert (actor["drawn_by"], gpu["drawn_by"]) == ("actor", "gpu") and "ratio" in shown
    assert min(row[key] for row in (actor, gpu) for key in ("row_us", "house_us")) > 0
    picture = 72 * 96 * 3
    assert actor["request_bytes"] > picture and actor["unroll_bytes"] > picture
    assert 0 < gpu["request_bytes"] < picture, "a house is sent once"
