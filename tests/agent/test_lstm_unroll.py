"""The LSTM whose gradient is written out is the one that autograd differentiates."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from interplay.agent.lstm_unroll import lstm_unroll
from interplay.agent.recurrent import RecurrentCore, RecurrentState, lstm_step

T, B, D = 7, 3, 5


def given(dtype: torch.dtype) -> list[Tensor]:
    """Projected inputs, where lanes begin anew, the state and the recurrent weights."""
    generator = torch.Generator().manual_seed(0)
    sizes = [(T, B, 4 * D), (T, B, 1), (B, D), (B, D), (D, 4 * D)]
    values = [torch.randn(size, generator=generator, dtype=torch.float64).to(dtype) for size in sizes]
    values[1] = (values[1] > -0.5).to(dtype)
    assert 0 < values[1].sum() < T * B
    return [value.requires_grad_(index != 1) for index, value in enumerate(values)]


def in_steps(projected: Tensor, keep: Tensor, hidden: Tensor, cell: Tensor, recurrent: Tensor) -> tuple[Tensor, ...]:
    outputs = []
    for t in range(T):
        hidden, cell = lstm_step(projected[t], keep[t], hidden, cell, recurrent)
        outputs.append(hidden)
    return torch.stack(outputs), hidden, cell


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-5)])
def test_values_and_gradients_are_those_of_the_steps(dtype: torch.dtype, tolerance: float) -> None:
    found = []
    for run in (in_steps, lstm_unroll):
        inputs = given(dtype)
        results = run(*inputs)
        weights = [torch.linspace(-1, 1, each.numel(), dtype=dtype).view(each.shape) for each in results]
        torch.stack([(each * weight).sum() for each, weight in zip(results, weights, strict=True)]).sum().backward()
        found.append([*results, *(each.grad for each in inputs if each.requires_grad)])
    assert len(found[0]) == 7
    for steps, unroll in zip(*found, strict=True):
        torch.testing.assert_close(unroll, steps, rtol=tolerance, atol=tolerance)


def test_in_bf16_the_state_stays_float32() -> None:
    projected, keep, hidden, cell, recurrent = given(torch.float32)
    outputs, _, cells = lstm_unroll(projected.bfloat16(), keep.bfloat16(), hidden, cell, recurrent.bfloat16())
    outputs.sum().backward()
    exact = in_steps(*given(torch.float32))
    assert cells.dtype == torch.float32 and projected.grad is not None and recurrent.grad is not None
    torch.testing.assert_close(cells, exact[2], atol=0.05, rtol=0.05)
    torch.testing.assert_close(outputs.float(), exact[0], atol=0.05, rtol=0.05)


@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16])
def test_the_core_on_a_gpu_is_that_of_the_cpu(gpu: str, precision: torch.dtype) -> None:
    torch.manual_seed(0)
    core, inputs, first = RecurrentCore(4, D), torch.randn(T, B, 4), torch.rand(T, B) < 0.3
    gradients = []
    for device in ("cpu", gpu):
        core = core.to(device)
        core.zero_grad()
        with torch.autocast(device, torch.bfloat16, enabled=precision == torch.bfloat16):
            outputs, _ = core(inputs.to(device), first.to(device), RecurrentState(*core.initial_state(B)))
        outputs.float().square().sum().backward()
        assert core.recurrent.grad is not None
        gradients.append(core.recurrent.grad.cpu())
    tolerance = 1e-4 if precision == torch.float32 else 0.1
    assert (gradients[1] - gradients[0]).norm() < tolerance * gradients[0].norm()
