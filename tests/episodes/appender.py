"""Appends episodes until it is killed; prints the id of each after its append returns."""

import sys
from pathlib import Path

from fake_corridor import Corridor, record_episode

from interplay.episodes.store import EpisodeStore

store = EpisodeStore(Path(sys.argv[1]))
for seed in range(1_000_000):
    episode = record_episode(Corridor(poses=False), seed=seed, steps=60)[0]
    store.append(episode)
    sys.stdout.write(f"{episode.meta.id}\n")
    sys.stdout.flush()
