"""Coming into the studio: codes that work once, cookies, limits, foreign origins and hosts."""

from __future__ import annotations

import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from threading import Barrier, BrokenBarrierError
from typing import Any

import pytest
from fastapi.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from studio_client import ORIGIN, PORT, logged_in, open_studio, visitor

from interplay.stages.studio_config import StudioConfig, StudioLimits
from interplay.studio.studies.study import FIRST_PLAY
from interplay.studio.web.application import make_application
from interplay.studio.web.studio_context import StudioConflict


def test_a_setting_that_is_changed_leaves_the_others(tmp_path: Path) -> None:
    with open_studio(tmp_path) as studio:
        client = logged_in(studio, "mark")
        for changed in ({"keys": {"plus": "p", "minus": "m"}}, {"scrub_picture": True}, {"keys": {"plus": "q"}}):
            assert client.post("/api/me/settings", json=changed).status_code == 200
        assert client.get("/api/me").json()["settings"] == {"keys": {"plus": "q"}, "scrub_picture": True}


def test_a_code_lets_one_person_in_once(tmp_path: Path) -> None:
    with open_studio(tmp_path) as studio:
        code = studio.invitations.make(["mark"], seconds=60.0)
        first = visitor(studio)
        assert first.get("/api/me").status_code == 401
        entered = first.post("/api/enter", json={"code": code})
        assert entered.status_code == 200
        cookie = entered.headers["set-cookie"]
        assert "HttpOnly" in cookie and "SameSite=lax" in cookie and f"interplay_studio_{PORT}=" in cookie
        me = first.get("/api/me").json()
        assert me["person"].startswith("p-") and me["roles"] == ["mark"]
        second = visitor(studio).post("/api/enter", json={"code": code})
        assert second.status_code == 404 and "not valid" in second.json()["error"]
        first.post("/api/leave", json={})
        assert first.get("/api/me").status_code == 401


def test_another_person_of_a_platform_is_not_taken_for_the_one_whose_answer_was_lost(tmp_path: Path) -> None:
    with open_studio(tmp_path) as studio:
        code = studio.invitations.make(["mark"], seconds=60.0, uses=2)
        first, second = (
            visitor(studio)
            .post("/api/enter", json={"code": code, "attempt": "a" * 32, "platform": {"PROLIFIC_PID": name}})
            .json()["person"]
            for name in ("one", "two")
        )
        assert first != second


def test_an_entrance_whose_answer_was_lost_is_made_again_by_the_same_browser(tmp_path: Path) -> None:
    with open_studio(tmp_path) as studio:
        code = studio.invitations.make(["mark"], seconds=60.0)
        entered = [
            visitor(studio).post("/api/enter", json={"code": code, "attempt": name}) for name in ("a" * 32, "a" * 32)
        ]
        assert [answer.status_code for answer in entered] == [200, 200]
        assert entered[0].json() == entered[1].json() and "set-cookie" in entered[1].headers
        for attempt in ("b" * 32, ""):
            refused = visitor(studio).post("/api/enter", json={"code": code, "attempt": attempt})
            assert refused.status_code == 404


def test_old_and_unknown_codes_are_refused(tmp_path: Path) -> None:
    with open_studio(tmp_path) as studio:
        old = studio.invitations.make(["mark"], seconds=-1.0)
        for code in (old, "guessed", ""):
            assert visitor(studio).post("/api/enter", json={"code": code}).status_code == 404


def test_neither_codes_nor_cookies_are_kept(tmp_path: Path) -> None:
    with open_studio(tmp_path) as studio:
        code = studio.invitations.make(["mark"], uses=2, seconds=60.0)
        client = visitor(studio)
        client.post("/api/enter", json={"code": code})
        (cookie,) = client.cookies.jar
        studio.database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        kept = b"".join(file.read_bytes() for file in (tmp_path / "studio").iterdir() if file.is_file())
        assert code.encode() not in kept
        assert cookie.value is not None and cookie.value.encode() not in kept


def test_a_platform_id_finds_the_same_person_again(tmp_path: Path) -> None:
    with open_studio(tmp_path) as studio:
        code = studio.invitations.make(["mark"], uses=3, seconds=60.0)
        entrance: dict[str, Any] = {"code": code, "platform": {"PROLIFIC_PID": "abc"}}
        people = {visitor(studio).post("/api/enter", json=entrance).json()["person"] for _ in range(2)}
        assert len(people) == 1
        for known in ({}, entrance["platform"]):
            refused = visitor(studio).post("/api/enter", json={"code": code, "platform": {**known, "email": "a@b.c"}})
            assert refused.status_code == 422
        assert [row["name"] for row in studio.database.rows("SELECT name FROM identities")] == ["abc"]


def test_a_person_that_comes_back_takes_no_place_of_others(tmp_path: Path) -> None:
    with open_studio(tmp_path) as studio:
        code = studio.invitations.make(["mark"], uses=2, seconds=60.0)

        def entered(name: str) -> int:
            answer = visitor(studio).post("/api/enter", json={"code": code, "platform": {"PROLIFIC_PID": name}})
            return int(answer.status_code)

        assert [entered(name) for name in ("a", "a", "b", "a", "c")] == [200, 200, 200, 200, 404]
        studio.database.write("UPDATE invitations SET expires = 0")
        assert entered("a") == 404, "an old invitation is for no one"


def test_two_entrances_at_once_with_one_platform_id_are_of_one_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_studio(tmp_path) as studio:
        code = studio.invitations.make(["mark"], uses=9, seconds=60.0)
        entrance = {"code": code, "platform": {"PROLIFIC_PID": "abc"}}
        both, identified = Barrier(2), studio.people.identified

        def looked_up(platform: str, name: str) -> Any:
            found = identified(platform, name)
            with suppress(BrokenBarrierError):  # entrances that follow each other do not meet here
                both.wait(timeout=1.0)
            return found

        monkeypatch.setattr(studio.people, "identified", looked_up)
        with ThreadPoolExecutor() as pool:
            answers = list(pool.map(lambda _: visitor(studio).post("/api/enter", json=entrance), range(2)))
        assert len({answer.json()["person"] for answer in answers}) == len(studio.people.all()) == 1


def test_a_platform_id_gives_no_role_that_the_invitation_does_not_give(tmp_path: Path) -> None:
    with open_studio(tmp_path) as studio:
        researcher, rater = (studio.invitations.make([role], uses=3, seconds=60.0) for role in ("research", "mark"))
        platform = {"platform": {"PROLIFIC_PID": "abc"}}
        assert visitor(studio).post("/api/enter", json={"code": researcher, **platform}).status_code == 200
        assert visitor(studio).post("/api/enter", json={"code": rater, **platform}).status_code == 403
        assert visitor(studio).post("/api/enter", json={"code": rater}).status_code == 200  # it was not used up


@pytest.mark.parametrize(
    ("study", "page"),
    [("", "/"), ("marks", "/mark?study=marks"), ("live", "/play?study=live"), ("judged", "/"), ("help", "/")],
)
def test_an_invitation_to_a_study_leads_to_its_page(tmp_path: Path, study: str, page: str) -> None:
    with open_studio(tmp_path) as studio:
        studio.studies.keep(FIRST_PLAY.model_copy(update={"name": "help", "kind": "copilot"}))
        code = studio.invitations.make(["mark", "play"], study=study, seconds=60.0)
        assert visitor(studio).post("/api/enter", json={"code": code}).json()["page"] == page


def test_the_researchers_code_ends_with_the_next_start(tmp_path: Path) -> None:
    with open_studio(tmp_path) as studio:
        first, second = studio.researcher_code(), studio.researcher_code()
        assert visitor(studio).post("/api/enter", json={"code": first}).status_code == 404
        entered = visitor(studio).post("/api/enter", json={"code": second})
        assert entered.json()["person"] == "p-root"


@pytest.mark.parametrize("origin", ["http://evil.example", f"http://127.0.0.1:{PORT + 1}", "null", None])
def test_a_post_from_another_origin_is_refused(tmp_path: Path, origin: str | None) -> None:
    with open_studio(tmp_path) as studio:
        code = studio.invitations.make(["mark"], seconds=60.0)
        assert visitor(studio, origin).post("/api/enter", json={"code": code}).status_code == 403
        assert studio.invitations.redeem(code), "the code was used up"


def test_a_foreign_host_is_refused(tmp_path: Path) -> None:
    with open_studio(tmp_path) as studio:
        client = logged_in(studio, "mark")
        for host in ("evil.example", f"evil.example:{PORT}", "127.0.0.1"):
            answer = client.get("/api/me", headers={"host": host})
            assert answer.status_code == 403 and "p-" not in answer.text


def test_a_socket_from_another_origin_is_refused(tmp_path: Path) -> None:
    with open_studio(tmp_path) as studio:
        client = visitor(studio, "http://evil.example")
        with pytest.raises(WebSocketDisconnect) as refused, client.websocket_connect("/live/a/solver"):
            pass
        assert refused.value.code == 1008


def test_every_answer_carries_the_policy(tmp_path: Path) -> None:
    with open_studio(tmp_path) as studio:
        client = visitor(studio)
        for path in ("/", "/static/base.css", "/api/me", "/nowhere"):
            headers = client.get(path).headers
            assert "default-src 'self'" in headers["content-security-policy"]
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["referrer-policy"] == "no-referrer"


def test_too_many_entrances_and_too_large_bodies_are_refused(tmp_path: Path) -> None:
    config = StudioConfig(limits=StudioLimits(entrances_per_minute=3))
    with open_studio(tmp_path, config) as studio:
        client = visitor(studio)
        answers = [client.post("/api/enter", json={"code": "guessed"}).status_code for _ in range(5)]
        assert answers == [404, 404, 404, 429, 429]
        assert client.post("/api/enter", content=b"x" * 65_000).status_code == 413


def test_files_are_not_found_by_path(tmp_path: Path) -> None:
    with open_studio(tmp_path) as studio:
        client = visitor(studio)
        for path in ("../web/server.py", "%2e%2e/web/server.py", "/etc/passwd", "words", "nothing.js"):
            assert client.get(f"/static/{path}").status_code == 404


def test_a_second_studio_is_refused(tmp_path: Path) -> None:
    with (
        open_studio(tmp_path),
        pytest.raises(StudioConflict, match="served by a studio already"),
        open_studio(tmp_path),
    ):
        pass


def test_a_newer_database_is_refused(tmp_path: Path) -> None:
    with open_studio(tmp_path):
        pass
    database = sqlite3.connect(tmp_path / "studio" / "studio.db")
    database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(ValueError, match="version 99"), open_studio(tmp_path):
        pass


def test_a_database_of_before_drawn_agents_gets_their_column(tmp_path: Path) -> None:
    with open_studio(tmp_path):
        pass
    with closing(sqlite3.connect(tmp_path / "studio" / "studio.db")) as database:
        database.executescript("ALTER TABLE sessions DROP COLUMN agent; DROP TABLE endings; PRAGMA user_version = 1;")
        database.execute("INSERT INTO people (id, created, roles) VALUES ('p-aaaaaa', 0, '[]')")
        database.commit()
    for _ in range(2):
        with open_studio(tmp_path) as studio:
            assert not studio.database.rows("SELECT agent FROM sessions") and studio.people.find("p-aaaaaa")


def test_the_audit_log_holds_logins(tmp_path: Path) -> None:
    with open_studio(tmp_path) as studio:
        logged_in(studio, "mark")
        lines = (tmp_path / "studio" / "audit.jsonl").read_text().splitlines()
        assert [json.loads(line)["event"] for line in lines] == ["login"]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"host": "0.0.0.0"}, "studio.tls_cert=FILE"),
        ({"host": "studio.example.org"}, "studio.behind_proxy=true"),
        ({"behind_proxy": True}, "studio.origins"),
        ({"tls_cert": "a.pem"}, "belong together"),
        ({"origins": ("https://a.org/path",)}, "without a path"),
        ({"host": "0.0.0.0", "tls_cert": "a.pem", "tls_key": "b.pem"}, "studio.origins=.https://.*:8700"),
    ],
)
def test_settings_that_let_others_read_along_are_refused(settings: dict[str, object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        StudioConfig(**settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("port", "config", "host", "scheme"),
    [
        (80, StudioConfig(), "127.0.0.1", "http"),
        (443, StudioConfig(host="studio.example.org", tls_cert="a", tls_key="b"), "studio.example.org", "https"),
        (8700, StudioConfig(origins=("https://studio.example.org:443",)), "studio.example.org", "https"),
    ],
)
def test_browsers_leave_the_port_of_the_scheme_out(
    tmp_path: Path, port: int, config: StudioConfig, host: str, scheme: str
) -> None:
    with open_studio(tmp_path, config) as studio:
        client = TestClient(make_application(studio, port))
        code = studio.invitations.make(["mark"], seconds=60.0)
        there = {"host": host, "origin": f"{scheme}://{host}"}
        assert client.post("/api/enter", json={"code": code}, headers=there).status_code == 200
        assert client.get("/", headers={"host": f"{host}:{port + 1}"}).status_code == 403


def test_own_origins_are_enough_behind_a_proxy(tmp_path: Path) -> None:
    config = StudioConfig(host="0.0.0.0", behind_proxy=True, origins=("https://studio.example.org",))
    with open_studio(tmp_path, config) as studio:
        code = studio.invitations.make(["mark"], seconds=60.0)
        there = {"host": "studio.example.org", "origin": "https://studio.example.org"}
        entered = visitor(studio).post("/api/enter", json={"code": code}, headers=there)
        assert entered.status_code == 200 and "Secure" in entered.headers["set-cookie"]
        assert visitor(studio).get("/api/me", headers={"host": ORIGIN}).status_code == 403
