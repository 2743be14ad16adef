"""V-trace and its actor-critic loss, for the loops that are written by hand."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

DISCOUNT = 0.99


def loss_of(logits: Tensor, values: Tensor, actions: Tensor, acted: Tensor, rewards: Tensor, done: Tensor) -> Tensor:
    """Policy gradient and value loss.

    Args:
        logits, values: [T + 1, B, 9] and [T + 1, B] of the policy that learns.
        actions, acted: int64 [T, B] and their log-probabilities under the policy that acted.
        rewards, done: [T, B].
    """
    log_probs = logits[:-1].log_softmax(-1).gather(-1, actions[..., None])[..., 0]
    with torch.no_grad():
        rho = (log_probs - acted).exp().clamp(max=1.0)
        discount = DISCOUNT * (~done).float()
        next_value = values[1:]
        surprise = rho * (rewards + discount * next_value - values[:-1])
        correction, corrections = torch.zeros_like(values[0]), []
        for t in reversed(range(len(rewards))):
            correction = surprise[t] + discount[t] * rho[t] * correction
            corrections.append(correction)
        targets = values[:-1] + torch.stack(corrections[::-1])
        next_target = torch.cat([targets[1:], values[-1:]])
        advantage = rho * (rewards + discount * next_target - values[:-1])
    return -(advantage * log_probs).mean() + functional.mse_loss(values[:-1], targets)
