"""The tests' line world with settings of its own for stored episodes: four frames a step, images that tell the roles
apart, a mission, and poses that can be left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from fake_world import ROLES, LineWorld, assert_same_arrays

from interplay.env.world import Action, Component, Start, View
from interplay.episodes.episode import Episode
from interplay.episodes.recorder import EpisodeRecorder

FRAMES = 4


class Corridor(LineWorld):
    """Components: `walk` (back, rest, forward). `drawn` counts its views."""

    def __init__(self, *, poses: bool = True, mission: str = "") -> None:
        super().__init__()
        walk = (Component("walk", 3, 1),)
        self.spec = replace(self.spec, name="corridor", frames_per_step=FRAMES, movement=walk, poses=3 if poses else 0)
        self.mission = mission
        self.drawn = 0

    def view(self, role: str) -> View:
        self.drawn += 1
        image = np.full((8, 8, 3), self.at["setter"], np.uint8)
        image[..., 0] = self.at["solver"]
        image[..., 2] = (self.clock + (role == "setter")) % 256
        other = ROLES[1 - ROLES.index(role)]
        vector = np.array([self.at[role], self.clock], np.float32)
        return View(image, vector, heard=self.said[other] or self.mission, said=self.said[role])


def record_episode(
    world: Corridor,
    seed: int,
    steps: int = 10,
    **settings: Any,
) -> tuple[Episode, list[Mapping[str, View]], list[dict[str, Any]]]:
    """A random episode: as recorded, the views as the players saw them, and the truth at each row."""
    rng = np.random.default_rng(seed)
    players = {"setter": {"kind": "scripted"}, "solver": {"kind": "scripted", "skill": "half"}}
    recorder = EpisodeRecorder(world, players=players, record=ROLES, **settings)
    views = [world.reset(Start(seed=seed))]
    recorder.begin(seed=seed, views=views[0])
    recorder.ask({"kind": "go", "instruction": "go on"})
    facts = [world.facts()]
    for step in range(steps):
        actions = {
            role: Action(
                rng.integers(3, size=(FRAMES, 1)).astype(np.int8),
                f"{role} {step}" if rng.random() < 0.3 else None,
            )
            for role in ROLES
        }
        outcome = world.step(actions)
        recorder.record(actions, outcome)
        views.append(outcome.views)
        facts.append(world.facts())
    return recorder.finish(), views, facts


def assert_same_episode(a: Episode, b: Episode) -> None:
    """Everything equal, dtypes included."""
    assert a.meta == b.meta
    assert a.initial_state == b.initial_state
    arrays = [
        (a.actions, b.actions),
        (a.images, b.images),
        (a.vectors, b.vectors),
        ({"reward": a.env_reward}, {"reward": b.env_reward}),
        ({} if a.poses is None else {"poses": a.poses[:]}, {} if b.poses is None else {"poses": b.poses[:]}),
    ]
    for one, other in arrays:
        assert_same_arrays(one, other)
