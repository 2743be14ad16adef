"""Modeled returns during reinforcement, on training and on held-out episodes (Fig. 4 of the paper)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from interplay.actors.episode_returns import FinishedEpisodes
from interplay.agent.weights import Weights
from interplay.core.files import JsonLines
from interplay.evaluation.report_data import RewardPoint

RETURNS = "returns.jsonl"  # in the folder of the reinforce stage
MODEL = "reward_model"  # of a row: the reward model that gave its returns, by update and weights


class HeldoutReturns(NamedTuple):
    """The same held-out episodes at one update."""

    returns: list[float]  # [episodes], modeled
    success: list[float | None]  # [episodes], share of the tasks that were done in truth; None where it is unknown


class ReturnsLedger:
    """Writes `returns.jsonl`: one row per measurement, with the training episodes that ended since the last one.

    `heldout` measures the held-out episodes; None without such episodes. `model_in_use` describes the reward model, if
    there is one; see `RewardSource.model_in_use`.
    """

    def __init__(
        self,
        path: Path,
        *,
        every: int,
        heldout: Callable[[Weights, int], HeldoutReturns] | None,
        model_in_use: Callable[[], Mapping[str, Any] | None] = lambda: None,
    ) -> None:
        self._rows = JsonLines(path, key="update")
        self._every = every
        self._heldout = heldout
        self._model_in_use = model_in_use
        self._training: list[float] = []

    def begin(self, resumed: int | None, weights: Callable[[], Weights]) -> None:
        """Drops the rows after the update that the run resumes from, because it repeats those updates. A new run
        (None) measures the held-out returns of its initial weights, as update 0."""
        self._rows.drop_after(resumed)
        if resumed is None and self._heldout is not None:
            self._append(0, [], self._heldout(weights(), 0))

    def state(self) -> dict[str, Any]:
        """State for resuming: the returns that are not yet written."""
        return {"training": list(self._training)}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Resumes from the result of `state`."""
        self._training = list(state["training"])

    def __call__(self, update: int, weights: Callable[[], Weights], ended: FinishedEpisodes) -> Mapping[str, float]:
        self._training += [float(value) for value in ended.returns]
        if update % self._every:
            return {}
        heldout = self._heldout(weights(), update) if self._heldout is not None else HeldoutReturns([], [])
        self._append(update, self._training, heldout)
        self._training = []
        known = [done for done in heldout.success if done is not None]
        metrics = {"heldout_return": sum(heldout.returns) / len(heldout.returns)} if heldout.returns else {}
        return metrics | ({"heldout_success": sum(known) / len(known)} if known else {})

    def _append(self, update: int, training: list[float], heldout: HeldoutReturns) -> None:
        row = {"update": update, "training": training, "heldout": heldout.returns, "success": heldout.success}
        self._rows.append(row if (model := self._model_in_use()) is None else {**row, MODEL: dict(model)})


def reward_points(path: Path) -> list[RewardPoint]:
    """The rows of a ledger as points of a curve; those of older versions lack the true success."""
    return [
        RewardPoint(row["update"], _array(row["training"]), _array(row["heldout"]), _array(row.get("success", ())))
        for row in JsonLines(path, key="update").read()
    ]


def changes_of_reward_model(path: Path) -> list[tuple[int, int]]:
    """The updates between which a stage was resumed with another reward model, whose returns can't be compared.

    A newer model that was loaded while the reward stage trained is none of these, nor are rows of older versions.
    """
    rows = [row for row in JsonLines(path, key="update").read() if row.get(MODEL, {}).get("weights")]
    return [
        (one["update"], two["update"]) for one, two in pairwise(rows) if one[MODEL]["weights"] != two[MODEL]["weights"]
    ]


def last_reward_model(path: Path) -> str:
    """The weights of the reward model that the last row states; "" if it states none."""
    rows = JsonLines(path, key="update").newest(1)
    return str(rows[-1].get(MODEL, {}).get("weights", "")) if rows else ""


def _array(values: ArrayLike) -> NDArray[np.float64]:
    return np.array(values, np.float64)  # None becomes NaN
