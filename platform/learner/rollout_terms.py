"""The loss terms of rollouts, in which an agent acted: V-trace policy gradients, the value loss, gate KL and entropy.

Movement and language share the reward and the value. The value targets use the ratio of the whole action. The ratios of
the policy gradients are a setting, `ObjectiveConfig.ratio`, because the paper does not specify them:

- "joint": both heads use the ratio of the whole action.
- "head": each head uses its own.
- "action": each of the A actions of a movement uses its own, the language its own; the value targets use the geometric
  mean over the A actions instead of their product. The product of many ratios is near 0 after a few updates of lag.
- "none": all ratios are 1, in the value targets too: what an update would be without V-trace's correction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from interplay.agent.heads import gate_entropy, gate_log_prob, movement_entropy, movement_log_probs
from interplay.agent.network import Agent, AgentOutput
from interplay.agent.selected_rows import SelectedRows
from interplay.learner import losses
from interplay.learner.averages import Mean, masked_mean
from interplay.learner.batch import Tensors, UnrollTensors
from interplay.learner.masks import discounts, valid_steps
from interplay.learner.objective import Means, ObjectiveConfig, Ratio, Term, each_mean
from interplay.learner.vtrace import VTrace, policy_gradient, ratio_statistics, vtrace


class HeadActions(NamedTuple):
    """The actions of one head, in N parts: log-probabilities and log-ratios to the acting policy."""

    log_prob: Tensor  # [T, b, N]
    log_ratio: Tensor  # [T, b, N], detached


def rollout_terms(
    agent: Agent,
    output: AgentOutput,
    rows: UnrollTensors,
    spoke: SelectedRows | None,
    config: ObjectiveConfig,
) -> Iterator[Term]:
    """Yields the reinforcement learning terms.

    Args:
        output: the agent's output for the T + 1 rows of the rollout lanes.
        rows: a scored rollout, with `reference_gate` only if the gate KL has a weight.
        spoke: its rows with an utterance; None in a world without utterances.
    """
    arrays, weights = rows.device, config.weights
    mask = valid_steps(last=arrays["last"])
    logits = None  # of the components of the movement
    if agent.movement is not None and output.movement is not None:
        logits = agent.movement.logits(output.movement, arrays["movement"])
    heads = _heads(agent, output, logits, arrays, spoke)
    trace = _trace(heads, output, arrays, mask, config)
    terms = [
        _policy_term(head, heads, trace, mask, weight, config)
        for head, weight in (("movement", weights.movement_policy), ("language", weights.language_policy))
        if head in heads
    ]
    terms.append(_value_term(output, heads, trace, mask, config))
    if "reference_gate" in arrays and output.gate is not None:
        kl = losses.gate_kl(logits=output.gate[:-1], reference_logits=arrays["reference_gate"][:-1], mask=mask)
        terms.append(Term("gate_kl", (Mean(kl, mask.sum()),), weights.gate_kl, {}))
    if weights.entropy:
        terms.append(_entropy_term(logits, output.gate, mask, weights.entropy))
    for term in terms:
        yield term._replace(totals={"played_steps": mask.sum()})


def effective_shares(metrics: Mapping[str, float]) -> dict[str, float]:
    """Replaces each `ratio_square` by the effective sample share, mean(ratio)^2 / mean(ratio^2): 1 on policy, 1 / N if
    one of N steps has all the weight."""
    found = dict(metrics)
    for name in [name for name in found if name.endswith("ratio_square")]:
        head = name.removesuffix("ratio_square")
        square = found.pop(name)
        found[f"{head}effective_share"] = found[f"{head}ratio"] ** 2 / square if square else 0.0
    return found


def _heads(
    agent: Agent, output: AgentOutput, logits: Tensor | None, arrays: Tensors, spoke: SelectedRows | None
) -> dict[str, HeadActions]:
    """The actions of each head: the movement in A parts, the language in one."""
    log_probs: dict[str, Tensor] = {}
    if logits is not None:
        log_probs["movement"] = movement_log_probs(logits, arrays["movement"]).sum(-1)
    if agent.language is not None and output.gate is not None and spoke is not None:
        words = agent.language.utterance_log_probs(output.core, spoke, arrays["tokens"])
        log_probs["language"] = (gate_log_prob(output.gate, arrays["spoke"]) + words)[:, :, None]
    acted = {"movement": arrays["movement_log_prob"], "language": arrays["language_log_prob"][:, :, None]}
    return {head: HeadActions(each[:-1], (each - acted[head])[:-1].detach()) for head, each in log_probs.items()}


def _trace(
    heads: Mapping[str, HeadActions], output: AgentOutput, arrays: Tensors, mask: Tensor, config: ObjectiveConfig
) -> VTrace:
    """The value targets and advantages."""
    log_ratio = torch.zeros_like(arrays["reward"])
    truncated = arrays["truncated"] if config.time_limits == "bootstrap" else None
    for head in heads.values() if config.ratio != "none" else ():
        log_ratio = log_ratio + (head.log_ratio.mean(-1) if config.ratio == "action" else head.log_ratio.sum(-1))
    return vtrace(
        log_ratio=log_ratio,
        reward=config.reward_scale * arrays["reward"],
        discount=discounts(last=arrays["last"], gamma=config.discount, truncated=truncated),
        value=output.value[:-1].detach(),
        bootstrap=output.value[-1].detach(),
        mask=mask,
        rho_clip=config.rho_clip,
        c_clip=config.c_clip,
    )


def _policy_term(
    name: str,
    heads: Mapping[str, HeadActions],
    trace: VTrace,
    mask: Tensor,
    weight: float,
    config: ObjectiveConfig,
) -> Term:
    parts = _parts(name, heads, config.ratio)
    loss = policy_gradient(
        log_prob=parts.log_prob,
        log_ratio=parts.log_ratio,
        advantage=trace.advantage,
        mask=mask,
        rho_clip=config.rho_clip,
    )
    metrics = _statistics(f"{name}_", heads[name].log_ratio.sum(-1), mask, config.rho_clip)
    return Term(f"{name}_policy", (Mean(loss, mask.sum()),), weight, metrics)


def _parts(name: str, heads: Mapping[str, HeadActions], ratio: Ratio) -> HeadActions:
    """The parts of a head's action that have a ratio of their own."""
    own = heads[name]
    if ratio == "action":
        return own
    log_ratio = own.log_ratio.sum(-1, keepdim=True)
    if ratio == "none":
        log_ratio = torch.zeros_like(log_ratio)
    if ratio == "joint":
        log_ratio = torch.stack([head.log_ratio.sum(-1) for head in heads.values()]).sum(0)[:, :, None]
    return HeadActions(own.log_prob.sum(-1, keepdim=True), log_ratio)


def _value_term(
    output: AgentOutput, heads: Mapping[str, HeadActions], trace: VTrace, mask: Tensor, config: ObjectiveConfig
) -> Term:
    loss = losses.value_loss(value=output.value[:-1], targets=trace.targets, mask=mask, factor=config.value_factor)
    count = torch.full_like(mask.sum(), output.value.numel())
    metrics = {"value_mean": (Mean(output.value.detach().mean(), count),)}
    whole = torch.stack([head.log_ratio.sum(-1) for head in heads.values()]).sum(0)
    return Term(
        "value",
        (Mean(loss, mask.sum()),),
        config.weights.value,
        metrics | _statistics("", whole, mask, config.rho_clip),
    )


def _statistics(prefix: str, log_ratio: Tensor, mask: Tensor, clip: float) -> dict[str, Means]:
    """`ratio_statistics` by the name of its metric."""
    found = ratio_statistics(log_ratio=log_ratio, mask=mask, clip=clip)._asdict()
    found["ratio_clipped" if not prefix else "clipped"] = found.pop("clipped")
    return each_mean({f"{prefix}{name}": value for name, value in found.items()}, mask.sum())


def _entropy_term(logits: Tensor | None, gate: Tensor | None, mask: Tensor, weight: float) -> Term:
    """Minus the entropy of a step: that of all components of the movement, plus that of the gate.

    With an autoregressive movement, the entropy of a component is that given the components drawn before it, which on
    policy is an unbiased estimate.
    """
    entropies: dict[str, Tensor] = {}
    if logits is not None:
        entropies["movement_entropy"] = movement_entropy(logits[:-1]).sum((-1, -2))
    if gate is not None:
        entropies["gate_entropy"] = gate_entropy(gate[:-1])
    means = {name: Mean(masked_mean(entropy, mask), mask.sum()) for name, entropy in entropies.items()}
    loss = tuple(Mean(-mean.value, mean.over) for mean in means.values())
    return Term("entropy", loss, weight, {name: (mean,) for name, mean in means.items()})
