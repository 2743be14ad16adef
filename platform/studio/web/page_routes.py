"""The pages and their files. Files are found in a table that is read at the start, never by a path of the request.

Pages hold no data and are therefore the same for everyone; what a person may see comes from the routes under `/api/`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from fastapi import APIRouter, HTTPException, Request, Response

STATIC = Path(__file__).parents[1] / "static"
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
PAGES: Mapping[str, str] = {
    "/": "home.html",
    "/i": "enter.html",
    "/consent": "consent.html",
    "/mark": "mark.html",
    "/judge": "judge.html",
    "/play": "play.html",
    "/data": "data.html",
    "/desk/studies": "studies.html",
    "/desk/quality": "quality.html",
}

MISSING = "missing.html"  # the page at an address that no page has

router = APIRouter()


@cache
def static_files() -> Mapping[str, bytes]:
    """The content of every file of `static/` by its path relative to it."""
    found = (file for file in STATIC.rglob("*") if file.suffix in TYPES)
    return {file.relative_to(STATIC).as_posix(): file.read_bytes() for file in found}


def _sent(name: str, status: int = 200) -> Response:
    content = static_files().get(name)
    if content is None:
        raise HTTPException(404, "there is no such file")
    kind = TYPES[Path(name).suffix]
    return Response(content, status_code=status, media_type=kind, headers={"Cache-Control": "no-cache"})


def missing_page(request: Request) -> Response | None:
    """The page for a person at an address that no page has; None for a program, such as the code of a page."""
    is_program = request.url.path.startswith(("/api/", "/static/")) or "text/html" not in request.headers.get(
        "accept", ""
    )
    return None if is_program else _sent(MISSING, 404)


@router.get("/static/{name:path}")
def static_file(name: str) -> Response:
    """A style sheet, a module, the texts, a picture."""
    return _sent(name)


@router.get("/i/{code}")
def entrance(code: str) -> Response:
    """The entrance with the code in the path; its page takes the code out of the address bar, and nothing logs it."""
    return _sent(PAGES["/i"])


def _add_page(path: str, file: str) -> None:
    @router.get(path, name=file)
    def page() -> Response:
        return _sent(file)


for _path, _file in PAGES.items():
    _add_page(_path, _file)
