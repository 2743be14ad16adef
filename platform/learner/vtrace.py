"""V-trace: off-policy corrected value targets and policy gradients (IMPALA, arXiv 1802.01561)."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from interplay.learner.averages import masked_mean
from interplay.learner.check_shapes import check_shapes

MAX_LOG_RATIO = 20.0  # in metrics
ROUNDING = 1e-3  # a ratio of equal policies is 1 up to this


class VTrace(NamedTuple):
    """Results of `vtrace`, without gradients."""

    targets: Tensor  # [T, B] v_t, targets of the value head; the value itself at masked steps
    advantage: Tensor  # [T, B] r_t + g_t v_{t+1} - V_t, not weighted by any ratio; 0 at masked steps
    rho: Tensor  # [T, B] the clipped ratio; 0 at masked steps


class RatioStatistics(NamedTuple):
    """How far the learning policy pi is from the acting policy mu: scalars, means over the unmasked steps."""

    log_ratio: Tensor  # log(pi / mu); its expectation is -KL(mu || pi)
    ratio: Tensor  # pi / mu; its expectation is 1 however far the policies are apart
    ratio_square: Tensor  # mean(ratio)^2 / mean(ratio^2) is the effective sample share
    rho: Tensor  # min(clip, ratio): the weight that a step keeps
    clipped: Tensor  # the share of ratios above the clip by more than rounding


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

    corrections = corrections_in_turn if value.device.type == "cpu" else corrections_by_doubling
    targets = value + corrections(weighted_delta, trace)

    next_target = torch.cat([targets[1:], bootstrap[None]])
    return VTrace(
        targets=targets,
        advantage=torch.where(mask, reward + discount * next_target - value, zero),
        rho=rho,
    )


def corrections_in_turn(delta: Tensor, trace: Tensor) -> Tensor:
    """x_t = delta_t + trace_t x_{t+1} for t = T - 1, ..., 0, with x_T = 0; all [T, B]."""
    following = torch.zeros_like(delta[0])
    found = []
    for t in reversed(range(len(delta))):
        following = delta[t] + trace[t] * following
        found.append(following)
    return torch.stack(found[::-1])


def corrections_by_doubling(delta: Tensor, trace: Tensor) -> Tensor:
    """As `corrections_in_turn` up to rounding, in log2(T) operations on all T: for GPUs, where each operation counts.

    After the round with a given `span`, x_t is the sum of its first 2 span terms, and `trace` the product of as many
    factors; rows with fewer are complete.
    """
    span = 1
    while span < len(delta):
        delta = torch.cat([torch.addcmul(delta[:-span], trace[:-span], delta[span:]), delta[-span:]])
        trace = torch.cat([trace[:-span] * trace[span:], trace[-span:]])
        span *= 2
    return delta


@torch.no_grad()
def ratio_statistics(*, log_ratio: Tensor, mask: Tensor, clip: float = 1.0) -> RatioStatistics:
    """Statistics of importance ratios; `log_ratio` float [T, B], `mask` bool [T, B].

    Ratios enter `ratio` and `ratio_square` at most as exp(`MAX_LOG_RATIO`), so that the square of one stays finite.
    """
    check_shapes(log_ratio=(log_ratio, "float [T, B]"), mask=(mask, "bool [T, B]"))
    ratio = log_ratio.clamp(max=MAX_LOG_RATIO).exp()
    return RatioStatistics(
        log_ratio=masked_mean(log_ratio, mask),
        ratio=masked_mean(ratio, mask),
        ratio_square=masked_mean(ratio.square(), mask),
        rho=masked_mean(ratio.clamp(max=clip), mask),
        clipped=masked_mean((ratio > clip * (1 + ROUNDING)).to(ratio.dtype), mask),
    )


def policy_gradient(
    *, log_prob: Tensor, log_ratio: Tensor, advantage: Tensor, mask: Tensor, rho_clip: float = 1.0
) -> Tensor:
    """-A_t sum_n rho_tn log pi(a_tn|x_t), averaged over the unmasked steps; a scalar.

    An action has N parts, each with its own clipped ratio rho_tn. With N = 1 this is IMPALA's policy gradient.

    Args:
        log_prob: float [T, B, N], of each part of the action under the learning policy; the only path of the gradient.
        log_ratio: float [T, B, N], log(pi / mu) of each part.
        advantage: float [T, B], of `vtrace`.
        mask: bool [T, B].
    """
    check_shapes(
        log_prob=(log_prob, "float [T, B, N]"),
        log_ratio=(log_ratio, "float [T, B, N]"),
        advantage=(advantage, "float [T, B]"),
        mask=(mask, "bool [T, B]"),
    )
    kept = torch.where(mask[:, :, None], log_ratio.detach(), torch.zeros_like(log_ratio))
    weight = kept.exp().clamp(max=rho_clip) * advantage.detach()[:, :, None]
    return -masked_mean((weight * log_prob).sum(-1), mask)
