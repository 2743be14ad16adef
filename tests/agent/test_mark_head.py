"""The head of an autoregressive reward model: against a slow loop, in windows, and as it draws its own marks."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from interplay.agent.mark_head import MarkHead, MarkState, mark_classes, mark_rewards
from interplay.agent.recurrent import lstm_step
from interplay.learner.mark_loss import mark_loss

T, B, INPUTS, WIDTH = 7, 3, 5, 4


@pytest.fixture
def head() -> MarkHead:
    torch.manual_seed(0)
    head = MarkHead(INPUTS, WIDTH)
    torch.nn.init.normal_(head.output.weight)
    torch.nn.init.normal_(head.output.bias)
    return head


def rows(seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Core outputs, true marks and episode starts."""
    generator = torch.Generator().manual_seed(seed)
    core = torch.randn(T, B, INPUTS, generator=generator)
    return core, torch.randint(3, (T, B), generator=generator), torch.rand(T, B, generator=generator) < 0.3


def slow_logits(head: MarkHead, core: Tensor, marks: Tensor, first: Tensor) -> Tensor:
    """Lane by lane and row by row; the first row of each lane follows no mark."""
    found = torch.zeros(T, B, 3)
    for lane in range(B):
        hidden, cell, previous = torch.zeros(1, WIDTH), torch.zeros(1, WIDTH), 0
        for t in range(T):
            if first[t, lane]:
                hidden, cell, previous = torch.zeros(1, WIDTH), torch.zeros(1, WIDTH), 0
            inputs = torch.cat([core[t, lane], torch.eye(3)[previous]])[None]
            keep, weights = torch.ones(1, 1), head.memory.recurrent.t()
            hidden, cell = lstm_step(head.memory.input(inputs), keep, hidden, cell, weights)
            found[t, lane] = head.output(hidden)[0]
            previous = int(marks[t, lane])
    return found


def test_logits_and_loss_equal_a_slow_loop(head: MarkHead) -> None:
    core, marks, first = rows()
    expected = slow_logits(head, core, marks, first)
    logits, _ = head(core, marks, first, head.initial_state(B))
    torch.testing.assert_close(logits, expected)
    found = mark_loss(logits=logits, marks=marks)
    likelihoods, signs = [], []
    for t in range(T):
        for lane in range(B):
            shares = np.exp(expected[t, lane].detach().numpy().astype(float))
            likelihoods.append(np.log(shares[marks[t, lane]] / shares.sum()))
            if marks[t, lane]:
                signs.append(float((shares[1] < shares[2]) == (marks[t, lane] == 2)))
    assert found.loss.item() == pytest.approx(-np.mean(likelihoods), rel=1e-5)
    assert found.sign_accuracy.item() == pytest.approx(np.mean(signs))
    assert (found.rows.item(), found.marked.item()) == (T * B, len(signs))


@pytest.mark.parametrize("cut", [1, 4])
def test_windows_continue_each_other(head: MarkHead, cut: int) -> None:
    core, marks, first = rows(1)
    whole, after = head(core, marks, first, head.initial_state(B))
    one, between = head(core[:cut], marks[:cut], first[:cut], head.initial_state(B))
    other, end = head(core[cut:], marks[cut:], first[cut:], between)
    torch.testing.assert_close(torch.cat([one, other]), whole)
    for ours, theirs in zip(end, after, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_it_draws_from_the_distribution_that_its_own_marks_lead_to(head: MarkHead) -> None:
    core, _, first = rows(2)
    lanes, generator = 4000, torch.Generator().manual_seed(3)
    state = MarkState(*(part[:1].expand(lanes, *part.shape[1:]) for part in head.initial_state(1)))
    with torch.no_grad():
        wide = core[:, :1].expand(T, lanes, INPUTS), first[:, :1].expand(T, lanes)
        drawn, after = head.sample(*wide, state, torch.rand(T, lanes, generator=generator))
        logits, forced = head(wide[0], drawn, wide[1], state)  # as if its draws had been the true marks
    shares = torch.nn.functional.one_hot(drawn, 3).double().mean(1)
    torch.testing.assert_close(shares, logits.softmax(-1).double().mean(1), atol=0.03, rtol=0)
    for ours, theirs in zip(after, forced, strict=True):
        torch.testing.assert_close(ours, theirs)
    assert shares.min() > 0.05 and drawn[0].unique().tolist() == [0, 1, 2]


def test_marks_of_a_row_are_one_class() -> None:
    classes = mark_classes(torch.tensor([0, 2, 1, 1, 0], dtype=torch.int8), torch.tensor([0, 1, 1, 2, 3]))
    assert classes.tolist() == [0, 1, 0, 2, 2]
    assert mark_rewards(classes).tolist() == [0, 1, 0, -1, -1]
