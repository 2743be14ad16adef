"""Appends copies of an encoded episode until it is killed; prints the id of each after its append returns."""

import sys
from dataclasses import replace
from pathlib import Path

from interplay.episodes.encoding import load
from interplay.episodes.episode import new_episode_id
from interplay.episodes.store import EpisodeStore

store, episode = EpisodeStore(Path(sys.argv[1]), create=True), load(Path(sys.argv[2]))
while True:
    copy = replace(episode, meta=replace(episode.meta, id=new_episode_id()))
    store.append(copy)
    sys.stdout.write(f"{copy.meta.id}\n")
    sys.stdout.flush()
