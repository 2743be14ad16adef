"""The learner's benchmark measures pictures like the Playhouse's, and counts arithmetic by the frame."""

from __future__ import annotations

import json
import os
import shlex
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


NUMBERS = ["learner", "reward", "decisions", "nano", "gradient in bf16"]
ON_A_GPU = ["GPU and CPU", *NUMBERS[:4], "learner compiled", "graph and eager", NUMBERS[4], "nano compiled"]


def test_the_numbers_for_acceptance_are_measured(device: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    acceptance, written = loaded("benchmarks/gpu_acceptance.py"), tmp_path / "acceptance.json"
    for way, switches in acceptance.updates.WAYS.items():  # nothing compiles or records without a GPU
        plain = {key: value for key, value in switches.items() if key not in ("compile", "cuda_graph")}
        monkeypatch.setitem(acceptance.updates.WAYS, way, plain)
    monkeypatch.setattr(acceptance.updates, "peak", lambda *_: 1e12)  # seconds, for a rate that no test needs
    sizes = ["--large", "nano", "--steps", "2", "--lanes", "2", "--accumulate", "2", "--updates", "1"]
    options = ["--device", device, *sizes, "--deciding", "16", "40", "--json", str(written)]
    monkeypatch.setattr(sys, "argv", ["gpu_acceptance.py", *options])
    acceptance.main()
    numbers = json.loads(written.read_text())["numbers"]
    assert list(numbers) == (NUMBERS if device == "cpu" else ON_A_GPU)
    assert numbers["learner"]["share_of_788"] * 788e12 == pytest.approx(numbers["learner"]["share_of_peak"] * 1e12)
    assert numbers["reward"]["alone"]["frames_per_s"] > 0 and list(numbers["decisions"]) == ["16", "40", "seconds"]
    assert 0 < numbers["gradient in bf16"]["nano"]["apart"] < 0.1 and numbers["nano"]["frames_per_s"] > 0
    assert device == "cpu" or numbers["graph and eager"]["apart"] < 1e-3


def test_a_piece_needs_no_installation_and_keeps_the_packages_of_the_caller(tmp_path: Path) -> None:
    python, shown = (
        tmp_path / "python",
        "import interplay.learner, sys; print(interplay.__path__[0], *sys.path, sep=chr(10))",
    )
    python.write_text(f"#!/bin/sh\nexec {shlex.join([sys.executable, '-c', shown])}\n")
    python.chmod(0o755)
    given = {**os.environ, "PYTHON": str(python), "PYTHONPATH": "/carried/packages"}
    command = ["bash", str(ROOT / "benchmarks" / "gpu.sh"), "acceptance"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True, env=given)
    told = done.stdout.splitlines()
    assert told[0] == str(ROOT / "build" / "gpu" / "interplay") and "/carried/packages" in told


def test_a_number_that_fails_leaves_the_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    acceptance, written = loaded("benchmarks/gpu_acceptance.py"), tmp_path / "acceptance.json"

    def fails() -> dict[str, float]:
        raise RuntimeError("no such kernel")

    monkeypatch.setattr(acceptance, "measurements", lambda _: {"one": fails, "two": lambda: {"ms": 2.0}})
    monkeypatch.setattr(sys, "argv", ["gpu_acceptance.py", "--device", "cpu", "--json", str(written)])
    with pytest.raises(SystemExit, match="without a result: one"):
        acceptance.main()
    numbers = json.loads(written.read_text())["numbers"]
    assert numbers["one"]["error"] == "RuntimeError: no such kernel" and numbers["two"]["ms"] == 2.0
    assert "no such kernel" in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", [*sys.argv, "--seconds", "0"])
    with pytest.raises(SystemExit, match="without a result: one, two"):
        acceptance.main()


def test_the_profile_names_what_takes_most(benchmark: ModuleType) -> None:
    learner = benchmark.learner_of("nano", 2)
    table = benchmark.largest(learner, benchmark.unrolls(learner.agent, 2, 2), updates=1)
    assert "convolution" in table
    assert "Self CPU" in table


def test_overlapping_kernels_are_busy_once_and_the_operations_that_launch_them_never() -> None:
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
    profiles = loaded("benchmarks/reporting/update_profiles.py")
    assert profiles.busy_seconds(SimpleNamespace(events=lambda: events)) == pytest.approx(50e-6)
