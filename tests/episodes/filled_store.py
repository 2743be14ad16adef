"""A store with a few short episodes."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from fake_corridor import Corridor, record_episode

from interplay.episodes.episode import Episode
from interplay.episodes.store import EpisodeStore


def episode(seed: int, steps: int = 6, **settings: object) -> Episode:
    """An episode whose id sorts by its seed."""
    played = record_episode(Corridor(), seed=seed, steps=steps, **settings)[0]
    return dataclasses.replace(played, meta=dataclasses.replace(played.meta, id=f"{seed:028x}"))


def filled(root: Path, count: int = 4) -> tuple[EpisodeStore, list[str]]:
    store = EpisodeStore(root, create=True)
    episodes = [episode(seed, split="heldout" if seed == 0 else "train", round=seed // 2) for seed in range(count)]
    for one in episodes:
        store.append(one)
    return store, [one.meta.id for one in episodes]
