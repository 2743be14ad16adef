"""Requests without the body that they announce, slow ones that go on, and HEAD in place of GET."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx2
import pytest
from starlette.types import Message, Receive, Scope, Send
from studio_client import ORIGIN
from studio_process import StartedStudio, started

from interplay.stages.studio_config import StudioConfig, StudioLimits
from interplay.studio.web.page_routes import PAGES
from interplay.studio.web.security import SLOWEST_BODY, SecurityMiddleware

SECONDS = 1  # limit of these studios
HOST = urlsplit(ORIGIN).netloc


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartedStudio]:
    config = StudioConfig(limits=StudioLimits(body_seconds=SECONDS))
    with started(tmp_path_factory.mktemp("run"), {"name": "line"}, config) as opened:
        yield opened


def test_a_body_that_never_comes_is_answered_and_its_connection_closed(studio: StartedStudio) -> None:
    host = urlsplit(studio.origin)
    head = f"POST /api/enter HTTP/1.1\r\nHost: {host.netloc}\r\nOrigin: {studio.origin}\r\nContent-Length: 20\r\n\r\n"
    with socket.create_connection((str(host.hostname), host.port or 0), timeout=60) as stalled:
        stalled.sendall(head.encode() + b'{"code')
        answer = b"".join(iter(lambda: stalled.recv(4096), b""))  # to the end of the connection
    assert answer.startswith(b"HTTP/1.1 408") and b"stalled after 6 bytes" in answer


def test_head_is_answered_as_get_without_the_body(studio: StartedStudio) -> None:
    with httpx2.Client(base_url=studio.origin) as client:  # on one connection, which a body would confuse
        for path in (*PAGES, "/i/code", "/static/base.css", "/api/visitor"):
            head, get = client.head(path), client.get(path)
            assert head.status_code == get.status_code == 200 and not head.content
            assert head.headers["content-length"] == get.headers["content-length"]
        assert client.head("/static/absent.css").status_code == 404
        assert client.head("/api/me").status_code == 401


class SlowUpload:
    """A client whose parts of a body come after seconds of a clock that it alone moves."""

    def __init__(self, parts: list[tuple[float, bytes]]) -> None:
        self._parts, self._late = list(parts), 0.0
        self.received = b""
        self.status = 0

    async def run(self) -> None:
        """Sends the parts to an application behind the middleware."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        loop.time = lambda: began + self._late  # type: ignore[method-assign]
        limits = StudioLimits(body_seconds=SECONDS)
        headers = [(b"host", HOST.encode()), (b"origin", ORIGIN.encode())]
        scope = {"type": "http", "method": "POST", "path": "/", "headers": headers}
        await SecurityMiddleware(self._application, origins=[ORIGIN], limits=limits)(scope, self._part, self._answer)

    async def _part(self) -> Message:
        seconds, body = self._parts.pop(0)
        self._late += seconds
        for _ in range(2):  # in which a limit that has passed takes effect
            await asyncio.sleep(0)
        return {"type": "http.request", "body": body, "more_body": bool(self._parts)}

    async def _application(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.received = (await receive())["body"]

    async def _answer(self, message: Message) -> None:
        self.status = message.get("status", self.status)


def test_an_upload_that_goes_on_takes_longer_than_the_limit() -> None:
    upload = SlowUpload([(0.9 * SECONDS, b"x" * SLOWEST_BODY)] * 5)
    asyncio.run(upload.run())
    assert len(upload.received) == 5 * SLOWEST_BODY and not upload.status


def test_an_upload_that_drips_does_not() -> None:
    upload = SlowUpload([(0.9 * SECONDS, b"x")] * 5)
    asyncio.run(upload.run())
    assert upload.status == 408 and not upload.received
