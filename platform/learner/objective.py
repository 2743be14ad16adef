"""The weighted loss terms of one update: which losses apply to which lanes, and their metrics.

Rollout lanes (an agent acted) get the terms of `interplay.learner.rollout_terms`. Demonstrated lanes (people or scripts
acted) get behavioral cloning and CSS, and in a reward model the IBT loss of the marks, or their likelihood.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

import torch
from torch import Tensor

from interplay.agent.heads import AutoregressiveMovementHead, MovementHead, movement_log_probs
from interplay.agent.language import selected_tokens
from interplay.agent.mark_head import mark_classes
from interplay.agent.network import Agent, AgentOutput
from interplay.agent.selected_rows import SelectedRows
from interplay.learner import losses
from interplay.learner.averages import Mean
from interplay.learner.batch import Tensors, UnrollTensors
from interplay.learner.ibt import ibt_loss
from interplay.learner.loss_rows import LossRows, texts_of
from interplay.learner.mark_loss import mark_loss

Ratio = Literal["joint", "head", "action", "none"]


@dataclass(frozen=True)
class LossWeights:
    """Weights of the loss terms. The defaults are the paper's (Table 1; arXiv 2211.11602)."""

    movement_cloning: float = 1.0  # behavioral cloning of the demonstrated movement
    language_cloning: float = 5.0  # of the demonstrated words, and of when to speak
    css: float = 1.0  # the classifier of matching pictures and words
    movement_policy: float = 0.5  # V-trace policy gradient of the movement
    language_policy: float = 0.1  # the same of the words, and of when to speak
    value: float = 1.0  # error of the value against V-trace's targets
    gate_kl: float = 1e-3  # KL of when to speak, from the reference policy
    ibt: float = 1.0  # inter-temporal Bradley-Terry, of the reward model
    marks: float = 1.0  # of an autoregressive reward model
    entropy: float = 0.0  # of the movement and the gate; the paper has no such term

    def __post_init__(self) -> None:
        wrong = [f"{name}={weight}" for name, weight in vars(self).items() if not 0 <= weight < math.inf]
        if wrong:
            raise ValueError(f"loss weights must be finite and at least 0, got {', '.join(wrong)}")
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
    # What follows at a time limit: the value of the last observation, or nothing, as at a true end.
    time_limits: Literal["bootstrap", "terminal"] = "bootstrap"
    # Factor of every reward for the value and the policy; logged rewards and returns are unscaled. For worlds whose own
    # returns are far from 1: the value's gradient grows with them, and drowns the policy's in the shared network.
    reward_scale: float = 1.0
    rho_clip: float = 1.0  # V-trace's upper bound of the ratios that weigh temporal differences
    c_clip: float = 1.0  # V-trace's upper bound of the ratios that carry them back in time
    # Which ratios correct the policy gradients: the whole action's ("joint"), each head's own ("head"; design choice),
    # of the movement each single action's ("action"), or none, for comparisons. See `interplay.learner.rollout_terms`.
    ratio: Ratio = "head"
    # The loss of the demonstrated words is averaged over utterances or over all steps, as in the likelihood of a step.
    # Design choice: "utterance"; people speak in one step of many, so words would be learned that many times slower.
    words: Literal["utterance", "step"] = "utterance"
    value_factor: float = 0.5  # of the squared error, before its weight; the paper's weight of 1 may mean 0.5 or 1
    cloning: Literal["sum", "mean"] = "sum"  # over a chunk's components; the paper sums them; design choice: "mean"

    def __post_init__(self) -> None:
        if not 0 <= self.discount <= 1:
            raise ValueError(f"discount must be from 0 to 1, got {self.discount}")
        for name in ("rho_clip", "c_clip"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} must be at least 0, got {getattr(self, name)}")
        if self.words not in ("utterance", "step"):
            raise ValueError(f"words must be one of utterance, step; got {self.words!r}")
        if not self.reward_scale > 0:
            raise ValueError(f"reward_scale must be above 0, got {self.reward_scale}")
        if not self.value_factor > 0:
            raise ValueError(f"value_factor must be above 0, got {self.value_factor}")
        if self.time_limits not in ("bootstrap", "terminal"):
            raise ValueError(f"time_limits must be one of bootstrap, terminal; got {self.time_limits!r}")
        if self.ratio not in get_args(Ratio):
            raise ValueError(f"ratio must be one of {', '.join(get_args(Ratio))}; got {self.ratio!r}")


Means = tuple[Mean, ...]


class Term(NamedTuple):
    """A loss, its weight and its metrics; the loss and each metric are sums of means with their counts."""

    name: str
    loss: Means
    weight: float
    metrics: Mapping[str, Means]
    totals: Mapping[str, Tensor] = {}  # int64 scalars to log as sums, not means


# Means that are 0 or incomplete if there was nothing to average, by the total that is then 0.
MEANS_OVER = {
    "cloned_steps": ("movement_cloning", "language_cloning", "gate_cloning", "gate_accuracy"),
    "css_mismatching": ("css_accuracy",),
    "ibt_pairs": ("ibt", "ibt_accuracy", "ibt_margin"),
    "marks_seen": ("marks_sign_accuracy",),
    "played_steps": (
        *("value", "movement_policy", "language_policy", "gate_kl", "entropy", "movement_entropy", "gate_entropy"),
        *(f"{head}{name}" for head in ("", "movement_", "language_") for name in ("ratio", "ratio_square", "rho")),
        *(f"{head}{name}" for head in ("", "movement_", "language_") for name in ("log_ratio", "clipped")),
        "ratio_clipped",
    ),
    "utterances": ("token_cloning",),
}


def without_empty_means(metrics: Mapping[str, float]) -> dict[str, float]:
    """The metrics of an update without means over nothing, which would count in averages."""
    empty = {name for total, names in MEANS_OVER.items() if metrics.get(total) == 0 for name in names}
    return {name: value for name, value in metrics.items() if name not in empty}


def each_mean(values: Mapping[str, Tensor], count: Tensor) -> dict[str, Means]:
    """Returns means over the same `count` steps (or pairs), by name."""
    return {name: (Mean(value, count),) for name, value in values.items()}


def demonstration_terms(
    agent: Agent,
    output: AgentOutput,
    rows: UnrollTensors,
    selected: LossRows,
    permutation: Tensor,
    config: ObjectiveConfig,
    *,
    gather: Callable[[Tensor], Tensor],
    mark_logits: Tensor | None,
    match: Callable[[Tensor, Tensor], Tensor],
    others: losses.OtherTexts | None,
) -> Iterator[Term]:
    """Yields the cloning and CSS terms, and the term of the marks if the agent is a reward model.

    Args:
        output: the agent's output for all T + 1 rows of the demonstrated lanes. Dataset unrolls do not overlap, so
            every row counts.
        rows: a dataset unroll.
        selected: its rows with an utterance to clone, and those that CSS pairs.
        permutation: int64 [b], index of the lane whose language is paired with each lane's vision.
        gather: see `interplay.learner.losses.css`.
        mark_logits: of a reward model that predicts marks, [T + 1, b, 3].
        match: as `Agent.match`.
        others: see `interplay.learner.losses.css`.
    """
    arrays, weights = rows.device, config.weights
    mask = arrays["cloned"] & ~arrays["last"]
    if agent.movement is not None and output.movement is not None:
        yield _movement_cloning(agent.movement, output.movement, arrays, mask, config)
    if selected.cloned is not None:
        yield _language_cloning(agent, output, arrays, selected.cloned, mask, config)
    if selected.pairs is not None and output.vision is not None:
        contrast = losses.css(
            discriminator=match,
            vision=output.vision,
            language=output.language if agent.config.css_input == "tower" else None,
            text=texts_of(arrays),
            mask=torch.ones_like(mask),
            permutation=permutation,
            gather=gather,
            others=others,
            pairs=selected.pairs,
        )
        yield _contrast(contrast, weights.css)
    if output.utility is not None:
        yield _between_times(output.utility, arrays, weights.ibt)
    if mark_logits is not None:
        yield _marks(mark_logits, arrays, weights.marks)


def _movement_cloning(
    head: MovementHead | AutoregressiveMovementHead,
    features: Tensor,
    arrays: Tensors,
    mask: Tensor,
    config: ObjectiveConfig,
) -> Term:
    log_probs = movement_log_probs(head.logits(features, arrays["movement"]), arrays["movement"])
    loss = losses.movement_cloning(log_probs=log_probs, mask=mask, reduce=config.cloning)
    totals = {"cloned_steps": mask.sum()}
    return Term("movement_cloning", (Mean(loss, mask.sum()),), config.weights.movement_cloning, {}, totals)


def _contrast(contrast: losses.CSS, weight: float) -> Term:
    parts = tuple(map(Mean, contrast.losses, contrast.pairs.unbind()))
    extra = {"css_accuracy": tuple(map(Mean, contrast.accuracies, contrast.pairs.unbind()))}
    return Term("css", parts, weight, extra, {"css_mismatching": contrast.pairs[1]})


def _between_times(utility: Tensor, arrays: Tensors, weight: float) -> Term:
    ibt = ibt_loss(
        utility=utility,
        marks_positive=arrays["positive"],
        marks_negative=arrays["negative"],
        first=arrays["first"],
        valid=torch.ones_like(arrays["last"]),
    )
    averages = each_mean({"ibt_accuracy": ibt.accuracy, "ibt_margin": ibt.margin}, ibt.pairs)
    return Term("ibt", (Mean(ibt.loss, ibt.pairs),), weight, averages, {"ibt_pairs": ibt.pairs})


def _marks(logits: Tensor, arrays: Tensors, weight: float) -> Term:
    marks = mark_loss(logits=logits, marks=mark_classes(arrays["positive"], arrays["negative"]))
    averages = {"marks_predicted": (Mean(marks.predicted, marks.rows),)}
    averages["marks_sign_accuracy"] = (Mean(marks.sign_accuracy, marks.marked),)
    return Term("marks", (Mean(marks.loss, marks.rows),), weight, averages, {"marks_seen": marks.marked})


def _language_cloning(
    agent: Agent, output: AgentOutput, arrays: Tensors, cloned: SelectedRows, mask: Tensor, config: ObjectiveConfig
) -> Term:
    assert agent.language is not None
    assert output.gate is not None
    gate = losses.gate_cloning(logits=output.gate, spoke=arrays["spoke"], mask=mask)
    tokens = selected_tokens(cloned, arrays["tokens"])
    words = losses.token_cloning(
        log_probs=agent.language.token_log_probs(cloned.take(output.core), tokens), tokens=tokens, reduce=config.cloning
    )
    gate_mean, token_mean = Mean(gate.loss, mask.sum()), Mean(words.loss, words.utterances)
    extra: dict[str, Means] = {"gate_cloning": (gate_mean,), "token_cloning": (token_mean,)}
    extra["gate_accuracy"] = (Mean(gate.accuracy, gate_mean.over),)
    if config.words == "step":
        steps = mask.sum()
        token_mean = Mean(words.loss * words.utterances / steps.clamp(min=1), steps)
    totals = {"cloned_steps": mask.sum(), "utterances": words.utterances}
    return Term("language_cloning", (gate_mean, token_mean), config.weights.language_cloning, extra, totals)
