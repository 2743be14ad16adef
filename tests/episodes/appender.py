"""Appends episodes until it is killed, and says the id of each once its append has returned."""

import sys
from pathlib import Path

from corridor import Corridor, play

from interplay.episodes.store import EpisodeStore

store = EpisodeStore(Path(sys.argv[1]))
for seed in range(1_000_000):
    episode = play(Corridor(poses=False), seed=seed, steps=60)[0]
    store.append(episode)
    sys.stdout.write(f"{episode.meta.id}\n")
    sys.stdout.flush()
