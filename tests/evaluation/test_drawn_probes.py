"""The probes that are sampled with and without kinds in the configuration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pytest
from fake_world import LENGTH, LineTaskSource, LineWorld

from interplay.env import registry
from interplay.env.task import InfeasibleTask, Task, TaskSource
from interplay.env.world import Start, View, World
from interplay.evaluation.chance import RestingSeat
from interplay.evaluation.probe_player import ProbePlayer
from interplay.evaluation.probes import ProbesConfig, draw_probes


def playhouse() -> World:
    return registry.make("playhouse", rooms=[1, 1], image=[48, 64])


def test_usual_kinds_are_probed_by_default_and_others_on_request() -> None:
    usual = draw_probes(playhouse(), ProbesConfig(episodes=2))
    assert Counter(p.kind for p in usual) == dict.fromkeys(("go", "lift", "position", "color", "count", "exist"), 2)
    named = draw_probes(playhouse(), ProbesConfig(episodes=2, kinds=("larger", "go")))
    assert [probe.kind for probe in named] == ["larger", "larger", "go", "go"]
    assert named[0].task["accepted"], "stored with its right answers"


def test_an_unknown_kind_is_refused_with_all_that_there_are() -> None:
    with pytest.raises(ValueError, match=r"dance; playhouse has go, .*exist, .*larger, .*seen"):
        draw_probes(playhouse(), ProbesConfig(kinds=("dance",)))


def test_kinds_that_setters_ask_for_and_that_are_not_probes_by_default_are_probed_on_request() -> None:
    assert {probe.kind for probe in draw_probes(LineWorld(), ProbesConfig(episodes=1))} == {"walk"}
    (drawn,) = draw_probes(LineWorld(), ProbesConfig(episodes=1, kinds=("count",)))
    assert drawn.kind == "count"


class OddSeedsWorld(LineWorld):
    """Allows the kind "count" in houses of odd seeds only, and knows that."""

    def __init__(self) -> None:
        super().__init__()
        self.seeds: list[int] = []

    def reset(self, start: Start, observers: Collection[str] | None = None) -> Mapping[str, View]:
        self.seeds.append(start.seed or 0)
        return super().reset(start, observers)

    def seed_for(self, kind: str, rng: np.random.Generator) -> int:
        return int(rng.integers(1000)) * 2 + (kind == "count")

    def tasks(self) -> TaskSource:
        return OddTasks(self.seeds[-1])


class OddTasks(LineTaskSource):
    probes = ("walk", "count")

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def sample(self, kind: str, rng: np.random.Generator) -> Task:
        if (kind == "count") != self._seed % 2:
            raise InfeasibleTask(f"no {kind} in house {self._seed}")
        return super().sample(kind, rng)


def test_a_world_that_knows_which_seeds_allow_a_kind_is_asked_once() -> None:
    world = OddSeedsWorld()
    drawn = draw_probes(world, ProbesConfig(episodes=3))
    assert [(probe.kind, probe.seed % 2) for probe in drawn] == [("walk", 0)] * 3 + [("count", 1)] * 3
    assert world.seeds[1:] == [probe.seed for probe in drawn], "no house was tried in vain"


def test_the_probes_of_a_world_without_a_choice_of_seeds_stay_the_same() -> None:
    drawn = draw_probes(LineWorld(), ProbesConfig(episodes=2, seed=3))
    first = np.random.default_rng([3, 0, 0, 0])
    assert drawn[0].seed == first.integers(2**31) and drawn[0].task["goal"] == first.integers(LENGTH)


def test_kinds_that_take_longer_are_given_more_time_and_a_configuration_has_the_last_word() -> None:
    world = registry.make("playhouse")
    drawn = draw_probes(world, ProbesConfig(episodes=1, kinds=("go", "tower", "row"), limits={"row": 50}))
    own = world.tasks().step_limits["tower"]
    assert {probe.kind: probe.limit for probe in drawn} == {"go": 40, "tower": own, "row": 50} and own > 40
    longer = draw_probes(world, ProbesConfig(episodes=1, kinds=("tower",), steps=own + 1))
    assert longer[0].limit == own + 1
    with pytest.raises(ValueError, match="limits names dance"):
        draw_probes(world, ProbesConfig(limits={"dance": 3}))
    with pytest.raises(ValueError, match="at least 1 step, got"):
        ProbesConfig(limits={"go": 0})


@pytest.mark.parametrize(
    ("env", "steps", "limit"),
    [
        ({"id": "CartPole-v1", "instruction": "balance", "success_return": 475.0}, 1000, 500),
        ({"id": "CartPole-v1", "instruction": "balance", "success_return": 475.0, "max_steps": 30}, 1000, 30),
        ({"id": "CartPole-v1", "instruction": "balance", "success_return": 475.0}, 40, 40),
        ({"id": "BabyAI-GoToLocal-v0"}, 500, 64),
    ],
)
def test_a_probe_has_at_most_the_time_of_an_episode(env: Mapping[str, Any], steps: int, limit: int) -> None:
    drawn = draw_probes(registry.make("gymnasium", **env), ProbesConfig(episodes=2, steps=steps))
    assert [probe.limit for probe in drawn] == [limit, limit]


def test_a_probe_ends_at_its_own_limit() -> None:
    world = registry.make("playhouse", image=[16, 24])
    probes = draw_probes(world, ProbesConfig(episodes=1, kinds=("go", "tower"), steps=3, limits={"tower": 7}))
    played = [result for result, _ in ProbePlayer(worlds=[world], seat=RestingSeat()).play(probes)]
    assert [(result.kind, result.steps, result.limit) for result in played] == [("go", 3, 3), ("tower", 7, 7)]
