"""The page of adjudication in Chromium: marks that are set are kept, or wait."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from page_visits import FILM_MS, SMALL, entered
from playwright.sync_api import Browser, Page, Route, expect
from small_house import ENV, fill_store
from studio_process import started

from interplay.episodes.episode import Mark
from interplay.episodes.store import EpisodeStore

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ASKS_TO_STAY = "() => !dispatchEvent(new Event('beforeunload', { cancelable: true }))"


@pytest.fixture
def episodes(tmp_path: Path) -> list[str]:
    """Two recordings, each with a mark of two raters."""
    found = fill_store(tmp_path, 2)
    with EpisodeStore(tmp_path / "store") as store:
        store.add_marks([Mark(episode, f"rater-{n}", 9, 1) for episode in found for n in range(2)])
    return found


@pytest.fixture
def page(browser: Browser, episodes: list[str], tmp_path: Path) -> Iterator[Page]:
    """The researcher's page."""
    with started(tmp_path, ENV, SMALL) as studio, entered(browser, studio) as page:
        page.goto(f"{studio.origin}/desk/quality")
        expect(page.locator("#disputed code")).to_have_count(2)
        yield page


def choose(page: Page, episode: str, marks: int) -> None:
    """Opens a recording in which so many marks were set."""
    page.get_by_test_id(f"episode-{episode}").click()
    expect(page.locator("#episode")).to_contain_text(episode)
    expect(page.get_by_test_id("finish")).to_be_enabled(timeout=FILM_MS)
    expect(page.get_by_test_id("bar").locator("polygon")).to_have_count(2 + marks)


def test_numbers_of_agreement_have_two_decimals_also_where_they_are_whole(page: Page) -> None:
    (row,) = page.get_by_test_id("agreement").locator("tbody tr").all()
    cells = row.locator("td").all_inner_texts()
    assert cells[:3] == ["rater-0, rater-1", "2", "1.00"]
    assert cells[-1] == "1.00", "alpha"


def test_the_page_says_that_raters_are_being_compared(page: Page) -> None:
    held: list[Route] = []
    page.route("**/api/quality/raters", lambda route: held.append(route))
    with page.expect_request("**/api/quality/raters"):
        page.reload()
    expect(page.locator("#comparing")).to_contain_text("being compared")
    held[0].continue_()
    expect(page.locator("#comparing")).to_be_hidden()
    expect(page.get_by_test_id("agreement")).to_contain_text("rater-0")


def test_marks_of_an_adjudication_wait_while_another_recording_is_open(
    page: Page, episodes: list[str], tmp_path: Path
) -> None:
    assert len(set(page.locator("#disputed code").all_inner_texts())) == 2, "the labels differ"
    choose(page, episodes[0], 0)
    for _ in range(2):
        page.keyboard.press("a")
    page.keyboard.press("k")
    choose(page, episodes[1], 0)
    choose(page, episodes[0], 2)
    with page.expect_response("**/agreed"):
        page.get_by_test_id("finish").click()
    with EpisodeStore(tmp_path / "store") as store:
        agreed = [(mark.frame, mark.sign) for mark in store.marks() if mark.rater == "agreed:p-root"]
    assert agreed == [(0, -1), (9, 1)]


def test_a_key_sets_or_removes_one_mark_however_long_it_is_held(page: Page, episodes: list[str]) -> None:
    choose(page, episodes[0], 0)
    marks = page.get_by_test_id("bar").locator("polygon")
    for key, count in (("j", 3), ("k", 4), ("Delete", 3)):
        for _ in range(5):  # as a keyboard repeats it
            page.keyboard.down(key)
        page.keyboard.up(key)
        expect(marks).to_have_count(count)
    for _ in range(2):  # a held arrow key moves on
        page.keyboard.down("ArrowRight")
        page.wait_for_timeout(300)
    page.keyboard.up("ArrowRight")
    expect(page.locator("#number")).to_contain_text("frame 16")


def test_a_mark_that_is_set_while_earlier_ones_are_sent_is_not_called_kept(page: Page, episodes: list[str]) -> None:
    choose(page, episodes[0], 0)
    page.get_by_test_id("plus").click()
    marks = page.get_by_test_id("bar").locator("polygon")
    for key, count in (("k", 4), ("Delete", 3)):  # while the button has the focus
        page.keyboard.press(key)
        expect(marks).to_have_count(count)
    held: list[Route] = []
    page.route("**/agreed", lambda route: held.append(route))
    with page.expect_request("**/agreed"):
        page.get_by_test_id("finish").click()
    page.get_by_test_id("minus").click()
    held[0].continue_()
    expect(page.locator("#message")).to_have_text("1 agreed marks are kept.")
    assert page.evaluate(ASKS_TO_STAY)
    page.unroute("**/agreed")
    page.get_by_test_id("finish").click()
    expect(page.locator("#message")).to_have_text("2 agreed marks are kept.")
    assert not page.evaluate(ASKS_TO_STAY)


def test_the_recording_that_was_chosen_last_is_shown(page: Page, episodes: list[str]) -> None:
    held: list[Route] = []
    page.route(f"**/api/quality/episodes/{episodes[0]}", lambda route: held.append(route))
    with page.expect_request(f"**/api/quality/episodes/{episodes[0]}"):
        page.get_by_test_id(f"episode-{episodes[0]}").click()
    choose(page, episodes[1], 0)
    with page.expect_response(f"**/api/quality/episodes/{episodes[0]}"):
        held[0].continue_()
    page.wait_for_timeout(300)
    expect(page.locator("#episode")).to_contain_text(episodes[1])
    expect(page.get_by_test_id("finish")).to_be_enabled()


def test_a_recording_that_can_not_be_read_is_not_called_loading(page: Page, episodes: list[str]) -> None:
    choose(page, episodes[0], 0)
    page.route("**/api/quality/episodes/*", lambda route: route.fulfill(status=503, json={"error": "it is damaged"}))
    page.get_by_test_id(f"episode-{episodes[1]}").click()
    expect(page.locator("#message")).to_have_text("it is damaged")
    expect(page.locator("#loading")).to_be_hidden()


def test_nothing_is_set_between_the_choice_of_a_recording_and_its_arrival(page: Page, episodes: list[str]) -> None:
    choose(page, episodes[0], 0)
    page.get_by_test_id("plus").click()
    held: list[Route] = []
    page.route(f"**/api/quality/episodes/{episodes[1]}", lambda route: held.append(route))
    with page.expect_request(f"**/api/quality/episodes/{episodes[1]}"):
        page.get_by_test_id(f"episode-{episodes[1]}").click()
    for name in ("plus", "minus", "remove", "copy-clusters", "finish", "leave-out"):
        expect(page.get_by_test_id(name)).to_be_disabled()
    page.get_by_test_id("bar").focus()
    for key in ("j", "k", "a", "Delete"):
        page.keyboard.press(key)
    held[0].continue_()
    expect(page.locator("#episode")).to_contain_text(episodes[1])
    expect(page.get_by_test_id("finish")).to_be_enabled(timeout=FILM_MS)
    expect(page.get_by_test_id("bar").locator("polygon")).to_have_count(2)
    choose(page, episodes[0], 1)


def test_nothing_is_left_out_where_the_chosen_recording_did_not_come(page: Page, episodes: list[str]) -> None:
    choose(page, episodes[0], 0)
    page.route("**/api/quality/episodes/*", lambda route: route.fulfill(status=503, json={"error": "it is damaged"}))
    page.get_by_test_id(f"episode-{episodes[1]}").click()
    expect(page.locator("#message")).to_have_text("it is damaged")
    expect(page.locator("#work")).to_be_hidden()
    expect(page.get_by_test_id("leave-out")).to_be_disabled()


def test_a_recording_without_a_film_can_only_be_left_out(page: Page, episodes: list[str]) -> None:
    page.route("**/film", lambda route: route.fulfill(status=503, json={"error": "it is damaged"}))
    page.get_by_test_id(f"episode-{episodes[0]}").click()
    expect(page.locator("#message")).to_have_text("This recording can't be shown: it is damaged")
    for key in ("j", "a", "Delete", "ArrowRight"):
        page.keyboard.press(key)
    expect(page.get_by_test_id("plus")).to_be_disabled()
    assert not page.evaluate(ASKS_TO_STAY)
    page.get_by_test_id("leave-out").click()
    expect(page.locator("#message")).to_contain_text("is left out")


def test_agreed_marks_are_sent_once(page: Page, episodes: list[str]) -> None:
    choose(page, episodes[0], 0)
    page.get_by_test_id("plus").click()
    held: list[Route] = []
    page.route("**/agreed", lambda route: held.append(route))
    with page.expect_request("**/agreed"):
        page.get_by_test_id("finish").dblclick()
    expect(page.get_by_test_id("finish")).to_be_disabled()
    held[0].continue_()
    expect(page.locator("#message")).to_have_text("1 agreed marks are kept.")
    expect(page.get_by_test_id("finish")).to_be_enabled()
    assert len(held) == 1


def test_keys_set_no_marks_in_a_recording_that_was_left_out(page: Page, episodes: list[str]) -> None:
    choose(page, episodes[0], 0)
    page.get_by_test_id("leave-out").click()
    expect(page.locator("#message")).to_contain_text("is left out")
    page.keyboard.press("j")
    assert not page.evaluate(ASKS_TO_STAY)


def test_leaving_a_recording_out_does_not_hide_the_one_that_was_chosen_since(page: Page, episodes: list[str]) -> None:
    choose(page, episodes[0], 0)
    held: list[Route] = []
    page.route("**/void", lambda route: held.append(route))
    with page.expect_request("**/void"):
        page.get_by_test_id("leave-out").click()
    choose(page, episodes[1], 0)
    held[0].continue_()
    expect(page.locator("#message")).to_contain_text("is left out")
    expect(page.locator("#work")).to_be_visible()
