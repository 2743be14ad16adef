"""Words that a browser sends into a connection that is open on its side alone, and answers that are lost."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from page_visits import end_episode
from playwright.sync_api import Browser, Page, WebSocketRoute, expect
from studio_process import StartedStudio, started
from test_live_browser import SECONDS, opened, wait_until
from test_live_protocol import ROOM, invited, only_episode
from test_play_keys import say

from interplay.stages.live_config import LiveConfig
from interplay.stages.studio_config import StudioConfig
from interplay.studio.live.live_client import LiveVisitor

pytestmark = [pytest.mark.slow, pytest.mark.browser]

CONFIG = StudioConfig(size=(48, 64), live=LiveConfig(solver="scripted", seconds=600, away_seconds=600))
CLOSING_WARNS = "!dispatchEvent(new Event('beforeunload', { cancelable: true }))"


class Line:
    """The connection of a page: what of it is lost, and its sockets so far."""

    def __init__(self, page: Page) -> None:
        self.is_half_open = False  # nothing arrives, in both directions
        self.loses_answers = False
        self.is_cut = False  # no new socket connects
        self.sockets: list[WebSocketRoute] = []
        page.route_web_socket("**/live/**", self._connect)

    def _connect(self, socket: WebSocketRoute) -> None:
        self.sockets.append(socket)
        if self.is_cut:
            socket.close(code=1012)
            return
        server = socket.connect_to_server()
        self.is_half_open = False  # a new socket works

        def up(message: str | bytes) -> None:
            if not self.is_half_open:
                server.send(message)

        def down(message: str | bytes) -> None:
            kind = json.loads(message)["kind"] if isinstance(message, str) else "picture"
            is_lost = self.is_half_open or (self.loses_answers and kind == "accepted")
            if not is_lost and kind != "rate":  # which depends on the machine; a test sends its own
                socket.send(message)

        socket.on_message(up)
        server.on_message(down)


def playing(browser: Browser, studio: StartedStudio, root: Path) -> tuple[Page, Line, LiveVisitor]:
    """The page of a setter that plays with a scripted solver."""
    (visitor,) = invited(root, studio, 1)
    page = opened(browser, studio, visitor, press=None)
    line = Line(page)
    page.reload()
    page.get_by_test_id("ready").click()
    wait_until(page, "window.studio.shown > 10")
    page.get_by_test_id("view").focus()
    return page, line, visitor


def test_words_that_did_not_arrive_are_said_once_over_the_next_connection(tmp_path: Path, browser: Browser) -> None:
    with started(tmp_path, ROOM, CONFIG) as studio:
        page, line, _ = playing(browser, studio, tmp_path)
        page.get_by_test_id("say").fill("lift")
        assert page.evaluate(CLOSING_WARNS), "what is half typed would be lost"
        page.get_by_test_id("say").fill("")
        page.get_by_test_id("view").focus()
        assert not page.evaluate(CLOSING_WARNS)
        line.is_half_open = True
        say(page, "lift the ball")
        expect(page.get_by_test_id("unconfirmed")).to_have_text("sending: lift the ball")
        assert page.evaluate(CLOSING_WARNS)
        expect(page.locator("#dialogue")).to_contain_text("lift the ball", timeout=SECONDS)
        assert len(line.sockets) == 2, "the page has given up the connection that did not answer"
        first, second = (urlsplit(socket.url).query for socket in line.sockets)
        assert first.endswith("&number=1") and second == first.replace("&number=1", "&number=2")
        expect(page.get_by_test_id("unconfirmed")).to_be_empty()
        assert not page.evaluate(CLOSING_WARNS)
        line.loses_answers = True
        say(page, "and the duck")
        expect(page.locator("#dialogue")).to_contain_text("and the duck", timeout=SECONDS)
        expect(page.get_by_test_id("unconfirmed")).to_have_text("sending: and the duck")
        line.loses_answers = False
        line.sockets[-1].close(code=1012)
        expect(page.get_by_test_id("unconfirmed")).to_be_empty(timeout=SECONDS)
        end_episode(page)
        page.get_by_test_id("saved").wait_for()
        expect(page.locator("#message")).to_be_empty()
        page.context.close()
    said = [each.text for each in only_episode(tmp_path).meta.utterances if each.role == "setter"]
    assert said == ["lift the ball", "and the duck"]


def test_a_page_without_pictures_connects_again_by_itself(tmp_path: Path, browser: Browser) -> None:
    with started(tmp_path, ROOM, CONFIG) as studio:
        page, line, _ = playing(browser, studio, tmp_path)
        line.is_half_open = line.is_cut = True
        expect(page.locator("#overlay")).to_contain_text("Connection lost", timeout=SECONDS)
        expect(page.locator("#overlay")).to_contain_text(
            "After 30 s without a connection, your part in the episode ends"
        )
        line.is_half_open = line.is_cut = False
        expect(page.locator("#overlay")).to_be_empty(timeout=SECONDS)
        wait_until(page, f"window.studio.shown > {page.evaluate('window.studio.shown')}")
        page.context.close()


def test_what_arrives_leaves_the_notice_of_refused_words_and_the_page_in_place(
    tmp_path: Path, browser: Browser
) -> None:
    live = replace(CONFIG.live, utterances=1, utterance_seconds=600)
    with started(tmp_path, ROOM, replace(CONFIG, live=live)) as studio:
        page, line, _ = playing(browser, studio, tmp_path)
        message = page.locator("#message")
        for text in ("lift the ball", "and the duck"):
            say(page, text)
        expect(message).to_contain_text("too fast", timeout=SECONDS)
        place = page.get_by_test_id("view").bounding_box()
        for rung, says in ((1, "fewer pictures"), (0, " ms, 64x48")):
            line.sockets[-1].send(json.dumps({"kind": "rate", "rung": rung, "size": [24, 32]}))
            expect(page.locator("#rate")).to_contain_text(says)
            expect(message).to_contain_text("too fast")
            assert page.get_by_test_id("view").bounding_box() == place
        page.set_viewport_size({"width": 640, "height": 400})  # the dialogue is below the picture
        page.get_by_test_id("view").evaluate("each => each.scrollIntoView()")
        line.sockets[-1].send(json.dumps({"kind": "said", "role": "solver", "text": "which one?", "frame": 0}))
        expect(page.locator("#dialogue")).to_contain_text("which one?")
        expect(page.get_by_test_id("view")).to_be_in_viewport(ratio=0.99)
        page.context.close()


@pytest.mark.parametrize("in_another_tab", [True, False])
def test_words_that_did_not_arrive_before_the_seat_is_closed_are_shown(
    tmp_path: Path, browser: Browser, in_another_tab: bool
) -> None:
    with started(tmp_path, ROOM, CONFIG) as studio:
        page, line, visitor = playing(browser, studio, tmp_path)
        line.is_half_open = line.is_cut = True
        say(page, "lift the ball")
        say(page, "and the duck")
        expect(page.get_by_test_id("unconfirmed")).to_contain_text("and the duck")
        if in_another_tab:
            line.sockets[-1].close(code=1008, reason="this seat is used in another tab now")
        else:
            line.sockets[-1].close(code=1012)
            expect(page.locator("#overlay")).to_contain_text("Connection lost", timeout=SECONDS)
            elsewhere = visitor.sit(*visitor.join())
            elsewhere.send("leave")
            elsewhere.until("end")
            line.is_half_open = line.is_cut = False
            expect(page.get_by_test_id("saved")).to_contain_text("no connection", timeout=SECONDS)
        words = "lift the ball and the duck"
        expect(page.locator("#message")).to_contain_text(f'did not confirm that this was said: "{words}"')
        expect(page.get_by_test_id("unconfirmed")).to_be_empty()
        expect(page.get_by_test_id("say")).to_have_value(words)
        page.context.close()
