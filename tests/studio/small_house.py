"""Recorded episodes of a small house, whose films are drawn quickly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from interplay.env import registry
from interplay.env.world import Action, Start, World
from interplay.episodes.episode import Episode, Utterance
from interplay.episodes.recorder import EpisodeRecorder
from interplay.episodes.store import EpisodeStore

IMAGE = (24, 32)
STEPS = 6
ENV: dict[str, object] = {"name": "playhouse", "image": list(IMAGE)}


def house() -> World:
    """A world that draws small pictures."""
    return registry.make("playhouse", image=IMAGE)


def played(world: World, seed: int = 3, steps: int = STEPS) -> tuple[Episode, list[np.ndarray]]:
    """An episode of random movements, and the solver's picture at every frame as it was played."""
    rng = np.random.default_rng(seed)
    spec = world.spec
    players = {role: {"kind": "scripted"} for role in spec.roles}
    recorder = EpisodeRecorder(world, players=players, world_config={"image": list(IMAGE)})
    views = world.reset(Start(seed=seed))
    recorder.begin(seed=seed, views=views)
    pictures = [world.picture(spec.solver, *IMAGE).copy()]
    for _ in range(steps):
        bins = [component.bins for component in spec.movement]
        shape = (spec.frames_per_step, len(bins))
        actions = {role: Action(rng.integers(bins, size=shape).astype(np.int8)) for role in spec.roles}
        for frame in range(spec.frames_per_step):
            outcome = world.frame({role: action.movement[frame] for role, action in actions.items()})
            pictures.append(world.picture(spec.solver, *IMAGE).copy())
        recorder.record(actions, outcome)
    return recorder.finish(), pictures


def fill_store(root: Path, episodes: int, said: Sequence[Utterance] = (), steps: int = STEPS) -> list[str]:
    """Records episodes into the store of the run in `root`; in each of them the same was said."""
    world = house()
    with EpisodeStore(root / "store", create=True) as store:
        for seed in range(episodes):
            episode, _ = played(world, seed, steps)
            store.append(replace(episode, meta=replace(episode.meta, utterances=tuple(said))))
        return store.ids()
