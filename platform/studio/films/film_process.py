"""The process that draws films: `python -m interplay.studio.films.film_process`, its socket as standard input.

It answers one request after another: {"path", "folder", "part"} with `part` "plan", "strip" or the number of a chunk.
What it draws it writes into `folder`, whole or not at all. It answers {}, {"error"} where the recording can't be drawn,
or {"system_error"} where nothing can, as on a full disk. It is given low priority, so that drawing ahead disturbs
neither people nor training.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from interplay.core.files import write_whole
from interplay.core.renamed_settings import with_current_names
from interplay.env import registry
from interplay.env.world import World
from interplay.episodes.encoding import DamagedEpisode, UnknownFormat, load
from interplay.episodes.episode import Episode
from interplay.studio.films.film_drawing import EpisodeFrames, draw, execute, write_pack
from interplay.studio.web.framing import Connection

NICENESS = 10
KEPT_EPISODES = 4  # whose moments stay in memory


class FilmWorker:
    """Draws the requested parts of films; keeps the moments of the last episodes, which are costly to execute."""

    def __init__(self, height: int, quality: int) -> None:
        self._height = height
        self._quality = quality
        self._worlds: dict[str, World] = {}
        self._executed = lru_cache(KEPT_EPISODES)(self._execute)

    def draw(self, path: Path, folder: Path, part: str | int) -> None:
        """Writes `plan.json`, `strip.pack` or the pack of a chunk into `folder`."""
        episode, moments = self._executed(path)
        folder.mkdir(parents=True, exist_ok=True)
        if part == "plan":
            write_whole(folder / "plan.json", json.dumps(moments.plan.to_json()), durable=False)
            return
        pictures = draw(self._world(episode), episode, moments, part, self._quality)
        write_whole(folder / f"{part}.pack", write_pack(pictures), durable=False)

    def _execute(self, path: Path) -> tuple[Episode, EpisodeFrames]:
        episode = load(path)
        return episode, execute(self._world(episode), episode, self._height)

    def _world(self, episode: Episode) -> World:
        """A world with the settings of the recording."""
        meta = episode.meta
        settings = {"name": meta.world, **with_current_names(meta.world_config, "env")}
        key = json.dumps(settings, sort_keys=True, default=repr)
        if key not in self._worlds:
            self._worlds[key] = registry.make(**settings)
        return self._worlds[key]


def serve_films(connection: Connection, worker: FilmWorker) -> None:
    """Answers requests until the other side closes."""
    while not connection.closed:
        for request in connection.receive():
            answer = {}
            try:
                worker.draw(Path(request["path"]), Path(request["folder"]), request["part"])
            except (ValueError, DamagedEpisode, UnknownFormat) as error:
                answer["error"] = str(error)
            except OSError as error:
                answer["system_error"] = str(error)
            connection.send(answer)


def main(arguments: Sequence[str]) -> int:
    """Serves on the socket that is the process's standard input."""
    height, quality = (int(argument) for argument in arguments)
    os.nice(NICENESS)
    with socket.socket(fileno=os.dup(0)) as connection:
        serve_films(Connection(connection), FilmWorker(height, quality))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
