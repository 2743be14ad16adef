"""A studio over a small recorded run, and clients that are logged in with chosen roles."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fastapi.testclient import TestClient

from interplay.stages.studio_config import StudioConfig
from interplay.studio.web.application import make_application
from interplay.studio.web.studio_context import ServedRun, StudioContext

PORT = 8700
ORIGIN = f"http://127.0.0.1:{PORT}"


@contextmanager
def open_studio(
    root: Path, config: StudioConfig | None = None, env: dict[str, object] | None = None
) -> Iterator[StudioContext]:
    """A studio over the run in `root`, not listening anywhere."""
    studio = StudioContext(ServedRun(root, env or {"name": "line"}, 30.0, 1, config or StudioConfig()))
    try:
        yield studio
    finally:
        studio.close()


def visitor(studio: StudioContext, origin: str | None = ORIGIN) -> TestClient:
    """A browser without a login."""
    headers = {"origin": origin} if origin else {}
    return TestClient(make_application(studio, PORT), base_url=ORIGIN, headers=headers, raise_server_exceptions=True)


def logged_in(studio: StudioContext, *roles: str, person: str | None = None) -> TestClient:
    """A browser that has come in by an invitation with these roles."""
    client = visitor(studio)
    code = studio.invitations.make(roles, seconds=60.0, person=person)
    answer = client.post("/api/enter", json={"code": code})
    assert answer.status_code == 200, answer.text
    return client


def agree_to(studio: StudioContext, client: TestClient, name: str = "marks") -> None:
    """Agrees to the newest version of a study."""
    study = studio.studies.find(name)
    assert study is not None
    agreed = {"version": study.consent.version, "ticked": list(study.consent.must)}
    answer = client.post(f"/api/studies/{name}/consent", json=agreed)
    assert answer.status_code == 200, answer.text
