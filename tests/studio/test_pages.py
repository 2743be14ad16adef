"""The pages in Chromium: what people type stays text, pages fit, and the researcher deletes and defines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from page_visits import FILM_MS, SMALL, agree, entered, states
from playwright.sync_api import Browser, Page, Route, expect
from small_house import ENV, fill_store
from studio_process import StartedStudio, free_port, started

from interplay.episodes.episode import Mark, Utterance
from interplay.episodes.store import EpisodeStore
from interplay.studio.live.live_client import LiveVisitor
from interplay.studio.people.studio_database import StudioDatabase
from interplay.studio.studies.study import FIRST_STUDY, Consent
from interplay.studio.studies.study_folder import StudyFolder

pytestmark = [pytest.mark.browser, pytest.mark.slow]

EVIL = "<img src=x onerror=\"document.body.dataset.evil='1'\"><b>bold</b>"
SAID = (Utterance(0, "setter", f"go {EVIL}"), Utterance(16, "solver", f"yes {EVIL}"))


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartedStudio]:
    """A studio whose recordings and studies hold hostile texts."""
    root = tmp_path_factory.mktemp("run")
    first, *_ = fill_store(root, 3, SAID)
    with EpisodeStore(root / "store") as store:
        store.add_marks([Mark(first, f"rater-{n}-{EVIL}", 9 + n, 1) for n in range(2)])
    (root / "studio").mkdir()
    database = StudioDatabase(root / "studio" / "studio.db")
    consent = Consent(text=EVIL, must=(f"must {EVIL}",), may=(f"may {EVIL}",))
    hostile = FIRST_STUDY.model_copy(update={"title": f"title {EVIL}", "text": EVIL, "consent": consent})
    StudyFolder(root / "studio" / "studies", database).keep(hostile)
    database.close()
    with started(root, ENV, SMALL) as running:
        yield running


@pytest.fixture(scope="module")
def page(browser: Browser, studio: StartedStudio) -> Iterator[Page]:
    """The researcher's browser, whose code is used up."""
    with entered(browser, studio) as first:
        yield first


def test_no_text_becomes_an_element(page: Page, studio: StartedStudio) -> None:
    visited = []

    def harmless(page: Page, holds: bool = True) -> None:
        visited.append(page.url)
        assert page.locator("img, b").count() == 0, page.url
        assert page.evaluate("document.body.dataset.evil") is None, page.url
        if holds:
            assert EVIL in page.locator("body").inner_text(), page.url

    expect(page.get_by_test_id("study-marks")).to_be_visible()
    harmless(page)
    page.goto(f"{studio.origin}/consent?study=marks")
    expect(page.get_by_test_id("statement-0")).to_be_visible()
    harmless(page)
    fits(page)
    agree(page, studio)
    harmless(page)
    page.keyboard.press("f")
    page.locator("#reason").fill(EVIL)
    with page.expect_response("**/next"):
        page.get_by_test_id("yes").click()
    expect(page.get_by_test_id("number")).not_to_be_empty(timeout=FILM_MS)
    page.goto(f"{studio.origin}/desk/studies")
    expect(page.get_by_test_id("people")).to_contain_text("p-root")
    harmless(page)
    page.goto(f"{studio.origin}/desk/quality")
    expect(page.get_by_test_id("agreement")).to_contain_text("rater-0")
    harmless(page)
    page.locator("[data-testid^=episode-]").first.click()
    expect(page.locator("#number")).not_to_be_empty(timeout=FILM_MS)
    harmless(page)
    page.goto(f"{studio.origin}/data")
    expect(page.get_by_test_id("download")).to_be_visible()
    harmless(page, holds=False)
    assert len(visited) == 7


def test_the_pages_fit_narrow_windows(page: Page, studio: StartedStudio) -> None:
    for path in ("", "i", "consent?study=marks", "data", "desk/studies", "desk/quality", "play"):
        page.goto(f"{studio.origin}/{path}")
        expect(page.locator("main")).to_be_visible()
        page.wait_for_load_state("networkidle")
        fits(page)
    page.evaluate("sessionStorage.removeItem('rules')")  # which an earlier test may have read
    agree(page, studio)
    fits(page)


def fits(page: Page) -> None:
    """No window scrolls sideways, and the keyboard alone reaches every part that does."""
    assert all(page.locator(".scroll").evaluate_all("all => all.map((each) => each.tabIndex === 0)")), page.url
    for width in (400, 900, 1200):
        page.set_viewport_size({"width": width, "height": 900})
        wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wider <= 0, f"{page.url} is wider than {width} pixels"
        for cell in page.locator("td.breaks").all():
            box = cell.bounding_box()
            assert box is None or box["width"] > 100, f"{page.url} breaks text into columns of letters"


def test_the_researcher_deletes_a_person_and_leaves_a_recording_out(page: Page, studio: StartedStudio) -> None:
    rater = LiveVisitor(studio.origin)
    page.set_viewport_size({"width": 1200, "height": 900})
    page.goto(f"{studio.origin}/desk/studies")
    page.get_by_test_id("invite").click()
    expect(page.get_by_test_id("address")).not_to_have_value("")
    person = rater.enter(page.get_by_test_id("address").input_value().partition("#")[2])
    page.reload()
    page.get_by_test_id(f"forget-{person}").click()
    page.get_by_test_id("forget-person").fill("p-other")
    page.get_by_test_id("forget").click()
    expect(page.locator("#forgetMessage")).to_contain_text(f"type {person}")
    page.get_by_test_id("forget-person").fill(person)
    page.get_by_test_id("forget").press("Enter")
    expect(page.locator("#message")).to_contain_text(f"{person} is deleted")
    expect(page.get_by_test_id("people")).not_to_contain_text(person)
    page.goto(f"{studio.origin}/desk/quality")
    page.locator("[data-testid^=episode-]").first.click()
    expect(page.locator("#number")).to_contain_text("0:00.00", timeout=FILM_MS)  # as on the page of marking
    page.get_by_test_id("leave-out").click()
    expect(page.locator("#message")).to_contain_text("is left out")
    page.goto(f"{studio.origin}/desk/studies")
    page.locator("[data-testid^=take-back-]").click()
    expect(page.locator("#leftOutPart")).to_be_hidden()


def test_a_definition_that_is_typed_is_not_replaced_without_a_question(page: Page, studio: StartedStudio) -> None:
    page.goto(f"{studio.origin}/desk/studies")
    change, definition = page.get_by_test_id("edit-marks"), page.get_by_test_id("definition")
    change.click()  # nothing is typed, so nothing is asked
    filled = definition.input_value()
    assert '"open"' not in filled, "it would open the study again that was paused since"
    typed = filled.replace("{", "{ ", 1)
    definition.fill(typed)
    page.once("dialog", lambda dialog: dialog.dismiss())
    change.click()
    expect(definition).to_have_value(typed)
    page.once("dialog", lambda dialog: dialog.accept())
    change.click()
    expect(definition).to_have_value(filled)
    definition.fill(typed)
    asked: list[str] = []
    page.once("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.reload()
    assert asked == ["beforeunload"]
    expect(definition).not_to_have_value(typed)


def test_a_definition_that_is_kept_can_be_replaced(page: Page, studio: StartedStudio) -> None:
    page.goto(f"{studio.origin}/desk/studies")
    page.get_by_test_id("edit-marks").click()
    definition = page.get_by_test_id("definition")
    filled = definition.input_value()
    definition.fill(filled.replace("{", "{ ", 1))
    page.get_by_test_id("keep-study").click()
    expect(page.locator("#editMessage")).to_contain_text("Kept as marks")
    page.get_by_test_id("edit-marks").click()  # a dialog, which Playwright dismisses, would keep the text
    expect(definition).to_have_value(filled)


def test_a_person_is_deleted_once_by_two_clicks(page: Page, studio: StartedStudio) -> None:
    page.goto(f"{studio.origin}/desk/studies")
    page.get_by_test_id("invite").click()
    expect(page.get_by_test_id("address")).not_to_have_value("")
    person = LiveVisitor(studio.origin).enter(page.get_by_test_id("address").input_value().partition("#")[2])
    page.reload()
    held: list[Route] = []
    page.route(f"**/people/{person}/forget", lambda route: held.append(route))
    page.get_by_test_id(f"forget-{person}").click()
    page.get_by_test_id("forget-person").fill(person)
    page.get_by_test_id("forget").click()
    page.get_by_test_id("forget").click()
    page.wait_for_timeout(200)
    assert len(held) == 1
    held[0].continue_()
    expect(page.locator("#message")).to_contain_text(f"{person} is deleted")


def test_a_page_says_what_to_do_where_the_studio_does_not_answer(browser: Browser, tmp_path: Path) -> None:
    fill_store(tmp_path, 1)
    port = free_port()
    with started(tmp_path, ENV, SMALL, port=port) as studio, entered(browser, studio) as page:
        agree(page, studio)
        page.keyboard.press("j")
        expect(page.get_by_test_id("count")).to_contain_text(re.compile("1 mark$"))
        expect(page.get_by_test_id("saved")).to_have_text("all saved")
        studio.process.kill()
        studio.process.wait(30)
        page.get_by_test_id("leave").click()
        expect(page.locator("#message")).to_contain_text("does not answer. Try again")
        with started(tmp_path, ENV, SMALL, port=port):
            page.keyboard.press("Enter")  # on the button that has the focus
            page.wait_for_url(f"{studio.origin}/i")
    assert states(tmp_path) == ["open"]


def test_the_researcher_sorts_and_finds_people_in_a_list_that_scrolls(page: Page, studio: StartedStudio) -> None:
    def answer(route: Route) -> None:
        """Many people, in the order in which they came."""
        kept = {"roles": ["mark"], "paused": None, "episodes": 0, "sessions": 0, "minutes": 0.0, "last": None}
        people = [{**kept, "person": f"p-{number}", "marks": number * 7 % 100} for number in range(100)]
        people[3]["last"] = 1e9
        route.fulfill(json={"people": people, "audit": []})

    page.set_viewport_size({"width": 1200, "height": 900})
    page.route("**/api/desk/people", answer)
    page.goto(f"{studio.origin}/desk/studies")
    rows, marks = page.locator("#people tr"), page.get_by_test_id("column-marks")
    expect(rows).to_have_count(100)
    expect(rows.first).to_contain_text("p-0")
    marks.get_by_role("button").click()
    expect(marks).to_have_attribute("aria-sort", "descending")
    assert [rows.nth(n).locator("td").nth(3).inner_text() for n in range(3)] == ["99", "98", "97"]
    marks.get_by_role("button").press("Enter")  # it keeps the focus
    expect(marks).to_have_attribute("aria-sort", "ascending")
    assert rows.first.locator("td").nth(3).inner_text() == "0"
    page.get_by_test_id("column-last").get_by_role("button").click()
    expect(rows.first).to_contain_text("p-3")
    assert page.locator("section:has(#people)").evaluate("(each) => each.clientHeight <= innerHeight")
    page.get_by_test_id("find").fill("P-2")
    expect(rows).to_have_count(11)  # p-2 and p-20 to p-29
    marks.get_by_role("button").click()
    expect(rows.first).to_contain_text("p-28")
    page.get_by_test_id("find").fill("p-none")
    expect(rows).to_have_text(["No pseudonym contains 'p-none'."])
    page.get_by_test_id("find").fill("")
    expect(rows).to_have_count(100)
    page.unroute("**/api/desk/people")
