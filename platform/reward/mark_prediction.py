"""Quality of a reward model that predicts marks: how well it predicts the raters' marks in held-out episodes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from interplay.agent.mark_head import NO_MARK, mark_classes
from interplay.agent.network import Agent
from interplay.agent.observation import Arrays


@dataclass(frozen=True)
class MarkPrediction:
    """How well a model predicts marks, given the true marks before them."""

    likelihood: float  # mean log-likelihood of a row's mark, in nats
    auc: float  # of the probability of a mark, of rows with a mark against rows without; NaN if there are none
    sign_accuracy: float  # of the marked rows, the share whose sign is the more likely one; NaN without marked rows


def mark_prediction(model: Agent, episodes: Iterable[Arrays], rows: int = 16) -> MarkPrediction:
    """Compares the predictions of a model with `marks` with the marks in whole episodes [N + 1, 1, ...]."""
    head = model.eval().marks
    assert head is not None
    logits, marks = [], []
    for arrays in episodes:
        observed = {key: torch.from_numpy(arrays[key]).to(model.device) for key in model.layout.observations(0, 0)}
        true = mark_classes(torch.from_numpy(arrays["positive"]), torch.from_numpy(arrays["negative"])).to(model.device)
        state, before = model.initial_state(1), head.initial_state(1)
        for start in range(0, len(true), rows):
            window = {key: value[start : start + rows] for key, value in observed.items()}
            with torch.inference_mode():
                output, state = model(window, state)
                found, before = head(output.core, true[start : start + rows], window["first"], before)
            logits.append(found[:, 0].cpu())
        marks.append(true[:, 0].cpu())
    return _prediction(torch.cat(logits).log_softmax(-1).numpy(), torch.cat(marks).numpy())


def _prediction(log_probs: NDArray[np.float32], marks: NDArray[np.int64]) -> MarkPrediction:
    """From the log-probabilities [N, 3] and true classes [N] of all rows."""
    marked = marks != NO_MARK
    signs = log_probs[marked, 1:].argmax(-1) + 1 == marks[marked]
    return MarkPrediction(
        likelihood=float(log_probs[np.arange(len(marks)), marks].mean()),
        auc=_auc(-log_probs[:, NO_MARK], marked),
        sign_accuracy=float(signs.mean()) if len(signs) else float("nan"),
    )


def _auc(score: NDArray[np.float32], positive: NDArray[np.bool_]) -> float:
    """The chance that a positive has the higher score than a negative; ties count half."""
    positives, negatives = int(positive.sum()), int((~positive).sum())
    if not positives or not negatives:
        return float("nan")
    _, inverse, counts = np.unique(score, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2
    return float((ranks[inverse][positive].sum() - positives * (positives + 1) / 2) / (positives * negatives))
