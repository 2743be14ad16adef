"""The listening gap: how much likelier an agent finds recorded actions under their own instruction than under another.

The agent sees the same episode twice: with the instruction that its player heard, and with that of another episode. An
agent that ignores the words finds the recorded actions equally likely both times, and the gap is 0. In contrast to
success on probes, the gap needs no rollouts, so a training stage can measure it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from interplay.agent.heads import gate_log_prob, movement_log_probs
from interplay.agent.network import Agent, AgentOutput
from interplay.agent.observation import Arrays
from interplay.env.arrays import Float64Array
from interplay.learner.check_shapes import check_shapes
from interplay.reward.diagnostics import joined_rows, with_instruction

ACTION_ARRAYS = ("movement", "spoke", "tokens")
KINDS = ("movement", "words")
LIKELIHOOD_ROWS = 16  # of each episode in one forward


@dataclass(frozen=True)
class Likelihoods:
    """Mean log-likelihood in nats of a step's recorded actions, by episode [E]; NaN without recorded actions."""

    movement: Float64Array  # of the action chunk: the sum over its actions and components
    words: Float64Array  # of the decision to speak, and of the utterance where there was one


@dataclass(frozen=True)
class ListeningGap:
    """Likelihoods of the same episodes [E] under their own instruction and under that of another episode."""

    own: Likelihoods
    other: Likelihoods

    @property
    def movement(self) -> Float64Array:
        """The gap of each episode that has recorded movements, in nats per step."""
        return _finite(self.own.movement - self.other.movement)

    @property
    def words(self) -> Float64Array:
        """The gap of each episode with recorded decisions to speak, in nats per step."""
        return _finite(self.own.words - self.other.words)

    def metrics(self) -> dict[str, float]:
        """`episode_mean` of both gaps, without one that no episode has."""
        return episode_mean("heldout_listening", self.movement) | episode_mean("heldout_listening_words", self.words)


def episode_mean(name: str, values: Float64Array) -> dict[str, float]:
    """A metric that is the mean of paired differences of episodes [E], with their number and the standard error of the
    mean; NaN is left out. {} without any."""
    known = _finite(values)
    if not len(known):
        return {}
    error = {f"{name}_error": float(known.std(ddof=1) / len(known) ** 0.5)} if len(known) > 1 else {}
    return {name: float(known.mean()), **error, f"{name}_episodes": float(len(known))}


def joined_gaps(gaps: Sequence[ListeningGap]) -> ListeningGap:
    """The gaps of several batches of episodes as one; empty without batches."""
    own, other = (
        Likelihoods(*(np.concatenate([np.zeros(0), *(getattr(each, kind) for each in sides)]) for kind in KINDS))
        for sides in ([gap.own for gap in gaps], [gap.other for gap in gaps])
    )
    return ListeningGap(own, other)


def listening_gap(
    agent: Agent,
    episodes: Sequence[Arrays],
    others: Sequence[NDArray[np.int16]],
    *,
    rows: int = LIKELIHOOD_ROWS,
    beat: Callable[[str], None] = lambda what: None,
) -> ListeningGap:
    """Measures an agent on whole episodes, each of arrays [N + 1, 1, ...] (see `interplay.agent.unroll`).

    `others` [L] replace all that was heard, throughout each episode. Nothing random is drawn, and the agent keeps its
    mode and its weights. `rows` and `beat` are as in `interplay.reward.diagnostics.utilities`.

    Raises:
        ValueError: there is not one other instruction for each episode, or an array has another shape or dtype.
    """
    changed = [with_instruction(arrays, heard) for arrays, heard in zip(episodes, others, strict=True)]
    return ListeningGap(log_likelihoods(agent, episodes, rows, beat), log_likelihoods(agent, changed, rows, beat))


def log_likelihoods(
    agent: Agent,
    episodes: Sequence[Arrays],
    rows: int = LIKELIHOOD_ROWS,
    beat: Callable[[str], None] = lambda what: None,
) -> Likelihoods:
    """Log-likelihoods of the actions recorded in whole episodes [N + 1, 1, ...], at the steps that a person or a script
    steered.

    Raises:
        ValueError: an array has another shape or dtype than that of a demonstration.
    """
    longest = max(len(arrays["first"]) for arrays in episodes)
    keys = [*agent.layout.observations(0, 0), *(key for key in ACTION_ARRAYS if key in episodes[0]), "cloned", "last"]
    sums, steps = torch.zeros(2, len(episodes), dtype=torch.float64), torch.zeros(len(episodes))
    training, state = agent.training, agent.initial_state(len(episodes))
    agent.eval()
    for start in range(0, longest, rows):
        beat(f"row {start}")
        batch = joined_rows(episodes, keys, start, min(start + rows, longest), agent.device)
        check_shapes(cloned=(batch["cloned"], "bool [T, B]"), last=(batch["last"], "bool [T, B]"))
        mask = batch["cloned"] & ~batch["last"]
        with torch.inference_mode():
            output, state = agent({key: batch[key] for key in agent.layout.observations(0, 0)}, state)
            found = _of_steps(agent, output, batch)
            sums += torch.where(mask, found.double(), 0.0).sum(1).cpu()
        steps += mask.sum(0).cpu()
    agent.train(training)
    movement, words = (sums / torch.where(steps > 0, steps, torch.nan)).numpy()
    return Likelihoods(movement, words)


def _of_steps(agent: Agent, output: AgentOutput, batch: dict[str, Tensor]) -> Tensor:
    """Log-likelihoods of movement and words at each step [2, T, B]; NaN for what the world does not have."""
    movement = words = torch.full(batch["last"].shape, torch.nan, device=agent.device)
    if agent.movement is not None and output.movement is not None:
        check_shapes(movement=(batch["movement"], "int8 [T, B, A, K]"))
        logits = agent.movement.logits(output.movement, batch["movement"])
        movement = movement_log_probs(logits, batch["movement"]).flatten(2).sum(-1)
    if output.gate is not None and agent.language is not None:
        check_shapes(spoke=(batch["spoke"], "bool [T, B]"), tokens=(batch["tokens"], "int16 [T, B, L]"))
        words = gate_log_prob(output.gate, batch["spoke"])
        words = words + agent.language.utterance_log_probs(output.core, batch["spoke"], batch["tokens"])
    return torch.stack([movement, words])


def _finite(gaps: Float64Array) -> Float64Array:
    return gaps[~np.isnan(gaps)]
