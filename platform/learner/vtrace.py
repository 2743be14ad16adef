"""V-trace: off-policy corrected value targets and policy gradients (IMPALA, arXiv 1802.01561)."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from interplay.learner.averages import masked_mean
from interplay.learner.check_shapes import check_shapes


class VTrace(NamedTuple):
    """Results of `vtrace`, without gradients."""

    targets: Tensor  # [T, B] v_t, targets of the value head; the value itself at masked steps
    advantage: Tensor  # [T, B] r_t + g_t v_{t+1} - V_t, not weighted by any ratio; 0 at masked steps
    rho: Tensor  # [T, B] the clipped ratio; 0 at masked steps
    mean_ratio: Tensor  # scalar, before clipping; far from 1 if the unrolls are stale
    clipped_share: Tensor  # scalar, of the unmasked steps


class PolicyGradient(NamedTuple):
    """The loss of one head, and how far its policy is from the acting one."""

    loss: Tensor
    mean_ratio: Tensor
    clipped_share: Tensor


@torch.no_grad()
def vtrace(
    *,
    log_ratio: Tensor,
    reward: Tensor,
    discount: Tensor,
    value: Tensor,
    bootstrap: Tensor,
    mask: Tensor,
    rho_clip: float = 1.0,
    c_clip: float = 1.0,
) -> VTrace:
    """Equation 1 of IMPALA, by its recursion from the end::

        d_t = rho_t (r_t + g_t V_{t+1} - V_t)
        v_t = V_t + d_t + g_t c_t (v_{t+1} - V_{t+1})

    with rho_t = min(rho_clip, ratio_t) and c_t = min(c_clip, ratio_t).

    Design choice: with several heads, `log_ratio` is the sum of theirs (the ratio of the whole action), while each
    head's `policy_gradient` uses its own.

    Args:
        log_ratio: float [T, B], log pi(a|x) - log mu(a|x).
        reward: float [T, B], for the transition from row t to row t+1.
        discount: float [T, B], of row t+1's value: see `interplay.learner.masks.discounts`.
        value: float [T, B], V of rows 0 .. T-1.
        bootstrap: float [B], V of row T.
        mask: bool [T, B], steps with an action. Values at other steps are ignored.
    """
    check_shapes(
        value=(value, "float [T, B]"),
        log_ratio=(log_ratio, "float [T, B]"),
        reward=(reward, "float [T, B]"),
        discount=(discount, "float [T, B]"),
        bootstrap=(bootstrap, "float [B]"),
        mask=(mask, "bool [T, B]"),
    )
    zero = torch.zeros_like(value)
    ratio = log_ratio.exp()
    rho = torch.where(mask, ratio.clamp(max=rho_clip), zero)
    trace = torch.where(mask, discount * ratio.clamp(max=c_clip), zero)
    next_value = torch.cat([value[1:], bootstrap[None]])
    weighted_delta = torch.where(mask, rho * (reward + discount * next_value - value), zero)

    correction = torch.zeros_like(bootstrap)
    corrections = []
    for t in reversed(range(len(value))):
        correction = weighted_delta[t] + trace[t] * correction
        corrections.append(correction)
    targets = value + torch.stack(corrections[::-1])

    next_target = torch.cat([targets[1:], bootstrap[None]])
    return VTrace(
        targets=targets,
        advantage=torch.where(mask, reward + discount * next_target - value, zero),
        rho=rho,
        mean_ratio=masked_mean(ratio, mask),
        clipped_share=masked_mean((ratio > rho_clip).to(value.dtype), mask),
    )


def policy_gradient(
    *, log_prob: Tensor, own_log_ratio: Tensor, advantage: Tensor, mask: Tensor, rho_clip: float = 1.0
) -> PolicyGradient:
    """-rho_t A_t log pi(a_t|x_t), averaged over the unmasked steps, for one head with its own clipped ratio.

    Args:
        log_prob: float [T, B], of this head's action under the learning policy; the only path of the gradient.
        own_log_ratio: float [T, B], `log_prob` minus the same under the acting policy.
        advantage: float [T, B], of `vtrace`.
        mask: bool [T, B].
    """
    check_shapes(
        log_prob=(log_prob, "float [T, B]"),
        own_log_ratio=(own_log_ratio, "float [T, B]"),
        advantage=(advantage, "float [T, B]"),
        mask=(mask, "bool [T, B]"),
    )
    ratio = torch.where(mask, own_log_ratio.detach(), torch.zeros_like(own_log_ratio)).exp()
    weight = ratio.clamp(max=rho_clip) * advantage.detach()
    return PolicyGradient(
        loss=-masked_mean(weight * log_prob, mask),
        mean_ratio=masked_mean(ratio, mask),
        clipped_share=masked_mean((ratio > rho_clip).to(weight.dtype), mask),
    )
