"""Real browsers on the page of a live seat."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser_login import log_in
from page_visits import end_episode
from playwright.sync_api import Browser, Page
from studio_process import StartedStudio, started
from test_live_protocol import ROOM, invited, only_episode
from test_live_session import check_replay

from interplay.stages.live_config import LiveConfig
from interplay.stages.studio_config import StudioConfig
from interplay.studio.live.live_client import LiveVisitor

pytestmark = [pytest.mark.slow, pytest.mark.browser]
SECONDS = 60_000


def opened(
    browser: Browser, studio: StartedStudio, visitor: LiveVisitor, press: str | None = "ready", statements: int = 1
) -> Page:
    """The page of a person that is logged in, once it has ticked statements and pressed a button, or none."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    log_in(context, visitor)
    page = context.new_page()
    page.set_default_timeout(SECONDS)
    page.goto(f"{studio.origin}/play")
    for number in range(statements):
        page.get_by_test_id(f"statement-{number}").check()
    page.get_by_test_id("agree").click()
    page.get_by_test_id("ready").wait_for()  # where none is pressed, a test may reload the page now
    if press is not None:
        page.get_by_test_id(press).click()
    return page


def wait_until(page: Page, condition: str) -> None:
    """Waits for a condition in the page, whose security policy forbids Playwright's own way of waiting for one."""
    for _ in range(SECONDS // 50):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"{condition} did not come true: {page.locator('body').inner_text()}")


def test_two_browsers_make_an_episode_that_replays_bit_for_bit(tmp_path: Path, browser: Browser) -> None:
    live = LiveConfig(seconds=600, away_seconds=600)  # the setter ends it, however slow the machine is
    with started(tmp_path, ROOM, StudioConfig(size=(96, 128), live=live)) as studio:
        errors: list[str] = []
        pages = [opened(browser, studio, visitor) for visitor in invited(tmp_path, studio, 2)]
        for page in pages:
            page.on("pageerror", lambda error: errors.append(str(error)))
            wait_until(page, "window.studio.drawn > 3")
        by_role = {("setter" if "setter" in page.locator("#role").inner_text() else "solver"): page for page in pages}
        setter, solver = by_role["setter"], by_role["solver"]
        assert setter.get_by_test_id("card").first.inner_text()
        setter.keyboard.press("Enter")
        setter.keyboard.type("<img src=x onerror=alert(1)> come here")
        setter.keyboard.press("Enter")
        solver.locator("#dialogue li").wait_for()
        assert "<img" in solver.locator("#wanted").inner_text() and solver.locator("#dialogue img").count() == 0
        shown, drawn = solver.evaluate("[window.studio.shown, window.studio.drawn]")
        solver.get_by_test_id("view").focus()
        solver.keyboard.down("KeyW")
        solver.keyboard.down("ArrowRight")
        # On a busy machine the next picture may be 20 frames later, and the keys would be up before they are sent.
        wait_until(solver, f"window.studio.shown > {shown + 20} && window.studio.drawn > {drawn + 10}")
        solver.keyboard.up("ArrowRight")
        solver.keyboard.up("KeyW")
        setter.get_by_test_id("view").focus()
        setter.keyboard.press("y")
        wait_until(solver, f"window.studio.shown > {shown + 40}")
        end_episode(setter)
        for page in pages:
            page.get_by_test_id("saved").wait_for()
            assert "ended the episode" in page.get_by_test_id("saved").inner_text()
    assert not errors
    episode = only_episode(tmp_path)
    check_replay(episode)
    assert episode.meta.ended == "setter" and episode.meta.prompts[0].verdict == "done"
    columns = episode.actions["solver"].T
    assert (columns[0] == 2).any() and (columns[2] < 5).any(), "the keys walked forward and turned to the right"
