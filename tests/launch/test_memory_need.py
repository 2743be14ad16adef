"""Sizes beyond the machine's memory are refused before the start, with the arithmetic and the settings to change."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
import torch
from tiny_runs import refused, tiny

from interplay.agent.network import Agent
from interplay.agent.observation import Layout
from interplay.agent.unroll import Unroll, allocate_demonstration
from interplay.core.settings_validation import SettingsError
from interplay.launch.cli import main
from interplay.launch.compose import compose
from interplay.launch.machine import total_memory
from interplay.launch.memory_need import _needs, refuse_too_large
from interplay.learner.learner import Learner
from interplay.stages.run import Run


def machine(root: Path, gigabytes: float) -> Path:
    (root / "proc").mkdir()
    (root / "proc" / "meminfo").write_text(f"MemTotal: {int(gigabytes * 1e9 / 1024)} kB\n")
    return root


@pytest.mark.parametrize(
    ("verb", "setting", "arithmetic"),
    [
        ("clone", "clone.dataset.lanes=10000000", "2 x 10,000,000 lanes x 9 rows x "),
        ("clone", "clone.dataset.steps=1000000", "2 x 2 lanes x 1,000,001 rows x "),
        ("reward", "reward.dataset.lanes=1000000000", "2 x 1,000,000,000 lanes x 9 rows x "),
        ("reinforce", "reinforce.actor.lanes=1000000000", "GB for 1,000,000,000 worlds"),
        ("clone", "clone.dataset.blocks=1000000000", "1000000000 x 2 lanes x 9 rows"),
        ("collect", "collect.episodes=1000000000", "GB for 1,000,000,002 episodes to record"),
        ("evaluate", "evaluate.lanes=1000000000", "GB for 1,000,000,000 worlds"),
        ("clone", "agent.channels=[65536,65536]", "for the network and its optimizer"),
        ("demo", "reward.dataset.lanes=1000000000", "reward needs at least "),
    ],
)
def test_sizes_beyond_the_memory_are_refused_with_the_arithmetic(
    verb: str, setting: str, arithmetic: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(verb, tiny(tmp_path, setting), capsys)
    assert arithmetic in said and "GB of memory, and this machine has" in said
    assert "lower " in said
    assert not (tmp_path / "run").exists()


def test_a_stage_is_held_against_the_machine_that_it_runs_on(tmp_path: Path) -> None:
    config = compose(["clone.dataset.lanes=64", "clone.dataset.steps=50"])
    with pytest.raises(SettingsError, match=r"lower clone\.dataset\.lanes"):
        refuse_too_large(config, "clone", machine(tmp_path, 0.5))
    refuse_too_large(config, "clone", tmp_path / "unknown")
    refuse_too_large(compose(["clone.dataset.steps=10"]), "clone", tmp_path)
    chunked = compose(["clone.dataset.lanes=64", "clone.dataset.steps=50", "clone.learner.recompute=20"])
    refuse_too_large(chunked, "clone", tmp_path)
    elsewhere = compose(["clone.dataset.lanes=64", "runtime=ray", "runtime.address=10.0.0.1:20007"])
    refuse_too_large(elsewhere, "clone", tmp_path)


def memory(name: str) -> float:
    """Bytes of this process; not from `getrusage`, whose peak a new process inherits."""
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name)]
    return 1024.0 * int(line.split()[1])


def measured() -> tuple[float, float]:
    """Of one update on 510 rows: the memory that is certain to be needed, and the peak of this process; in bytes."""
    config = compose(["clone.dataset.lanes=10", "env.image=[36,48]"])
    run = Run(Path("none"), config)
    layout = Layout(run.make_world().spec, config.agent.utterance_length, config.agent.actions_per_step)
    need = sum(size for _, size in _needs(config, "clone"))
    before = memory("VmRSS")
    agent = Agent(config.agent, layout, 500)
    learner = Learner(agent, config.clone.learner, dataset_lanes=10, generator=torch.Generator())
    unroll = Unroll(allocate_demonstration(layout, 50, 10))
    unroll.arrays["cloned"][:] = True
    learner.update(demonstrated=unroll)
    return need, memory("VmHWM") - before


@pytest.mark.slow
def test_the_estimate_is_a_lower_bound_of_one_update() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
        need, peak = fresh.submit(measured).result(timeout=120)
    assert 0.2 * peak < need <= peak


def test_configurations_of_any_size_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["print-config", "experiment=paper", "clone.dataset.lanes=1000000000"]) == 0
    assert main(["print-config", "experiment=null"]) == 0


@pytest.mark.parametrize(("limit", "expected"), [("max", 8_000_000_000 // 1024 * 1024), ("2000000000", 2_000_000_000)])
def test_a_containers_limit_counts_as_the_machines_memory(tmp_path: Path, limit: str, expected: int) -> None:
    root = machine(tmp_path, 8)
    (root / "sys/fs/cgroup").mkdir(parents=True)
    (root / "sys/fs/cgroup/memory.max").write_text(f"{limit}\n")
    assert total_memory(root) == expected


@pytest.mark.parametrize("field", ["width", "lstm", "layers", "attention_heads", "patch", "feedforward"])
@pytest.mark.parametrize("size", [0, -1, 10**9])
def test_sizes_of_a_network_have_limits(field: str, size: int) -> None:
    with pytest.raises(SettingsError, match=rf"agent\.{field} is 1 to [\d,]+, got {size}"):
        compose([f"agent.{field}={size}"])


@pytest.mark.parametrize(
    "setting",
    [
        "reward.measure_every=0",
        "reward.heldout_episodes=-1",
        "reinforce.heldout_every=0",
        "reinforce.updates_per_batch=0",
    ],
)
def test_intervals_and_counts_have_limits(setting: str) -> None:
    with pytest.raises(SettingsError, match="is at least"):
        compose([setting])
