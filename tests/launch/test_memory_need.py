"""Sizes beyond the machine's memory are refused before the start, with the arithmetic and the settings to change."""

from __future__ import annotations

import math
import re
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
import torch
from tiny_runs import refused, tiny

from interplay.agent.network import Agent
from interplay.agent.observation import Layout
from interplay.agent.sizes import SIZES
from interplay.agent.unroll import Unroll, allocate_demonstration
from interplay.core.settings_validation import SettingsError
from interplay.env.playhouse.world import Playhouse
from interplay.gpu_render.packed_views import row_length
from interplay.launch.cli import main
from interplay.launch.compose import compose
from interplay.launch.machine import total_memory
from interplay.launch.memory_need import (
    fit_together,
    memory_needs,
    refuse_too_large,
    refuse_too_large_baselines,
)
from interplay.learner.learner import Learner
from interplay.stages.config import Config
from interplay.stages.run import Run


def machine(root: Path, gigabytes: float) -> Path:
    (root / "proc").mkdir(parents=True)
    (root / "proc" / "meminfo").write_text(f"MemTotal: {int(gigabytes * 1e9 / 1024)} kB\n")
    return root


@pytest.mark.parametrize(
    ("verb", "setting", "arithmetic"),
    [
        ("clone", "clone.dataset.lanes=10000000", "2 x 10,000,000 lanes x 9 rows x "),
        ("clone", "clone.dataset.steps=1000000", "2 x 2 lanes x 1,000,001 rows x "),
        ("reward", "reward.dataset.lanes=1000000000", "2 x 1,000,000,000 lanes x 9 rows x "),
        ("reinforce", "reinforce.actor.lanes=1000000000", "GB for 1,000,000,000 worlds"),
        (
            "reinforce",
            "reinforce.actor.lanes=1000000000 runtime.actor_process=true",
            "0.1 GB for the process of the actor",
        ),
        ("clone", "clone.dataset.blocks=1000000000", "1000000000 x 2 lanes x 9 rows"),
        ("collect", "collect.episodes=1000000000", "GB for 1,000,000,002 episodes to record"),
        ("evaluate", "evaluate.lanes=1000000000", "GB for 1,000,000,000 worlds"),
        ("collect", "collect.episodes=30000 collect.workers=20000", "GB for 20,000 processes of collect.workers"),
        ("collect-agent", "collect_agent.episodes=39998 collect_agent.workers=90000", "for 20,000 processes of coll"),
        ("mark", "collect.episodes=30000 mark.workers=20000", "2,000.0 GB for 20,000 processes of mark.workers"),
        ("evaluate", "evaluate.episodes=40000 evaluate.workers=90000", "GB for 20,000 processes of evaluate.workers"),
        ("continue", "continuation.scenarios=90000 continuation.workers=20000", "20,000 processes of continuation.w"),
        ("clone", "agent.channels=[65536,65536]", "for the network and its optimizer"),
        ("demo", "reward.dataset.lanes=1000000000", "reward needs at least "),
    ],
)
def test_sizes_beyond_the_memory_are_refused_with_the_arithmetic(
    verb: str, setting: str, arithmetic: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(verb, tiny(tmp_path, *setting.split()), capsys)
    assert arithmetic in said and "GB of memory, and this machine has" in said
    assert "lower " in said
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("env", ["env=playhouse", "env=voxel", "env=gymnasium env.id=CartPole-v1"])
@pytest.mark.parametrize("image", ["[4000,4000]", "[72,1025]", "[7,96]"])
def test_pictures_of_sizes_that_no_agent_can_learn_from_are_refused(env: str, image: str) -> None:
    with pytest.raises(SettingsError) as found:
        compose([*env.split(), f"env.image={image}"])
    assert f"image={image.replace(',', ', ')}: height and width must be from 8 to 1024 pixels" in str(found.value)


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


@pytest.mark.parametrize(
    ("size", "advice"),
    [("nano", "lower the sizes of the agent, as agent.channels"), ("5m", "agent=nano"), ("71m", "agent=18m")],
)
def test_only_a_smaller_agent_than_the_own_is_recommended(size: str, advice: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as refused_clone:
        refuse_too_large(compose([f"agent={size}"]), "clone", machine(tmp_path, 0.1))
    assert advice in str(refused_clone.value)
    assert f"agent={size}" not in str(refused_clone.value)


def test_pictures_that_the_learner_draws_need_no_memory_of_the_host(tmp_path: Path) -> None:
    sizes = ["clone.dataset.lanes=64", "clone.dataset.steps=50", "clone.learner.recompute=20"]
    drawn = [memory_needs(compose([*sizes, *more]), "clone")[0] for more in ([], ["clone.dataset.drawn_by=learner"])]
    world = Run(tmp_path, compose(sizes)).make_world()
    assert isinstance(world, Playhouse)
    described = 4 * row_length(world.config.most_things) + 1  # and whether it is mirrored
    saved = 2 * 64 * 51 * (math.prod(world.config.image) * 3 - described)
    assert drawn[0].total - drawn[1].total == pytest.approx(saved)


def test_rollouts_of_poses_need_less_memory_under_ray(tmp_path: Path) -> None:
    sizes = ["reinforce.actor.lanes=64", "runtime=ray", "actors.inference=service"]
    by_gpu = [*sizes, "reinforce.actor.drawn_by=gpu"]
    pictures, poses = (memory_needs(compose(each), "reinforce")[0].total for each in (sizes, by_gpu))
    config = compose(sizes)
    world = Run(tmp_path, config).make_world()
    assert isinstance(world, Playhouse)
    saved = math.prod(world.config.image) * 3 - 4 * row_length(world.config.most_things)
    actor = config.reinforce.actor
    assert pictures - poses == pytest.approx(actor.blocks * 64 * (actor.steps + 1) * saved)
    here = ["reinforce.actor.lanes=64", "reinforce.actor.drawn_by=gpu", "actors.device=cpu"]
    assert memory_needs(compose(here), "reinforce")[0].total == memory_needs(compose(here[:1]), "reinforce")[0].total


def test_a_larger_baseline_is_held_against_the_memory(tmp_path: Path) -> None:
    config = compose(["agent=5m", "baselines=[bc_long,bc_large,cloning_only]"])
    refuse_too_large_baselines(config, machine(tmp_path / "large", 500.0))
    with pytest.raises(SettingsError) as refused_baseline:
        refuse_too_large_baselines(config, machine(tmp_path / "small", 0.2))
    (problem,) = refused_baseline.value.problems
    assert problem.startswith("clone of bc_large needs at least") and "leave bc_large out of baselines" in problem


def test_stages_and_baselines_fit_together_where_the_memory_suffices_for_both(tmp_path: Path) -> None:
    config, huge = compose(["baselines=[bc_long]"]), machine(tmp_path / "huge", 500.0)
    totals = {stage: memory_needs(config, stage, huge)[0].total for stage in ("clone", "reward", "reinforce")}
    both = (max(totals.values()), totals["clone"])
    least = sum(both) / 1e9
    assert fit_together(config, machine(tmp_path / "enough", least * 1.01))
    assert not fit_together(config, machine(tmp_path / "little", least * 0.99))


def test_a_learner_on_a_gpu_is_held_against_its_memory(tmp_path: Path) -> None:
    paper = ("experiment=paper", "clone.learner.device=cuda", "clone.learner.recompute=0")
    root = machine(tmp_path, 500.0)
    with pytest.raises(SettingsError) as refused_clone:
        refuse_too_large(compose([*paper]), "clone", root, gpu=lambda device: int(40e9))
    said = str(refused_clone.value)
    assert "its GPU has 40.0 GB" in said and "for activations (4,896 rows x" in said
    parts = re.search(r"set clone\.learner\.accumulate=(\d+), with which it needs ([\d.]+) GB", said)
    assert parts is not None and float(parts[2]) <= 40
    refuse_too_large(compose([*paper, parts[0].split()[1].rstrip(",")]), "clone", root, gpu=lambda device: int(40e9))
    with pytest.raises(SettingsError, match=r"set clone\.learner\.precision=bf16 and clone\.learner\.recompute=10"):
        refuse_too_large(compose([*paper]), "clone", root, gpu=lambda device: int(1e9))
    (host,) = memory_needs(compose([*paper]), "clone", root, gpu=lambda device: None)
    on_host, on_gpu = memory_needs(compose([*paper]), "clone", root, gpu=lambda device: int(40e9))
    assert on_host.total < on_gpu.total < host.total < 1.1 * (on_host.total + on_gpu.total)
    ranks = compose([*paper, "runtime=ray", "runtime.learners=4", "runtime.learner.gpus=1"])
    assert memory_needs(ranks, "clone", root, gpu=lambda device: int(40e9))[1].total < on_gpu.total / 2


@pytest.mark.parametrize("typed", ["gpu=18m", "gpu=71m", "gpu=165m", "experiment=paper gpu=paper"])
def test_the_presets_of_a_gpu_leave_a_third_of_80_gigabytes(typed: str, tmp_path: Path) -> None:
    config = compose(typed.split())
    assert config.agent.width == SIZES["71m" if "paper" in typed else typed.removeprefix("gpu=")].width
    for stage, settings in config.training_stages.items():
        learner = settings.learner
        assert (learner.device, learner.precision, learner.recompute) == ("cuda", "bf16", 0)
        assert learner.compile and learner.channels_last
        needs = memory_needs(config, stage, machine(tmp_path / stage, 500.0), gpu=lambda device: int(80e9))
        assert needs[-1].where == "its GPU" and needs[-1].total < 80e9 * 2 / 3
        assert (
            settings.dataset.lanes == 96
            and learner.objective == compose(typed.split()[:1]).training_stages[stage].learner.objective
        )


def layout_of(config: Config) -> Layout:
    world = Run(Path("none"), config).make_world()
    return Layout(world.spec, config.agent.utterance_length, config.agent.actions_per_step)


def test_weights_are_kept_with_their_gradients_and_two_moments(tmp_path: Path) -> None:
    config = compose(["agent=nano"])
    layout = layout_of(config)
    size = sum(weight.numel() * weight.element_size() for weight in Agent(config.agent, layout, 500).parameters())
    (need,) = memory_needs(config, "clone", machine(tmp_path, 8))
    assert need.needs["the network and its optimizer"] == 4 * size


def test_reinforcement_in_one_process_holds_two_more_networks_on_its_gpu(tmp_path: Path) -> None:
    root, more = machine(tmp_path, 500.0), "the reward model and the reference policy"
    alone, ray = (
        memory_needs(
            compose(["reinforce.learner.device=cuda", *typed]), "reinforce", root, gpu=lambda device: int(80e9)
        )
        for typed in ([], ["runtime=ray", "runtime.learner.gpus=1"])
    )
    assert alone[1].needs[more] > alone[1].needs["the network and its optimizer"] / 4 and more not in ray[1].needs


def memory(name: str) -> float:
    """Bytes of this process; not from `getrusage`, whose peak a new process inherits."""
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name)]
    return 1024.0 * int(line.split()[1])


MEASURED = {"nano": (10, "env.image=[36,48]"), "5m": (2, "env.image=[72,96]")}  # agent: lanes, pictures


def measured(size: str, accumulate: int) -> tuple[float, float]:
    """Of one update on lanes of 51 rows: the memory certain to be needed, and the peak of this process; in bytes."""
    lanes, image = MEASURED[size]
    settings = (f"agent={size}", f"clone.dataset.lanes={lanes}", image, f"clone.learner.accumulate={accumulate}")
    config = compose(settings)
    layout = layout_of(config)
    need = memory_needs(config, "clone")[0].total
    before = memory("VmRSS")
    agent = Agent(config.agent, layout, 500)
    learner = Learner(agent, config.clone.learner, dataset_lanes=lanes, generator=torch.Generator())
    unroll = Unroll(allocate_demonstration(layout, 50, lanes))
    unroll.arrays["cloned"][:] = True
    learner.update(demonstrated=unroll)
    return need, memory("VmHWM") - before


@pytest.mark.slow
@pytest.mark.parametrize("size", MEASURED)
@pytest.mark.parametrize("accumulate", [1, 2])
def test_the_estimate_is_a_lower_bound_of_one_update(size: str, accumulate: int) -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
        need, peak = fresh.submit(measured, size, accumulate).result(timeout=300)
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
    with pytest.raises(SettingsError, match=rf"agent\.{field} must be 1 to [\d,]+, got {size}"):
        compose([f"agent.{field}={size}"])


@pytest.mark.parametrize(
    "setting",
    [
        "reward.measure_every=0",
        "reward.heldout_episodes=-1",
        "reinforce.measure_every=0",
        "reinforce.updates_per_batch=0",
    ],
)
def test_intervals_and_counts_have_limits(setting: str) -> None:
    with pytest.raises(SettingsError, match="must be at least"):
        compose([setting])
