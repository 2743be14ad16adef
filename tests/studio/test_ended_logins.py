"""Pages that stay open after their login has ended: they say so, stop asking, and go on after another login."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_login import log_in
from page_visits import FILM_MS, MANY_PEOPLE, agree, wait_for_full_picture
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect
from small_house import ENV, fill_store
from studio_process import StartedStudio, started
from test_live_protocol import invited

from interplay.episodes.store import EpisodeStore
from interplay.studio.people.invitation import make_invitation

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LATER_MS = 60_000


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, StartedStudio]]:
    root = tmp_path_factory.mktemp("run")
    fill_store(root, 4, steps=24)
    with started(root, ENV, MANY_PEOPLE) as running:
        yield root, running


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context()
    yield context
    context.close()


def arrived(context: BrowserContext, studio: tuple[Path, StartedStudio]) -> tuple[Page, str]:
    """The page of a person that marks and plays, with a clock that tests move, and its pseudonym."""
    (visitor,) = invited(*studio, 1, ("mark", "play"))
    visitor.post("/api/live/consent", {"version": 1})
    log_in(context, visitor)
    page = context.new_page()
    page.clock.install()
    return page, str(visitor.get("/api/me")["person"])


def delete(person: str, studio: tuple[Path, StartedStudio]) -> None:
    (desk,) = invited(*studio, 1, ("research",))
    desk.post(f"/api/desk/people/{person}/forget", {"person": person})


def is_silent(page: Page) -> bool:
    """Whether a page asks for nothing in a minute."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.clock.run_for(LATER_MS)
    page.evaluate("fetch('/api/visitor')")  # what was asked before has been noted once this is
    return [url.rpartition("/")[2] for url in asked] == ["visitor"]


@pytest.mark.parametrize("marks", [0, 1])
def test_a_page_of_marking_stops_when_its_person_was_deleted(
    marks: int, context: BrowserContext, studio: tuple[Path, StartedStudio]
) -> None:
    page, person = arrived(context, studio)
    agree(page, studio[1])
    delete(person, studio)
    for _ in range(marks):
        page.keyboard.press("j")
    page.clock.run_for(LATER_MS)
    expect(page.locator("#message")).to_contain_text("You are no longer logged in")
    assert is_silent(page)


def test_a_lobby_stops_when_its_person_was_deleted(context: BrowserContext, studio: tuple[Path, StartedStudio]) -> None:
    page, person = arrived(context, studio)
    page.goto(f"{studio[1].origin}/play")
    expect(page.locator("#lobbyText")).to_contain_text("Waiting for a partner")
    delete(person, studio)
    page.clock.run_for(LATER_MS)
    expect(page.locator("#over")).to_contain_text("You are no longer logged in")
    assert is_silent(page)


def test_marks_are_kept_until_their_rater_has_logged_in_again_in_another_tab(
    context: BrowserContext, studio: tuple[Path, StartedStudio]
) -> None:
    root, running = studio
    code = make_invitation(root, ["mark"], seconds=600.0)
    address = f"{running.origin}/i?PROLIFIC_PID=one#{code}"
    page = context.new_page()
    page.goto(address)
    page.get_by_test_id("continue").click()
    page.wait_for_url(f"{running.origin}/")
    agree(page, running)
    context.clear_cookies()
    page.keyboard.press("j")
    expect(page.locator("#message")).to_contain_text("You are no longer logged in")
    assert "saving 1" in page.get_by_test_id("saved").inner_text()
    other = context.new_page()
    other.goto(address)
    other.get_by_test_id("continue").click()
    expect(page.get_by_test_id("saved")).to_have_text("all saved", timeout=FILM_MS)
    expect(page.locator("#message")).to_be_empty()
    with EpisodeStore(root / "store") as store:
        assert store.count_marks() == 1


def test_pictures_that_were_refused_without_a_login_are_asked_for_after_the_next_one(
    context: BrowserContext, studio: tuple[Path, StartedStudio]
) -> None:
    page, _ = arrived(context, studio)
    page.route("**/full/*", lambda route: route.fulfill(status=401, json={"error": "you are not logged in"}))
    agree(page, studio[1])
    expect(page.locator("#message")).to_have_text("Pictures of this recording are missing: you are not logged in")
    assert page.evaluate("window.studio.source") == "strip"
    page.unroute("**/full/*")
    page.evaluate("dispatchEvent(new Event('storage'))")
    wait_for_full_picture(page)
    expect(page.locator("#message")).to_be_empty()


def test_a_login_while_a_picture_is_under_way_is_not_missed(
    context: BrowserContext, studio: tuple[Path, StartedStudio]
) -> None:
    page, _ = arrived(context, studio)
    asked: list[str] = []

    def refuse_first(route: Route) -> None:
        asked.append(route.request.url)
        if len(asked) > 1:
            route.continue_()
            return
        page.evaluate("dispatchEvent(new Event('storage'))")  # another tab logs in before the answer is there
        route.fulfill(status=401, json={"error": "you are not logged in"})

    page.route("**/full/*", refuse_first)
    agree(page, studio[1])
    wait_for_full_picture(page)
    assert asked.count(asked[0]) == 2
    expect(page.locator("#message")).to_be_empty()


def test_a_login_while_a_mark_is_under_way_is_not_missed(
    context: BrowserContext, studio: tuple[Path, StartedStudio]
) -> None:
    page, _ = arrived(context, studio)
    asked: list[str] = []

    def answer(route: Route) -> None:
        if route.request.method == "POST":
            asked.append(route.request.url)
        if len(asked) not in (1, 2):
            route.continue_()
            return
        if len(asked) == 2:  # another tab logs in before the answer to this one is there
            page.evaluate("dispatchEvent(new Event('storage'))")
        route.fulfill(status=401, json={"error": "you are not logged in"})

    page.route("**/marks", answer)
    agree(page, studio[1])
    page.keyboard.press("j")
    expect(page.locator("#message")).to_contain_text("You are no longer logged in")
    page.evaluate("dispatchEvent(new Event('storage'))")
    expect(page.get_by_test_id("saved")).to_have_text("all saved", timeout=FILM_MS)
    assert len(asked) == 3
