"""The benchmark of the GPU renderer, with few small pictures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import torch

ROOT = Path(__file__).parents[2]


def test_numba_is_measured_and_a_missing_gpu_is_named(tmp_path: Path) -> None:
    file = tmp_path / "numbers.json"
    sizes = ["--views", "4", "--houses", "2", "--size", "12", "16", "--times", "2", "--json", str(file)]
    command = [sys.executable, str(ROOT / "benchmarks" / "gpu_render.py"), *sizes]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
    found = json.loads(file.read_text())
    assert "numba on one core" in shown
    assert all(row["best_ms"] <= row["median_ms"] and row["per_second"] > 0 for row in found["rows"])
    assert found["row_bytes"] < found["picture_bytes"] == 12 * 16 * 3
    if not torch.cuda.is_available():
        assert "torch sees no GPU" in shown
        assert found["differing_share"] is None and len(found["rows"]) == 2
