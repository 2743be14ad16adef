"""On an emulated GPU a learner computes what it computes on the CPU, and an update waits for nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
import pytest
import torch
from emulated_gpu import GpuTensor, emulated_gpu, on_gpu
from fake_world import LineWorld, tiny_agent
from rank_process import LANES, demonstrated_rows, rollout_rows
from test_update_graphs import CASES, LATE

from interplay.learner.config import LearnerConfig
from interplay.learner.learner import Learner

UPDATES = 3


def trained(name: str, device: str, config: LearnerConfig) -> tuple[Learner, list[Mapping[str, float]]]:
    """A learner after some updates, and their metrics, which have not been read."""
    made, settings = CASES[name]
    agent = tiny_agent(LineWorld(), **made)
    config = dataclasses.replace(config, device=device, **settings)
    learner = Learner(agent, config, dataset_lanes=LANES, generator=torch.Generator().manual_seed(4))
    return learner, [
        learner.begin_update(demonstrated=demonstrated_rows(agent, number), rollout=rollout_rows(agent, number))
        for number in range(UPDATES)
    ]


@pytest.mark.parametrize("name", CASES)
def test_updates_are_those_of_the_cpu(name: str) -> None:
    """The gradients of the memory are summed in another order on a GPU, so that results differ by their rounding."""
    config = dataclasses.replace(LATE, channels_last=True, learning_rate=1e-4)
    plain, expected = trained(name, "cpu", config)
    with emulated_gpu() as gpu:
        learner, metrics = trained(name, "cuda", config)
        assert not gpu.reads, "the host waited for a value of an update"
        assert {type(each) for each in learner.agent.parameters()} == {GpuTensor}
        found, state, weights = [dict(each) for each in metrics], learner.state(), learner.weights()
    tolerance = 0.05 if name == "bf16" else 1e-4
    for mine, theirs in zip(found, expected, strict=True):
        assert mine == pytest.approx(dict(theirs), rel=tolerance, abs=tolerance)
    for part, other in zip(state["dataset_state"], plain.state()["dataset_state"], strict=True):
        np.testing.assert_allclose(part.numpy(), other.numpy(), atol=tolerance)
    for key, array in weights.items():
        np.testing.assert_allclose(array, plain.weights()[key], atol=2.1 * UPDATES * config.learning_rate, err_msg=key)


def test_mistakes_with_devices_are_noticed() -> None:
    with emulated_gpu() as gpu:
        there, here = torch.ones(3, device="cuda"), torch.ones(3)
        for wrong in (lambda: there + here, lambda: torch.stack([there, here]), lambda: there[here.long()]):
            with pytest.raises(RuntimeError, match="on cuda:0 and on the host"):
                wrong()
        with pytest.raises(TypeError, match="can't convert cuda:0"):
            there.numpy()
        assert not gpu.reads
        assert there.sum().item() == 3 and len(there[there > 0]) == 3 and len(there.nonzero()) == 3
        assert gpu.reads == {"item": 1, "__getitem__": 1, "nonzero": 1}
        gpu.reads.clear()
        for non_blocking in (True, False):
            assert not on_gpu(here.copy_(there, non_blocking=non_blocking))
            there.to("cpu", non_blocking=non_blocking)
        there.cpu()
        assert gpu.reads == {"copy_": 1, "to": 1, "cpu": 1}


def test_tensors_stay_where_they_were_sent() -> None:
    with emulated_gpu():
        there = torch.arange(6.0).to("cuda", non_blocking=True)
        model = torch.nn.Linear(6, 2).to(torch.device("cuda", 0))
        loss = model(there).sum()
        loss.backward()
        assert {each.device.type for each in (*model.parameters(), loss, model.weight.grad)} == {"cuda"}
        results = (there.view(2, 3).max(0).values, there.new_zeros(2), torch.zeros_like(there), there.to(torch.int8))
        assert {each.device.type for each in results} == {"cuda"}
        back = (there.cpu(), there.to("cpu"), torch.zeros_like(there, device="cpu"))
        assert {(type(each), each.device.type) for each in back} == {(torch.Tensor, "cpu")}
        back[0][0] = 7.0
        assert there[0].item() == 0.0, "a copy shares memory"
        assert there.half().to(back[1]).dtype == torch.float32
