"""What a finger presses on the pages without a film or a world has 44 pixels, also in their dialogs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from page_visits import FILM_MS, HARD_TO_TOUCH, PAGES, SMALL, agree, entered, on_a_phone
from playwright.sync_api import Browser, Page, expect
from small_house import ENV, fill_store
from studio_process import StartedStudio, started

from interplay.episodes.episode import Mark
from interplay.episodes.store import EpisodeStore

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartedStudio]:
    """A studio with recordings that two raters have marked."""
    root = tmp_path_factory.mktemp("run")
    first, *_ = fill_store(root, 2)
    with EpisodeStore(root / "store") as store:
        store.add_marks([Mark(first, f"rater-{n}", 9 + n, sign) for n in range(2) for sign in (1, -1)])
    with started(root, ENV, SMALL) as running:
        yield running


@pytest.mark.parametrize("size", [(390, 844), (844, 390), (820, 1180)])
def test_a_finger_hits_everything_that_can_be_pressed(
    size: tuple[int, int], browser: Browser, studio: StartedStudio, researcher: Page
) -> None:
    with on_a_phone(browser, researcher, size) as page:
        for place, there in {**PAGES, "play": "[data-testid=ready]"}.items():
            page.goto(f"{studio.origin}/{place}")
            expect(page.locator(there).first).to_be_visible()
            expect(page.locator("form[inert]:visible")).to_have_count(0)  # until the page has begun
            assert page.evaluate(HARD_TO_TOUCH) == [], place
        page.goto(f"{studio.origin}/desk/quality")
        page.locator("[data-testid^=episode-]").first.click()
        expect(page.get_by_test_id("finish")).to_be_enabled(timeout=FILM_MS)
        assert page.evaluate(HARD_TO_TOUCH) == []
        agree(page, studio)
        for button in ("rules", "unusable", "skip", "finish"):
            page.get_by_test_id(button).click()
            expect(page.locator("dialog button").first).to_be_visible()
            assert page.evaluate(HARD_TO_TOUCH) == [], button
            page.keyboard.press("Escape")


def test_buttons_name_keys_where_there_are_keys(browser: Browser, studio: StartedStudio, researcher: Page) -> None:
    researcher.goto(f"{studio.origin}/desk/quality")

    def check(page: Page, *, named: bool) -> None:
        page.locator("[data-testid^=episode-]").first.click()
        expect(page.get_by_test_id("finish")).to_be_enabled(timeout=FILM_MS)
        for button, text, key in (
            ("remove", "Remove the nearest", "Del"),
            ("copy-clusters", "Copy what most marked", "A"),
        ):
            expect(page.get_by_test_id(button)).to_contain_text(text)
            expect(page.get_by_test_id(button).get_by_text(key, exact=True)).to_be_visible(visible=named)

    check(researcher, named=True)
    for size in ((390, 844), (1024, 1366)):
        with on_a_phone(browser, researcher, size) as page:
            check(page, named=False)


@pytest.fixture(scope="module")
def researcher(browser: Browser, studio: StartedStudio) -> Iterator[Page]:
    """The researcher's browser, whose login the phones have; it has agreed to play."""
    with entered(browser, studio) as page:
        page.goto(f"{studio.origin}/consent?study=live")
        page.get_by_test_id("statement-0").check()
        page.get_by_test_id("agree").click()
        expect(page.get_by_test_id("ready")).to_be_visible()
        yield page
