"""The weighted loss terms of one update: which losses apply to which lanes, and their metrics.

Rollout lanes (an agent acted) get V-trace policy gradients, the value loss and the gate KL. Demonstrated lanes (people
or scripts acted) get behavioral cloning and CSS, and in a reward model the marks' IBT loss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from interplay.agent.heads import gate_entropy, gate_log_prob, movement_entropy, movement_log_probs
from interplay.agent.network import Agent, AgentOutput
from interplay.learner import losses
from interplay.learner.averages import Mean, masked_mean
from interplay.learner.batch import UnrollTensors
from interplay.learner.ibt import ibt_loss
from interplay.learner.masks import discounts, valid_steps
from interplay.learner.vtrace import policy_gradient, vtrace


@dataclass(frozen=True)
class LossWeights:
    """Weights of the loss terms. The defaults are the paper's (Table 1; arXiv 2211.11602)."""

    movement_cloning: float = 1.0
    language_cloning: float = 5.0
    css: float = 1.0
    movement_policy: float = 0.5
    language_policy: float = 0.1
    value: float = 1.0
    gate_kl: float = 1e-3
    ibt: float = 1.0
    entropy: float = 0.0  # of the movement and the gate; the paper has no such term

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

    @property
    def needs_demonstrations(self) -> bool:
        """Whether any policy loss uses demonstrations."""
        return bool(self.movement_cloning or self.language_cloning or self.css)


@dataclass(frozen=True)
class ObjectiveConfig:
    """Parameters and weights of the loss terms."""

    weights: LossWeights = field(default_factory=LossWeights)
    discount: float = 0.96  # per step
    rho_clip: float = 1.0
    c_clip: float = 1.0
    cloning: Literal["sum", "mean"] = "sum"  # over a chunk's components; the paper sums them; design choice: "mean"

    def __post_init__(self) -> None:
        if not 0 <= self.discount <= 1:
            raise ValueError(f"discount is from 0 to 1, got {self.discount}")
        for name in ("rho_clip", "c_clip"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} is at least 0, got {getattr(self, name)}")


Means = tuple[Mean, ...]


class Term(NamedTuple):
    """A loss, its weight and its metrics; the loss and each metric are sums of means with their counts."""

    name: str
    loss: Means
    weight: float
    metrics: Mapping[str, Means]
    totals: Mapping[str, Tensor] = {}  # int64 scalars to log as sums, not means


def rollout_terms(
    agent: Agent,
    output: AgentOutput,
    rows: UnrollTensors,
    config: ObjectiveConfig,
) -> Iterator[Term]:
    """Yields the reinforcement learning terms.

    Args:
        output: the agent's output for the T + 1 rows of the rollout lanes.
        rows: a scored rollout, with `reference_gate` only if the gate KL has a weight.
    """
    arrays, weights = rows.device, config.weights
    mask = valid_steps(last=arrays["last"])
    steps = mask.sum()
    log_probs, log_ratios = _heads(agent, output, rows)
    trace = vtrace(
        log_ratio=torch.stack(list(log_ratios.values())).sum(0)[:-1].detach(),
        reward=arrays["reward"],
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
            yield Term(f"{head}_policy", (Mean(gradient.loss, steps),), weight, _each(extra, steps))
    loss = losses.value_loss(value=output.value[:-1], targets=trace.targets, mask=mask)
    mean_value = Mean(output.value.detach().mean(), torch.full_like(steps, output.value.numel()))
    extra = {"ratio": trace.mean_ratio, "ratio_clipped": trace.clipped_share}
    yield Term("value", (Mean(loss, steps),), weights.value, {**_each(extra, steps), "value_mean": (mean_value,)})
    if "reference_gate" in arrays and output.gate is not None:
        kl = losses.gate_kl(logits=output.gate[:-1], reference_logits=arrays["reference_gate"][:-1], mask=mask)
        yield Term("gate_kl", (Mean(kl, steps),), weights.gate_kl, {})
    if weights.entropy:
        yield _entropy_term(output, mask, weights.entropy)


def demonstration_terms(
    agent: Agent,
    output: AgentOutput,
    rows: UnrollTensors,
    permutation: Tensor,
    config: ObjectiveConfig,
    gather: Callable[[Tensor], Tensor] = lambda lanes: lanes,
) -> Iterator[Term]:
    """Yields the cloning and CSS terms, and the IBT term if the agent has a utility head.

    Args:
        output: the agent's output for all T + 1 rows of the demonstrated lanes. Dataset unrolls do not overlap, so
            every row counts.
        rows: a dataset unroll.
        permutation: int64 [b], index of the lane whose language is paired with each lane's vision.
        gather: see `interplay.learner.losses.css`.
    """
    host, arrays, weights = rows.host, rows.device, config.weights
    mask = arrays["cloned"] & ~arrays["last"]
    if output.movement is not None:
        log_probs = movement_log_probs(output.movement, arrays["movement"])
        loss = losses.movement_cloning(log_probs=log_probs, mask=mask, reduce=config.cloning)
        yield Term("movement_cloning", (Mean(loss, mask.sum()),), weights.movement_cloning, {})
    if agent.language is not None and output.gate is not None:
        yield _language_cloning(agent, output, rows, mask, config)
    if agent.css is not None and output.vision is not None and output.language is not None:
        contrast = losses.css(
            discriminator=agent.css,
            vision=output.vision,
            language=output.language,
            text=torch.cat([host["heard"], host["said"]], dim=-1),
            mask=host.get("untouched", torch.ones_like(host["last"])),
            permutation=permutation,
            gather=gather,
        )
        parts = tuple(map(Mean, contrast.losses, contrast.pairs.unbind()))
        extra = {"css_accuracy": tuple(map(Mean, contrast.accuracies, contrast.pairs.unbind()))}
        yield Term("css", parts, weights.css, extra)
    if output.utility is not None:
        ibt = ibt_loss(
            utility=output.utility,
            marks_positive=host["positive"],
            marks_negative=host["negative"],
            first=host["first"],
            valid=torch.ones_like(host["last"]),
        )
        averages = _each({"ibt_accuracy": ibt.accuracy, "ibt_margin": ibt.margin}, ibt.pairs)
        yield Term("ibt", (Mean(ibt.loss, ibt.pairs),), weights.ibt, averages, {"ibt_pairs": ibt.pairs})


def _each(values: Mapping[str, Tensor], count: Tensor) -> dict[str, Means]:
    """Returns means over the same `count` steps (or pairs), by name."""
    return {name: (Mean(value, count),) for name, value in values.items()}


def _entropy_term(output: AgentOutput, mask: Tensor, weight: float) -> Term:
    """Minus the entropy of a step: that of all components of the movement, plus that of the gate."""
    entropies: dict[str, Tensor] = {}
    if output.movement is not None:
        entropies["movement_entropy"] = movement_entropy(output.movement[:-1]).sum((-1, -2))
    if output.gate is not None:
        entropies["gate_entropy"] = gate_entropy(output.gate[:-1])
    means = {name: Mean(masked_mean(entropy, mask), mask.sum()) for name, entropy in entropies.items()}
    loss = tuple(Mean(-mean.value, mean.over) for mean in means.values())
    return Term("entropy", loss, weight, {name: (mean,) for name, mean in means.items()})


def _heads(agent: Agent, output: AgentOutput, rows: UnrollTensors) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Returns, by head, the log-probability of the action and its log-ratio to the acting policy, [T + 1, b] each."""
    arrays = rows.device
    log_probs: dict[str, Tensor] = {}
    if output.movement is not None:
        log_probs["movement"] = movement_log_probs(output.movement, arrays["movement"]).sum((-1, -2))
    if agent.language is not None and output.gate is not None:
        words = agent.language.utterance_log_probs(output.core, rows.host["spoke"], arrays["tokens"])
        log_probs["language"] = gate_log_prob(output.gate, arrays["spoke"]) + words
    return log_probs, {head: log_prob - arrays[f"{head}_log_prob"] for head, log_prob in log_probs.items()}


def _language_cloning(
    agent: Agent, output: AgentOutput, rows: UnrollTensors, mask: Tensor, config: ObjectiveConfig
) -> Term:
    assert agent.language is not None
    assert output.gate is not None
    host, arrays = rows.host, rows.device
    gate = losses.gate_cloning(logits=output.gate, spoke=arrays["spoke"], mask=mask)
    spoken_rows = (host["spoke"] & host["cloned"] & ~host["last"]).nonzero(as_tuple=True)
    indices = tuple(index.to(mask.device, non_blocking=True) for index in spoken_rows)
    tokens = arrays["tokens"][indices]
    words = losses.token_cloning(
        log_probs=agent.language.token_log_probs(output.core[indices], tokens), tokens=tokens, reduce=config.cloning
    )
    gate_mean, token_mean = Mean(gate.loss, mask.sum()), Mean(words.loss, words.utterances)
    extra: dict[str, Means] = {"gate_cloning": (gate_mean,), "token_cloning": (token_mean,)}
    extra["gate_accuracy"] = (Mean(gate.accuracy, gate_mean.over),)
    return Term("language_cloning", (gate_mean, token_mean), config.weights.language_cloning, extra)
