"""Routes of films. A rater asks by the item that it was given, an adjudicator by the episode.

The reason of a failure may name the file of the episode. Raters do not see it, because they judge blind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from fastapi import APIRouter, Depends, HTTPException, Response

from interplay.studio.films.film_library import FilmFailed, FilmSource, FilmsUnavailable
from interplay.studio.marks.marking_routes import own_item
from interplay.studio.web.access import Adjudicator, Rater, Studio, answering
from interplay.studio.web.studio_context import StudioContext

router = APIRouter(prefix="/api")
BINARY = "application/octet-stream"
BLIND_FAILURE = "this recording can't be shown: say that it is unusable; the studio's log has the reason"
UNAVAILABLE = "pictures can't be drawn at the moment; please tell the researcher, and reload the page later"
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
        """The parts of the film, as JSON."""
        with _drawing(failure):
            plan = await studio.films.plan(source)
        return dict(plan)

    @router.get(f"{path}/strip")
    async def strip(studio: Studio, source: FilmSource = found) -> Response:
        """A small picture of every row."""
        return await _pack(studio, source, "strip", failure)

    @router.get(f"{path}/full/{{chunk}}")
    async def full(chunk: int, studio: Studio, source: FilmSource = found) -> Response:
        """A chunk of the full film."""
        with _drawing(failure):
            plan = await studio.films.plan(source)
        if not 0 <= chunk < plan["chunks"]:
            raise HTTPException(404, "there is no such chunk")
        return await _pack(studio, source, chunk, failure)


@contextmanager
def _drawing(failure: str) -> Iterator[None]:
    """Answers that a film can't be drawn by `failure`, or for those that may see it by the reason."""
    unavailable = UNAVAILABLE if failure else ""
    with answering(FilmFailed, 503, failure), answering(FilmsUnavailable, 503, unavailable):
        yield


async def _pack(studio: StudioContext, source: FilmSource, part: str | int, failure: str) -> Response:
    with _drawing(failure):
        pack = await studio.films.pack(source, part)
    return Response(pack, media_type=BINARY, headers=CACHED)


_add_routes("/items/{item}", _of_item, BLIND_FAILURE)
_add_routes("/recordings/{episode}", _of_episode)
