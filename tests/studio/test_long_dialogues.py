"""The marking page in Chromium where more is said than fits beside the picture."""

from __future__ import annotations

from pathlib import Path

import pytest
from page_visits import SMALL, agree, entered
from playwright.sync_api import Browser, expect
from small_house import ENV, fill_store
from studio_process import started

from interplay.episodes.episode import Utterance

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SAID = tuple(Utterance(8 * number, "setter", f"lift the ball, number {number}") for number in range(20))
IS_IN_SIGHT = """(row) => {
  const [inner, around] = [row.getBoundingClientRect(), row.parentElement.getBoundingClientRect()];
  return inner.top >= around.top - 1 && inner.bottom <= around.bottom + 1;
}"""


def test_the_bar_and_what_was_said_last_stay_in_sight(tmp_path: Path, browser: Browser) -> None:
    fill_store(tmp_path, 1, SAID, steps=24)
    with started(tmp_path, ENV, SMALL) as studio, entered(browser, studio) as page:
        page.set_viewport_size({"width": 1440, "height": 900})
        agree(page, studio)
        bar = page.get_by_test_id("bar")
        expect(bar).to_be_in_viewport(ratio=1)
        box = bar.bounding_box()
        assert box is not None
        for share, number in ((0.99, 19), (0.3, 5)):
            page.mouse.move(box["x"] + share * box["width"], box["y"] + 40)
            said = page.locator("#dialogue li.now")
            expect(said).to_contain_text(f"number {number}")
            assert said.evaluate(IS_IN_SIGHT)
        assert page.evaluate("scrollY") == 0, "the page stays where it is"
