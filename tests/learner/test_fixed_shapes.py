"""Losses whose shapes do not depend on the data equal those that gather the rows they are about, also with padding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from fake_world import LineWorld, tiny_agent
from rank_process import LANES, demonstrated_rows, rollout_rows
from torch import Tensor
from torch.nn import functional

from interplay.agent.network import Agent
from interplay.agent.selected_rows import SelectedRows, select_rows
from interplay.learner.batch import load_batch
from interplay.learner.config import LearnerConfig
from interplay.learner.ibt import ibt_loss, pair_signs
from interplay.learner.learner import Learner
from interplay.learner.loss_rows import RowLengths, select_loss_rows
from interplay.learner.losses import CSSPairs, css, css_pairs, shuffled_lanes

T, B, E = 7, 5, 4
Gathered = tuple[Tensor, int]  # a loss and what it is a mean over


def draw(seed: int) -> dict[str, Tensor]:
    g = torch.Generator().manual_seed(seed)
    return {
        "utility": torch.randn(T, B, generator=g),
        "vision": torch.randn(T, B, E, generator=g),
        "language": torch.randn(T, B, E, generator=g),
        "text": torch.randint(0, 2, (T, B, 2), generator=g),
        "mask": torch.rand(T, B, generator=g) < 0.7,
        "marks_positive": (torch.rand(T, B, generator=g) < 0.2).to(torch.int8),
        "marks_negative": (torch.rand(T, B, generator=g) < 0.2).to(torch.int8),
        "first": torch.rand(T, B, generator=g) < 0.15,
        "valid": torch.rand(T, B, generator=g) < 0.9,
    }


def gathered_ibt(utility: Tensor, **marks: Tensor) -> Gathered:
    """`ibt_loss` over a list of the pairs that are ordered."""
    sign = pair_signs(**marks)
    earlier, later, lane = where = sign.nonzero(as_tuple=True)
    margin = sign[where] * (utility[later, lane] - utility[earlier, lane])
    return functional.softplus(-margin).sum() / max(1, len(margin)), len(margin)


def similarity(vision: Tensor, language: Tensor) -> Tensor:
    return (vision * language).sum(-1)


def gathered_css(x: dict[str, Tensor], permutation: Tensor) -> tuple[Tensor, list[int]]:
    """`css` over lists of the rows that form pairs."""
    other, mask_other = x["text"][:, permutation], x["mask"][:, permutation]
    matching = (x["mask"] & x["text"].any(-1)).nonzero(as_tuple=True)
    different = (other != x["text"]).any(-1) & other.any(-1) & x["mask"] & mask_other
    mismatching = different.nonzero(as_tuple=True)
    same = similarity(x["vision"][matching], x["language"][matching])
    wrong = similarity(x["vision"][mismatching], x["language"][:, permutation][mismatching])
    losses = [functional.softplus(each).sum() / max(1, len(each)) for each in (-same, wrong)]
    return 0.5 * sum(losses, torch.zeros(())), [len(same), len(wrong)]


def with_gradient(loss: Callable[..., Any], *over: Tensor) -> tuple[Any, list[Tensor]]:
    """The results of a loss of copies of tensors, and the gradient of its first result by them."""
    leaves = [tensor.clone().requires_grad_() for tensor in over]
    found = loss(*leaves)
    return found, list(torch.autograd.grad(found[0], leaves))


@pytest.mark.parametrize("seed", range(4))
def test_ibt_over_all_pairs_is_that_over_the_ordered_ones(seed: int) -> None:
    x = draw(seed)
    marks = {name: x[name] for name in ("marks_positive", "marks_negative", "first", "valid")}
    expected, slopes = with_gradient(lambda utility: gathered_ibt(utility, **marks), x["utility"])
    found, own = with_gradient(lambda utility: ibt_loss(utility=utility, **marks), x["utility"])
    torch.testing.assert_close(found.loss, expected[0])
    torch.testing.assert_close(own, slopes)
    assert int(found.pairs) == expected[1] > 0


def test_ibt_ignores_values_of_rows_without_a_pair() -> None:
    """Also infinite ones, and in the gradient."""
    x = draw(0)
    marks = {name: x[name] for name in ("marks_positive", "marks_negative", "first")}
    valid = torch.ones(T, B, dtype=torch.bool)
    valid[2] = False
    x["utility"][2] = float("inf")
    found, (slope,) = with_gradient(lambda utility: ibt_loss(utility=utility, valid=valid, **marks), x["utility"])
    assert torch.isfinite(found.loss) and torch.isfinite(slope).all() and not slope[2].any()


@pytest.mark.parametrize("padding", [None, 0, 9])
@pytest.mark.parametrize("seed", range(3))
def test_css_of_a_padded_list_is_that_of_the_pairs(seed: int, padding: int | None) -> None:
    x, permutation = draw(seed), shuffled_lanes(B, torch.Generator().manual_seed(seed))
    masks = css_pairs(
        text=x["text"],
        mask=x["mask"],
        other_text=x["text"][:, permutation],
        other_mask=x["mask"][:, permutation],
    )
    pairs = CSSPairs(*(select_rows(each, None if padding is None else int(each.sum()) + padding) for each in masks))

    def of(vision: Tensor, language: Tensor) -> Any:
        return css(
            discriminator=similarity,
            vision=vision,
            language=language,
            text=x["text"],
            mask=x["mask"],
            permutation=permutation,
            pairs=pairs,
        )

    reference = with_gradient(
        lambda vision, language: gathered_css({**x, "vision": vision, "language": language}, permutation),
        x["vision"],
        x["language"],
    )
    found, slopes = with_gradient(of, x["vision"], x["language"])
    torch.testing.assert_close(found.loss, reference[0][0])
    torch.testing.assert_close(slopes, reference[1])
    assert found.pairs.tolist() == reference[0][1] and min(reference[0][1]) > 0


def test_utterances_of_a_padded_list_are_those_of_the_speaking_steps() -> None:
    agent = tiny_agent(LineWorld())
    assert agent.language is not None
    spoke = draw(1)["mask"]
    tokens = torch.randint(4, 9, (T, B, 3), generator=torch.Generator().manual_seed(2)) * spoke[:, :, None]
    core = torch.randn(T, B, agent.language.gate.in_features, generator=torch.Generator().manual_seed(3))
    head = agent.language

    def gathered(core: Tensor) -> tuple[Tensor, Tensor]:
        where = spoke.nonzero(as_tuple=True)
        words = torch.zeros(T, B).index_put(where, head.token_log_probs(core[where], tokens[where]).sum(-1))
        return (words * torch.arange(B)).sum(), words

    (_, expected), (slope,) = with_gradient(gathered, core)
    assert expected.count_nonzero() > 0
    for rows in (spoke, select_rows(spoke), select_rows(spoke, T * B + 3)):

        def of(core: Tensor, rows: Tensor | SelectedRows = rows) -> tuple[Tensor, Tensor]:
            words = head.utterance_log_probs(core, rows, tokens)
            return (words * torch.arange(B)).sum(), words

        (_, found), (own,) = with_gradient(of, core)
        torch.testing.assert_close(found, expected)
        torch.testing.assert_close(own, slope)


def test_too_short_a_list_is_refused() -> None:
    with pytest.raises(ValueError, match="35 rows do not fit into a list of 34"):
        select_rows(torch.ones(T, B, dtype=torch.bool), 34)


def test_lengths_grow_when_they_must_and_never_shrink() -> None:
    lengths = RowLengths()
    assert [lengths("a", rows) for rows in (0, 16, 17, 3)] == [16, 16, 32, 32]
    assert lengths("b", 100) == 256 and lengths("a", 32) == 32


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("name", ["utility", "marks"])
def test_an_update_with_padded_lists_is_the_same(name: str, parts: int) -> None:
    """Rows without text and without an utterance among them."""
    found = []
    for lengths in (None, RowLengths()):
        agent: Agent = tiny_agent(LineWorld(), **{name: True})
        config = LearnerConfig(learning_rate=1e-3, accumulate=parts)
        learner = Learner(agent, config, dataset_lanes=LANES, generator=torch.Generator().manual_seed(4))
        learner._lengths = lengths
        metrics = learner.update(demonstrated=demonstrated_rows(agent, 0), rollout=rollout_rows(agent, 0))
        gradient = torch.cat([each.grad.reshape(-1) for each in agent.parameters() if each.grad is not None])
        found.append((metrics, gradient))
    (expected, slope), (padded, own) = found
    assert padded == pytest.approx(expected, rel=1e-5, abs=1e-6)
    assert (own - slope).norm() < 1e-6 * slope.norm()


def test_lists_have_the_same_length_in_every_batch() -> None:
    agent = tiny_agent(LineWorld())
    lengths, permutation = RowLengths(), shuffled_lanes(LANES, torch.Generator().manual_seed(0))
    shapes = set()
    for number in range(6):
        batch = load_batch(demonstrated_rows(agent, number), rollout_rows(agent, number), torch.device("cpu"))
        whole = [(slice(0, LANES), slice(0, LANES))]
        (rows,) = select_loss_rows(batch, whole, permutation, lambda lanes: lanes, torch.device("cpu"), lengths)
        assert rows.pairs is not None and rows.played is not None and rows.cloned is not None
        shapes.add(tuple(len(each.step) for each in (*rows.pairs, rows.played, rows.cloned)))
    assert len(shapes) == 1
