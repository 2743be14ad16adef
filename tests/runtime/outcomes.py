"""What a training stage left behind: is it whole, and is it what another one left?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from interplay.learner import checkpoint
from interplay.runtime.ledger import ConsumedUnroll, LedgerRow, read_ledger


def same(one: Any, other: Any, where: str = "") -> None:
    """Two nests of plain values and tensors are equal, bit for bit."""
    if isinstance(one, dict):
        assert set(one) == set(other), where
        for key in one:
            same(one[key], other[key], f"{where}/{key}")
    elif isinstance(one, list | tuple):
        assert len(one) == len(other), where
        for index, (mine, theirs) in enumerate(zip(one, other, strict=True)):
            same(mine, theirs, f"{where}/{index}")
    elif isinstance(one, torch.Tensor):
        assert torch.equal(one, other), where
    elif isinstance(one, np.ndarray):
        assert np.array_equal(one, other, equal_nan=True), where
    else:
        assert one == other, where


def same_stage(one: Path, other: Path) -> None:
    """Two stages have learned the same, from the same, and say so under the same names."""
    mine, theirs = (checkpoint.read(folder / "checkpoints") for folder in (one, other))
    assert mine.step == theirs.step
    same(mine.weights(), theirs.weights(), "agent.pt")
    same(mine.training(), theirs.training(), "training.pt")
    assert read_ledger(one / "ledger.jsonl") == read_ledger(other / "ledger.jsonl")


def numbers(ledger: list[LedgerRow], of: Callable[[LedgerRow], tuple[ConsumedUnroll, ...]]) -> dict[int, list[int]]:
    """By actor: the numbers of its unrolls, in the order in which they were learned from."""
    found: dict[int, list[int]] = {}
    for row in ledger:
        for taken in of(row):
            found.setdefault(taken.actor, []).append(taken.number)
    return found


def exact(folder: Path, updates: int) -> None:
    """Every update is there once, and every unroll of every actor in turn, none lost and none twice."""
    ledger = read_ledger(folder / "ledger.jsonl")
    assert [row.update for row in ledger] == list(range(1, updates + 1))
    for of in (lambda row: row.played, lambda row: row.demonstrated):
        for actor, delivered in numbers(ledger, of).items():
            assert delivered == list(range(len(delivered))), actor
