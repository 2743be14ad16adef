"""Recorded updates: a CPU repeats their operations as a GPU does a CUDA graph, and gets what ordinary updates get."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import io
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch
from fake_world import TINY, LineWorld, tiny_agent
from rank_process import LANES, demonstrated_rows, rollout_rows
from torch import Tensor
from traced_updates import Recordable, TracedRecorder

from interplay.agent.network import Agent
from interplay.learner import forward, update_graphs
from interplay.learner.config import LearnerConfig
from interplay.learner.learner import Learner
from interplay.learner.loss_rows import RowLengths
from interplay.learner.update_graphs import WARM_UPS, check_cuda_graph

RATE = 2.0**-10  # a learning rate that float32 represents
LATE = LearnerConfig(learning_rate=RATE, check_lag=2, gradient_clip=1.0)
AFTER_TRANSFORMER = dataclasses.replace(TINY, text_film=False, css_input="transformer", movement="autoregressive")
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "utility": ({"utility": True}, {}),
    "marks": ({"marks": True}, {}),
    "parts": ({"utility": True}, {"accumulate": 2}),
    "bf16": ({}, {"precision": "bf16"}),
    "recompute": ({}, {"recompute": 2}),
    "after the transformer": ({"config": AFTER_TRANSFORMER}, {}),
}
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no GPU")


def recording(agent: Agent, config: LearnerConfig = LATE) -> tuple[Learner, TracedRecorder]:
    """A learner on the CPU that records its updates."""
    recorder = TracedRecorder(agent)
    generator = torch.Generator().manual_seed(4)
    learner = Learner(agent, config, dataset_lanes=LANES, generator=generator, recorder=recorder)
    recorder.learner = learner
    return learner, recorder


def ordinary(agent: Agent, config: LearnerConfig = LATE, padded: bool = True) -> Learner:
    """One that does not; `padded`: but that pads its lists of rows as one that does."""
    learner = Learner(agent, config, dataset_lanes=LANES, generator=torch.Generator().manual_seed(4))
    if padded:
        learner._lengths = RowLengths()
    return learner


def begin(learner: Learner, number: int, broken: bool = False) -> Mapping[str, float]:
    played = rollout_rows(learner.agent, number)
    if broken:
        played.arrays["reward"][2] = np.nan
    return learner.begin_update(demonstrated=demonstrated_rows(learner.agent, number), rollout=played)


def weights(learner: Learner) -> dict[str, Tensor]:
    return {name: tensor.clone() for name, tensor in learner.agent.state_dict().items()}


def assert_same(learner: Learner, other: Learner) -> None:
    """Weights, moments of Adam and states are equal, bit for bit."""
    expected = weights(other)
    assert all(torch.equal(tensor, expected[name]) for name, tensor in weights(learner).items())
    mine, theirs = learner.state(), other.state()
    for index, moments in theirs["optimizer"]["state"].items():
        assert all(torch.equal(mine["optimizer"]["state"][index][name], each) for name, each in moments.items())
    for name in ("dataset_state", "mark_state"):
        for one, two in zip(mine.get(name, []), theirs.get(name, []), strict=True):
            assert torch.equal(one, two)
    assert torch.equal(mine["generator"], theirs["generator"]) and mine["updates"] == theirs["updates"]


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_replays_are_ordinary_updates_bit_for_bit(name: str) -> None:
    made, settings = CASES[name]
    config = dataclasses.replace(LATE, **settings)
    learner, recorder = recording(tiny_agent(LineWorld(), **made), config)
    plain = ordinary(tiny_agent(LineWorld(), **made), config)
    found, expected = ([dict(begin(each, number)) for number in range(WARM_UPS + 4)] for each in (learner, plain))
    assert len(recorder.recorded) == 1, "updates after the first are repeated"
    assert found == expected
    assert_same(learner, plain)
    exact = ordinary(tiny_agent(LineWorld(), **made), config, padded=False)
    for number in range(2):
        assert dict(begin(exact, number)) == pytest.approx(expected[number], rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("name", [name for name in CASES if name != "bf16"])  # there is no autocast for "meta"
def test_nothing_recorded_reads_a_value_or_mixes_devices(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On "meta", which has shapes only, so that a shape that depended on a value would raise as well."""
    meta = torch.device("meta")
    monkeypatch.setattr(forward, "find_device", lambda _: meta)
    monkeypatch.setattr(torch, "autocast", lambda *_, **__: contextlib.nullcontext())
    made, settings = CASES[name]
    agent = tiny_agent(LineWorld(), **made)
    learner, _ = recording(agent, dataclasses.replace(LATE, **settings))
    batch = learner.load(demonstrated=demonstrated_rows(agent, 0), rollout=rollout_rows(agent, 0))
    inputs = learner._inputs(batch)
    monkeypatch.setattr(learner._optimizer, "step", lambda: None)  # the fused step exists for real devices only
    with Recordable(meta) as allowed:
        learner._learn(inputs)
    assert 500 < allowed.launches < 5000


def test_reading_a_value_mixing_devices_and_drawing_are_noticed() -> None:
    here = torch.ones(3)
    with Recordable(torch.device("cpu")):
        for reads in (lambda: here.sum().item(), lambda: here.nonzero(), lambda: here[here > 0], lambda: torch.rand(2)):
            with pytest.raises(AssertionError, match=r"reads a value|with a mask|draws random"):
                reads()
    with Recordable(torch.device("meta")), pytest.raises(AssertionError, match=r"has tensors on \{'cpu'\}"):
        here.to("meta")


@pytest.mark.slow
def test_the_learning_rate_is_not_recorded() -> None:
    config = dataclasses.replace(LATE, learning_rate=1e-2, warm_up=8, decay="linear", decay_updates=16)
    (learner, recorder), plain = recording(tiny_agent(LineWorld()), config), ordinary(tiny_agent(LineWorld()), config)
    for number in range(WARM_UPS + 2):
        for each in (learner, plain):
            begin(each, number)
    assert recorder.recorded
    (rate,) = {group["lr"] for group in learner.state()["optimizer"]["param_groups"]}
    assert isinstance(rate, float) and rate == pytest.approx(config.rate_at(WARM_UPS + 1), rel=1e-6)
    for name, tensor in weights(learner).items():
        torch.testing.assert_close(tensor, weights(plain)[name], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("lag", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_an_update_that_is_not_finite_changes_no_weight(lag: int) -> None:
    learner, recorder = recording(tiny_agent(LineWorld()), dataclasses.replace(LATE, check_lag=lag))
    for number in range(WARM_UPS + 1):
        begin(learner, number)
    before = weights(learner)
    with pytest.raises(FloatingPointError, match=f"the loss of update {WARM_UPS + 2} is nan"):
        for number in range(lag + 1):
            begin(learner, WARM_UPS + 1 + number, broken=number == 0)
    assert recorder.recorded and all(torch.equal(tensor, before[name]) for name, tensor in weights(learner).items())
    if lag == 0:  # nothing later was begun, so it can go on
        assert np.isfinite(begin(learner, 9)["loss"])
        assert any(not torch.equal(tensor, before[name]) for name, tensor in weights(learner).items())


@pytest.mark.slow
def test_it_resumes_bit_for_bit_with_and_without_recording() -> None:
    (learner, _), plain = recording(tiny_agent(LineWorld())), ordinary(tiny_agent(LineWorld()))
    for number in range(WARM_UPS + 2):
        for each in (learner, plain):
            begin(each, number)
    file = io.BytesIO()
    torch.save({"weights": learner.agent.state_dict(), "state": learner.state()}, file)
    for number in range(WARM_UPS + 2, 2 * WARM_UPS + 4):
        begin(plain, number)
    for resumed, recorder in (recording(tiny_agent(LineWorld(), seed=1)), (ordinary(tiny_agent(LineWorld())), None)):
        if recorder is not None:  # what it recorded of other tensors must not be repeated
            for number in range(WARM_UPS + 1):
                begin(resumed, number)
        file.seek(0)
        saved = torch.load(file, weights_only=True)
        resumed.agent.load_state_dict(saved["weights"])
        resumed.load_state(copy.deepcopy(saved["state"]))
        for number in range(WARM_UPS + 2, 2 * WARM_UPS + 4):
            begin(resumed, number)
        assert_same(resumed, plain)


@pytest.mark.slow
def test_more_rows_than_fit_are_recorded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RowLengths, "LEAST", 1)
    monkeypatch.setattr(RowLengths, "HEADROOM", 1.0)
    (learner, recorder), plain = recording(tiny_agent(LineWorld())), ordinary(tiny_agent(LineWorld()))
    for number in range(2 * WARM_UPS + 2):
        for each in (learner, plain):
            played = rollout_rows(each.agent, 0)
            if number <= WARM_UPS:
                played.arrays["spoke"][1:], played.arrays["tokens"][1:] = False, 0
            each.begin_update(demonstrated=demonstrated_rows(each.agent, 0), rollout=played)
    assert len(recorder.recorded) == 2
    assert_same(learner, plain)


def test_too_many_shapes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(update_graphs, "MAX_FORMS", 2)
    learner, _ = recording(tiny_agent(LineWorld()))
    begin(learner, 0)
    learner.begin_update(demonstrated=demonstrated_rows(learner.agent, 1))
    played = rollout_rows(learner.agent, 1).select(slice(0, 2))
    with pytest.raises(ValueError, match=r"cuda_graph=true needs .* the 3th: rollout.*\[7, 2.*cuda_graph=false"):
        learner.begin_update(demonstrated=demonstrated_rows(learner.agent, 1), rollout=played)


def test_it_is_refused_where_it_cannot_be() -> None:
    with pytest.raises(ValueError, match=r"cuda_graph=true records kernels of a GPU.*device=cuda"):
        LearnerConfig(cuda_graph=True)
    with pytest.raises(ValueError, match=r"learner.device is cpu; set learner.cuda_graph=false"):
        check_cuda_graph(torch.device("cpu"), 1)
    with pytest.raises(ValueError, match=r"does not work with 2 ranks.*runtime.learners=1"):
        check_cuda_graph(torch.device("cuda"), 2)


@needs_gpu
@pytest.mark.parametrize("name", CASES)
def test_on_a_gpu_replays_are_ordinary_updates(name: str) -> None:
    made, settings = CASES[name]
    config = dataclasses.replace(LATE, device="cuda", **settings)
    recorded, plain = (
        ordinary(tiny_agent(LineWorld(), **made), each, padded=False)
        for each in (dataclasses.replace(config, cuda_graph=True), config)
    )
    found, expected = ([dict(begin(each, number)) for number in range(WARM_UPS + 4)] for each in (recorded, plain))
    tolerance = 0.05 if name == "bf16" else 1e-3
    for mine, theirs in zip(found, expected, strict=True):
        assert mine == pytest.approx(theirs, rel=tolerance, abs=tolerance)
    for key, array in recorded.snapshot()().items():
        np.testing.assert_allclose(array, plain.weights()[key], atol=20 * RATE if name == "bf16" else 1e-3)


@needs_gpu
def test_on_a_gpu_it_resumes_and_refuses_what_is_not_finite() -> None:
    config = dataclasses.replace(LATE, device="cuda", cuda_graph=True, check_lag=0)
    learner = ordinary(tiny_agent(LineWorld()), config)
    for number in range(WARM_UPS + 1):
        begin(learner, number)
    before = weights(learner)
    with pytest.raises(FloatingPointError, match=f"update {WARM_UPS + 2} is nan"):
        begin(learner, WARM_UPS + 1, broken=True)
    assert all(torch.equal(tensor, before[name]) for name, tensor in weights(learner).items())
    resumed = ordinary(tiny_agent(LineWorld(), seed=1), dataclasses.replace(config, cuda_graph=False))
    resumed.agent.load_state_dict(learner.agent.state_dict())
    resumed.load_state(copy.deepcopy(learner.state()))
    for number in range(3):
        assert dict(begin(learner, number)) == pytest.approx(dict(begin(resumed, number)), rel=1e-3, abs=1e-3)
