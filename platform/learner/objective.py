"""The weighted terms of one update: which losses apply to which lanes, and what is logged of them.

Played lanes (an agent acted) get V-trace policy gradients, the value loss and the gate KL. Demonstrated lanes (people
or scripts acted) get behavioural cloning and CSS, and in a reward model the marks' IBT loss.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from interplay.agent.heads import gate_log_prob, movement_log_probs
from interplay.agent.network import Agent, Output
from interplay.learner import losses
from interplay.learner.returns import discounts, valid_steps
from interplay.learner.vtrace import policy_gradient, vtrace
from interplay.reward.ibt import ibt_loss

Tensors = Mapping[str, Tensor]


@dataclass(frozen=True)
class LossWeights:
    """What each term counts. The defaults are the paper's (Table 1; arXiv 2211.11602)."""

    movement_cloning: float = 1.0
    language_cloning: float = 5.0
    css: float = 1.0
    movement_policy: float = 0.5
    language_policy: float = 0.1
    value: float = 1.0
    gate_kl: float = 1e-3
    ibt: float = 1.0

    def __post_init__(self) -> None:
        negative = [name for name, weight in vars(self).items() if weight < 0]
        if negative:
            raise ValueError(
                f"loss weights are at least 0, got {', '.join(f'{n}={getattr(self, n)}' for n in negative)}"
            )
        if not any(vars(self).values()):
            raise ValueError(
                f"all loss weights are 0, so there is nothing to learn; give one of {', '.join(vars(self))} a weight"
            )


@dataclass(frozen=True)
class ObjectiveConfig:
    """How the terms are computed and weighed."""

    weights: LossWeights = field(default_factory=LossWeights)
    discount: float = 0.96  # a step
    rho_clip: float = 1.0
    c_clip: float = 1.0
    cloning: Literal["sum", "mean"] = "sum"  # of a chunk's components; the paper adds them; choice: "mean"

    def __post_init__(self) -> None:
        if not 0 <= self.discount <= 1:
            raise ValueError(f"discount is from 0 to 1, got {self.discount}")


class Term(NamedTuple):
    """One loss, its weight, and what to log beside it."""

    name: str
    loss: Tensor
    weight: float
    metrics: Mapping[str, Tensor]


def played_terms(
    agent: Agent,
    output: Output,
    arrays: Tensors,
    reward: Tensor,
    reference_gate: Tensor | None,
    config: ObjectiveConfig,
) -> Iterator[Term]:
    """The terms of reinforcement learning.

    Args:
        output: of the T + 1 rows of the played lanes.
        arrays: of a played unroll, as tensors [T + 1, b, ...].
        reward: float [T, b].
        reference_gate: logits [T + 1, b] of the frozen cloned policy; None where its KL has no weight.
    """
    weights, mask = config.weights, valid_steps(last=arrays["last"])
    log_probs, log_ratios = _heads(agent, output, arrays)
    trace = vtrace(
        log_ratio=torch.stack(list(log_ratios.values())).sum(0)[:-1].detach(),
        reward=reward,
        discount=discounts(last=arrays["last"], gamma=config.discount),
        value=output.value[:-1].detach(),
        bootstrap=output.value[-1].detach(),
        mask=mask,
        rho_clip=config.rho_clip,
        c_clip=config.c_clip,
    )
    for head, weight in (("movement", weights.movement_policy), ("language", weights.language_policy)):
        if head in log_probs:
            gradient = policy_gradient(
                log_prob=log_probs[head][:-1],
                own_log_ratio=log_ratios[head][:-1],
                advantage=trace.advantage,
                mask=mask,
                rho_clip=config.rho_clip,
            )
            extra = {f"{head}_ratio": gradient.mean_ratio, f"{head}_clipped": gradient.clipped_share}
            yield Term(f"{head}_policy", gradient.loss, weight, extra)
    yield Term(
        "value",
        losses.value_loss(value=output.value[:-1], targets=trace.targets, mask=mask),
        weights.value,
        {"ratio": trace.mean_ratio, "ratio_clipped": trace.clipped_share, "value_mean": output.value.detach().mean()},
    )
    if reference_gate is not None and output.gate is not None:
        kl = losses.gate_kl(logits=output.gate[:-1], reference_logits=reference_gate[:-1], mask=mask)
        yield Term("gate_kl", kl, weights.gate_kl, {})


def demonstrated_terms(
    agent: Agent, output: Output, arrays: Tensors, permutation: Tensor, config: ObjectiveConfig
) -> Iterator[Term]:
    """The terms of cloning, and of marks where the agent has a utility head.

    Args:
        output: of all T + 1 rows of the demonstrated lanes; dataset unrolls do not overlap, so every row counts.
        arrays: of a dataset unroll, as tensors [T + 1, b, ...].
        permutation: int64 [b], whose language each lane's vision is contrasted with.
    """
    weights = config.weights
    mask = arrays["cloned"] & ~arrays["last"]
    if output.movement is not None:
        log_probs = movement_log_probs(output.movement, arrays["movement"])
        loss = losses.movement_cloning(log_probs=log_probs, mask=mask, reduce=config.cloning)
        yield Term("movement_cloning", loss, weights.movement_cloning, {})
    if agent.language is not None and output.gate is not None:
        yield _language_cloning(agent, output, arrays, mask, config)
    if agent.css is not None and output.vision is not None and output.language is not None:
        contrast = losses.css(
            discriminator=agent.css,
            vision=output.vision,
            language=output.language,
            text=torch.cat([arrays["heard"], arrays["said"]], dim=-1),
            mask=arrays.get("untouched", torch.ones_like(mask)),
            permutation=permutation,
        )
        yield Term("css", contrast.loss, weights.css, {"css_accuracy": contrast.accuracy})
    if output.utility is not None:
        ibt = ibt_loss(
            utility=output.utility,
            marks_positive=arrays["positive"],
            marks_negative=arrays["negative"],
            first=arrays["first"],
            valid=torch.ones_like(mask),
        )
        extra = {"ibt_accuracy": ibt.accuracy, "ibt_pairs": ibt.pairs, "ibt_margin": ibt.margin}
        yield Term("ibt", ibt.loss, weights.ibt, extra)


def _heads(agent: Agent, output: Output, arrays: Tensors) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """By head: the log-probability of what it did, and the log-ratio to the policy that acted; [T + 1, b]."""
    log_probs: dict[str, Tensor] = {}
    if output.movement is not None:
        log_probs["movement"] = movement_log_probs(output.movement, arrays["movement"]).sum((-1, -2))
    if agent.language is not None and output.gate is not None:
        spoke = arrays["spoke"]
        words = agent.language.utterance_log_probs(output.core, spoke, arrays["tokens"])
        log_probs["language"] = gate_log_prob(output.gate, spoke) + words
    return log_probs, {head: log_prob - arrays[f"{head}_log_prob"] for head, log_prob in log_probs.items()}


def _language_cloning(agent: Agent, output: Output, arrays: Tensors, mask: Tensor, config: ObjectiveConfig) -> Term:
    assert agent.language is not None
    assert output.gate is not None
    gate = losses.gate_cloning(logits=output.gate, spoke=arrays["spoke"], mask=mask)
    where = (arrays["spoke"] & mask).nonzero(as_tuple=True)
    tokens = arrays["tokens"][where]
    words = losses.token_cloning(
        log_probs=agent.language.token_log_probs(output.core[where], tokens), tokens=tokens, reduce=config.cloning
    )
    extra = {"gate_cloning": gate.loss, "token_cloning": words.loss, "gate_accuracy": gate.accuracy}
    return Term("language_cloning", gate.loss + words.loss, config.weights.language_cloning, extra)
