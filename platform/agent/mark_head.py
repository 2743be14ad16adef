"""The head of an autoregressive (AR) reward model: an LSTM that predicts the rater's mark at every row.

After appendix A.5 of "Improving Multimodal Interactive Agents with Reinforcement Learning from Human Feedback"
(arXiv 2211.11602). The input of a row includes the mark of the row before it: the true one in training (teacher
forcing), the model's own sample in use.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from interplay.agent.recurrent import RecurrentCore, RecurrentState

NO_MARK, POSITIVE, NEGATIVE = 0, 1, 2
CLASSES = 3
# Marks are rare. The head starts close to their frequency, so that it need not unlearn two marks in three rows.
INITIAL_NO_MARK_LOGIT = 3.0


class MarkState(NamedTuple):
    """The state of the head before a row, of B lanes."""

    hidden: Tensor  # [B, D]
    cell: Tensor  # [B, D]
    previous: Tensor  # int64 [B], the mark of the row before it


class MarkHead(nn.Module):
    """An LSTM and a classifier with three classes: no mark, a positive one, a negative one."""

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.memory = RecurrentCore(inputs + CLASSES, width)
        self.output = nn.Linear(width, CLASSES)
        with torch.no_grad():
            self.output.bias.copy_(torch.tensor([INITIAL_NO_MARK_LOGIT, 0.0, 0.0]))

    def initial_state(self, lanes: int) -> MarkState:
        """The state at the start of an episode."""
        zeros = self.memory.recurrent.new_zeros(lanes, self.memory.width)
        return MarkState(zeros, zeros, torch.zeros(lanes, dtype=torch.int64, device=zeros.device))

    def forward(self, core: Tensor, marks: Tensor, first: Tensor, state: MarkState) -> tuple[Tensor, MarkState]:
        """Predicts the mark of each row from the rows up to it and the true marks before it.

        Args:
            core: [T, B, inputs].
            marks: int64 [T, B], the true marks.
            first: bool [T, B]; before such a row the state is reset, and no mark precedes it.
            state: before the first row.

        Returns:
            Logits [T, B, 3], and the state after the last row.
        """
        previous = torch.cat([state.previous[None], marks[:-1]])
        remembered, after = self._remember(core, previous, first, state)
        return self.output(remembered), MarkState(*after, marks[-1])

    def sample(self, core: Tensor, first: Tensor, state: MarkState, uniform: Tensor) -> tuple[Tensor, MarkState]:
        """Draws the mark of each row, given the marks drawn before it.

        Args:
            uniform: [T, B], numbers from 0 to 1 that determine the draws.

        Returns:
            Marks int64 [T, B], and the state after the last row. Other arguments as in `forward`.
        """
        drawn = []
        for core_t, first_t, uniform_t in zip(core.unbind(0), first.unbind(0), uniform.unbind(0), strict=True):
            remembered, after = self._remember(core_t[None], state.previous[None], first_t[None], state)
            cumulative = self.output(remembered[0]).softmax(-1).cumsum(-1)  # [B, 3]
            mark = (uniform_t[:, None] >= cumulative[:, :-1]).sum(-1)
            drawn.append(mark)
            state = MarkState(*after, mark)
        return torch.stack(drawn), state

    def _remember(
        self, core: Tensor, previous: Tensor, first: Tensor, state: MarkState
    ) -> tuple[Tensor, RecurrentState[Tensor]]:
        previous = torch.where(first, NO_MARK, previous)
        # As functional.one_hot, which reads the classes on the host to check them.
        one_hot = previous[..., None] == torch.arange(CLASSES, device=previous.device)
        inputs = torch.cat([core, one_hot.to(core.dtype)], dim=-1)
        found: tuple[Tensor, RecurrentState[Tensor]] = self.memory(
            inputs, first, RecurrentState(state.hidden, state.cell)
        )
        return found


def mark_classes(positive: Tensor, negative: Tensor) -> Tensor:
    """The class of each row, int64, from the numbers of marks of each sign; as many of both count as none."""
    sign = (positive.to(torch.int64) - negative.to(torch.int64)).sign()
    return torch.where(sign < 0, NEGATIVE, sign)


def mark_rewards(marks: Tensor) -> Tensor:
    """+1, -1 or 0 for each mark class, float32."""
    return (marks == POSITIVE).to(torch.float32) - (marks == NEGATIVE).to(torch.float32)
