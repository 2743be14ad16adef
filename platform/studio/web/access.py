"""Which person a request comes from, and what that person may do: dependencies of the routes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

from fastapi import Depends, HTTPException
from starlette.requests import HTTPConnection

from interplay.studio.people.person import Person
from interplay.studio.web.studio_context import StudioContext


def studio_of(connection: HTTPConnection) -> StudioContext:
    """The studio that the route belongs to."""
    studio: StudioContext = connection.app.state.studio
    return studio


async def _studio(connection: HTTPConnection) -> StudioContext:
    return studio_of(connection)  # a coroutine, because FastAPI calls plain functions in a thread


@contextmanager
def answering(kind: type[Exception], status: int, text: str = "") -> Iterator[None]:
    """Answers an error of this kind by an HTTP status, with `text` or the error's own message."""
    try:
        yield
    except kind as error:
        raise HTTPException(status, text or str(error)) from error


def cookie_name(connection: HTTPConnection) -> str:
    """Name of the login cookie. Browsers share cookies among the ports of a host, so the name holds the port."""
    return f"interplay_studio_{connection.app.state.port}"


def person_of(connection: HTTPConnection) -> Person:
    """The person that is logged in; 401 without a login."""
    token = connection.cookies.get(cookie_name(connection), "")
    person = studio_of(connection).logins.find(token) if token else None
    if person is None:
        raise HTTPException(401, "you are not logged in; open the address of your invitation")
    return person


def with_role(*roles: str) -> Callable[[HTTPConnection], Person]:
    """A dependency that returns the person if it has one of these roles; 403 otherwise."""

    def allowed(connection: HTTPConnection) -> Person:
        person = person_of(connection)
        if not person.roles & set(roles):
            raise HTTPException(403, f"this needs the role {' or '.join(roles)}")
        return person

    return allowed


def address_of(connection: HTTPConnection) -> str:
    """The address of the browser; behind a proxy the one that the proxy saw."""
    if studio_of(connection).served.config.behind_proxy:
        forwarded = connection.headers.get("x-forwarded-for", "")
        if nearest := forwarded.rpartition(",")[2].strip():
            return nearest
    return connection.client.host if connection.client else "unknown"


Studio = Annotated[StudioContext, Depends(_studio)]
Someone = Annotated[Person, Depends(person_of)]
Rater = Annotated[Person, Depends(with_role("mark"))]
Researcher = Annotated[Person, Depends(with_role("research"))]
Adjudicator = Annotated[Person, Depends(with_role("adjudicate"))]
