"""The benchmark of the studio fails where what it measures fails."""

from __future__ import annotations

import threading
from pathlib import Path
from types import ModuleType

import pytest
from loaded_script import loaded


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    return loaded("benchmarks/studio.py")


def test_a_client_that_dies_fails_the_measurement(benchmark: ModuleType) -> None:
    stop, done = threading.Event(), []

    def dies() -> None:
        raise OSError("the studio is gone")

    def works() -> None:
        done.append(stop.wait(60))

    with pytest.raises(OSError, match="the studio is gone"), benchmark.at_work([works, dies], stop):
        pass
    assert done == [True], "the others were stopped"


def test_percentiles_need_a_measured_time(benchmark: ModuleType) -> None:
    assert benchmark.percentiles("key", [0.01, 0.02, 0.03])["key p50, ms"] == pytest.approx(20)
    with pytest.raises(ValueError, match="key: nothing was timed"):
        benchmark.percentiles("key", [])


def test_a_piece_that_fails_or_does_not_end_is_named(benchmark: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(benchmark.PieceFailed, match="exit status"):
        benchmark.in_process("3x30", tmp_path / "none", 1.0, 60.0)
    with pytest.raises(benchmark.PieceFailed, match=r"did not end within 0\.01 s"):
        benchmark.in_process("3x30", tmp_path / "none", 1.0, 0.01)
    assert benchmark.title("6x15") == "6 pairs at 15 pictures/s" and "8 raters" in benchmark.title("8raters")
