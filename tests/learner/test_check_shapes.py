"""Every public loss refuses a tensor of a wrong shape or dtype by its name, and accepts the right one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from interplay.learner.averages import masked_mean
from interplay.learner.check_shapes import check_shapes
from interplay.learner.ibt import ibt_loss, pair_signs, utility_reward
from interplay.learner.losses import css, gate_cloning, gate_kl, movement_cloning, token_cloning, value_loss
from interplay.learner.masks import discounts, valid_steps
from interplay.learner.vtrace import policy_gradient, ratio_statistics, vtrace

T, B = 5, 3
FLOAT, MASK = torch.rand(T, B), torch.ones(T, B, dtype=torch.bool)
MARKS = torch.zeros(T, B, dtype=torch.int8)

Loss = Callable[..., Any]
LOSSES: list[tuple[Loss, dict[str, Any]]] = [
    (
        vtrace,
        {
            "log_ratio": FLOAT,
            "reward": FLOAT,
            "discount": FLOAT,
            "value": FLOAT,
            "bootstrap": torch.rand(B),
            "mask": MASK,
        },
    ),
    (ratio_statistics, {"log_ratio": FLOAT, "mask": MASK}),
    (
        policy_gradient,
        {"log_prob": torch.rand(T, B, 2), "log_ratio": torch.rand(T, B, 2), "advantage": FLOAT, "mask": MASK},
    ),
    (value_loss, {"value": FLOAT, "targets": FLOAT, "mask": MASK}),
    (gate_kl, {"logits": FLOAT, "reference_logits": FLOAT, "mask": MASK}),
    (gate_cloning, {"logits": FLOAT, "spoke": MASK, "mask": MASK}),
    (movement_cloning, {"log_probs": torch.rand(T, B, 2, 4), "mask": MASK}),
    (token_cloning, {"log_probs": torch.rand(4, 6), "tokens": torch.ones(4, 6, dtype=torch.int16)}),
    (
        css,
        {
            "discriminator": lambda vision, language: vision.sum(-1) + language.sum(-1),
            "vision": torch.rand(T, B, 7),
            "language": torch.rand(T, B, 6),
            "text": torch.ones(T, B, 4, dtype=torch.int16),
            "mask": MASK,
            "permutation": torch.tensor([1, 2, 0]),
        },
    ),
    (ibt_loss, {"utility": FLOAT, "marks_positive": MARKS, "marks_negative": MARKS, "first": MASK, "valid": MASK}),
    (pair_signs, {"marks_positive": MARKS, "marks_negative": MARKS, "first": MASK, "valid": MASK}),
    (utility_reward, {"utility": FLOAT, "last": MASK}),
    (valid_steps, {"last": MASK}),
    (discounts, {"last": MASK, "gamma": 0.9}),
]


def wrong(tensor: Tensor) -> Iterator[Tensor]:
    """The same values with an extra axis, a missing axis and another dtype; [T, 1] for inputs with lanes."""
    yield tensor[..., None]
    yield tensor[0]
    yield (~tensor).int() if tensor.dtype == torch.bool else tensor > 0
    yield tensor.long() if tensor.is_floating_point() else tensor.double()


@pytest.mark.parametrize(("loss", "arguments"), LOSSES, ids=[loss.__name__ for loss, _ in LOSSES])
def test_a_loss_takes_its_shapes_and_refuses_others_by_name(loss: Loss, arguments: dict[str, Any]) -> None:
    loss(**arguments)
    for name, value in arguments.items():
        for bad in wrong(value) if isinstance(value, Tensor) else ():
            with pytest.raises(ValueError, match=rf"is {str(bad.dtype)[6:]} \[.*, expected "):
                loss(**{**arguments, name: bad})


@pytest.mark.parametrize("name", ["log_ratio", "reward", "discount", "mask"])
@pytest.mark.parametrize("shape", [(T, 1), (B,), (1, B), (T + 1, B)])
def test_vtrace_broadcasts_nothing(name: str, shape: tuple[int, ...]) -> None:
    arguments = LOSSES[0][1]
    bad = torch.ones(shape, dtype=arguments[name].dtype)
    with pytest.raises(ValueError, match=rf"{name} is \w+ \[.*\], expected \w+ \[T, B\] with T=5, B=3"):
        vtrace(**{**arguments, name: bad})


@pytest.mark.parametrize("given", [FLOAT.numpy(), 0.9])
def test_what_is_not_a_tensor_is_refused_by_its_name(given: Any) -> None:
    kind = type(given).__name__
    with pytest.raises(ValueError, match=rf"discount is a {kind}, expected a tensor, float \[T, B\] with T=5, B=3"):
        vtrace(**{**LOSSES[0][1], "discount": given})
    with pytest.raises(ValueError, match=rf"^value is a {kind}, expected a tensor, float \[T\]$"):
        check_shapes(value=(given, "float [T]"))


def test_another_reduction_is_refused() -> None:
    with pytest.raises(ValueError, match="reduce='average' is neither"):
        movement_cloning(log_probs=torch.rand(T, B, 2, 4), mask=MASK, reduce="average")
    with pytest.raises(ValueError, match="reduce='average' is neither"):
        token_cloning(log_probs=torch.rand(2, 4), tokens=torch.ones(2, 4, dtype=torch.int64), reduce="average")


def test_all_problems_are_reported_together_with_the_sizes_of_the_letters() -> None:
    with pytest.raises(ValueError) as error:
        check_shapes(
            value=(torch.rand(4, 2), "float [T, B]"),
            last=(torch.zeros(4, 2, dtype=torch.bool), "bool [T+1, B]"),
            marks=(torch.zeros(4, 2), "int [T, B]"),
        )
    assert str(error.value) == (
        "last is bool [4, 2], expected bool [T+1, B]; marks is float32 [4, 2], expected int [T, B] with T=4, B=2"
    )


def test_a_mean_takes_a_mask_of_its_values_only() -> None:
    for mask in (torch.ones(T, 1, dtype=torch.bool), torch.ones(T, B)):
        with pytest.raises(ValueError, match="expected a bool mask of the values' shape"):
            masked_mean(FLOAT, mask)
