"""Pages whose studio is slow or does not answer for a while: each says that it waits, and goes on by itself."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from browser_login import log_in
from page_visits import FILM_MS, MANY_PEOPLE, agree, on_a_phone
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect
from small_house import ENV, fill_store
from studio_process import StartedStudio, started
from test_live_protocol import invited

from interplay.studio.people.invitation import Invitations
from interplay.studio.people.studio_database import StudioDatabase

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WAITS = "Waiting for the studio"


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, StartedStudio]]:
    root = tmp_path_factory.mktemp("run")
    fill_store(root, 12, steps=24)
    with started(root, ENV, MANY_PEOPLE) as running:
        yield root, running


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser without a login."""
    context = browser.new_context(viewport={"width": 1200, "height": 700})
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext, studio: tuple[Path, StartedStudio]) -> Page:
    """The page of a rater."""
    root, running = studio
    (visitor,) = invited(root, running, 1, ("mark",))
    log_in(context, visitor)
    return context.new_page()


@contextmanager
def stopped(studio: StartedStudio) -> Iterator[None]:
    """A studio that takes connections and does not answer."""
    os.kill(studio.process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(studio.process.pid, signal.SIGCONT)


def finished(page: Page, number: int) -> None:
    """A recording was finished, and the next one is on screen, without a message."""
    expect(page.get_by_test_id("count")).to_contain_text(f"recording {number + 1}, 0 marks", timeout=FILM_MS)
    expect(page.locator("#message")).to_be_empty()
    expect(page.get_by_test_id("finish")).to_be_enabled(timeout=FILM_MS)


def test_finish_waits_for_a_studio_that_is_silent_or_fails(page: Page, studio: tuple[Path, StartedStudio]) -> None:
    agree(page, studio[1])
    message = page.locator("#message")
    page.keyboard.press("j")
    expect(page.get_by_test_id("saved")).to_have_text("all saved")
    with stopped(studio[1]):
        page.get_by_test_id("finish").click()
        expect(message).to_contain_text(WAITS)
        expect(message.locator(".note")).to_be_in_viewport()
    finished(page, 1)
    page.keyboard.press("j")
    page.route("**/finish", lambda route: route.abort())
    page.get_by_test_id("finish").click()
    expect(message).to_contain_text(WAITS)
    page.unroute("**/finish")
    finished(page, 2)
    page.keyboard.press("j")
    page.route("**/next", lambda route: route.fulfill(status=503, json={"error": "the disk is full"}))
    page.get_by_test_id("finish").click()
    expect(message).to_contain_text("the disk is full")
    page.route("**/film", lambda route: route.abort())
    page.unroute("**/next")
    expect(message).to_contain_text(WAITS)
    page.unroute("**/film")
    finished(page, 3)


def test_a_consent_says_that_it_waits(page: Page, studio: tuple[Path, StartedStudio]) -> None:
    page.goto(f"{studio[1].origin}/consent?study=marks")
    for number in (0, 1):
        page.get_by_test_id(f"statement-{number}").check()
    with stopped(studio[1]):
        page.get_by_test_id("agree").click()
        expect(page.locator("#message")).to_contain_text(WAITS)
    page.wait_for_url("**/mark?study=marks")


def test_a_person_whose_entrance_got_no_answer_enters_after_a_reload(
    context: BrowserContext, studio: tuple[Path, StartedStudio]
) -> None:
    root, running = studio
    database = StudioDatabase(root / "studio" / "studio.db")
    code = Invitations(database).make(("mark",), seconds=600)
    page = context.new_page()

    def lost(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route("**/api/enter", lost)
    page.goto(f"{running.origin}/i?PROLIFIC_PID=lost-1#{code}")
    page.get_by_test_id("continue").click()
    expect(page.locator("#message")).to_contain_text("does not answer")
    context.clear_cookies()  # which `fetch` has kept
    page.unroute("**/api/enter")
    page.reload()
    assert code not in page.url
    page.get_by_test_id("continue").click()
    page.wait_for_url(f"{running.origin}/")
    (identity,) = database.rows("SELECT person FROM identities WHERE name = 'lost-1'")
    expect(page.locator(".who")).to_contain_text(identity["person"])
    database.close()


def test_a_finger_moves_over_the_bar_and_over_the_picture(
    browser: Browser, page: Page, studio: tuple[Path, StartedStudio]
) -> None:
    agree(page, studio[1])
    with on_a_phone(browser, page) as touched:
        expect(touched.get_by_test_id("number")).to_contain_text("frame 0 ", timeout=FILM_MS)
        touched.get_by_test_id("continue").tap()
        expect(touched.get_by_text("a finger over the bar")).to_be_visible()
        expect(touched.get_by_test_id("rules")).to_be_visible()
        for of_keys in (touched.get_by_role("heading", name="Keys"), touched.get_by_test_id("change-keys")):
            expect(of_keys).to_be_hidden()
        touched.get_by_test_id("scrub-picture").tap()
        touches = touched.context.new_cdp_session(touched)
        for place, shares in (("bar", range(30, 90, 10)), ("view", range(80, 20, -10))):
            touched.get_by_test_id(place).scroll_into_view_if_needed()
            box = touched.get_by_test_id(place).bounding_box()
            assert box is not None
            for share in shares:
                at = {"x": box["x"] + share / 100 * box["width"], "y": box["y"] + box["height"] / 2}
                kind = "touchStart" if share == shares[0] else "touchMove"
                touches.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [at]})
                touched.wait_for_timeout(50)
            touches.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
            frame = int(touched.get_by_test_id("number").inner_text().split()[1])
            assert frame > 130 if place == "bar" else 40 < frame < 80, f"{place}: {frame} of 192"
