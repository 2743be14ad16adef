"""Settings of the computation change a learner's cost, and its results by rounding only."""

from __future__ import annotations

import copy
import dataclasses
import sysconfig
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from fake_world import TINY, LineWorld, tiny_agent
from random_unrolls import LANES, demonstrated, learner_of, rollout

from interplay.agent.inference_device import as_tensors
from interplay.agent.network import Agent
from interplay.agent.sizes import AgentConfig
from interplay.learner import forward
from interplay.learner.config import LearnerConfig
from interplay.learner.device import find_device
from interplay.learner.forward import Forward, ForwardConfig, check_compiler
from interplay.learner.learner import Learner

Told = tuple[dict[str, float], torch.Tensor]


@pytest.fixture
def uncompiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Graphs are traced, split and differentiated as by the real compiler, but not compiled to C++, so that no compiler
    is needed."""
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()  # `reset` keeps them
    monkeypatch.setattr(forward, "COMPILE_BACKEND", "aot_eager")
    monkeypatch.setattr(forward, "check_compiler", lambda device: None)


def update(config: AgentConfig = TINY, **switches: Any) -> Told:
    """Metrics and the whole gradient of one update."""
    agent = tiny_agent(LineWorld(), utility=True, config=config)
    learner = learner_of(agent, LearnerConfig(learning_rate=1e-3, **switches))
    metrics = learner.update(demonstrated=demonstrated(agent), rollout=rollout(agent))
    gradients = [parameter.grad for parameter in agent.parameters() if parameter.grad is not None]
    return metrics, torch.cat([gradient.reshape(-1) for gradient in gradients])


@pytest.fixture(scope="module")
def plain() -> Told:
    return update()


def assert_near(told: Told, plain: Told, tolerance: float) -> None:
    assert told[0].keys() == plain[0].keys()
    for name, value in plain[0].items():
        assert told[0][name] == pytest.approx(value, rel=tolerance, abs=tolerance), name
    assert (told[1] - plain[1]).norm() < tolerance * plain[1].norm()


@pytest.mark.parametrize("switch", [{"channels_last": True}, {"recompute": 3}], ids=str)
def test_a_setting_that_only_moves_the_computation_keeps_the_results(switch: dict[str, Any], plain: Told) -> None:
    assert_near(update(**switch), plain, 1e-5)


@pytest.mark.parametrize("switch", [{"recompute": 3}, {"precision": "bf16"}], ids=str)
def test_css_after_the_transformer_is_computed_as_the_forward_pass(switch: dict[str, Any]) -> None:
    after = dataclasses.replace(TINY, text_film=False, css_input="transformer")
    tolerance = 0.05 if "precision" in switch else 1e-5
    assert_near(update(config=after, **switch), update(config=after), tolerance)


def test_chunks_are_computed_again_one_by_one() -> None:
    agent = tiny_agent(LineWorld())
    seen: list[int] = []
    agent.encoder.register_forward_hook(lambda _, given, __: seen.append(len(given[0]["vector"])))
    learner_of(agent, LearnerConfig(recompute=2)).update(demonstrated=demonstrated(agent))
    assert sorted(seen) == [10, 10, 11, 11], "7 rows of 3 lanes in two chunks, there and back"


def test_bf16_is_near_and_not_the_same(plain: Told) -> None:
    told = update(precision="bf16")
    assert_near(told, plain, 0.05)
    assert (told[1] - plain[1]).norm() > 1e-3 * plain[1].norm(), "nothing was computed in bfloat16"


@pytest.mark.slow
def test_compiled_is_the_same(uncompiled: None, plain: Told) -> None:
    """Episodes start within these unrolls, so the memory is reset inside the loop."""
    assert_near(update(compile=True), plain, 1e-5)
    assert not torch._dynamo.utils.counters["graph_break"]
    # Whatever T: what a step holds, the memory's first step, whose state carries no gradient, and its others.
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 3


@torch._dynamo.config.patch(recompile_limit=8)  # torch's own
def test_learners_of_many_sizes_compile_in_one_process(uncompiled: None) -> None:
    step = Forward(tiny_agent(LineWorld()), ForwardConfig(compile=True))._step
    recurrent = torch.zeros(4, 16)
    for lanes in range(2, 12):
        state = torch.zeros(lanes, 4)
        hidden, cell = step(torch.zeros(lanes, 16), torch.ones(lanes, 1), state, state, recurrent)
        assert hidden.shape == cell.shape == (lanes, 4)


@pytest.mark.slow
def test_all_settings_together_agree_up_to_rounding(
    uncompiled: None, plain: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("interplay.agent.image_tower.MAX_STEM_PRODUCTS", 1)  # the stem sees one picture at a time
    assert_near(update(compile=True, precision="bf16", channels_last=True, recompute=5), plain, 0.05)


def test_in_bf16_weights_heads_and_memory_stay_float32() -> None:
    agent = tiny_agent(LineWorld(), utility=True)
    observations = as_tensors({key: demonstrated(agent).arrays[key] for key in agent.layout.observations(0, 0)})
    output, after = Forward(agent, ForwardConfig(precision="bf16"))(observations, agent.initial_state(LANES))
    parts = {name: part for name, part in output._asdict().items() if part is not None}
    assert {part.dtype for part in (*parts.values(), *after, *agent.parameters())} == {torch.float32}
    assert agent.utility is not None
    assert torch.equal(output.utility, agent.utility(output.core)), "the head rounded what it was given"
    rounded = output.core[..., agent.config.lstm :]
    assert torch.equal(rounded, rounded.bfloat16().float()), "nothing was computed in bfloat16"


def test_exported_and_saved_weights_do_not_depend_on_the_layout() -> None:
    agent = tiny_agent(LineWorld())
    learner = learner_of(agent, LearnerConfig(channels_last=True))
    assert agent.encoder.tower is not None
    assert agent.encoder.tower.stem.weight.is_contiguous(memory_format=torch.channels_last)
    learner.update(demonstrated=demonstrated(agent))
    plain = tiny_agent(LineWorld(), seed=1)
    plain.load_state_dict(agent.state_dict())
    assert plain.encoder.tower is not None
    assert plain.encoder.tower.stem.weight.is_contiguous()
    other = learner_of(plain)
    other.load_state(learner.state())
    for name, array in learner.weights().items():
        assert array.flags["C_CONTIGUOUS"], name
        assert np.array_equal(array, other.weights()[name]), name


def test_it_resumes_from_another_devices_optimizer() -> None:
    """Adam on a GPU is fused and keeps its step count there; a run that moves to a CPU must not keep that."""
    agent = tiny_agent(LineWorld())
    learner = learner_of(agent)
    learner.update(demonstrated=demonstrated(agent))
    saved = copy.deepcopy(learner.state())
    for group in saved["optimizer"]["param_groups"]:
        group["fused"] = True
    resumed = learner_of(agent)
    resumed.load_state(saved)
    assert resumed.state()["optimizer"]["param_groups"][0]["fused"] is None
    twin = copy.deepcopy(agent)
    straight = learner_of(twin)
    straight.load_state(learner.state())
    assert resumed.update(demonstrated=demonstrated(agent, 1)) == straight.update(demonstrated=demonstrated(agent, 1))
    assert all(torch.equal(tensor, twin.state_dict()[name]) for name, tensor in agent.state_dict().items())


def test_prefetched_batches_give_the_same_update() -> None:
    ahead, at_once = (tiny_agent(LineWorld()) for _ in range(2))
    one, other = learner_of(ahead), learner_of(at_once)
    batches = [one.load(demonstrated=demonstrated(ahead, n), rollout=rollout(ahead, n)) for n in range(3)]
    for number, batch in enumerate(batches):
        update = other.update(demonstrated=demonstrated(at_once, number), rollout=rollout(at_once, number))
        assert one.learn(batch) == pytest.approx(update, rel=1e-3, abs=1e-4)


def test_float32_is_float32_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    for name in ("auto", "cuda:1"):
        monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", True)
        assert find_device(name).type == "cuda" and not torch.backends.cudnn.allow_tf32


def test_a_device_that_is_not_here_is_refused() -> None:
    assert find_device("cpu") == torch.device("cpu")
    assert find_device("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")
    with pytest.raises(ValueError, match=r"learner\.device=cuda:63 is not available: .*learner\.device=auto"):
        find_device("cuda:63")
    with pytest.raises(ValueError, match=r"actors\.device=cuda:63 is not available: .*actors\.device=auto"):
        find_device("cuda:63", "actors.device")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"device": "gpu"}, r"device must be one of auto, cpu, cuda, .*'gpu'"),
        ({"recompute": -1}, "recompute must be at least 0"),
    ],
)
def test_switches_that_cannot_be_are_refused(setting: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LearnerConfig(**setting)


def test_a_missing_compiler_is_reported_before_training(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(ValueError, match=r"needs a compiler, .*g\+\+.*learner.compile=false"):
        learner_of(tiny_agent(LineWorld()), LearnerConfig(compile=True))
    compiler = tmp_path / "my-compiler"
    compiler.touch(mode=0o755)
    monkeypatch.setenv("CXX", "my-compiler")
    check_compiler(torch.device("cpu"))


def test_what_triton_needs_is_reported_before_training(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It looks for gcc and clang, not for cc, in the variable CC, and for the headers of Python."""
    gpu, found = torch.device("cuda"), tmp_path / "include"
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(sysconfig, "get_paths", lambda **_: {"include": str(found)})
    for name, variable in (("cc", "CXX"), ("g++", "CXX")):
        (tmp_path / name).touch(mode=0o755)
        monkeypatch.setenv(variable, name)
    with pytest.raises(ValueError, match=r"none of gcc, clang is found.*apt install gcc.*variable CC"):
        check_compiler(gpu)
    (tmp_path / "gcc").touch(mode=0o755)
    with pytest.raises(ValueError, match=r"include/Python.h is missing.*-dev.*learner.compile=false"):
        check_compiler(gpu)
    found.mkdir()
    (found / "Python.h").touch()
    check_compiler(gpu)
    monkeypatch.setenv("CC", "another")
    with pytest.raises(ValueError, match="none of another is found"):
        check_compiler(gpu)


def test_every_switch_is_off_by_default() -> None:
    given = {field.name: field.default for field in dataclasses.fields(ForwardConfig)}
    switches = {"device": "cpu", "precision": "fp32", "compile": False, "channels_last": False, "recompute": 0}
    assert given == switches
    agent: Agent = tiny_agent(LineWorld())
    learner: Learner = learner_of(agent, LearnerConfig())
    assert learner.device.type == "cpu"


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("check_lag", [0, 1])
def test_a_learner_resumes_with_another_layout(before: bool, check_lag: int) -> None:
    learning_rate = 1e-3

    def resumed(channels_last: bool) -> dict[str, np.ndarray]:
        agent = tiny_agent(LineWorld(), seed=1)
        agent.load_state_dict(weights)
        config = LearnerConfig(learning_rate=learning_rate, channels_last=channels_last, check_lag=check_lag)
        learner = learner_of(agent, config)
        learner.load_state(copy.deepcopy(saved))
        learner.update(demonstrated=demonstrated(agent))
        return learner.weights()

    agent = tiny_agent(LineWorld())
    learner = learner_of(agent, LearnerConfig(learning_rate=learning_rate, channels_last=before, check_lag=check_lag))
    for _ in range(3):
        learner.update(demonstrated=demonstrated(agent))
    weights, saved = agent.state_dict(), learner.state()
    kept, changed = resumed(before), resumed(not before)
    for name, array in kept.items():
        assert np.abs(array - changed[name]).max() < 0.02 * learning_rate, name
