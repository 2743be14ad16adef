"""Movements of independent and of autoregressive components: a distribution, sampled as it is scored."""

from __future__ import annotations

import itertools

import pytest
import torch
from test_network import layout_of, spec
from torch import Tensor

from interplay.agent.heads import AutoregressiveMovementHead, MovementHead, movement_entropy, movement_log_probs
from interplay.agent.noise import Noise

BINS, ACTIONS, INPUTS = (2, 3), 2, 5
HEADS = {"independent": MovementHead, "autoregressive": AutoregressiveMovementHead}
Head = MovementHead | AutoregressiveMovementHead


def head_of(kind: str) -> Head:
    """A head none of whose weights is zero."""
    torch.manual_seed(0)
    head = HEADS[kind](INPUTS, 16, layout_of(spec(bins=BINS)))
    with torch.no_grad():
        for parameter in head.parameters():
            parameter.add_(0.5 * torch.randn_like(parameter))
    return head


def every_movement() -> Tensor:
    """All 36 movements, int64 [36, A, K]."""
    return torch.tensor(list(itertools.product(*(range(n) for n in BINS * ACTIONS)))).view(-1, ACTIONS, len(BINS))


def log_probs_of(head: Head, core: Tensor, movement: Tensor) -> Tensor:
    """Of whole movements, [N]."""
    return movement_log_probs(head.logits(head(core), movement), movement).sum((-1, -2))


@pytest.mark.parametrize("kind", HEADS)
def test_the_probabilities_of_all_movements_sum_to_one(kind: str) -> None:
    head, movements = head_of(kind), every_movement()
    for core in torch.randn(4, INPUTS):
        total = log_probs_of(head, core.expand(len(movements), -1), movements).exp().sum()
        torch.testing.assert_close(total, torch.tensor(1.0))


@pytest.mark.parametrize("kind", HEADS)
def test_movements_are_drawn_as_they_are_scored(kind: str) -> None:
    head, movements = head_of(kind), every_movement()
    core = torch.randn(1, INPUTS).expand(20_000, -1)
    drawn, log_probs = head.sample(head(core), Noise.of(torch.Generator().manual_seed(1), len(core)), greedy=False)
    scored = movement_log_probs(head.logits(head(core), drawn), drawn)
    torch.testing.assert_close(log_probs, scored)
    seen = (drawn[:, None] == movements).all(-1).all(-1).float().mean(0)
    expected = log_probs_of(head, core[: len(movements)], movements).exp()
    torch.testing.assert_close(seen, expected, rtol=0.0, atol=0.015)


def test_a_component_depends_on_those_before_it_alone() -> None:
    head, core = head_of("autoregressive"), torch.randn(1, INPUTS)
    base = torch.zeros(1, ACTIONS, len(BINS), dtype=torch.int64)
    before = head.logits(head(core), base).flatten(1, 2)
    for place, (action, component) in enumerate(itertools.product(range(ACTIONS), range(len(BINS)))):
        changed = base.clone()
        changed[0, action, component] = 1
        after = head.logits(head(core), changed).flatten(1, 2)
        assert torch.equal(after[:, : place + 1], before[:, : place + 1])
        for later in range(place + 1, before.shape[1]):
            assert not torch.equal(after[:, later], before[:, later]), (place, later)


def test_a_new_autoregressive_head_is_independent_and_learns_to_depend() -> None:
    """Both components of both actions are always equal: without dependence they cost 4 log 2, with it log 2."""
    torch.manual_seed(0)
    head = AutoregressiveMovementHead(INPUTS, 16, layout_of(spec(bins=(2, 2))))
    movement = torch.tensor([0, 1])[:, None, None].expand(-1, ACTIONS, 2)
    core = torch.zeros(2, INPUTS)
    assert torch.equal(*head.logits(head(core), movement))
    optimizer = torch.optim.Adam(head.parameters(), lr=0.05)
    for _ in range(100):
        optimizer.zero_grad()
        loss = -log_probs_of(head, core, movement).mean()
        loss.backward()
        optimizer.step()
    assert float(loss.detach()) == pytest.approx(torch.tensor(2.0).log().item(), abs=0.05)
    drawn, _ = head.sample(head(core), Noise.of(torch.Generator().manual_seed(2), 2), greedy=True)
    assert (drawn == drawn[:, :1, :1]).all()


def test_the_mean_entropy_of_drawn_movements_is_that_of_the_distribution() -> None:
    head, movements = head_of("autoregressive"), every_movement()
    core = torch.randn(1, INPUTS).expand(20_000, -1)
    drawn, _ = head.sample(head(core), Noise.of(torch.Generator().manual_seed(3), len(core)), greedy=False)
    estimate = movement_entropy(head.logits(head(core), drawn)).sum((-1, -2)).mean()
    log_probs = log_probs_of(head, core[: len(movements)], movements)
    torch.testing.assert_close(estimate, -(log_probs.exp() * log_probs).sum(), rtol=0.01, atol=0.0)
