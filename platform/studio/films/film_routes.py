"""Routes of films. A rater asks by the item that it was given, an adjudicator by the episode.

The reason of a failure may name the file of the episode. Raters do not see it, because they judge blind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Depends, HTTPException, Response

from interplay.studio.films.film_library import FilmFailed, FilmSource
from interplay.studio.marks.marking_routes import own_item
from interplay.studio.web.access import Adjudicator, Rater, Studio, answering
from interplay.studio.web.studio_context import StudioContext

router = APIRouter(prefix="/api")
BINARY = "application/octet-stream"
BLIND_FAILURE = "this recording can't be shown: say that it is unusable; the studio's log has the reason"
CACHED = {"Cache-Control": "private, max-age=86400"}  # the pictures of an episode never change


def _of_item(item: str, studio: Studio, person: Rater) -> FilmSource:
    return _source(studio, own_item(studio, item, person).episode)


def _of_episode(episode: str, studio: Studio, _: Adjudicator) -> FilmSource:
    return _source(studio, episode)


def _source(studio: StudioContext, episode: str) -> FilmSource:
    try:
        return studio.film_source(episode)
    except KeyError as error:
        raise HTTPException(404, "there is no such recording") from error


def _add_routes(path: str, find: Callable[..., FilmSource], failure: str = "") -> None:
    """Adds the routes of a film.

    Args:
        find: a dependency that returns its recording to those that may see it.
        failure: the answer where a film can't be drawn; by default the reason.
    """
    found = Depends(find)

    @router.get(f"{path}/film")
    async def film(studio: Studio, source: FilmSource = found) -> dict[str, Any]:
        """What the film consists of."""
        with answering(FilmFailed, 503, failure):
            plan = await studio.films.plan(source)
        return dict(plan)

    @router.get(f"{path}/strip")
    async def strip(studio: Studio, source: FilmSource = found) -> Response:
        """A small picture of every row."""
        return await _pack(studio, source, "strip", failure)

    @router.get(f"{path}/full/{{chunk}}")
    async def full(chunk: int, studio: Studio, source: FilmSource = found) -> Response:
        """A chunk of the full film."""
        with answering(FilmFailed, 503, failure):
            plan = await studio.films.plan(source)
        if not 0 <= chunk < plan["chunks"]:
            raise HTTPException(404, "there is no such chunk")
        return await _pack(studio, source, chunk, failure)


async def _pack(studio: StudioContext, source: FilmSource, part: str | int, failure: str) -> Response:
    with answering(FilmFailed, 503, failure):
        pack = await studio.films.pack(source, part)
    return Response(pack, media_type=BINARY, headers=CACHED)


_add_routes("/items/{item}", _of_item, BLIND_FAILURE)
_add_routes("/recordings/{episode}", _of_episode)
