"""The pictures of a recorded episode, drawn again for people, row by row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from interplay.env.arrays import Image
from interplay.env.world import World
from interplay.episodes.episode import Episode
from interplay.episodes.resimulation import resimulate

BESIDE = 2  # pictures beside the solver's own
MAP = "map"  # by convention the title of a world's map


def pictures(world: World, episode: Episode, height: int, width: int) -> Iterator[Mapping[str, Image]]:
    """Yields, for each of the N + 1 rows, pictures by title: the solver's under its role, and whatever else there is.

    Those of a world with portraits are uint8 [height, width, 3]. Of other worlds there is what the agent saw, at the
    size at which it saw it.

    Raises:
        ValueError: the world has no pictures, or is another one than was recorded.
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


def beside(drawn: Mapping[str, Image], *, solver: str, asker: str) -> tuple[str, ...]:
    """Which pictures go beside the solver's: the map, what the asker sees, and others, as far as they show anything.

    A picture of one color shows nothing: such are the eyes of a player who is not in the world.
    """
    order = [MAP, asker, *drawn]
    titles = dict.fromkeys(title for title in order if title in drawn and title != solver)
    return tuple(title for title in titles if np.ptp(drawn[title].reshape(-1, 3), axis=0).any())[:BESIDE]
