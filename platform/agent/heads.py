"""Output heads: movement, and scalars such as the value. The language head is in `language.py`."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from interplay.agent.noise import Noise
from interplay.agent.observation import Layout
from interplay.agent.transformer import IMPOSSIBLE_LOGIT


class ScalarHead(nn.Module):
    """An MLP with one output, for the value and for a reward model's utility."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, core: Tensor) -> Tensor:
        """[..., inputs] -> [...]."""
        return cast(Tensor, self.layers(core)[..., 0])


class MovementHead(nn.Module):
    """An MLP that outputs the A distinct actions of a step at once, each of K independent categoricals."""

    spread: Tensor

    def __init__(self, inputs: int, hidden: int, layout: Layout) -> None:
        super().__init__()
        self.actions = layout.actions_per_step
        self.components = layout.components
        bins = torch.tensor(layout.bins)
        self.total = sum(layout.bins)
        self.layers = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, self.actions * self.total))
        # Components differ in size: `spread` gathers their logits into a rectangle, padded from an extra last column.
        starts = bins.cumsum(0) - bins
        positions = starts[:, None] + torch.arange(max(layout.bins))
        inside = torch.arange(max(layout.bins)) < bins[:, None]
        self.register_buffer("spread", torch.where(inside, positions, self.total).flatten(), persistent=False)

    def forward(self, core: Tensor) -> Tensor:
        """[..., inputs] -> logits [..., A, K, M]: M is the largest number of bins; impossible: `IMPOSSIBLE_LOGIT`."""
        flat = self.layers(core).view(*core.shape[:-1], self.actions, self.total)
        padded = functional.pad(flat, (0, 1), value=IMPOSSIBLE_LOGIT).index_select(-1, self.spread)
        return padded.view(*padded.shape[:-1], self.components, -1)


def movement_log_probs(logits: Tensor, movement: Tensor) -> Tensor:
    """Log-probability of each component: logits [..., A, K, M], movement [..., A, K] -> [..., A, K]."""
    return logits.log_softmax(-1).gather(-1, movement.long()[..., None])[..., 0]


def movement_entropy(logits: Tensor) -> Tensor:
    """Entropy of each component in nats, [..., A, K, M] -> [..., A, K]."""
    log_probs = logits.log_softmax(-1)
    return -(log_probs.exp() * log_probs).sum(-1)


def choose(logits: Tensor, noise: Noise, greedy: bool, needed: Tensor | None = None) -> Tensor:
    """Sample from categoricals (greedy: take their modes), [N, ..., M] -> int64 [N, ...]; `needed`: see `Noise`."""
    if greedy:
        return logits.argmax(-1)
    return (logits - noise.exponential(logits, needed).log()).argmax(-1)  # exponential form of the Gumbel-max trick


def gate_entropy(gate: Tensor) -> Tensor:
    """Entropy of the gate's decision in nats, logits [...] -> [...]."""
    return functional.softplus(gate) - gate * gate.sigmoid()


def gate_log_prob(gate: Tensor, speak: Tensor) -> Tensor:
    """Log-probability of the gate's decision to speak or not: logits [...], speak bool [...] -> [...]."""
    return functional.logsigmoid(torch.where(speak, gate, -gate))
