"""The web application: every router, the middleware, and errors as short JSON, or as a page at a mistyped address."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from interplay.studio.films import film_routes
from interplay.studio.judging import judging_routes
from interplay.studio.live import live_routes
from interplay.studio.live.studio_sessions import StudioSessions
from interplay.studio.marks import adjudication_routes, marking_routes
from interplay.studio.people import entrance_routes, own_data_routes
from interplay.studio.studies import desk_routes, study_routes
from interplay.studio.studies.study import problems_of
from interplay.studio.web import page_routes
from interplay.studio.web.security import SecurityMiddleware, own_origins
from interplay.studio.web.studio_context import StudioContext

logger = logging.getLogger(__name__)

ROUTERS = (
    page_routes.router,
    entrance_routes.router,
    own_data_routes.router,
    study_routes.router,
    desk_routes.router,
    marking_routes.router,
    judging_routes.router,
    adjudication_routes.router,
    film_routes.router,
    live_routes.router,
)


def make_application(studio: StudioContext, port: int) -> FastAPI:
    """The application of an open studio that listens on `port`; its end closes the studio."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        app.state.live.start()
        yield
        await app.state.live.close()
        studio.close()
        logger.info("the studio has stopped; everything is saved, and the same command serves it again")

    # The pages of FastAPI's own documentation load scripts from another host.
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan)
    app.state.studio = studio
    app.state.port = port
    app.state.live = StudioSessions(studio)
    for router in ROUTERS:
        app.include_router(router)
    config = studio.served.config
    app.add_middleware(SecurityMiddleware, origins=own_origins(config, port), limits=config.limits)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(RequestValidationError, _misunderstood)
    return app


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    shown = page_routes.missing_page(request) if error.status_code == 404 else None
    return shown or JSONResponse({"error": error.detail}, status_code=error.status_code)


async def _misunderstood(request: Request, error: Exception) -> Response:
    """The response to an invalid request: names the wrong field, without repeating what was sent."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    sent = request.headers.get("content-type", "none")
    if first["type"] == "json_invalid":
        said = f"the body is not JSON: {first['ctx']['error']}, at character {first['loc'][-1]}"
    elif first["loc"] == ("body",) and not _is_json(sent):
        said = f"the body is JSON, with the header Content-Type: application/json; that of this request is {sent[:80]}"
    else:  # of a field, its name without "body" or "query"
        said = problems_of([{**each, "loc": each["loc"][1:] or each["loc"]} for each in error.errors()])
    return JSONResponse({"error": said}, status_code=422)


def _is_json(content_type: str) -> bool:
    """Whether FastAPI reads a body of this type as JSON."""
    kind = content_type.partition(";")[0].strip().lower()
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))
