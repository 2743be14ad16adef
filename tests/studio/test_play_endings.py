"""Pages of play whose study, practice or session ends in another way than by the time."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path

import pytest
from page_visits import end_episode, routed_sockets
from playwright.sync_api import Browser, Page, Route, WebSocketRoute, expect
from studio_process import started
from test_live_browser import opened, wait_until
from test_live_protocol import ROOM, invited, researcher

from interplay.stages.live_config import LiveConfig
from interplay.stages.studio_config import StudioConfig
from interplay.studio.live.live_client import LiveVisitor
from interplay.studio.people.studio_database import StudioDatabase
from interplay.studio.studies.study import FIRST_PLAY

pytestmark = [pytest.mark.slow, pytest.mark.browser]

TEXTS_OF_OVERLAY = """() => {
  const overlay = document.getElementById('overlay');
  window.texts = [];
  new MutationObserver(() => window.texts.push(overlay.textContent)).observe(overlay, { childList: true });
}"""

IS_BLANK = """() => {
  const canvas = document.getElementById('view');
  return canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.every((value) => !value);
}"""


def small(live: LiveConfig) -> StudioConfig:
    return StudioConfig(size=(48, 64), live=live)


def connected_once(page: Page, desk: LiveVisitor) -> list[WebSocketRoute]:
    """Lets the page connect to its session once, and again after its end; returns its sockets, to be closed."""
    sockets: list[WebSocketRoute] = []

    def connect(socket: WebSocketRoute) -> None:
        sockets.append(socket)
        phases = {each["phase"] for each in desk.get("/api/live/sessions")["sessions"]}
        if len(sockets) == 1 or phases == {"ended"}:
            socket.connect_to_server()
        else:
            socket.close(code=1012)

    page.route_web_socket("**/live/**", connect)
    return sockets


def test_a_page_without_a_connection_at_the_end_shows_its_code_later(tmp_path: Path, browser: Browser) -> None:
    with started(tmp_path, ROOM, small(LiveConfig(away_seconds=600))) as studio:
        desk = researcher(studio)
        desk.post("/api/desk/studies", {**FIRST_PLAY.model_dump(mode="json"), "codes": {"partner_left": "AL0NE"}})
        visitor, partner = invited(tmp_path, studio, 2)
        page = opened(browser, studio, visitor, press=None)
        sockets = connected_once(page, desk)
        failed: list[Route] = []

        def fail_once(route: Route) -> None:
            failed.append(route)
            route.abort() if len(failed) == 1 else route.continue_()

        page.reload()
        page.get_by_test_id("ready").click()
        partner.post("/api/live/consent", {"version": 1})
        player = partner.sit(*partner.join())
        wait_until(page, "window.studio.drawn > 3")
        page.route("**/api/live?*", fail_once)
        sockets[0].close(code=1012)
        expect(page.locator("#overlay")).to_contain_text("Connection lost", timeout=60_000)
        player.send("leave")
        player.until("end")
        expect(page.locator("#code")).to_have_text("AL0NE", timeout=60_000)
        assert len(failed) > 1
        page.reload()
        expect(page.locator("#code")).to_have_text("AL0NE", timeout=60_000)
        expect(page.get_by_test_id("saved")).to_contain_text("A player has left")
        page.get_by_test_id("continue").click()
        expect(page.locator("#lobbyText")).to_contain_text("Waiting for a partner", timeout=60_000)
        page.context.close()


def test_a_lobby_whose_study_ends_shows_the_code(tmp_path: Path, browser: Browser) -> None:
    with started(tmp_path, ROOM, small(LiveConfig())) as studio:
        desk = researcher(studio)
        study = {**FIRST_PLAY.model_dump(mode="json"), "goal": 1, "codes": {"not_needed": "C0DE"}}
        desk.post("/api/desk/studies", study)
        (visitor,) = invited(tmp_path, studio, 1)
        page = opened(browser, studio, visitor)
        expect(page.locator("#lobbyText")).to_contain_text("Waiting for a partner", timeout=60_000)
        database = StudioDatabase(tmp_path / "studio" / "studio.db")
        played = {"study": "live", "version": 1, "started": time.time(), "seats": "{}"}
        database.insert("sessions", id="another", episode="one", **played)
        database.close()
        expect(page.locator("#code")).to_have_text("C0DE", timeout=60_000)
        expect(page.get_by_test_id("saved")).to_contain_text("nothing is left for you")
        page.context.close()


def test_a_lobby_whose_consent_changes_asks_again(tmp_path: Path, browser: Browser) -> None:
    with started(tmp_path, ROOM, small(LiveConfig())) as studio:
        desk = researcher(studio)
        (visitor,) = invited(tmp_path, studio, 1)
        page = opened(browser, studio, visitor)
        expect(page.locator("#lobbyText")).to_contain_text("Waiting for a partner", timeout=60_000)
        study = FIRST_PLAY.model_dump(mode="json")
        study["consent"] |= {"version": 2, "text": "Another text."}
        desk.post("/api/desk/studies", study)
        expect(page.get_by_text("Another text.")).to_be_visible(timeout=60_000)
        page.context.close()


def test_a_practice_that_has_ended_leads_back_to_the_lobby(tmp_path: Path, browser: Browser) -> None:
    # The page falls silent 15 s after a rest of `idle_seconds`; its signs of life may come late on a busy machine.
    live = LiveConfig(idle_seconds=0.1, away_seconds=10, leave_seconds=1)
    with started(tmp_path, ROOM, small(live)) as studio:
        (visitor,) = invited(tmp_path, studio, 1)
        page = opened(browser, studio, visitor, press="practice")
        wait_until(page, "window.studio.drawn > 3")
        expect(page.locator("#lobby")).to_be_visible(timeout=60_000)
        expect(page.locator("#message")).to_contain_text("practice")
        page.get_by_test_id("practice").click()
        drawn = page.evaluate("window.studio.drawn")
        wait_until(page, f"window.studio.drawn > {drawn + 3}")
        page.context.close()


def test_a_page_that_comes_back_after_the_end_of_its_session_says_so(tmp_path: Path, browser: Browser) -> None:
    live = LiveConfig(setter="scripted", away_seconds=600)
    with started(tmp_path, ROOM, small(live)) as studio:
        desk = researcher(studio)
        study = {**FIRST_PLAY.model_dump(mode="json"), "most_episodes": 1, "codes": {"complete": "C0DE"}}
        desk.post("/api/desk/studies", study)
        (visitor,) = invited(tmp_path, studio, 1)
        page = opened(browser, studio, visitor, press=None)
        sockets = connected_once(page, desk)
        page.reload()
        page.get_by_test_id("ready").click()
        wait_until(page, "window.studio.shown > 16")  # an episode without a whole step is not kept
        sockets[0].close(code=1012)
        expect(page.locator("#overlay")).to_contain_text("Connection lost", timeout=60_000)
        elsewhere = visitor.sit(*visitor.join())  # the same person, while the page has no connection
        elsewhere.send("leave")
        elsewhere.until("end")
        expect(page.get_by_test_id("saved")).to_contain_text("no connection", timeout=60_000)
        expect(page.locator("#code")).to_have_text("C0DE", timeout=60_000)
        page.context.close()


def test_a_person_that_has_stopped_waiting_gets_no_partner(tmp_path: Path, browser: Browser) -> None:
    with started(tmp_path, ROOM, small(LiveConfig())) as studio:
        visitor, partner = invited(tmp_path, studio, 2)
        partner.post("/api/live/consent", {"version": 1})
        page = opened(browser, studio, visitor)
        expect(page.locator("#lobbyText")).to_contain_text("You are ready", timeout=60_000)
        expect(page.locator("#lobby")).to_be_focused()  # Tab goes on from here: the button has been disabled
        page.route(f"{studio.origin}/", lambda route: None)  # the next page is slow to come
        with page.expect_response("**/api/live/quit"):
            page.evaluate("document.getElementById('stop').click()")
        page.wait_for_timeout(2500)  # a page that waits asks each second
        assert partner.post("/api/live/join", {"ready": True})["state"] == "waiting"
        page.context.close()


def test_a_connection_that_the_studio_gave_up_is_made_again(tmp_path: Path, browser: Browser) -> None:
    """The studio closes with 1011 where a browser has not answered for a while, as that of a computer that slept."""
    with started(tmp_path, ROOM, small(LiveConfig(setter="scripted", away_seconds=600))) as studio:
        page = opened(browser, studio, invited(tmp_path, studio, 1)[0], press=None)
        sockets = routed_sockets(page)
        page.get_by_test_id("ready").click()
        wait_until(page, "window.studio.drawn > 3")
        sockets[0].close(code=1011, reason="keepalive ping timeout")
        expect(page.locator("#overlay")).to_contain_text("Connection lost", timeout=60_000)
        drawn = page.evaluate("window.studio.drawn")
        wait_until(page, f"window.studio.drawn > {drawn + 3}")
        page.context.close()


def test_a_pause_says_how_long_it_may_still_last(tmp_path: Path, browser: Browser) -> None:
    with started(tmp_path, ROOM, small(LiveConfig(away_seconds=600, leave_seconds=600))) as studio:
        desk = researcher(studio)
        visitor, partner = invited(tmp_path, studio, 2)
        page = opened(browser, studio, visitor)
        partner.post("/api/live/consent", {"version": 1})
        player = partner.sit(*partner.join())
        wait_until(page, "window.studio.drawn > 3")
        page.evaluate(TEXTS_OF_OVERLAY)
        (session,) = desk.get("/api/live/sessions")["sessions"]
        os.kill(session["process"], signal.SIGKILL)
        wait_until(page, "window.texts.some((text) => text.includes('rebuilt'))")
        assert not [text for text in page.evaluate("window.texts") if "rebuilt" in text and " 0 s" in text]
        wait_until(page, "document.getElementById('overlay').textContent === ''")
        player.close()
        expect(page.locator("#overlay")).to_contain_text("is away", timeout=60_000)
        expect(page.locator("#overlay")).to_contain_text(re.compile(" 5(?!99)[0-9]{2} s until"), timeout=15_000)
        page.context.close()


def test_an_episode_begins_without_what_the_practice_has_left(tmp_path: Path, browser: Browser) -> None:
    with started(tmp_path, ROOM, small(LiveConfig(setter="scripted", away_seconds=600))) as studio:
        page = opened(browser, studio, invited(tmp_path, studio, 1)[0], press=None)
        sockets: list[WebSocketRoute] = []

        def connect(socket: WebSocketRoute) -> None:
            sockets.append(socket)
            if len(sockets) == 1:
                socket.connect_to_server()  # that of the practice room alone

        page.route_web_socket("**/live/**", connect)
        page.reload()
        page.get_by_test_id("practice").click()
        wait_until(page, "window.studio.drawn > 3")
        expect(page.get_by_test_id("finish")).to_have_text("End the practice")
        expect(page.locator("#wantedBox")).to_be_hidden()
        page.get_by_test_id("say").fill("hello")
        page.get_by_test_id("say").press("Enter")
        expect(page.locator("#dialogue")).to_contain_text("hello")
        page.get_by_test_id("ready-practicing").click()
        expect(page.locator("#practicing")).to_be_hidden()
        expect(page.locator("#dialogue")).to_be_empty()
        expect(page.locator("#left")).to_be_empty()
        expect(page.locator("#wanted")).to_have_text("Nothing yet.")
        expect(page.get_by_test_id("finish")).to_have_text("End this episode")
        page.wait_for_timeout(300)  # for pictures of the practice that were being decoded
        assert page.evaluate(IS_BLANK)
        page.context.close()


def test_a_person_that_leaves_is_not_told_that_a_player_has_left(tmp_path: Path, browser: Browser) -> None:
    with started(tmp_path, ROOM, small(LiveConfig(setter="scripted", away_seconds=600))) as studio:
        page = opened(browser, studio, invited(tmp_path, studio, 1)[0])
        wait_until(page, "window.studio.drawn > 3")
        end_episode(page)
        expect(page.get_by_test_id("saved")).to_contain_text("You have left the episode", timeout=60_000)
        page.context.close()


def test_a_study_that_is_paused_while_one_plays_is_named_at_the_end(tmp_path: Path, browser: Browser) -> None:
    with started(tmp_path, ROOM, small(LiveConfig(solver="scripted", away_seconds=600))) as studio:
        page = opened(browser, studio, invited(tmp_path, studio, 1)[0])
        wait_until(page, "window.studio.drawn > 3")
        researcher(studio).post("/api/desk/studies/live/open", {"open": False})
        end_episode(page)
        expect(page.get_by_test_id("saved")).to_have_text(
            "The setter ended the episode. It is saved. Thank you! This study is not open at the moment.",
            timeout=60_000,
        )
        expect(page.get_by_test_id("continue")).to_be_hidden()
        page.context.close()


def test_a_person_that_is_deleted_while_it_plays_reads_so(tmp_path: Path, browser: Browser) -> None:
    with started(tmp_path, ROOM, small(LiveConfig(solver="scripted", away_seconds=600))) as studio:
        (visitor,) = invited(tmp_path, studio, 1)
        page = opened(browser, studio, visitor)
        wait_until(page, "window.studio.drawn > 3")
        person = page.locator(".who").inner_text().split()[-1]
        with page.expect_response("**/api/live?*"):
            researcher(studio).post(f"/api/desk/people/{person}/forget", {"person": person})
        page.wait_for_timeout(500)
        expect(page.get_by_test_id("saved")).to_contain_text("was deleted")
        expect(page.get_by_test_id("continue")).to_be_hidden()
        page.context.close()
