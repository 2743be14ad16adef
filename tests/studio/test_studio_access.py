"""Every route for every role, and what strangers send: refused in a line, without a traceback."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from fake_world import LineWorld, record_episode
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient
from hypothesis import given, settings
from hypothesis import strategies as st
from studio_client import agree_to, logged_in, open_studio, visitor

from interplay.episodes.store import EpisodeStore
from interplay.stages.studio_config import StudioConfig, StudioLimits
from interplay.studio.people.person import ROLES
from interplay.studio.web.application import ROUTERS
from interplay.studio.web.studio_context import StudioContext

EVERYONE = frozenset({"", *ROLES})
PEOPLE = frozenset(ROLES)
PLAY = frozenset({"play", "copilot"})
MARK, RESEARCH, ADJUDICATE = frozenset({"mark"}), frozenset({"research"}), frozenset({"adjudicate"})

# Who may use each route; "" is a browser without a login.
ALLOWED = {
    "GET /": EVERYONE,
    "GET /i": EVERYONE,
    "GET /i/{code}": EVERYONE,
    "GET /consent": EVERYONE,
    "GET /mark": EVERYONE,
    "GET /judge": EVERYONE,
    "GET /play": EVERYONE,
    "GET /data": EVERYONE,
    "GET /desk/studies": EVERYONE,
    "GET /desk/quality": EVERYONE,
    "GET /static/{name:path}": EVERYONE,
    "POST /api/enter": EVERYONE,
    "GET /api/visitor": EVERYONE,
    "POST /api/leave": PEOPLE,
    "GET /api/me": PEOPLE,
    "POST /api/me/settings": PEOPLE,
    "GET /api/data": PEOPLE,
    "GET /api/data/download": PEOPLE,
    "POST /api/data/delete": PEOPLE,
    "GET /api/studies": PEOPLE,
    "POST /api/studies/{name}/consent": PEOPLE,
    "POST /api/mark/{study}/next": MARK,
    "POST /api/items/{item}/marks": MARK,
    "GET /api/items/{item}/marks": MARK,
    "POST /api/items/{item}/undo": MARK,
    "POST /api/items/{item}/finish": MARK,
    "POST /api/items/{item}/skip": MARK,
    "POST /api/items/{item}/unusable": MARK,
    "POST /api/items/{item}/judge": MARK,
    "GET /api/items/{item}/film": MARK,
    "GET /api/items/{item}/strip": MARK,
    "GET /api/items/{item}/full/{chunk}": MARK,
    "GET /api/recordings/{episode}/film": ADJUDICATE,
    "GET /api/recordings/{episode}/strip": ADJUDICATE,
    "GET /api/recordings/{episode}/full/{chunk}": ADJUDICATE,
    "GET /api/live": PLAY,
    "POST /api/live/consent": PLAY,
    "POST /api/live/join": PLAY,
    "POST /api/live/quit": PLAY,
    "POST /api/live/practice": PLAY,
    "GET /api/live/sessions": RESEARCH,
    "GET /api/desk/studies": RESEARCH,
    "POST /api/desk/studies": RESEARCH,
    "POST /api/desk/studies/{name}/open": RESEARCH,
    "POST /api/desk/invitations": RESEARCH,
    "GET /api/desk/people": RESEARCH,
    "POST /api/desk/people/{name}/pause": RESEARCH,
    "GET /api/desk/people/{name}/kept": RESEARCH,
    "POST /api/desk/people/{name}/forget": RESEARCH,
    "POST /api/desk/recordings/{episode}/void": RESEARCH,
    "GET /api/quality/raters": RESEARCH,
    "GET /api/quality/disputed": ADJUDICATE,
    "GET /api/quality/episodes/{episode}": ADJUDICATE,
    "POST /api/quality/episodes/{episode}/agreed": ADJUDICATE,
}
UUID = "0" * 32
BODIES = {  # valid ones, so that a refusal is for the role
    "POST /api/enter": {"code": "guessed"},
    "POST /api/live/consent": {"version": 9},
    "POST /api/data/delete": {"person": "p-other"},
    "POST /api/studies/{name}/consent": {"version": 9},
    "POST /api/items/{item}/marks": {"id": UUID, "frame": 1, "sign": 1},
    "POST /api/items/{item}/undo": {"mark": UUID},
    "POST /api/items/{item}/judge": {"done": True},
    "POST /api/items/{item}/unusable": {"reason": "dark"},
    "POST /api/desk/people/{name}/forget": {"person": "p-other"},
    "POST /api/desk/studies": {"name": "m", "title": "M", "consent": {"text": "T"}},
    "POST /api/desk/studies/{name}/open": {"open": True},
    "POST /api/desk/invitations": {"roles": ["mark"]},
    "POST /api/quality/episodes/{episode}/agreed": {"marks": []},
}


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudioContext]:
    root = tmp_path_factory.mktemp("run")
    with EpisodeStore(root / "store", create=True) as store:
        store.append(record_episode(LineWorld(), 0, 6)[0])
    with open_studio(root, StudioConfig(limits=StudioLimits(entrances_per_minute=100_000))) as opened:
        yield opened


def test_every_route_is_in_the_table() -> None:
    found = [route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute)]
    listed = {f"{method} {route.path}" for route in found for method in route.methods}
    assert listed == set(ALLOWED)


@pytest.mark.parametrize("role", ["", *ROLES])
def test_a_route_is_for_its_roles_only(studio: StudioContext, role: str) -> None:
    wrong = []
    client = logged_in(studio, role) if role else visitor(studio)
    for route, roles in ALLOWED.items():
        if role and client.get("/api/me").status_code == 401:  # the route logged out
            client = logged_in(studio, role)
        method, _, path = route.partition(" ")
        path = path.replace("{chunk}", "0").replace("{name:path}", "base.css")
        for part in ("code", "study", "item", "name", "episode"):
            path = path.replace(f"{{{part}}}", "nothing")
        answer = client.request(method, path, json=BODIES.get(route, {}) if method == "POST" else None)
        refused = answer.status_code in (401, 403)
        if refused == (role in roles) or answer.status_code == 422 or answer.status_code >= 500:
            wrong.append((route, answer.status_code))
        if refused and answer.status_code != (403 if role else 401):
            wrong.append((route, answer.status_code))
    assert not wrong


@pytest.mark.parametrize(
    ("path", "accept", "kind"),
    [
        ("/desk/study", "text/html,*/*", "text/html; charset=utf-8"),
        ("/desk/study", "*/*", "application/json"),
        ("/api/desk/study", "text/html,*/*", "application/json"),
        ("/static/none.js", "text/html,*/*", "application/json"),
    ],
)
def test_a_mistyped_address_shows_a_person_a_page_and_a_program_json(
    studio: StudioContext, path: str, accept: str, kind: str
) -> None:
    answer = visitor(studio).get(path, headers={"accept": accept})
    assert (answer.status_code, answer.headers["content-type"]) == (404, kind)


def test_items_of_others_are_not_found(studio: StudioContext) -> None:
    first, second = (logged_in(studio, "mark") for _ in range(2))
    agree_to(studio, first)
    item = first.post("/api/mark/marks/next", json={}).json()["item"]["item"]
    for method, path in (("POST", "marks"), ("POST", "undo"), ("POST", "finish"), ("POST", "skip"), ("GET", "film")):
        body = {"id": UUID, "frame": 1, "sign": 1} if path == "marks" else {"mark": UUID} if path == "undo" else {}
        answer = second.request(method, f"/api/items/{item}/{path}", json=body if method == "POST" else None)
        assert answer.status_code == 404, path


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
POSTS = sorted(route.removeprefix("POST ") for route in ALLOWED if route.startswith("POST"))
AS_JSON = {"content-type": "application/json"}  # other bodies are refused unread
SPARED = ("/api/leave", "/api/data/delete")  # these would end the login


@pytest.fixture(scope="module")
def everything(studio: StudioContext) -> TestClient:
    """A person with every role and an open item."""
    client = logged_in(studio, *ROLES)
    agree_to(studio, client)
    return client


@settings(max_examples=40)
@given(path=st.sampled_from([path for path in POSTS if path not in SPARED]), body=ANYTHING, name=st.text(max_size=12))
def test_fuzzed_messages_are_refused_without_a_traceback(
    everything: TestClient, path: str, body: object, name: str
) -> None:
    quoted = "".join(f"%{byte:02x}" for byte in name.encode()) or "x"
    for part in ("study", "item", "name", "episode"):
        path = path.replace(f"{{{part}}}", quoted)
    answer = everything.post(path, content=json.dumps(body).encode(), headers=AS_JSON)
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        assert set(answer.json()) == {"error"} and "Traceback" not in answer.text


@settings(max_examples=20)
@given(body=st.binary(max_size=60))
def test_fuzzed_bytes_are_refused_without_a_traceback(everything: TestClient, body: bytes) -> None:
    answer = everything.post("/api/desk/studies", content=body, headers=AS_JSON)
    assert 400 <= answer.status_code < 500 and set(answer.json()) == {"error"}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/enter", {"code": "x", "platform": {"workerId": "\ud800"}}),
        ("/api/me/settings", {"keys": {"plus": "\ud800"}}),
        ("/api/me/settings", {"keys": {"\ud800" * 3000: "j"}}),
        ("/api/desk/studies", {"name": "new", "title": "New", "consent": {"text": "x", "must": ["\ud800"]}}),
    ],
)
def test_half_of_a_character_is_refused_and_not_kept(everything: TestClient, path: str, body: object) -> None:
    answer = everything.post(path, content=json.dumps(body), headers=AS_JSON)
    assert answer.status_code == 422 and "half of a character" in answer.json()["error"]
    assert len(answer.content) < 1000
    assert everything.get("/api/me").status_code == 200


@pytest.mark.parametrize(
    ("body", "kind", "said"),
    [
        ("{}", "text/plain", "with the header Content-Type: application/json; that of this request is text/plain"),
        ("{", "application/json", "the body is not JSON: Expecting property name"),
        ("", "application/json", "body: this is missing"),
        ("[]", "application/json", "body: this is an object in braces"),
    ],
)
def test_a_body_that_is_no_json_object_is_refused_by_what_is_wrong_with_it(
    everything: TestClient, body: str, kind: str, said: str
) -> None:
    answer = everything.post("/api/desk/invitations", content=body, headers={"content-type": kind})
    assert answer.status_code == 422 and said in answer.json()["error"]
