"""Makes the pictures of docs/studio.md from real pages: `.venv/bin/python tests/studio/make_screenshots.py`."""

from __future__ import annotations

import sys
import tempfile
import threading
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from interplay.launch.cli import main
from interplay.launch.compose import compose
from interplay.stages.run import Run
from interplay.studio.crowd.crowd import Crowd

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "studio"))

from studio_process import started  # noqa: E402 - found once the folder is on the path

FILM_MS = 120_000
SIZE = {"width": 1200, "height": 860}
RECORDED = ("env=playhouse", "collect.episodes=6", "collect.heldout=1", "collect.steps=60", "tracking.wandb=disabled")


def shoot(page: Page, name: str) -> None:
    """Keeps the page as docs/studio-<name>.png."""
    page.wait_for_load_state("networkidle")
    page.screenshot(path=ROOT / "docs" / f"studio-{name}.png", full_page=True)


def visit(page: Page, origin: str, code: str) -> None:
    """The way of a rater, and the researcher's page about raters."""
    page.goto(f"{origin}/i#{code}")
    page.get_by_test_id("continue").click()
    page.get_by_test_id("study-marks").click()
    page.get_by_test_id("statement-0").check()
    page.get_by_test_id("statement-1").check()
    shoot(page, "consent")
    page.get_by_test_id("agree").click()
    expect(page.get_by_test_id("number")).not_to_be_empty(timeout=FILM_MS)
    page.get_by_test_id("continue").click()
    box = page.get_by_test_id("bar").bounding_box()
    assert box is not None
    for share, key in ((0.25, "j"), (0.45, "k"), (0.6, "j")):
        page.mouse.move(box["x"] + share * box["width"], box["y"] + 40)
        page.wait_for_timeout(500)
        page.keyboard.press(key)
    page.wait_for_timeout(800)
    shoot(page, "mark")
    page.goto(f"{origin}/desk/quality")
    page.locator("[data-testid^=episode-]").first.click()
    expect(page.locator("#number")).not_to_be_empty(timeout=FILM_MS)
    page.wait_for_timeout(1500)
    shoot(page, "quality")
    page.goto(f"{origin}/desk/studies")
    page.get_by_test_id("people").wait_for()
    shoot(page, "desk")


def play(page: Page, origin: str, crowd: Crowd) -> None:
    """A live session with a synthetic partner; the picture of it once something has been said."""
    over = threading.Event()
    partner = threading.Thread(target=crowd.run, args=(over.is_set,))
    partner.start()
    page.goto(f"{origin}/play")
    page.get_by_test_id("agree").check()
    page.get_by_role("button", name="Agree and go on").click()
    page.get_by_test_id("ready").click()
    for _ in range(FILM_MS // 50):
        if page.evaluate("window.studio?.drawn ?? 0") > 25:  # before a slow machine makes the pictures smaller
            break
        page.wait_for_timeout(50)
    page.screenshot(path=ROOT / "docs" / "studio-play.png", full_page=True)
    over.set()
    partner.join(60)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        settings = [f"run.dir={folder}", "run.name=house", *RECORDED]
        assert main(["collect", *settings]) == 0
        assert main(["mark", *settings, "mark.raters=[rater-1,rater-2]"]) == 0
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        with started(Path(folder) / "house", {"name": "playhouse"}) as studio:
            page = browser.new_page(viewport=SIZE)  # type: ignore[arg-type]
            visit(page, studio.origin, studio.code)
            config = compose([*settings, "crowd.players=1", "crowd.raters=0", "crowd.seconds=120"])
            play(page, studio.origin, Crowd(Run(Path(folder) / "house", config), config.crowd))
        browser.close()
