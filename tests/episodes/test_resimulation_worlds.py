"""Episodes of this package's worlds are resimulated from the store pixel for pixel."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from interplay.env import registry
from interplay.env.world import Action, Start, World
from interplay.episodes.decoded_episode import resimulate
from interplay.episodes.encoding import decode, encode
from interplay.episodes.episode import Episode
from interplay.episodes.recorder import EpisodeRecorder

WORLDS: list[tuple[str, dict[str, Any]]] = [("playhouse", {}), ("gymnasium", {"id": "BabyAI-GoToObj-v0"})]


def act(world: World, rng: np.random.Generator) -> dict[str, Action]:
    """Random actions, each held for the step, and occasional words."""
    bins = [component.bins for component in world.spec.movement]
    return {
        role: Action(
            np.tile(rng.integers(bins).astype(np.int8), (world.spec.frames_per_step, 1)),
            "hello" if rng.random() < 0.3 else None,
        )
        for role in world.spec.roles
    }


@pytest.mark.parametrize(("name", "settings"), WORLDS)
def test_a_recorded_episode_is_seen_again_as_it_was(name: str, settings: dict[str, Any]) -> None:
    world, rng = registry.make(name, **settings), np.random.default_rng(0)
    roles = world.spec.roles
    recorder = EpisodeRecorder(world, players={}, record=roles)
    views = [world.reset(Start(seed=3))]
    recorder.begin(seed=3, views=views[0])
    for _ in range(6):
        actions = act(world, rng)
        outcome = world.step(actions)
        recorder.record(actions, outcome)
        views.append(outcome.views)
    episode = decode(encode(recorder.finish()), source="here")
    ways: list[Episode] = [episode]
    if episode.poses is not None:
        ways.append(dataclasses.replace(episode, poses=None))  # by its actions instead
    for way in ways:
        for row, again, _ in resimulate(registry.make(name, **settings), way, roles):
            for role in roles:
                np.testing.assert_array_equal(again[role].image, views[row][role].image)
                assert (again[role].heard, again[role].said) == (views[row][role].heard, views[row][role].said)
