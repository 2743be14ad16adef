"""The inter-temporal Bradley-Terry loss against three plain loops, and what must hold of it."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from interplay.learner.ibt import IBT, ibt_loss, utility_reward

T, B = 9, 5


def draw(seed: int, rate: float = 0.2) -> dict[str, Tensor]:
    g = torch.Generator().manual_seed(seed)
    return {
        "utility": 2 * torch.randn(T, B, generator=g, dtype=torch.float64),
        "marks_positive": (torch.rand(T, B, generator=g) < rate).int() * torch.randint(1, 3, (T, B), generator=g),
        "marks_negative": (torch.rand(T, B, generator=g) < rate).int(),
        "first": torch.rand(T, B, generator=g) < 0.15,
        "valid": torch.rand(T, B, generator=g) < 0.9,
    }


def slow(x: dict[str, Tensor]) -> tuple[list[float], int]:
    """Margins s (U_j - U_i) of all pairs that were ordered, and how many pairs had mixed marks."""
    margins, mixed = [], 0
    for b in range(x["utility"].shape[1]):
        for i in range(len(x["utility"])):
            for j in range(i + 1, len(x["utility"])):
                if bool(x["first"][i + 1 : j + 1, b].any()) or not (x["valid"][i, b] and x["valid"][j, b]):
                    continue
                positive = sum(int(x["marks_positive"][k, b]) for k in range(i + 1, j + 1))
                negative = sum(int(x["marks_negative"][k, b]) for k in range(i + 1, j + 1))
                mixed += positive > 0 and negative > 0
                if (positive > 0) != (negative > 0):
                    sign = 1 if positive else -1
                    margins.append(sign * (float(x["utility"][j, b]) - float(x["utility"][i, b])))
    return margins, mixed


def test_three_plain_loops_agree() -> None:
    for seed in range(8):
        inputs = draw(seed)
        margins, mixed = slow(inputs)
        assert margins and mixed
        result = ibt_loss(**inputs)
        assert int(result.pairs) == len(margins)
        assert float(result.loss) == pytest.approx(sum(math.log1p(math.exp(-m)) for m in margins) / len(margins))
        assert float(result.margin) == pytest.approx(sum(margins) / len(margins))
        assert float(result.accuracy) == pytest.approx(sum(m > 0 for m in margins) / len(margins))


@given(seed=st.integers(0, 1000), constant=st.floats(-1e3, 1e3))
@settings(max_examples=30, deadline=None)
def test_the_loss_is_invariant_to_a_constant_added_to_the_utility(seed: int, constant: float) -> None:
    inputs = draw(seed)
    shifted = {**inputs, "utility": inputs["utility"] + constant}
    torch.testing.assert_close(ibt_loss(**shifted).loss, ibt_loss(**inputs).loss)


def test_log_two_at_zero_difference() -> None:
    inputs = {**draw(0), "utility": torch.full((T, B), 3.0, dtype=torch.float64)}
    result = ibt_loss(**inputs)
    assert float(result.loss) == pytest.approx(math.log(2))
    assert float(result.accuracy) == 0.5


def column(utility: list[float], marks: dict[int, int], first: tuple[int, ...] = ()) -> IBT:
    rows = len(utility)
    positive, negative, starts = (torch.zeros(rows, 1, dtype=torch.int32) for _ in range(3))
    for row, sign in marks.items():
        (positive if sign > 0 else negative)[row, 0] = 1
    for row in first:
        starts[row, 0] = 1
    return ibt_loss(
        utility=torch.tensor(utility, dtype=torch.float64)[:, None],
        marks_positive=positive,
        marks_negative=negative,
        first=starts.bool(),
        valid=torch.ones(rows, 1, dtype=torch.bool),
    )


def test_a_mark_orders_the_steps_before_it() -> None:
    result = column([0.0, 0.0, 5.0, 5.0], {2: 1})
    assert int(result.pairs) == 4  # (0,2) (0,3) (1,2) (1,3), but neither (0,1) nor (2,3)
    assert float(result.margin) == 5
    assert float(column([0.0, 0.0, 5.0, 5.0], {2: -1}).margin) == -5


def test_a_mark_on_the_first_row_orders_no_pair() -> None:
    assert int(column([1.0, 2.0, 3.0], {0: 1}).pairs) == 0


def test_a_pair_with_both_signs_between_is_ignored() -> None:
    result = column([0.0, 1.0, 10.0], {1: 1, 2: -1})
    assert int(result.pairs) == 2  # (0,1) better, (1,2) worse; (0,2) is mixed
    assert float(result.margin) == pytest.approx((1 - 9) / 2)


def test_no_pair_spans_two_episodes() -> None:
    assert int(column([0.0, 0.0, 0.0, 0.0], {1: 1, 3: 1}, first=(2,)).pairs) == 2


def test_raters_who_disagree_do_not_cancel_out() -> None:
    alone = column([0.0, 2.0], {1: 1})
    inputs = {
        "utility": torch.tensor([[0.0, 0.0], [2.0, 2.0]], dtype=torch.float64),
        "marks_positive": torch.tensor([[0, 0], [1, 0]]),
        "marks_negative": torch.tensor([[0, 0], [0, 1]]),
        "first": torch.zeros(2, 2, dtype=torch.bool),
        "valid": torch.ones(2, 2, dtype=torch.bool),
    }
    both = ibt_loss(**inputs)
    assert int(both.pairs) == 2
    assert float(both.loss) == pytest.approx((float(alone.loss) + math.log1p(math.exp(2))) / 2)


def test_without_marks_the_loss_is_zero_and_has_a_gradient() -> None:
    inputs = draw(0, rate=0.0)
    inputs["utility"].requires_grad_()
    result = ibt_loss(**inputs)
    result.loss.backward()
    assert int(result.pairs) == 0 and result.loss.item() == 0
    assert inputs["utility"].grad is not None and (inputs["utility"].grad == 0).all()


def test_the_gradient_is_that_of_finite_differences() -> None:
    inputs = draw(2)
    utility = inputs.pop("utility").requires_grad_()
    assert torch.autograd.gradcheck(lambda u: ibt_loss(utility=u, **inputs).loss, utility)


@given(lengths=st.lists(st.integers(1, 5), min_size=1, max_size=4), seed=st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_the_rewards_of_an_episode_sum_to_its_gain_in_utility(lengths: list[int], seed: int) -> None:
    rows = sum(n + 1 for n in lengths)
    utility = torch.randn(rows, 1, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    last = torch.zeros(rows, 1, dtype=torch.bool)
    ends = torch.tensor([n + 1 for n in lengths]).cumsum(0) - 1
    last[ends] = True
    reward = utility_reward(utility=utility, last=last)
    assert reward.shape == (rows - 1, 1)
    start = 0
    for end in ends.tolist():
        assert float(reward[start:end].sum()) == pytest.approx(float(utility[end] - utility[start]))
        assert end == rows - 1 or float(reward[end]) == 0
        start = end + 1


def test_rewards_carry_no_gradient() -> None:
    utility = torch.randn(4, 2, requires_grad=True)
    assert not utility_reward(utility=utility, last=torch.zeros(4, 2, dtype=torch.bool)).requires_grad
