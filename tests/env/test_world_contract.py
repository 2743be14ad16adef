"""What a world declares, and what its steps and tasks return, is checked where it is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from fake_world import LineTask, LineWorld

from interplay.env import registry
from interplay.env.task import progress_of
from interplay.env.world import Action, Component, Outcome, Start

SPEC = LineWorld().spec


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": ""}, "has name=''; give a text"),
        ({"roles": ["setter", "solver"]}, r"has roles=\['setter', 'solver'\]; give \('setter', 'solver'\) or"),
        ({"frames_per_step": 0}, "has frames_per_step=0; give a whole number of 1 or more"),
        ({"frames_per_second": 0.0}, "has frames_per_second=0.0; give a number above 0"),
        ({"frames_per_second": float("nan")}, "has frames_per_second=nan"),
        ({"image": (8, 8, 1)}, r"has image=\(8, 8, 1\); give \(height, width, 3\), or None"),
        ({"image": (8, 8)}, r"has image=\(8, 8\); give"),
        ({"vector": None}, "has vector=None; give a whole number, 0 for no vector"),
        ({"vector": -1}, "has vector=-1; give"),
        ({"movement": None}, r"has movement=None; give a tuple of Component, \(\) for no movement"),
        ({"movement": (Component("walk", 128, 0),)}, r"has Component\(name='walk', bins=128.* give bins from 1 to 127"),
        ({"movement": (Component("walk", 0, 0),)}, "give bins from 1 to 127"),
        ({"movement": (Component("walk", 3, 3),)}, "give as rest one of its bins, from 0 to 2"),
        ({"poses": None}, "has poses=None; give a whole number, 0 for no poses"),
        ({"image": None, "vector": 0, "utterances": False}, "shows its players nothing: give its spec an image"),
        ({"movement": (), "utterances": False}, "gives its players nothing to do: give its spec a movement"),
    ],
)
def test_a_spec_that_no_world_can_have_is_refused(changes: Mapping[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=f"the (spec of the )?world .*{words}"):
        replace(SPEC, **changes)


def test_numbers_of_numpy_are_numbers_of_a_spec() -> None:
    assert replace(SPEC, vector=np.int64(2), frames_per_second=np.float32(30)) == SPEC  # type: ignore[arg-type]


def test_a_truncated_episode_is_done() -> None:
    with pytest.raises(ValueError, match=r"truncated=True and done=False; give done=True"):
        Outcome({}, truncated=True)


def test_a_step_without_a_reward_is_refused() -> None:
    with pytest.raises(ValueError, match="reward of a step is a finite number, and this one is None"):
        Outcome({}, env_reward=None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("actions", "words"),
    [
        ({"solver": np.full((1, 1), 2, np.int8)}, r"movement of solver is \[\[2\]\]; bins go from 0 to \[1\]"),
        ({"setter": np.full((1, 1), -1)}, r"movement of setter is \[\[-1\]\]; bins go"),
        ({"solver": np.zeros((1, 1))}, r"is float64 of shape \(1, 1\); it is int8 of shape \(1, 1\)"),
        ({"solver": np.zeros((2, 1), np.int8)}, r"is int8 of shape \(2, 1\); it is int8 of shape \(1, 1\)"),
        ({"solvr": np.zeros((1, 1), np.int8)}, "no role is called 'solvr'. Did you mean 'solver'"),
    ],
)
@pytest.mark.parametrize(
    "settings", [{"name": "gymnasium", "id": "CartPole-v1"}, {"name": "commai", "interface": "bits"}]
)
def test_actions_that_a_world_does_not_have_are_refused(
    settings: dict[str, Any], actions: Mapping[str, Any], words: str
) -> None:
    world = registry.make(**settings)
    world.reset(Start(seed=0))
    before = world.state()
    with pytest.raises(ValueError, match=words):
        world.step({role: Action(movement) for role, movement in actions.items()})
    assert world.state() == before


@pytest.mark.parametrize(
    "settings",
    [
        {"name": "playhouse"},
        {"name": "voxel"},
        {"name": "gymnasium", "id": "CartPole-v1"},
        {"name": "commai"},
        {"name": "commai", "interface": "utterances"},
    ],
)
def test_observers_that_a_world_does_not_have_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="no role is called 'solvr'"):
        registry.make(**settings).reset(Start(seed=0), observers=("solvr",))


@pytest.mark.parametrize("progress", [-0.5, 1.5, float("nan"), None])
def test_progress_outside_of_0_to_1_is_refused(progress: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LineTask, "progress", lambda task, facts: progress)
    with pytest.raises(ValueError, match=f"is {progress}; `progress` returns a number from 0 to 1"):
        progress_of(LineTask("walk", "walk to two", 2), {"solver": 0})


def test_rounding_may_carry_progress_just_past_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LineTask, "progress", lambda task, facts: 1 + 1e-12)
    assert progress_of(LineTask("walk", "walk to two", 2), {"solver": 0}) == 1 + 1e-12
