"""A checkpoint of format 2 is read as one of format 3, for one actor and for several."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from interplay.learner import checkpoint
from interplay.learner.checkpoint_upgrade import upgrade_training
from interplay.runtime.lane_records import load_records

LANES, WIDTH = 2, 3


def state(value: int) -> list[torch.Tensor]:
    return [torch.full((LANES, WIDTH), float(value)), torch.full((LANES, WIDTH), float(-value))]


def named(value: int) -> dict[str, torch.Tensor]:
    return dict(zip(("hidden", "cell"), state(value), strict=True))


def training(rollout: dict[str, Any]) -> dict[str, Any]:
    return {"steps": 7, "learner": {"optimiser": {"state": {}}, "updates": 4}, "dataset": {"turn": 2}, **rollout}


ONE = {
    "actor": {"turn": 5},
    "payment": named(1),
    "gate": {"weights": {"bias": torch.ones(1)}, "lanes": state(2)},
    "returns": torch.tensor([3.0, 4.0]),
}
SEVERAL = {
    "actor": [{"turn": 5}, None],
    "payment": [named(1), {}],
    "gate": {"weights": {"bias": torch.ones(1)}, "lanes": [state(2), []]},
    "returns": [torch.tensor([3.0, 4.0]), torch.zeros(2)],
}
PLAIN = {"actor": {"turn": 5}, "payment": {}, "gate": None, "returns": torch.tensor([3.0, 4.0])}


@pytest.mark.parametrize(("old", "actors"), [(ONE, 1), (SEVERAL, 2), (PLAIN, 1)], ids=["one", "several", "no networks"])
def test_lanes_become_records(old: dict[str, Any], actors: int) -> None:
    new = upgrade_training(training(old))
    assert set(new) == {"steps", "learner", "dataset", "rollout"}
    assert new["learner"] == {"optimizer": {"state": {}}, "updates": 4}
    first, *others = load_records(new["rollout"], actors, LANES)
    assert first.number == 5 and first.returns.state()[:, 0].tolist() == [3.0, 4.0]
    for found, value in ((first.lane_state.reward, 1), (first.lane_state.reference, 2)):
        if old is PLAIN:
            assert found is None
        else:
            assert found is not None and (found.hidden == value).all() and (found.cell == -value).all()
    for other in others:
        assert (other.number, other.actor) == (0, None)
    assert (new["rollout"]["reference"] is None) == (old is PLAIN)


def test_a_stage_without_rollouts_keeps_its_fields() -> None:
    assert upgrade_training(training({})) == {
        "steps": 7,
        "learner": {"optimizer": {"state": {}}, "updates": 4},
        "dataset": {"turn": 2},
    }


def test_the_format_decides_how_a_checkpoint_is_read(tmp_path: Path) -> None:
    path = checkpoint.save(tmp_path, step=5, description={}, weights={}, training=training(ONE))
    assert "actor" in checkpoint.read(path).training()
    (path / "checkpoint.json").write_text(json.dumps({"format": 2, "step": 5}))
    assert "rollout" in checkpoint.read(path).training()
