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
    """An MLP with one output: the value, a reward model's utility, or the logit that a pair of CSS matches."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, core: Tensor) -> Tensor:
        """[..., inputs] -> [...]."""
        return cast(Tensor, self.layers(core)[..., 0])


class MovementHead(nn.Module):
    """The A distinct actions of a step, each of K categoricals, all independent given the core: an MLP.

    A forward pass computes what depends on the core alone; `logits` and `sample` continue from its result.
    """

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

    def logits(self, computed: Tensor, movement: Tensor) -> Tensor:
        """The logits of each component of a movement [..., A, K], from the result of `forward`: [..., A, K, M]."""
        return computed

    def sample(self, computed: Tensor, noise: Noise, greedy: bool) -> tuple[Tensor, Tensor]:
        """Draws movements from the result of `forward` [N, A, K, M]; `greedy` takes each component's mode.

        Returns:
            The movements, int64 [N, A, K], and the log-probability of each component, [N, A, K].
        """
        chosen = choose(computed, noise, greedy)
        return chosen, movement_log_probs(computed, chosen)


class AutoregressiveMovementHead(nn.Module):
    """The A K components of a step's actions one after another, each conditioned on the core and on those before it.

    A hidden layer is shared by all components (Neural Autoregressive Distribution Estimation, JMLR 2016)::

        h_n = relu(W core + b + sum of E_m[a_m] over m < n),   logits of component n = V_n h_n + c_n

    So scoring a movement is one product, and sampling adds one embedding a component. The embeddings start at zero, as
    an independent head. Interface and shapes as in `MovementHead`.
    """

    offsets: Tensor
    possible: Tensor

    def __init__(self, inputs: int, hidden: int, layout: Layout) -> None:
        super().__init__()
        self.shape = (layout.actions_per_step, layout.components)
        sizes = layout.bins * layout.actions_per_step  # [A K]; plain numbers, for `torch.device("meta")` has none
        bins = torch.tensor(sizes)
        self.hidden = nn.Linear(inputs, hidden)
        self.chosen = nn.Embedding(sum(sizes), hidden)
        nn.init.zeros_(self.chosen.weight)
        bound = hidden**-0.5  # as in nn.Linear
        self.weight = nn.Parameter(torch.empty(len(sizes), hidden, max(sizes)).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(len(sizes), max(sizes)).uniform_(-bound, bound))
        self.register_buffer("offsets", bins.cumsum(0) - bins, persistent=False)
        self.register_buffer("possible", torch.arange(max(sizes)) < bins[:, None], persistent=False)

    def forward(self, core: Tensor) -> Tensor:
        """[..., inputs] -> [..., hidden], the hidden layer without the components before."""
        return cast(Tensor, self.hidden(core))

    def logits(self, computed: Tensor, movement: Tensor) -> Tensor:
        """The logits of each component given the true ones before it: [..., A, K] -> [..., A, K, M]."""
        before = self.chosen(movement.flatten(-2).long() + self.offsets).cumsum(-2)  # [..., A K, hidden]
        before = functional.pad(before[..., :-1, :], (0, 0, 1, 0))
        hidden = functional.relu(computed[..., None, :] + before)
        found = torch.einsum("...nh,nhm->...nm", hidden, self.weight) + self.bias
        found = found.masked_fill(~self.possible, IMPOSSIBLE_LOGIT)  # [..., A K, M]
        return torch.unflatten(found, -2, self.shape)

    def sample(self, computed: Tensor, noise: Noise, greedy: bool) -> tuple[Tensor, Tensor]:
        """Draws movements component by component; `greedy` takes the mode of each, given those before it."""
        chosen, log_probs = [], []
        for weight, bias, possible, offset in zip(self.weight, self.bias, self.possible, self.offsets, strict=True):
            logits = (functional.relu(computed) @ weight + bias).masked_fill(~possible, IMPOSSIBLE_LOGIT)  # [N, M]
            drawn = choose(logits, noise, greedy)
            log_probs.append(logits.log_softmax(-1).gather(-1, drawn[:, None])[:, 0])
            computed = computed + self.chosen(drawn + offset)
            chosen.append(drawn)
        movement, log_prob = (torch.unflatten(torch.stack(parts, -1), -1, self.shape) for parts in (chosen, log_probs))
        return movement, log_prob


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
