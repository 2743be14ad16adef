"""Pages while something fails or is slow: a silent studio, a broken address, texts or pictures that are missing."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_login import log_in
from page_visits import FILM_MS, MANY_PEOPLE, SMALL, agree, entered, hold, wait_for_full_picture, wait_for_requests
from playwright.sync_api import Browser, Page, Route, expect
from small_house import ENV, fill_store
from studio_process import StartedStudio, started
from test_live_protocol import invited

from interplay.episodes.episode import Utterance
from interplay.studio.people.invitation import make_invitation

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, StartedStudio]]:
    root = tmp_path_factory.mktemp("run")
    fill_store(root, 30, steps=24)  # tests take recordings out of the study, in any order
    with started(root, ENV, MANY_PEOPLE) as running:
        yield root, running


@pytest.fixture
def stranger(browser: Browser) -> Iterator[Page]:
    """The page of a browser without a login."""
    context = browser.new_context()
    yield context.new_page()
    context.close()


@pytest.fixture
def page(stranger: Page, studio: tuple[Path, StartedStudio]) -> Page:
    """The page of a rater."""
    root, running = studio
    (visitor,) = invited(root, running, 1, ("mark",))
    log_in(stranger.context, visitor)
    return stranger


def test_the_entrance_logs_no_error(stranger: Page, studio: tuple[Path, StartedStudio]) -> None:
    logged: list[str] = []
    stranger.on("console", lambda message: logged.append(message.text))
    stranger.goto(f"{studio[1].origin}/i")
    expect(stranger.get_by_test_id("continue")).to_be_visible()
    stranger.wait_for_load_state("networkidle")
    assert not logged


@pytest.mark.parametrize("path", ["/i#50%", "/i/50%"])
def test_a_broken_address_still_shows_the_entrance(
    stranger: Page, studio: tuple[Path, StartedStudio], path: str
) -> None:
    stranger.goto(studio[1].origin + path)
    stranger.get_by_test_id("continue").click()
    expect(stranger.locator("#message")).to_contain_text("not valid")


def test_a_page_whose_studio_is_silent_says_so(page: Page, studio: tuple[Path, StartedStudio]) -> None:
    page.route("**/api/visitor", lambda route: route.abort())
    page.goto(studio[1].origin)
    expect(page.get_by_text("does not answer")).to_be_visible()


@pytest.mark.parametrize("answer", [{"status": 503, "json": {"error": "the disk is full"}}, {"body": "<html>"}, None])
def test_a_page_without_its_texts_says_so(
    page: Page, studio: tuple[Path, StartedStudio], answer: dict[str, object] | None
) -> None:
    page.route("**/en.json", lambda route: route.fulfill(**answer) if answer else route.abort())  # type: ignore[arg-type]
    page.goto(studio[1].origin)
    message = page.get_by_role("alert")
    expect(message).to_contain_text(
        "The texts of this page (/static/words/en.json) could not be loaded. Reload the page"
    )
    expect(page.locator("main")).to_be_hidden()
    page.unroute("**/en.json")
    page.reload()
    expect(page.locator("main")).to_be_visible()
    expect(message).to_have_count(0)


def test_keys_wait_for_the_film(page: Page, studio: tuple[Path, StartedStudio]) -> None:
    agree(page, studio[1])
    held = hold(page, "**/film")
    page.reload()
    expect(page.locator("#loading")).to_be_visible()
    for key in ("ArrowRight", "Space", "Shift+ArrowLeft", "ArrowUp", "]"):
        page.keyboard.press(key)
    page.get_by_test_id("play").click()
    page.wait_for_timeout(200)
    expect(page.locator("#message")).to_be_empty()
    wait_for_requests(page, held, 1)
    held[0].continue_()
    expect(page.get_by_test_id("number")).not_to_be_empty(timeout=FILM_MS)
    expect(page.get_by_test_id("play")).to_contain_text("Play")


def test_a_part_of_a_film_that_did_not_come_is_asked_for_again(page: Page, studio: tuple[Path, StartedStudio]) -> None:
    agree(page, studio[1])
    lost: list[str] = []

    def once(route: Route) -> None:
        if route.request.url in lost:
            route.continue_()
        else:
            lost.append(route.request.url)
            route.abort()

    page.route("**/full/*", once)
    page.reload()
    expect(page.get_by_test_id("number")).not_to_be_empty(timeout=FILM_MS)
    wait_for_full_picture(page)
    assert lost


def test_pictures_that_can_not_be_drawn_are_named(page: Page, studio: tuple[Path, StartedStudio]) -> None:
    agree(page, studio[1])
    page.route("**/full/*", lambda route: route.fulfill(status=503, json={"error": "the disk is full"}))
    page.reload()
    expect(page.locator("#message")).to_have_text(
        "Pictures of this recording are missing: the disk is full", timeout=FILM_MS
    )
    page.unroute("**/full/*")
    expect(page.locator("#message")).to_be_empty(timeout=FILM_MS)  # they are asked for again


def test_a_mark_is_not_called_saved_before_the_browser_has_it(page: Page, studio: tuple[Path, StartedStudio]) -> None:
    agree(page, studio[1])
    expect(page.get_by_test_id("saved")).to_have_text("all saved")
    mark = "() => { for (let n = 0; n < 2; n++) document.getElementById('plus').click(); return saved.textContent; }"
    assert page.evaluate(mark) == "saving 2 ..."
    expect(page.get_by_test_id("saved")).to_have_text("all saved")


def test_a_mark_that_is_refused_for_good_waits_no_more_and_is_named(
    page: Page, studio: tuple[Path, StartedStudio]
) -> None:
    agree(page, studio[1])
    page.keyboard.press("j")
    expect(page.get_by_test_id("saved")).to_have_text("all saved")
    page.route("**/marks", lambda route: route.fulfill(status=410, json={"error": "it can't be read"}))
    for _ in range(2):
        page.keyboard.press("k")
    lost = "Changes of yours that were not kept: 2. The reason: it can't be read"
    expect(page.locator("#message")).to_have_text(lost)
    expect(page.get_by_test_id("saved")).to_have_text("all saved")
    expect(page.get_by_test_id("count")).to_contain_text(re.compile("1 mark$"))
    page.unroute("**/marks")
    page.keyboard.press("j")
    expect(page.get_by_test_id("count")).to_contain_text("2 marks")
    expect(page.get_by_test_id("saved")).to_have_text("all saved")
    expect(page.locator("#message")).to_have_text(lost)
    for _ in range(2):
        page.keyboard.press("z")
    expect(page.get_by_test_id("count")).to_contain_text("0 marks")
    expect(page.get_by_test_id("undo")).to_be_disabled()
    page.get_by_test_id("finish").click()
    page.get_by_test_id("yes").click()
    expect(page.locator("#message")).to_be_empty()


def test_marks_wait_while_another_person_is_logged_in(page: Page, studio: tuple[Path, StartedStudio]) -> None:
    root, running = studio
    agree(page, running)
    expect(page.get_by_test_id("count")).to_contain_text("0 marks")
    own = page.context.cookies()
    (other,) = invited(root, running, 1, ("mark",))
    log_in(page.context, other)
    page.keyboard.press("j")
    expect(page.locator("#message")).to_contain_text("another person")
    expect(page.locator("#saved")).to_contain_text("saving 1")
    page.context.add_cookies(own)  # type: ignore[arg-type]
    expect(page.locator("#saved")).to_contain_text("all saved", timeout=FILM_MS)
    page.reload()
    expect(page.get_by_test_id("count")).to_contain_text(re.compile("1 mark$"), timeout=FILM_MS)


def test_a_recording_that_was_skipped_while_it_was_loaded_does_not_disturb_the_next(
    page: Page, studio: tuple[Path, StartedStudio]
) -> None:
    agree(page, studio[1])
    held = hold(page, "**/film")
    page.reload()
    expect(page.locator("#loading")).to_be_visible()
    page.get_by_test_id("skip").click()
    page.get_by_test_id("yes").click()
    wait_for_requests(page, held, 2)
    held[0].fulfill(status=503, json={"error": "the first can't be shown"})
    page.wait_for_timeout(500)
    expect(page.locator("#message")).to_be_empty()
    expect(page.locator("#loading")).to_be_visible()
    expect(page.get_by_test_id("finish")).to_be_disabled()
    held[1].continue_()
    expect(page.get_by_test_id("number")).not_to_be_empty(timeout=FILM_MS)
    expect(page.get_by_test_id("finish")).to_be_enabled()


def test_a_button_pressed_before_the_page_has_loaded_leaves_it_where_it_is(
    page: Page, studio: tuple[Path, StartedStudio]
) -> None:
    held = hold(page, "**/api/data")
    address = f"{studio[1].origin}/data"
    page.goto(address)
    button = page.get_by_test_id("delete")
    expect(button).to_be_visible()
    button.click(force=True)  # as a person that does not wait
    page.wait_for_timeout(300)
    assert page.url == address
    wait_for_requests(page, held, 1)
    held[0].continue_()
    expect(page.locator("#summary")).not_to_be_empty()
    button.click()  # without the pseudonym
    expect(page.locator("#message")).to_contain_text("to delete")


def test_a_dialog_does_not_act_on_the_recording_that_comes_after_it(
    page: Page, studio: tuple[Path, StartedStudio]
) -> None:
    agree(page, studio[1])
    skipped: list[str] = []
    page.on("request", lambda request: skipped.append(request.url) if request.url.endswith("/skip") else None)
    page.keyboard.press("j")
    expect(page.get_by_test_id("saved")).to_have_text("all saved")
    held = hold(page, "**/finish")
    with page.expect_request("**/finish"):
        page.keyboard.press("Enter")
    page.keyboard.press("s")  # of the recording that is still on screen
    expect(page.locator("dialog")).to_be_visible()
    held[0].continue_()
    expect(page.get_by_test_id("count")).to_contain_text("recording 2")
    page.get_by_test_id("yes").click()
    expect(page.locator("dialog")).to_be_hidden()
    page.wait_for_timeout(300)
    expect(page.get_by_test_id("finish")).to_be_enabled(timeout=FILM_MS)
    assert not skipped


def test_finish_waits_for_a_film_also_where_the_one_before_it_was_skipped(
    page: Page, studio: tuple[Path, StartedStudio]
) -> None:
    agree(page, studio[1])
    page.keyboard.press("j")
    held = hold(page, "**/film")
    with page.expect_request("**/film"):
        page.keyboard.press("Enter")
    page.get_by_test_id("skip").click()
    with page.expect_request("**/film"):
        page.get_by_test_id("yes").click()
    with page.expect_response("**/film"):
        held[0].fulfill(status=503, json={"error": "the first can't be shown"})
    page.wait_for_timeout(300)
    expect(page.get_by_test_id("finish")).to_be_disabled()
    held[1].continue_()
    expect(page.get_by_test_id("finish")).to_be_enabled(timeout=FILM_MS)


def test_the_back_button_shows_nothing_of_a_person_that_has_logged_out(
    browser: Browser, page: Page, studio: tuple[Path, StartedStudio]
) -> None:
    """Playwright switches off what browsers keep of pages that were left; this one keeps it."""
    keeping = browser.browser_type.launch(
        executable_path=shutil.which("chromium"),
        args=["--no-sandbox"],
        ignore_default_args=["--disable-back-forward-cache"],
    )
    context = keeping.new_context()
    context.add_cookies(page.context.cookies())  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(f"{studio[1].origin}/data")
    expect(page.locator("#summary")).to_contain_text("You are p-")
    page.get_by_test_id("leave").click()
    page.wait_for_url("**/i")
    page.evaluate("history.back()")
    page.wait_for_timeout(1000)
    expect(page.get_by_test_id("continue")).to_be_visible()
    expect(page.locator("body")).not_to_contain_text("p-")
    keeping.close()


def test_the_invitation_stays_in_the_address_until_the_page_has_begun(
    stranger: Page, studio: tuple[Path, StartedStudio]
) -> None:
    stranger.route("**/api/visitor", lambda route: route.abort())
    stranger.goto(f"{studio[1].origin}/i#c0de")
    expect(stranger.get_by_text("does not answer")).to_be_visible()
    stranger.unroute("**/api/visitor")
    stranger.reload()
    expect(stranger.locator("#text")).to_contain_text("You have been invited")
    assert "c0de" not in stranger.url


def test_another_code_can_be_typed_where_that_of_the_address_is_refused(
    stranger: Page, studio: tuple[Path, StartedStudio]
) -> None:
    root, running = studio
    code = make_invitation(root, ("mark",), uses=1, seconds=600)
    stranger.goto(f"{running.origin}/i#c0de")
    expect(stranger.get_by_test_id("code")).to_be_hidden()
    stranger.get_by_test_id("continue").click()
    expect(stranger.get_by_text("is not valid")).to_be_visible()
    stranger.get_by_test_id("code").fill(f"{running.origin}/i#{code}")
    stranger.get_by_test_id("continue").click()
    stranger.wait_for_url(f"{running.origin}/")


def test_nobody_can_agree_before_the_text_is_there(page: Page, studio: tuple[Path, StartedStudio]) -> None:
    pressed = page.get_by_test_id("agree")
    page.route("**/api/studies", lambda route: route.abort())
    page.goto(f"{studio[1].origin}/consent?study=marks")
    expect(page.get_by_text("does not answer")).to_be_visible()
    expect(pressed).to_be_hidden()
    page.unroute("**/api/studies")
    page.reload()
    expect(pressed).to_be_visible()


def test_the_rules_are_read_from_their_beginning_in_a_small_window(
    page: Page, studio: tuple[Path, StartedStudio]
) -> None:
    agree(page, studio[1])
    page.set_viewport_size({"width": 640, "height": 430})  # as a window of 1280x860 at 200%
    page.get_by_test_id("rules").click()
    expect(page.get_by_role("heading", name="What to mark")).to_be_in_viewport()
    expect(page.get_by_test_id("continue")).to_be_focused()


def test_a_copied_text_is_confirmed_and_one_that_the_browser_does_not_copy_is_selected(
    page: Page, studio: tuple[Path, StartedStudio]
) -> None:
    agree(page, studio[1])
    page.evaluate("async () => (await import('/static/end.js')).showEnd({ outcome: 'complete', code: 'C0DE' })")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    said = page.get_by_role("status").filter(has_text="Copied.")
    expect(said).to_have_count(0)
    page.get_by_test_id("copy").click()
    expect(said).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "C0DE"
    page.evaluate("getSelection().removeAllRanges()")
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")  # as at an address without TLS
    page.get_by_test_id("copy").click()
    expect(page.get_by_role("status").filter(has_text="copy it with Ctrl+C")).to_be_visible()
    assert page.evaluate("getSelection().toString()") == "C0DE"


def test_a_film_goes_on_where_it_was_when_the_browser_slept(page: Page, studio: tuple[Path, StartedStudio]) -> None:
    page.goto(studio[1].origin)
    expect(page.locator("main")).to_be_visible()
    shown = page.evaluate(
        """async () => {
            const { Playback } = await import('/static/playback.js');
            const film = { plan: { rate: 30, frames: 30000 }, shown: 0, want(frame) { this.shown = frame; } };
            let now = 0, next, found = [];
            performance.now = () => now;
            window.requestAnimationFrame = (act) => { next = act; };
            new Playback(() => film, () => {}).play(true);
            for (const pause of [100, 100, 60000, 100]) {
                now += pause;
                next(now);
                found.push(Math.round(film.shown));
            }
            return found;
        }"""
    )
    assert shown == [3, 6, 6, 9]


def test_no_words_of_the_last_recording_are_marked_while_the_next_is_loaded(browser: Browser, tmp_path: Path) -> None:
    fill_store(tmp_path, 2, (Utterance(8, "solver", "yes"),))
    with started(tmp_path, ENV, SMALL) as studio, entered(browser, studio) as page:
        agree(page, studio)
        page.get_by_test_id("plus-0").click()
        held: list[Route] = []
        page.route("**/film", lambda route: held.append(route))
        with page.expect_request("**/film"):
            page.get_by_test_id("finish").click()
        expect(page.locator("#loading")).to_be_visible()
        expect(page.locator("#dialogue li")).to_have_count(0)
        for place in ("#number", "#watched"):
            expect(page.locator(place)).to_be_empty()
        held[0].continue_()
        expect(page.get_by_test_id("plus-0")).to_be_visible(timeout=FILM_MS)


def test_logging_out_asks_while_a_mark_is_on_its_way(page: Page, studio: tuple[Path, StartedStudio]) -> None:
    agree(page, studio[1])
    held = hold(page, "**/marks", "POST")
    page.keyboard.press("j")
    wait_for_requests(page, held, 1)
    asked: list[str] = []
    page.on("dialog", lambda dialog: asked.append(dialog.message) or dialog.dismiss())
    page.get_by_test_id("leave").click()
    held[0].continue_()
    expect(page.get_by_test_id("saved")).to_have_text("all saved")
    assert len(asked) == 1 and "not saved" in asked[0]
    page.reload()
    expect(page.get_by_test_id("count")).to_contain_text(re.compile("1 mark$"), timeout=FILM_MS)
