"""Pictures of a recorded episode, rendered again by re-simulation, row by row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from interplay.env.arrays import Image
from interplay.env.world import World
from interplay.episodes.decoded_episode import resimulate
from interplay.episodes.episode import Episode

MAX_SIDE_VIEWS = 2
MAP_TITLE = "map"  # by convention the title of a world's map


def pictures(world: World, episode: Episode, height: int, width: int) -> Iterator[Mapping[str, Image]]:
    """Yields the pictures of each of the N + 1 rows by title; the solver's view has its role as title.

    Worlds with portraits give uint8 [height, width, 3]. Other worlds give the agent's observation at its own size.

    Raises:
        ValueError: the world has no pictures, or is not the world that was recorded.
    """
    solver = world.spec.solver
    observers = (solver,) if world.spec.image is not None else ()
    for _, views, present in resimulate(world, episode, observers):
        drawn = dict(present.portrait(height, width))
        seen = views[solver].image if observers else None
        if solver not in drawn and seen is not None:
            drawn[solver] = seen
        if solver not in drawn and drawn:
            drawn[solver] = drawn.pop(next(iter(drawn)))
        if not drawn:
            raise ValueError(
                f"episode {episode.meta.id} was recorded in {world.spec.name}, which draws no pictures; a replay needs "
                "a world with images or portraits"
            )
        yield drawn


def side_views(drawn: Mapping[str, Image], *, solver: str, setter: str) -> tuple[str, ...]:
    """Returns the titles of the side views: the map, the setter's view, then others.

    Pictures of one color are left out: they are the view of a player without a body in the world.
    """
    order = [MAP_TITLE, setter, *drawn]
    titles = dict.fromkeys(title for title in order if title in drawn and title != solver)
    return tuple(title for title in titles if np.ptp(drawn[title].reshape(-1, 3), axis=0).any())[:MAX_SIDE_VIEWS]
