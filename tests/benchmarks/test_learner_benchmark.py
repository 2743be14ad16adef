"""The learner's benchmark measures pictures like the Playhouse's, and counts arithmetic by the frame."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from loaded_script import loaded
from torch.autograd import DeviceType

from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.world import Playhouse

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    return loaded("benchmarks/learner.py")


def test_it_shows_what_the_playhouse_shows(benchmark: ModuleType) -> None:
    world = Playhouse(PlayhouseConfig())
    for part in ("image", "vector", "movement", "utterances", "frames_per_step"):
        assert getattr(benchmark.SPEC, part) == getattr(world.spec, part), part
    world.close()


def test_every_way_is_measured_on_the_same_work(benchmark: ModuleType) -> None:
    plan = benchmark.Plan("cpu", ("nano",), ("fp32", "bf16"), steps=2, lanes=2, updates=2, recompute=None)
    rows = list(benchmark.measured(plan, "nano", {"fp32": 1e10, "bf16": 1e12}, profiled=False))
    assert [row.way for row in rows] == ["fp32", "bf16"]
    for row, rate in zip(rows, (1e10, 1e12), strict=True):
        assert row.frames == pytest.approx(2 * 5 / row.best)  # two rows of two played lanes, three of demonstrated ones
        assert row.share == pytest.approx(row.rows * row.gflop * 1e9 / rate)
        assert row.best <= row.median
    assert rows[0].gflop == rows[1].gflop > 0.01
    assert rows[0].apart == 0 < rows[1].apart < 0.1


@pytest.mark.parametrize(
    ("part", "shown"), [("loop", "check_lag=2"), ("gradient", "cosine"), ("serve", "scores 2 lanes in bf16")]
)
def test_the_parts_around_an_update_are_measured(part: str, shown: str) -> None:
    sizes = ["--device", "cpu", "--size", "nano", "--steps", "2", "--lanes", "2", "--updates", "1"]
    command = [sys.executable, str(ROOT / "benchmarks" / "gpu_parts.py"), part, *sizes]
    told = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert shown in told.stdout and " nan " not in told.stdout


@pytest.mark.parametrize(("part", "shown"), [("gradient", "on the CPU"), ("serve", "decides for 16 lanes in bf16")])
def test_the_parts_around_an_update_are_measured_on_a_gpu(
    gpu: str, part: str, shown: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    parts = loaded("benchmarks/gpu_parts.py")
    for way in ("fp32 compiled", "bf16 compiled"):
        monkeypatch.setitem(parts.updates.WAYS, way, {})
    sizes = ["--device", gpu, "--steps", "2", "--lanes", "2", "--updates", "1"]
    monkeypatch.setattr(sys, "argv", ["gpu_parts.py", part, *sizes])
    parts.main()
    told = capsys.readouterr().out
    assert shown in told and " nan " not in told


def test_the_profile_names_what_takes_most(benchmark: ModuleType) -> None:
    learner = benchmark.learner_of("nano", 2)
    table = benchmark.largest(learner, benchmark.unrolls(learner.agent, 2, 2), updates=1)
    assert "convolution" in table
    assert "Self CPU" in table


def test_overlapping_kernels_are_busy_once_and_the_operations_that_launch_them_never(benchmark: ModuleType) -> None:
    def event(kind: DeviceType, start: float, end: float, is_user_annotation: bool = False) -> SimpleNamespace:
        time_range = SimpleNamespace(start=start, end=end)
        return SimpleNamespace(device_type=kind, time_range=time_range, is_user_annotation=is_user_annotation)

    events = [
        event(DeviceType.CUDA, 20, 50),
        event(DeviceType.CUDA, 10, 30),  # on another stream
        event(DeviceType.CUDA, 35, 40),
        event(DeviceType.CUDA, 60, 70),
        event(DeviceType.CUDA, 0, 100, is_user_annotation=True),
        event(DeviceType.CPU, 0, 200),
    ]
    assert benchmark.busy_seconds(SimpleNamespace(events=lambda: events)) == pytest.approx(50e-6)
