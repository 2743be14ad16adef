"""The judging page in Chromium: what a person sees and presses, and that a verdict is kept once."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from judged_run import add_continuations, judge_study
from page_visits import on_a_phone, states
from playwright.sync_api import Browser, Page, Route, expect
from small_house import ENV, house, played
from studio_process import StartedStudio, started

from interplay.episodes.episode import Utterance
from interplay.evaluation.continuation_judgements import read_judgements
from interplay.stages.studio_config import StudioConfig

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SMALL = StudioConfig(size=(96, 128))
SAID = (Utterance(0, "setter", "lift the <b>cup</b>"),)
FILM_MS = 60_000  # the first film on a machine compiles the renderer
STANDS_STILL = "requestAnimationFrame = () => 0"  # a film that plays shows its first picture only


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[StartedStudio]:
    episode, _ = played(house())
    add_continuations(tmp_path, [replace(episode, meta=replace(episode.meta, utterances=SAID))], begins=16)
    file = tmp_path / "studio" / "studies" / "judge-v1.json"
    file.parent.mkdir(parents=True)
    file.write_text(judge_study(title="Judge agents").model_dump_json())
    with started(tmp_path, ENV, SMALL) as running:
        yield running


@pytest.fixture
def page(browser: Browser, studio: StartedStudio) -> Iterator[Page]:
    """The researcher's browser, with the first recording of the study on screen."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page = context.new_page()
    page.goto(f"{studio.origin}/i#{studio.code}")
    page.get_by_test_id("continue").click()
    page.get_by_test_id("study-judge").click()
    for number in (0, 1):
        page.get_by_test_id(f"statement-{number}").check()
    page.get_by_test_id("agree").click()
    page.wait_for_url(f"{studio.origin}/judge?study=judge")
    expect(page.get_by_test_id("done")).to_be_enabled(timeout=FILM_MS)
    yield page
    context.close()


def watch(page: Page, key: str) -> None:
    """Waits for the next recording, moves over it until all of it was on screen, and judges by a key."""
    expect(page.get_by_test_id("done")).to_be_enabled(timeout=FILM_MS)
    box = page.get_by_test_id("bar").bounding_box()
    assert box is not None
    for share in itertools.cycle(range(8, 100, 4)):  # a slow browser leaves pictures out
        page.mouse.move(box["x"] + share / 100 * box["width"], box["y"] + 20)
        page.evaluate("() => new Promise(requestAnimationFrame)")
        if "100%" in page.locator("#watched").inner_text():
            break
    page.keyboard.press(key)


def test_a_person_watches_and_judges(page: Page, tmp_path: Path) -> None:
    expect(page.locator("#dialogue")).to_contain_text("lift the <b>cup</b>")
    expect(page.get_by_test_id("question")).to_contain_text("From 0:00.53 on")
    for number, key in enumerate(("y", "n", "y", "n"), 1):
        expect(page.get_by_test_id("count")).to_have_text(f"recording {number}", timeout=FILM_MS)
        watch(page, key)
    expect(page.locator("#overText")).to_contain_text("nothing more to do", timeout=FILM_MS)
    assert [each.done for each in read_judgements(tmp_path)] == [True, False, True, False]


def test_a_verdict_without_watching_asks_once(page: Page, tmp_path: Path) -> None:
    page.add_init_script(STANDS_STILL)
    page.reload()
    expect(page.get_by_test_id("not-done")).to_be_enabled(timeout=FILM_MS)
    page.get_by_test_id("not-done").click()
    expect(page.locator("#dialogTitle")).to_have_text("Judge already?")
    expect(page.locator("dialog")).to_contain_text("You have watched 0% of what the agent did.")
    page.get_by_test_id("no").click()
    assert not read_judgements(tmp_path)
    page.get_by_test_id("not-done").click()
    page.get_by_test_id("yes").click()
    expect(page.get_by_test_id("count")).to_have_text("recording 2", timeout=FILM_MS)
    (kept,) = read_judgements(tmp_path)
    assert not kept.done


def test_keys_act_on_the_page_and_not_on_the_button_that_was_clicked_before(page: Page) -> None:
    page.add_init_script(STANDS_STILL)
    page.reload()
    play, dialog = page.get_by_test_id("play"), page.locator("dialog")
    expect(play).to_have_text("Pause", timeout=FILM_MS)
    play.click()
    page.keyboard.press("Enter")  # no key of this page
    expect(play).to_contain_text("Play")
    page.get_by_test_id("skip").click()
    page.get_by_test_id("no").click()
    expect(dialog).to_be_hidden()
    page.keyboard.press("Enter")
    page.keyboard.press("Space")
    expect(play).to_have_text("Pause")
    expect(dialog).to_be_hidden()


def test_a_phone_shows_no_heading_of_keys(page: Page, browser: Browser) -> None:
    keys = page.get_by_role("heading", name="Keys")
    expect(keys).to_be_visible()
    with on_a_phone(browser, page) as touched:
        expect(touched.get_by_test_id("done")).to_be_enabled(timeout=FILM_MS)
        expect(touched.get_by_role("heading", name="Rules")).to_be_visible()
        expect(touched.get_by_role("heading", name="Keys")).to_be_hidden()
        touched.locator(".bar .who").evaluate("(who) => { who.textContent = 'You are p-mmmmmm'; }")  # the widest name
        name, leave = (touched.locator(each).bounding_box() for each in (".bar .name", "[data-testid=leave]"))
        assert name and leave and leave["y"] < name["y"] + name["height"], "one line"


def test_a_verdict_is_sent_until_the_studio_answers(page: Page, tmp_path: Path) -> None:
    """Without an answer the page stays where it is and says so; nothing has to be pressed again."""
    page.route("**/judge", lambda route: route.abort() if route.request.method == "POST" else route.continue_())
    watch(page, "y")
    expect(page.locator("#message")).to_contain_text("Waiting for the studio")
    expect(page.get_by_test_id("count")).to_have_text("recording 1")
    assert not read_judgements(tmp_path)
    page.unroute("**/judge")
    expect(page.get_by_test_id("count")).to_have_text("recording 2", timeout=FILM_MS)
    assert len(read_judgements(tmp_path)) == 1


def test_the_next_recording_comes_once_the_studio_answers_again(page: Page, tmp_path: Path) -> None:
    page.route("**/next", lambda route: route.abort())
    watch(page, "y")
    expect(page.locator("#message")).not_to_be_empty()
    assert len(read_judgements(tmp_path)) == 1
    page.unroute("**/next")
    expect(page.get_by_test_id("count")).to_have_text("recording 2", timeout=FILM_MS)
    expect(page.get_by_test_id("done")).to_be_enabled(timeout=FILM_MS)
    expect(page.locator("#message")).to_be_empty()


def test_what_another_browser_judges_and_a_pause_are_shown(
    page: Page, browser: Browser, studio: StartedStudio, tmp_path: Path
) -> None:
    other = browser.new_context(storage_state=page.context.storage_state()).new_page()
    other.goto(page.url)
    watch(other, "y")
    expect(page.get_by_test_id("count")).to_have_text("recording 2", timeout=FILM_MS)
    expect(page.locator("#message")).to_contain_text("another tab or browser", timeout=FILM_MS)
    assert len(read_judgements(tmp_path)) == 1
    expect(other.get_by_test_id("done")).to_be_enabled(timeout=FILM_MS)
    for is_open, message in ((False, "has been paused"), (True, "another tab or browser")):
        answer = other.request.post(
            f"{studio.origin}/api/desk/studies/judge/open", data={"open": is_open}, headers={"Origin": studio.origin}
        )
        assert answer.ok, answer.text()
        expect(page.locator("#message")).to_contain_text(message)
        expect(page.locator("#message .note")).to_have_count(1 if is_open else 2)
    other.context.close()


def test_nothing_of_the_last_recording_stays_where_a_film_fails(page: Page) -> None:
    page.route("**/film", lambda route: route.fulfill(status=503, body='{"error": "no film"}'))
    watch(page, "y")
    expect(page.locator("#message")).to_contain_text("no film")
    for place in ("#dialogue", "#question", "#number", "#watched"):
        expect(page.locator(place)).to_be_empty()
    expect(page.locator("#loading")).to_be_hidden()
    expect(page.get_by_test_id("done")).to_be_disabled()
    page.unroute("**/film")
    page.get_by_test_id("skip").click()
    page.get_by_test_id("yes").click()
    expect(page.get_by_test_id("done")).to_be_enabled(timeout=FILM_MS)
    expect(page.locator("#message")).to_be_empty()


def test_nothing_can_be_judged_before_the_page_has_begun(page: Page) -> None:
    page.route("**/api/visitor", lambda route: None)  # no answer
    page.reload()
    for button in ("done", "not-done", "play"):
        expect(page.get_by_test_id(button)).to_be_disabled()


def test_only_what_the_agent_did_counts_as_watched(page: Page) -> None:
    """Of the film of 48 frames, 16 are the context."""
    page.get_by_test_id("play").click()
    shares = page.evaluate(
        """async () => {
            const { watched } = await import('/static/playback.js');
            const film = (frames) => ({ seen: new Set(frames), plan: { strip_every: 8, rows: 7 } });
            return [watched(film([0, 8, 16]), 16), watched(film([0, 24, 32]), 16), watched(film([24, 32, 40, 48]), 16)];
        }"""
    )
    assert shares == [0, 50, 100]


def test_a_page_of_another_kind_of_study_leads_to_its_own(page: Page, studio: StartedStudio) -> None:
    page.goto(f"{studio.origin}/mark?study=judge")
    page.wait_for_url(f"{studio.origin}/judge?study=judge")


def test_a_recording_may_be_skipped_or_called_unusable(page: Page, tmp_path: Path) -> None:
    for end in ("skip", "unusable"):
        page.get_by_test_id(end).click()
        with page.expect_response("**/next"):  # until then the buttons are those of the last recording
            page.get_by_test_id("yes").click()
        expect(page.get_by_test_id("done")).to_be_enabled(timeout=FILM_MS)
    assert states(tmp_path) == ["skipped", "unusable", "open"] and not read_judgements(tmp_path)


def test_a_recording_is_skipped_once_and_not_judged_meanwhile(page: Page, tmp_path: Path) -> None:
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url.rsplit("/", 1)[1]) if request.method == "POST" else None)
    held: list[Route] = []
    page.route("**/skip", lambda route: held.append(route))
    for _ in range(2):
        page.get_by_test_id("skip").click()
        page.get_by_test_id("yes").click()
    page.get_by_test_id("done").click()
    if page.locator("dialog").is_visible():  # it was watched for less than half
        page.get_by_test_id("yes").click()
    page.wait_for_timeout(300)
    assert sent == ["skip"]
    with page.expect_response("**/next"):
        held[0].continue_()
    expect(page.get_by_test_id("done")).to_be_enabled(timeout=FILM_MS)
    assert sent == ["skip", "next"] and states(tmp_path) == ["skipped", "open"]


def test_a_verdict_on_its_way_holds_the_page_and_the_next_recording_is_not_skipped_in_its_place(page: Page) -> None:
    asks = "() => !dispatchEvent(new Event('beforeunload', { cancelable: true }))"
    skipped: list[str] = []
    page.on("request", lambda request: skipped.append(request.url) if request.url.endswith("/skip") else None)
    held: list[Route] = []
    page.route("**/judge", lambda route: held.append(route) if route.request.method == "POST" else route.continue_())
    assert not page.evaluate(asks)
    with page.expect_request("**/judge"):
        watch(page, "y")
    assert page.evaluate(asks)
    page.get_by_test_id("skip").click()  # of the recording that is still on screen
    expect(page.locator("dialog")).to_be_visible()
    held[0].continue_()
    expect(page.get_by_test_id("count")).to_have_text("recording 2", timeout=FILM_MS)
    assert not page.evaluate(asks)
    page.get_by_test_id("yes").click()
    page.wait_for_timeout(300)
    expect(page.get_by_test_id("done")).to_be_enabled(timeout=FILM_MS)
    assert not skipped
