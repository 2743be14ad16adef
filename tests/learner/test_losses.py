"""Each loss against a slow reference."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.distributions import Bernoulli, kl_divergence

from interplay.learner.averages import masked_mean
from interplay.learner.losses import (
    css,
    gate_cloning,
    gate_kl,
    movement_cloning,
    shuffled_lanes,
    token_cloning,
    value_loss,
)

T, B, A, K, E = 5, 4, 2, 3, 6


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def some(*shape: int, seed: int = 1, share: float = 0.6) -> Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed)) < share


def test_masked_mean_selects_and_never_multiplies() -> None:
    values = torch.tensor([1.0, math.nan, 3.0, math.inf], requires_grad=True)
    mean = masked_mean(values, torch.tensor([True, False, True, False]))
    mean.backward()
    assert mean.item() == 2
    assert values.grad is not None and values.grad.tolist() == [0.5, 0, 0.5, 0]
    assert masked_mean(values, torch.zeros(4, dtype=torch.bool)).item() == 0


def test_movement_cloning_sums_or_averages_the_components() -> None:
    log_probs, mask = normal(T, B, A, K), some(T, B)
    chunks = [
        [float(log_probs[t, b, a, k]) for a in range(A) for k in range(K)]
        for t in range(T)
        for b in range(B)
        if mask[t, b]
    ]
    total = -sum(sum(chunk) for chunk in chunks) / len(chunks)
    assert float(movement_cloning(log_probs=log_probs, mask=mask)) == pytest.approx(total)
    assert float(movement_cloning(log_probs=log_probs, mask=mask, reduce="mean")) == pytest.approx(total / (A * K))


def test_gate_cloning_is_the_bernoulli_log_likelihood() -> None:
    logits, spoke, mask = 3 * normal(T, B), some(T, B, seed=2), some(T, B, share=0.9)
    cells = [(t, b) for t in range(T) for b in range(B) if mask[t, b]]
    loss = -sum(float(Bernoulli(logits=logits[c]).log_prob(spoke[c].double())) for c in cells) / len(cells)
    right = sum(bool(logits[c] > 0) == bool(spoke[c]) for c in cells) / len(cells)
    result = gate_cloning(logits=logits, spoke=spoke, mask=mask)
    assert result.loss.item() == pytest.approx(loss)
    assert float(result.accuracy) == pytest.approx(right)


def test_gate_accuracy_counts_the_likelier_side() -> None:
    logits, mask = torch.tensor([[0.1, 0.1, 0.1, -0.1, 9.0]]), torch.tensor([[True, True, True, True, False]])
    spoke = torch.tensor([[True, True, False, False, True]])
    assert gate_cloning(logits=logits, spoke=spoke, mask=mask).accuracy.item() == 0.75


TOKENS = torch.tensor([[5, 6, 3, 0], [7, 3, 0, 0], [9, 8, 4, 3]])


@pytest.mark.parametrize("reduce", ["sum", "mean"])
def test_token_cloning_averages_utterances(reduce: str) -> None:
    log_probs = normal(3, 4)
    said = [[float(log_probs[n, i]) for i in range(4) if TOKENS[n, i]] for n in range(3)]
    each = [-sum(words) if reduce == "sum" else -sum(words) / len(words) for words in said]
    result = token_cloning(log_probs=log_probs, tokens=TOKENS, reduce=reduce)  # type: ignore[arg-type]
    assert result.loss.item() == pytest.approx(sum(each) / 3)
    assert int(result.utterances) == 3


def test_token_cloning_ignores_pads_whatever_they_hold() -> None:
    log_probs = normal(3, 4)
    garbage = torch.where(TOKENS == 0, torch.full_like(log_probs, -math.inf), log_probs).requires_grad_()
    loss = token_cloning(log_probs=garbage, tokens=TOKENS).loss
    loss.backward()
    torch.testing.assert_close(loss, token_cloning(log_probs=log_probs, tokens=TOKENS).loss)
    assert garbage.grad is not None
    torch.testing.assert_close(garbage.grad, -(TOKENS != 0).double() / 3)


def test_token_cloning_of_silence_is_zero_with_a_gradient() -> None:
    log_probs = torch.zeros(0, 4, requires_grad=True)
    result = token_cloning(log_probs=log_probs, tokens=torch.zeros(0, 4, dtype=torch.int64))
    result.loss.backward()
    assert result.loss.item() == 0 and int(result.utterances) == 0


@given(lanes=st.integers(2, 40), seed=st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_shuffled_lanes_leave_none_in_place(lanes: int, seed: int) -> None:
    order = shuffled_lanes(lanes, torch.Generator().manual_seed(seed))
    assert sorted(order.tolist()) == list(range(lanes))
    assert all(int(order[b]) != b for b in range(lanes))


def test_one_lane_has_no_negative() -> None:
    with pytest.raises(ValueError, match="at least 2 cloning lanes"):
        shuffled_lanes(1, torch.Generator())


def similarity(vision: Tensor, language: Tensor) -> Tensor:
    return (vision * language).sum(-1)


def test_css_is_the_slow_cross_entropy_of_pairs() -> None:
    vision, language, mask = normal(T, B, E, seed=3), normal(T, B, E, seed=4), some(T, B, share=0.8)
    text = torch.randint(0, 3, (T, B, 2), generator=torch.Generator().manual_seed(5))
    permutation = torch.tensor([1, 2, 3, 0])
    same, different = [], []
    for t in range(T):
        for b in range(B):
            o = int(permutation[b])
            if mask[t, b] and text[t, b].any():
                same.append(float(similarity(vision[t, b], language[t, b])))
            if mask[t, b] and mask[t, o] and text[t, o].any() and text[t, o].tolist() != text[t, b].tolist():
                different.append(float(similarity(vision[t, b], language[t, o])))
    assert len(same) not in (0, T * B) and len(different) not in (0, T * B)
    loss = sum(math.log1p(math.exp(-x)) for x in same) / len(same)
    loss += sum(math.log1p(math.exp(x)) for x in different) / len(different)
    result = css(
        discriminator=similarity, vision=vision, language=language, text=text, mask=mask, permutation=permutation
    )
    assert result.loss.item() == pytest.approx(loss / 2)
    assert result.pairs.tolist() == [len(same), len(different)]
    accuracy = sum(x > 0 for x in same) / len(same) + sum(x <= 0 for x in different) / len(different)
    assert float(result.accuracy) == pytest.approx(accuracy / 2)


def test_css_has_no_gradient_if_every_lane_has_the_same_instruction() -> None:
    vision, language = normal(T, B, E, seed=3).requires_grad_(), normal(T, B, E, seed=4)
    text = torch.ones(T, B, 2, dtype=torch.int64)
    arguments = {"vision": vision, "language": language, "mask": some(T, B), "permutation": torch.tensor([1, 2, 3, 0])}
    assert css(discriminator=similarity, text=text, **arguments).pairs[1] == 0
    silent = css(discriminator=similarity, text=torch.zeros_like(text), **arguments)
    silent.loss.backward()
    assert silent.loss.item() == 0 and silent.pairs.tolist() == [0, 0]


def test_value_loss_is_half_the_square_and_moves_the_value_alone() -> None:
    value, targets, mask = normal(T, B).requires_grad_(), normal(T, B, seed=1).requires_grad_(), some(T, B)
    loss = value_loss(value=value, targets=targets, mask=mask)
    loss.backward()
    squares = [(value[t, b] - targets[t, b]).item() ** 2 for t in range(T) for b in range(B) if mask[t, b]]
    assert loss.item() == pytest.approx(0.5 * sum(squares) / len(squares))
    assert targets.grad is None
    assert value.grad is not None
    torch.testing.assert_close(value.grad, torch.where(mask, value - targets, 0.0).detach() / mask.sum())


def test_gate_kl_matches_torch_and_its_direction() -> None:
    logits, reference, mask = 3 * normal(T, B), (3 * normal(T, B, seed=1)).requires_grad_(), some(T, B)
    loss = gate_kl(logits=logits.requires_grad_(), reference_logits=reference, mask=mask)
    exact = kl_divergence(Bernoulli(logits=logits), Bernoulli(logits=reference))
    torch.testing.assert_close(loss, exact[mask].mean())
    loss.backward()
    assert reference.grad is None
    assert logits.grad is not None and (logits.grad[mask] != 0).all()


def test_gate_kl_is_zero_at_equality_and_finite_far_away() -> None:
    mask = torch.ones(T, B, dtype=torch.bool)
    logits = 5 * normal(T, B)
    assert float(gate_kl(logits=logits, reference_logits=logits, mask=mask)) == pytest.approx(0, abs=1e-12)
    far = torch.full((T, B), 200.0)
    assert float(gate_kl(logits=far, reference_logits=-far, mask=mask)) == pytest.approx(200)


def test_gradients_are_those_of_finite_differences() -> None:
    mask, spoke = some(T, B), some(T, B, seed=2)
    logits = normal(T, B).requires_grad_()
    assert torch.autograd.gradcheck(
        lambda x: gate_kl(logits=x, reference_logits=normal(T, B, seed=7), mask=mask), logits
    )
    assert torch.autograd.gradcheck(lambda x: gate_cloning(logits=x, spoke=spoke, mask=mask).loss, logits)
    text = torch.randint(0, 3, (T, B, 2), generator=torch.Generator().manual_seed(5))
    assert torch.autograd.gradcheck(
        lambda v, w: (
            css(
                discriminator=similarity,
                vision=v,
                language=w,
                text=text,
                mask=mask,
                permutation=torch.tensor([2, 3, 1, 0]),
            ).loss
        ),
        (normal(T, B, E, seed=3).requires_grad_(), normal(T, B, E, seed=4).requires_grad_()),
    )
