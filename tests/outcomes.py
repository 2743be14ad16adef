"""Assertions about the files of a training stage: completeness, and bit-for-bit equality with another stage."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from interplay.core.files import JsonLines
from interplay.learner import checkpoint
from interplay.runtime.batch_sources import ConsumedUnroll


@dataclass(frozen=True)
class LedgerRow:
    """One row of a ledger."""

    update: int
    played: tuple[ConsumedUnroll, ...]
    demonstrated: tuple[ConsumedUnroll, ...]


def read_ledger(path: Path) -> list[LedgerRow]:
    """Reads the rows of a ledger; empty if there is no file. A last line cut short by a kill is left out."""
    return [
        LedgerRow(
            row["update"],
            tuple(ConsumedUnroll(*each) for each in row["played"]),
            tuple(ConsumedUnroll(*each) for each in row["demonstrated"]),
        )
        for row in JsonLines(path, key="update").read()
    ]


def assert_equal_nested(first: Any, second: Any, where: str = "") -> None:
    """Asserts that two nested containers of plain values and tensors are equal, bit for bit."""
    assert type(first) is type(second), where
    if isinstance(first, Mapping):
        assert list(first) == list(second), where
        for key in first:
            assert_equal_nested(first[key], second[key], f"{where}/{key}")
    elif isinstance(first, list | tuple):
        assert len(first) == len(second), where
        for index, (a, b) in enumerate(zip(first, second, strict=True)):
            assert_equal_nested(a, b, f"{where}/{index}")
    elif isinstance(first, torch.Tensor):
        assert torch.equal(first, second), where
    elif isinstance(first, np.ndarray):
        assert np.array_equal(first, second, equal_nan=True), where
    else:
        assert first == second, where


def assert_same_stage(one: Path, other: Path) -> None:
    """Asserts that two stages have equal checkpoints and equal ledgers."""
    first, second = (checkpoint.read(folder / "checkpoints") for folder in (one, other))
    assert first.step == second.step
    assert_equal_nested(first.weights(), second.weights(), "agent.pt")
    assert_equal_nested(first.training(), second.training(), "training.pt")
    assert read_ledger(one / "ledger.jsonl") == read_ledger(other / "ledger.jsonl")


def unroll_numbers(
    ledger: list[LedgerRow], select: Callable[[LedgerRow], tuple[ConsumedUnroll, ...]]
) -> dict[int, list[int]]:
    """The numbers of each actor's unrolls, in the order in which the learner consumed them."""
    found: dict[int, list[int]] = {}
    for row in ledger:
        for unroll in select(row):
            found.setdefault(unroll.actor, []).append(unroll.number)
    return found


def assert_close_stages(one: Path, two: Path) -> None:
    """Asserts that two stages have equal ledgers, but for the order of unrolls within a batch, and equal checkpoints
    up to rounding."""
    ledgers = [read_ledger(folder / "ledger.jsonl") for folder in (one, two)]
    ordered = [[replace(row, played=tuple(sorted(row.played, key=astuple))) for row in ledger] for ledger in ledgers]
    assert ordered[0] == ordered[1]
    first, second = (checkpoint.read(folder / "checkpoints") for folder in (one, two))
    assert first.step == second.step
    for name, weights in first.weights().items():
        torch.testing.assert_close(second.weights()[name], weights, rtol=1e-4, atol=1e-5, msg=name)
    learned = [stage.training()["learner"] for stage in (first, second)]
    assert torch.equal(learned[0]["generator"], learned[1]["generator"])
    for of_one, of_two in zip(learned[0]["dataset_state"], learned[1]["dataset_state"], strict=True):
        torch.testing.assert_close(of_two, of_one, rtol=1e-4, atol=1e-5)


def assert_each_unroll_once(folder: Path, updates: int) -> None:
    """Asserts that each update, and each unroll of each actor, is in the ledger exactly once and in order."""
    ledger = read_ledger(folder / "ledger.jsonl")
    assert [row.update for row in ledger] == list(range(1, updates + 1))
    for select in (lambda row: row.played, lambda row: row.demonstrated):
        for actor, delivered in unroll_numbers(ledger, select).items():
            assert delivered == list(range(len(delivered))), actor
