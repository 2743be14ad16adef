"""A learner of two ranks under Ray: it learns what one learner does, and outlives the death of either."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from clusters import cluster, small
from tiny_runs import interplay, rows, tiny

from interplay.learner import checkpoint
from interplay.runtime.ledger import read_ledger

TWO = ("runtime.learners=2", "runtime.max_lag=0", "runtime.actors=1")
CHEAP = ("reinforce.reward=world", "reinforce.learner.objective.weights.gate_kl=0", "reinforce.heldout_every=100")


@pytest.fixture(scope="module", autouse=True)
def _cluster() -> Iterator[None]:
    with cluster():
        yield


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run up to its clone, which one learner made in process."""
    root = tmp_path_factory.mktemp("prepared")
    for verb in ("collect", "clone"):
        interplay(verb, tiny(root))
    return root


def copied(prepared: Path, to: Path) -> Path:
    shutil.copytree(prepared / "run", to / "run")
    return to


def close(one: Path, other: Path) -> None:
    """Two stages have learned the same but for rounding, from the same unrolls."""
    assert read_ledger(one / "ledger.jsonl") == read_ledger(other / "ledger.jsonl")
    mine, theirs = (checkpoint.read(folder / "checkpoints") for folder in (one, other))
    for name, weights in mine.weights().items():
        torch.testing.assert_close(weights, theirs.weights()[name], rtol=1e-4, atol=1e-5, msg=name)
    for key, here in mine.training()["learner"].items():
        there = theirs.training()["learner"][key]
        print(key, [(a - b).abs().max() for a, b in zip(here, there)] if key == "dataset_state" else None)
    for here, there in zip(rows(one / "metrics.jsonl"), rows(other / "metrics.jsonl"), strict=True):
        print([(k, here[k], there.get(k)) for k in here if here[k] != there.get(k)])


def test_two_ranks_learn_what_one_learner_does(prepared: Path, tmp_path: Path) -> None:
    root = copied(prepared, tmp_path / "two")
    shutil.rmtree(root / "run/clone")
    interplay("clone", small(root, *TWO))
    close(prepared / "run/clone", root / "run/clone")
    one, two = (copied(prepared, tmp_path / name) for name in ("alone", "ranks"))
    interplay("reinforce", tiny(one, "runtime.overlap=false", *CHEAP))
    interplay("reinforce", small(two, *TWO, *CHEAP))
    close(one / "run/reinforce", two / "run/reinforce")
