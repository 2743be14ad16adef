"""Protection against other sites and against oversized and stalled requests, in front of every route.

A request must carry a `Host` of the studio; one that may change something, and every socket, also its `Origin`.
Otherwise a page of another site could act with the cookie of a person, or read the studio through a name of its own
that resolves to this machine (DNS rebinding).
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from interplay.stages.studio_config import StudioConfig, StudioLimits

SAFE_METHODS = ("GET", "HEAD")  # these change nothing
POLICY = "default-src 'self'; img-src 'self' blob:; frame-ancestors 'none'; base-uri 'none'"
SCHEME_PORTS = {"http": ":80", "https": ":443"}
SLOWEST_BODY = 500  # bytes a second, at which an upload may take longer than `body_seconds`
REFUSED_SOCKET = 1008  # WebSocket close code: policy violation


def own_origins(config: StudioConfig, port: int) -> frozenset[str]:
    """The addresses under which browsers may use the studio; `port` is the one that it listens on.

    Browsers leave the port of the scheme out, so an address with it counts also without it.
    """
    hosts = ["127.0.0.1", "localhost", "[::1]", f"[{config.host}]" if ":" in config.host else config.host]
    origins = [*(f"{config.scheme}://{host}:{port}" for host in hosts), *config.origins]
    return frozenset([*origins, *(each.removesuffix(SCHEME_PORTS[each.partition(":")[0]]) for each in origins)])


class SecurityMiddleware:
    """Refuses foreign, oversized and stalled requests, and adds the headers that every answer carries.

    HEAD is answered as GET; the server leaves the body out.
    """

    def __init__(self, app: ASGIApp, *, origins: Collection[str], limits: StudioLimits) -> None:
        self._app = app
        self._origins = frozenset(origins)
        self._hosts = frozenset(origin.partition("://")[2] for origin in origins)
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One connection."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        problem = self._problem(scope)
        if scope["type"] == "websocket":
            if problem:
                await receive()
                await send({"type": "websocket.close", "code": REFUSED_SOCKET, "reason": problem})
            else:
                await self._app(scope, receive, send)
            return
        secured = _with_headers(send)
        if problem:
            await JSONResponse({"error": problem}, status_code=403)(scope, receive, secured)
            return
        try:
            body = await self._body(scope, receive)
        except HTTPException as refused:
            answer = JSONResponse({"error": refused.detail}, refused.status_code, refused.headers)
            await answer(scope, receive, secured)
            return
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        await self._app({**scope, "method": method}, _replayed(body, receive), secured)

    def _problem(self, scope: Scope) -> str:
        """Why the connection is refused; empty if it is not."""
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        if host not in self._hosts:
            return "this is not an address of the studio"
        if scope["type"] == "http" and scope["method"] in SAFE_METHODS:
            return ""
        if origin not in self._origins or origin.partition("://")[2] != host:
            return "the request does not come from a page of the studio"
        return ""

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        """The whole body. Raises HTTPException if it is too large, or if it stalls."""
        if scope["method"] in SAFE_METHODS:
            return b""
        body, limits = bytearray(), self._limits
        until = asyncio.get_running_loop().time() + limits.body_seconds
        try:
            async with asyncio.timeout_at(until) as patience:
                while True:
                    message = await receive()
                    body += message.get("body", b"")
                    if len(body) > limits.body_bytes:
                        raise HTTPException(413, f"a request holds at most {limits.body_bytes} bytes")
                    if message["type"] != "http.request" or not message.get("more_body", False):
                        return bytes(body)
                    patience.reschedule(until + len(body) / SLOWEST_BODY)
        except TimeoutError as stalled:
            raise HTTPException(
                408,
                f"the body of the request stalled after {len(body)} bytes; it has to arrive within "
                f"{limits.body_seconds} s, and 1 s more for each {SLOWEST_BODY} bytes: send the request again",
                headers={"Connection": "close"},
            ) from stalled


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Gives the body that was read already, then what follows it."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _with_headers(send: Send) -> Send:
    async def secured(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers["Content-Security-Policy"] = POLICY
            headers["X-Content-Type-Options"] = "nosniff"
            headers["Referrer-Policy"] = "no-referrer"
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return secured
