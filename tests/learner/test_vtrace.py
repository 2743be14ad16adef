"""V-trace against a slow transcription of the paper's equation, and in its purpose."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from interplay.learner.vtrace import (
    VTrace,
    corrections_by_doubling,
    corrections_in_turn,
    policy_gradient,
    ratio_statistics,
    vtrace,
)

T, B = 7, 4


def draw(seed: int, *, log_ratio: str = "straddling") -> dict[str, Tensor]:
    """Inputs whose ratios lie on both sides of every clip, with masked steps and episode ends."""
    g = torch.Generator().manual_seed(seed)
    last = torch.rand(T + 1, B, generator=g, dtype=torch.float64) < 0.25
    mask = ~last[:-1]
    ratio = 3 * (torch.rand(T, B, generator=g, dtype=torch.float64) - 0.5)
    return {
        "log_ratio": ratio if log_ratio == "straddling" else torch.zeros_like(ratio),
        "reward": torch.randn(T, B, generator=g, dtype=torch.float64),
        "discount": 0.9 * (mask & ~last[1:]).double(),
        "value": torch.randn(T, B, generator=g, dtype=torch.float64),
        "bootstrap": torch.randn(B, generator=g, dtype=torch.float64),
        "mask": mask,
    }


def slow_targets(inputs: dict[str, Tensor], rho_clip: float, c_clip: float) -> np.ndarray:
    """v_s = V_s + sum_t (prod_u g_u) (prod_{i<t} c_i) d_t, as the paper writes it, one number at a time."""
    x = {key: value.numpy() for key, value in inputs.items()}
    value = np.concatenate([x["value"], x["bootstrap"][None]])
    targets = np.zeros((T, B))
    for b in range(B):
        for s in range(T):
            total = value[s, b]
            for t in range(s, T):
                weight = 1.0
                for i in range(s, t):
                    weight *= x["discount"][i, b] * min(c_clip, math.exp(x["log_ratio"][i, b])) * x["mask"][i, b]
                rho = min(rho_clip, math.exp(x["log_ratio"][t, b])) * x["mask"][t, b]
                delta = rho * (x["reward"][t, b] + x["discount"][t, b] * value[t + 1, b] - value[t, b])
                total += weight * delta
            targets[s, b] = total
    return targets


@pytest.mark.parametrize("steps", [1, 2, 3, 8, 13, 50])
def test_doubling_gives_what_the_loop_gives(steps: int) -> None:
    generator = torch.Generator().manual_seed(steps)
    delta, trace = (torch.randn(steps, B, generator=generator, dtype=torch.float64) for _ in range(2))
    trace[steps // 2, 0] = 0.0
    torch.testing.assert_close(
        corrections_by_doubling(delta, trace), corrections_in_turn(delta, trace), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize(("rho_clip", "c_clip"), [(1.0, 1.0), (0.7, 1.3), (2.0, 0.5)])
def test_targets_are_those_of_the_papers_equation(rho_clip: float, c_clip: float) -> None:
    for seed in range(5):
        inputs = draw(seed)
        ratio = inputs["log_ratio"].exp()
        for clip in (rho_clip, c_clip):
            assert (ratio < clip).any() and (ratio > clip).any()
        result = vtrace(**inputs, rho_clip=rho_clip, c_clip=c_clip)
        np.testing.assert_allclose(result.targets, slow_targets(inputs, rho_clip, c_clip), rtol=1e-10)


def test_advantage_leads_to_the_next_target_and_carries_no_ratio() -> None:
    inputs = draw(1)
    result = vtrace(**inputs)
    for b in range(B):
        for t in range(T):
            following = result.targets[t + 1, b] if t + 1 < T else inputs["bootstrap"][b]
            wanted = inputs["reward"][t, b] + inputs["discount"][t, b] * following - inputs["value"][t, b]
            assert result.advantage[t, b] == pytest.approx(float(wanted) if inputs["mask"][t, b] else 0.0)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_on_policy_the_targets_are_n_step_returns(seed: int) -> None:
    inputs = draw(seed, log_ratio="zero")
    result = vtrace(**inputs)
    expected = inputs["bootstrap"].clone()
    for t in reversed(range(T)):
        expected = inputs["reward"][t] + inputs["discount"][t] * expected
        expected = torch.where(inputs["mask"][t], expected, inputs["value"][t])
        torch.testing.assert_close(result.targets[t], expected)


def test_values_at_masked_steps_have_no_effect() -> None:
    inputs = draw(3)
    garbage = {key: value.clone() for key, value in inputs.items()}
    for key in ("log_ratio", "reward", "discount"):
        garbage[key][~inputs["mask"]] = math.nan
    clean, dirty = vtrace(**inputs), vtrace(**garbage)
    for field in VTrace._fields:
        torch.testing.assert_close(getattr(clean, field), getattr(dirty, field))
    assert (clean.rho[~inputs["mask"]] == 0).all() and (clean.advantage[~inputs["mask"]] == 0).all()


def test_no_gradient_flows_through_targets() -> None:
    inputs = draw(4)
    for key in ("log_ratio", "value", "bootstrap", "reward"):
        inputs[key].requires_grad_()
    for part in vtrace(**inputs):
        assert not part.requires_grad


def test_an_overflowing_ratio_is_clipped_like_any_other() -> None:
    inputs = draw(5)
    inputs["log_ratio"] = torch.full((T, B), 1e4, dtype=torch.float64)
    result = vtrace(**inputs)
    assert result.targets.isfinite().all() and result.advantage.isfinite().all()


@pytest.mark.parametrize("parts", [1, 3])
def test_policy_gradient_is_the_slow_sum_and_reaches_the_log_probability_alone(parts: int) -> None:
    inputs, g = draw(6), torch.Generator().manual_seed(0)
    mask, advantage = inputs["mask"], inputs["reward"].requires_grad_()
    own, log_prob = (torch.randn(T, B, parts, dtype=torch.float64, generator=g).requires_grad_() for _ in range(2))
    result = policy_gradient(log_prob=log_prob, log_ratio=own, advantage=advantage, mask=mask, rho_clip=0.8)
    result.backward()

    loss, steps = 0.0, int(mask.sum())
    weights = own.detach().exp().clamp(max=0.8)
    assert (weights < 0.8).any() and (weights == 0.8).any()
    assert log_prob.grad is not None
    for t, b, n in np.ndindex(T, B, parts):
        if mask[t, b]:
            weight = float(weights[t, b, n]) * advantage[t, b].item()
            loss -= weight * log_prob[t, b, n].item() / steps
            assert log_prob.grad[t, b, n] == pytest.approx(-weight / steps)
    assert result.item() == pytest.approx(loss)
    assert own.grad is None and advantage.grad is None
    assert (log_prob.grad[~mask] == 0).all()


def test_ratio_statistics_are_the_slow_ones() -> None:
    inputs = draw(7)
    kept = [float(inputs["log_ratio"][t, b]) for t, b in np.ndindex(T, B) if inputs["mask"][t, b]]
    ratios = [math.exp(each) for each in kept]
    found = ratio_statistics(log_ratio=inputs["log_ratio"], mask=inputs["mask"], clip=0.9)
    assert float(found.log_ratio) == pytest.approx(np.mean(kept))
    assert float(found.ratio) == pytest.approx(np.mean(ratios))
    assert float(found.ratio_square) == pytest.approx(np.mean(np.square(ratios)))
    assert float(found.rho) == pytest.approx(np.mean([min(0.9, each) for each in ratios]))
    assert float(found.clipped) == pytest.approx(np.mean([each > 0.9 for each in ratios]))
    assert 0 < float(found.clipped) < 1


def test_rounding_is_not_counted_as_clipping() -> None:
    log_ratio = torch.tensor([[2e-6, -2e-6, 5e-4, 0.002]])
    found = ratio_statistics(log_ratio=log_ratio, mask=torch.ones(1, 4, dtype=torch.bool))
    assert float(found.clipped) == 0.25
    huge = ratio_statistics(log_ratio=torch.full((1, 2), 1e4), mask=torch.ones(1, 2, dtype=torch.bool))
    assert huge.ratio_square.isfinite()


def evaluate_lagged_chain(*, corrected: bool) -> float:
    """The error of a value function of a 4-state ring, learned from the unrolls of a policy that lags behind.

    Moving on has reward 1, staying 0. The learner moves on with probability 0.9, the policy that acted with 0.4."""
    going, acted, gamma, states = 0.9, 0.4, 0.8, 4
    rng = np.random.default_rng(0)
    value = torch.zeros(states, dtype=torch.float64)
    length, lanes = 20, 32
    state = rng.integers(states, size=lanes)
    for _ in range(150):
        rows, rewards, ratios = [state], [], []
        for _ in range(length):
            goes = rng.random(lanes) < acted
            ratios.append(np.log(np.where(goes, going / acted, (1 - going) / (1 - acted))))
            rewards.append(goes.astype(float))
            state = (state + goes) % states
            rows.append(state)
        seen = torch.from_numpy(np.stack(rows))
        log_ratio = torch.from_numpy(np.stack(ratios))
        result = vtrace(
            log_ratio=log_ratio if corrected else torch.zeros_like(log_ratio),
            reward=torch.from_numpy(np.stack(rewards)),
            discount=torch.full((length, lanes), gamma, dtype=torch.float64),
            value=value[seen[:-1]],
            bootstrap=value[seen[-1]],
            mask=torch.ones(length, lanes, dtype=torch.bool),
        )
        for s in range(states):
            value[s] += 0.3 * (result.targets - value[s])[seen[:-1] == s].mean()
    return float((value - going / (1 - gamma)).abs().mean())


def test_with_lag_no_correction_does_worse() -> None:
    corrected, uncorrected = evaluate_lagged_chain(corrected=True), evaluate_lagged_chain(corrected=False)
    assert corrected < 0.4 * uncorrected
