"""Routes of films. A rater asks by the item that it was given, an adjudicator by the episode."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request, Response

from interplay.studio.films.film_library import FilmFailed, FilmSource
from interplay.studio.marks.marking_routes import own_item
from interplay.studio.web.access import Adjudicator, Rater, studio_of

router = APIRouter(prefix="/api")
BINARY = "application/octet-stream"
CACHED = {"Cache-Control": "private, max-age=86400"}  # the pictures of an episode never change


def _of_item(item: str, request: Request, person: Rater) -> FilmSource:
    studio = studio_of(request)
    return _source(request, own_item(studio, item, person).episode)


def _of_episode(episode: str, request: Request, _: Adjudicator) -> FilmSource:
    return _source(request, episode)


def _source(request: Request, episode: str) -> FilmSource:
    try:
        return studio_of(request).film_source(episode)
    except KeyError as error:
        raise HTTPException(404, "there is no such recording") from error


ItemFilm = Annotated[FilmSource, Depends(_of_item)]
RecordedFilm = Annotated[FilmSource, Depends(_of_episode)]


@router.get("/items/{item}/film")
async def film_of_item(source: ItemFilm, request: Request) -> dict[str, Any]:
    """What the film of an item consists of."""
    return await _plan(request, source)


@router.get("/items/{item}/strip")
async def strip_of_item(source: ItemFilm, request: Request) -> Response:
    """A small picture of every row."""
    return await _pack(request, source, "strip")


@router.get("/items/{item}/full/{chunk}")
async def chunk_of_item(source: ItemFilm, chunk: int, request: Request) -> Response:
    """A chunk of the full film."""
    return await _pack(request, source, chunk)


@router.get("/recordings/{episode}/film")
async def film_of_recording(source: RecordedFilm, request: Request) -> dict[str, Any]:
    """The same for an adjudicator."""
    return await _plan(request, source)


@router.get("/recordings/{episode}/strip")
async def strip_of_recording(source: RecordedFilm, request: Request) -> Response:
    """The same for an adjudicator."""
    return await _pack(request, source, "strip")


@router.get("/recordings/{episode}/full/{chunk}")
async def chunk_of_recording(source: RecordedFilm, chunk: int, request: Request) -> Response:
    """The same for an adjudicator."""
    return await _pack(request, source, chunk)


async def _plan(request: Request, source: FilmSource) -> dict[str, Any]:
    try:
        return dict(await studio_of(request).films.plan(source))
    except FilmFailed as error:
        raise HTTPException(503, str(error)) from error


async def _pack(request: Request, source: FilmSource, part: str | int) -> Response:
    films = studio_of(request).films
    if isinstance(part, int) and not 0 <= part < (await _plan(request, source))["chunks"]:
        raise HTTPException(404, "there is no such chunk")
    try:
        return Response(await films.pack(source, part), media_type=BINARY, headers=CACHED)
    except FilmFailed as error:
        raise HTTPException(503, str(error)) from error
