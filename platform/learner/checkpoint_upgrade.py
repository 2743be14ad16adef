"""Checkpoints of format 2 in the form of format 3, which has one record of lanes for each actor in every runtime.

In format 2 `actor`, `payment`, `gate` and `returns` were separate entries: single values with one actor, lists with
several. Format 3 has `rollout` instead: see `interplay.runtime.lane_records`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def upgrade_training(training: Mapping[str, Any]) -> dict[str, Any]:
    """The contents of a `training.pt` of format 2, as format 3 has them."""
    upgraded = dict(training)
    if "learner" in upgraded:
        learner = dict(upgraded["learner"])
        learner["optimizer"] = learner.pop("optimiser")
        upgraded["learner"] = learner
    if "actor" in upgraded:
        actor, payment, gate, returns = (upgraded.pop(key) for key in ("actor", "payment", "gate", "returns"))
        upgraded["rollout"] = _rollout(actor, payment, gate, returns)
    return upgraded


def _rollout(actor: Any, payment: Any, gate: Any, returns: Any) -> dict[str, Any]:
    several = isinstance(actor, list)
    actors, payments, sums = (actor, payment, returns) if several else ([actor], [payment], [returns])
    references = [None] * len(actors)
    if gate is not None:
        references = gate["lanes"] if several else [gate["lanes"]]
    lanes = [
        {
            "actor": own,
            "reward": [paid["hidden"], paid["cell"]] if paid else None,
            "reference": list(reference) if reference else None,
            "returns": summed,
        }
        for own, paid, reference, summed in zip(actors, payments, references, sums, strict=True)
    ]
    return {"lanes": lanes, "reference": None if gate is None else gate["weights"]}
