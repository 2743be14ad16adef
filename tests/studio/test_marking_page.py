"""The marking page in Chromium without a database, in two tabs, and while requests are slow: no change is lost."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_login import log_in
from page_visits import FILM_MS, MANY_PEOPLE, agree, hold, is_a_mark, states, wait_for_requests
from playwright.sync_api import Browser, Page, expect
from small_house import ENV, fill_store
from studio_process import StartedStudio, started
from test_live_protocol import invited

from interplay.core.counted import counted
from interplay.episodes.episode import Utterance

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SAID = (Utterance(8, "solver", "yes"),)
ASKS_TO_STAY = "() => !dispatchEvent(new Event('beforeunload', { cancelable: true }))"
NETWORK_IS_BACK = "() => dispatchEvent(new Event('online'))"
LABELS_OF_PLAY = """() => {
  const play = document.getElementById('play');
  window.labels = [];
  new MutationObserver(() => window.labels.push(play.textContent)).observe(play, { childList: true });
}"""
NOT_STORED = "This browser can't store your marks"
# What fails of the database: opening it, as in a private window; transactions, as where the file is corrupted; storing
# a request at once, or when its transaction ends, as where the disk is full.
FAILURES = {
    "refused": "indexedDB.open = () => { throw new DOMException('denied', 'SecurityError'); };",
    "opening": "{ const open = indexedDB.open.bind(indexedDB); "
    "indexedDB.open = (name) => { open(name, 9); return open(name, 1); }; }",
    "transaction": "{ const all = IDBDatabase.prototype.transaction; "
    "IDBDatabase.prototype.transaction = function (...given) { this.close(); return all.apply(this, given); }; }",
    "adding": "IDBObjectStore.prototype.add = () => { throw new DOMException('no space', 'QuotaExceededError'); };",
    "committing": "{ const add = IDBObjectStore.prototype.add; IDBObjectStore.prototype.add = function (...given) { "
    "const request = add.apply(this, given); "
    "request.addEventListener('success', () => this.transaction.abort()); return request; }; }",
}


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, StartedStudio]]:
    root = tmp_path_factory.mktemp("run")
    fill_store(root, 30, SAID, steps=6)  # tests take recordings out of the study, in any order
    with started(root, ENV, MANY_PEOPLE) as running:
        yield root, running


@pytest.fixture
def page(browser: Browser, studio: tuple[Path, StartedStudio]) -> Iterator[Page]:
    """The page of a rater, who has begun the first recording."""
    root, running = studio
    (visitor,) = invited(root, running, 1, ("mark",))
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    log_in(context, visitor)
    page = context.new_page()
    agree(page, running)
    yield page
    context.close()


def reloaded(page: Page) -> None:
    page.reload()
    expect(page.get_by_test_id("number")).not_to_be_empty(timeout=FILM_MS)


def second_tab(page: Page) -> Page:
    """Another tab with the same recording."""
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.get_by_test_id("number")).not_to_be_empty(timeout=FILM_MS)
    other.get_by_test_id("continue").click()  # the rules
    return other


def test_a_held_key_removes_one_mark_and_starts_the_film_once(page: Page) -> None:
    for _ in range(3):
        page.keyboard.press("j")
    for _ in range(4):  # as a keyboard repeats it
        page.keyboard.down("Delete")
    page.keyboard.up("Delete")
    expect(page.get_by_test_id("count")).to_contain_text("2 marks")
    page.evaluate(LABELS_OF_PLAY)
    for _ in range(4):
        page.keyboard.down("Space")
    page.keyboard.up("Space")
    assert page.evaluate("window.labels[0]") == "Pause"
    assert "Pause" not in page.evaluate("window.labels.slice(1)")  # the film may have ended meanwhile


def test_keys_do_not_press_the_button_that_was_clicked_before(page: Page) -> None:
    page.get_by_test_id("plus-0").click()
    page.get_by_test_id("plus").click()
    page.keyboard.press("Space")  # plays
    expect(page.get_by_test_id("count")).to_contain_text("2 marks")
    page.get_by_test_id("plus").focus()  # by Tab, it is pressed
    page.keyboard.press("Space")
    expect(page.get_by_test_id("count")).to_contain_text("3 marks")
    page.get_by_test_id("skip").click()
    page.get_by_test_id("no").click()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("count")).to_contain_text("recording 2, 0 marks", timeout=FILM_MS)


@pytest.mark.parametrize("failure", FAILURES)
def test_marks_that_the_browser_can_not_store_are_sent_from_the_page(page: Page, failure: str) -> None:
    page.add_init_script(FAILURES[failure])
    page.route("**/marks", lambda route: route.fulfill(status=503, json={"error": "the disk is full"}))
    reloaded(page)  # after `route`: Chromium may let a request through that is sent as soon as routes are set
    for key in ("j", "k", "z"):  # the undo of a mark follows it
        page.keyboard.press(key)
    message = page.locator("#message")
    expect(message).to_contain_text(NOT_STORED)
    expect(message).to_contain_text("Your marks are only in this page")
    expect(page.get_by_test_id("saved")).to_have_text("saving 3 ...")
    assert page.evaluate(ASKS_TO_STAY)
    page.unroute("**/marks")
    page.evaluate(NETWORK_IS_BACK)  # else the pause after several tries takes seconds
    expect(page.get_by_test_id("saved")).to_have_text("all saved")
    assert not page.evaluate(ASKS_TO_STAY)
    expect(message).to_contain_text(NOT_STORED)
    expect(message).not_to_contain_text("only in this page")
    page.get_by_test_id("plus-0").click()
    page.get_by_test_id("finish").click()
    expect(page.get_by_test_id("count")).to_contain_text("recording 2, 0 marks", timeout=FILM_MS)


def test_a_mark_that_is_refused_is_named_also_where_the_browser_can_not_store_it(page: Page) -> None:
    page.route("**/marks", lambda route: route.fulfill(status=410, json={"error": "it can't be read"}))
    reloaded(page)
    page.evaluate(f"() => {{ {FAILURES['adding']} }}")
    page.keyboard.press("j")
    lost = "Changes of yours that were not kept: 1. The reason: it can't be read"
    expect(page.locator("#message")).to_contain_text(lost)
    expect(page.get_by_test_id("count")).to_contain_text("0 marks")
    expect(page.get_by_test_id("saved")).to_have_text("all saved")


def test_what_was_stored_is_sent_once_where_the_database_fails_later(page: Page) -> None:
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if is_a_mark(request) else None)
    page.route("**/marks", lambda route: None)  # holds it
    with page.expect_request(is_a_mark):
        page.keyboard.press("j")
    page.evaluate(f"() => {{ {FAILURES['transaction']} }}")
    page.keyboard.press("k")
    expect(page.locator("#message")).to_contain_text(NOT_STORED)
    page.unroute("**/marks")  # lets the request go that is held
    expect(page.get_by_test_id("saved")).to_have_text("all saved")
    assert len(sent) == 2
    expect(page.get_by_test_id("count")).to_contain_text("2 marks")


def test_keys_mark_also_where_the_checkbox_was_clicked_last(page: Page) -> None:
    box = page.get_by_test_id("scrub-picture")
    box.check()
    page.keyboard.press("j")
    expect(page.get_by_test_id("count")).to_contain_text(re.compile("1 mark$"))
    page.keyboard.press("Space")
    expect(box).not_to_be_checked()


def test_the_next_recording_and_its_bar_are_in_view_where_the_page_is_longer_than_the_window(page: Page) -> None:
    page.set_viewport_size({"width": 640, "height": 400})  # as of a small screen, or at 200%
    for sign in ("plus-0", "finish"):
        page.get_by_test_id(sign).click()
    expect(page.get_by_test_id("count")).to_contain_text("recording 2, 0 marks", timeout=FILM_MS)
    expect(page.get_by_test_id("finish")).to_be_enabled(timeout=FILM_MS)
    for part in ("view", "bar"):
        expect(page.get_by_test_id(part)).to_be_in_viewport(ratio=0.99)


def test_marks_are_sent_once_the_network_is_back_without_a_pause(page: Page) -> None:
    page.clock.install()
    page.clock.pause_at(time.time() + 3600)  # no pause between two tries ends
    page.route("**/marks", lambda route: route.abort())
    page.keyboard.press("j")
    expect(page.locator("#message")).to_contain_text("The studio does not answer")
    page.unroute("**/marks")
    page.evaluate(NETWORK_IS_BACK)
    expect(page.get_by_test_id("saved")).to_have_text("all saved")


def test_the_later_sign_of_two_tabs_wins_and_both_show_it(page: Page) -> None:
    other = second_tab(page)

    def shows(plus: bool, minus: bool) -> None:
        for each in (page, other):
            expect(each.get_by_test_id("plus-0")).to_have_attribute("aria-pressed", str(plus).lower())
            expect(each.get_by_test_id("minus-0")).to_have_attribute("aria-pressed", str(minus).lower())
            expect(each.get_by_test_id("count")).to_contain_text(counted(plus + minus, "mark"))

    page.get_by_test_id("plus-0").click()
    shows(plus=True, minus=False)
    other.get_by_test_id("minus-0").click()
    shows(plus=False, minus=True)
    page.get_by_test_id("minus-0").click()  # the same sign again takes the mark away
    shows(plus=False, minus=False)
    page.get_by_test_id("undo").click()
    shows(plus=False, minus=True)
    for each in (page, other):
        expect(each.get_by_test_id("saved")).to_have_text("all saved")
    reloaded(page)
    shows(plus=False, minus=True)


def in_another_browser(page: Page, browser: Browser) -> Page:
    """The same recording of the same rater in another browser."""
    other = browser.new_context(storage_state=page.context.storage_state()).new_page()
    other.goto(page.url)
    expect(other.get_by_test_id("number")).not_to_be_empty(timeout=FILM_MS)
    other.get_by_test_id("continue").click()  # the rules
    return other


def test_a_mark_in_another_browser_is_shown(page: Page, browser: Browser) -> None:
    other = in_another_browser(page, browser)
    page.get_by_test_id("plus-0").click()
    expect(other.get_by_test_id("plus-0")).to_have_attribute("aria-pressed", "true")
    other.get_by_test_id("minus-0").click()
    expect(page.get_by_test_id("minus-0")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_test_id("plus-0")).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("j")
    for each in (page, other):
        expect(each.get_by_test_id("count")).to_contain_text("2 marks")
    other.get_by_test_id("minus-0").click()  # the same sign again takes the mark away
    expect(page.get_by_test_id("count")).to_contain_text(re.compile("1 mark$"))
    other.context.close()


def test_a_recording_that_was_finished_in_another_browser_says_so(page: Page, browser: Browser) -> None:
    other = in_another_browser(page, browser)
    with other.expect_response("**/next"):
        other.get_by_test_id("finish").click()
        other.get_by_test_id("yes").click()  # it was not watched
    expect(page.locator("#message")).to_contain_text("ended this recording in another tab or browser")
    expect(other.locator("#message")).to_be_empty()
    with page.expect_response("**/next"):
        page.get_by_test_id("finish").click()  # asks nothing
    expect(page.locator("#message")).to_be_empty()
    other.context.close()


def test_a_mark_that_one_tab_is_refused_is_named_in_both(page: Page) -> None:
    other = second_tab(page)
    page.context.route("**/marks", lambda route: route.fulfill(status=410, json={"error": "it can't be read"}))
    page.keyboard.press("j")
    for each in (page, other):
        expect(each.locator("#message")).to_have_text(
            "Changes of yours that were not kept: 1. The reason: it can't be read"
        )
        expect(each.get_by_test_id("count")).to_contain_text("0 marks")


def test_a_message_stays_until_another_one_about_the_same(page: Page) -> None:
    page.route("**/finish", lambda route: route.fulfill(status=503, json={"error": "the disk is full"}))
    page.get_by_test_id("plus-0").click()
    page.get_by_test_id("finish").click()
    message = page.locator("#message")
    expect(message).to_contain_text("the disk is full")
    with page.expect_response(lambda response: is_a_mark(response.request)):
        page.keyboard.press("j")
    expect(page.get_by_test_id("saved")).to_have_text("all saved")
    expect(message).to_contain_text("the disk is full")
    page.route("**/marks", lambda route: route.abort())
    page.keyboard.press("j")
    expect(message).to_contain_text("The studio does not answer")
    expect(message).to_contain_text("the disk is full")
    page.unroute("**/marks")
    expect(page.get_by_test_id("saved")).to_have_text("all saved")
    expect(message).to_contain_text("the disk is full")
    expect(message).not_to_contain_text("The studio does not answer")
    page.unroute("**/finish")
    expect(page.get_by_test_id("count")).to_contain_text("recording 2", timeout=FILM_MS)
    expect(message).to_be_empty()


def test_settings_are_saved_one_after_another(page: Page) -> None:
    held = hold(page, "**/api/me/settings")
    box = page.get_by_test_id("scrub-picture")
    with page.expect_request("**/api/me/settings"):
        box.check()
    box.uncheck()
    page.get_by_test_id("change-keys").click()
    page.get_by_test_id("key-plus").press("p")
    page.get_by_test_id("keep-keys").click()
    page.wait_for_timeout(300)
    assert len(held) == 1 and page.evaluate(ASKS_TO_STAY)
    held[0].fulfill(status=503, json={"error": "the disk is full"})
    wait_for_requests(page, held, 2)
    expect(page.locator("#message")).to_have_text("the disk is full")
    assert json.loads(held[1].request.post_data or "")["scrub_picture"] is False
    with page.expect_response("**/api/me/settings"):
        held[1].continue_()
    expect(page.locator("#message")).to_be_empty()
    assert not page.evaluate(ASKS_TO_STAY)
    reloaded(page)
    expect(box).not_to_be_checked()
    with page.expect_response(lambda response: is_a_mark(response.request)):
        page.keyboard.press("p")


def test_a_recording_that_is_skipped_twice_leaves_the_next_one_alone(
    page: Page, studio: tuple[Path, StartedStudio]
) -> None:
    skipped: list[str] = []
    page.on("request", lambda request: skipped.append(request.url) if request.url.endswith("/skip") else None)
    page.route("**/marks", lambda route: route.abort())
    page.keyboard.press("j")  # a mark that is not sent yet, for which both wait
    expect(page.get_by_test_id("saved")).to_have_text("saving 1 ...")
    for _ in range(2):
        page.get_by_test_id("skip").click()
        page.get_by_test_id("yes").click()
    page.unroute("**/marks")
    expect(page.get_by_test_id("saved")).to_have_text("all saved")
    expect(page.get_by_test_id("count")).to_contain_text("0 marks", timeout=FILM_MS)
    expect(page.get_by_test_id("finish")).to_be_enabled(timeout=FILM_MS)
    page.wait_for_timeout(300)
    assert len(skipped) == 1 and states(studio[0])[-2:] == ["skipped", "open"]
