"""A researcher's browser on the pages of a studio, and a rater that begins to mark."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from playwright.sync_api import Browser, Page, Request, Route, WebSocketRoute, expect
from studio_process import StartedStudio

from interplay.stages.studio_config import StudioConfig, StudioLimits
from interplay.studio.people.studio_database import StudioDatabase

SMALL = StudioConfig(size=(96, 128))
MANY_PEOPLE = replace(SMALL, limits=StudioLimits(entrances_per_minute=1000))  # for tests with a person each
FINGER = 44  # pixels of what a finger presses, at least
HARD_TO_TOUCH = f"""() => {{
  const reach = {FINGER} / 2 - 1; // from the middle, in every direction; browsers round positions to whole pixels
  const all = 'a, button, input:not(label.check input), select, textarea, label.check';
  return [...document.querySelectorAll(all)].filter((each) => {{
    const isCovered = document.querySelector('dialog[open]') && !each.closest('dialog');
    if (!each.checkVisibility() || each.matches('.skip') || isCovered) return false;
    each.scrollIntoView({{ block: 'center', inline: 'center' }});
    const {{ left, top, width, height }} = each.getBoundingClientRect();
    const [x, y] = [left + width / 2, top + height / 2];
    const touched = [[0, reach], [0, -reach], [reach, 0], [-reach, 0]].map(([right, down]) =>
      each.contains(document.elementFromPoint(x + right, y + down)));
    return !touched.every(Boolean);
  }}).map((each) => `${{each.dataset.testid ?? each.textContent}} ${{each.offsetWidth}}x${{each.offsetHeight}}`);
}}"""
# Pages without a film or a world, and what is on each once it is there.
PAGES = {
    "": "[data-testid=study-marks]",
    "i": "[data-testid=go]",
    "consent?study=marks": "[data-testid=statement-0]:visible, [data-testid=go-on]:visible",
    "data": "[data-testid=download]",
    "desk/studies": "[data-testid=people] td",
}
FILM_MS = 60_000  # the first film on a machine compiles the renderer


@contextmanager
def entered(browser: Browser, studio: StartedStudio, width: int = 1200) -> Iterator[Page]:
    """The researcher's browser, on the first page."""
    context = browser.new_context(viewport={"width": width, "height": 900})
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    page = context.new_page()
    page.goto(f"{studio.origin}/i#{studio.code}")
    page.get_by_test_id("continue").click()
    page.wait_for_url(f"{studio.origin}/")
    yield page
    context.close()
    assert not [url for url in asked if not url.startswith((studio.origin, "blob:"))], "a request left the machine"


@contextmanager
def on_a_phone(browser: Browser, page: Page, size: tuple[int, int] = (390, 844)) -> Iterator[Page]:
    """The same page of the same person on a phone."""
    phone = browser.new_context(
        storage_state=page.context.storage_state(),
        viewport={"width": size[0], "height": size[1]},
        has_touch=True,
        is_mobile=True,
    )
    touched = phone.new_page()
    touched.goto(page.url)
    yield touched
    phone.close()


def agree(page: Page, studio: StartedStudio) -> None:
    """Agrees to the study `marks`, begins it, and reads the rules."""
    page.goto(f"{studio.origin}/consent?study=marks")
    expect(page.locator("#text")).not_to_be_empty()
    if page.get_by_test_id("go-on").is_visible():  # an earlier test has agreed
        page.get_by_test_id("go-on").click()
    else:
        for box in page.locator("[name=statement]").all()[:2]:
            box.check()
        page.get_by_test_id("agree").click()
    expect(page.get_by_test_id("number")).not_to_be_empty(timeout=FILM_MS)
    page.get_by_test_id("continue").click()


def wait_for_full_picture(page: Page) -> None:
    """Waits until the marking page shows a full picture, not one of the strip."""
    deadline = time.monotonic() + FILM_MS / 1000
    while page.evaluate("window.studio.source") != "full":
        assert time.monotonic() < deadline, f"the marking page shows no full picture after {FILM_MS / 1000:.0f} s"
        page.wait_for_timeout(50)


def hold(page: Page, address: str, method: str = "") -> list[Route]:
    """Requests that are held from now on, oldest first; with a method, those of others pass."""
    held: list[Route] = []
    page.route(
        address, lambda route: route.continue_() if method not in ("", route.request.method) else held.append(route)
    )
    return held


def wait_for_requests(page: Page, held: list[Route], number: int) -> None:
    """Waits until so many requests are held."""
    for _ in range(FILM_MS // 50):
        if len(held) >= number:
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"{len(held)} of {number} requests were made")


def routed_sockets(page: Page) -> list[WebSocketRoute]:
    """The sockets of live seats that the page opens from its next loading on, oldest first; all work."""
    sockets: list[WebSocketRoute] = []

    def connect(socket: WebSocketRoute) -> None:
        sockets.append(socket)
        socket.connect_to_server()

    page.route_web_socket("**/live/**", connect)
    page.reload()
    return sockets


def is_a_mark(request: Request) -> bool:
    """Whether a request sends a mark; the page also asks regularly for those that are kept."""
    return request.url.endswith("/marks") and request.method == "POST"


def end_episode(page: Page) -> None:
    """Ends the episode on the page of a live seat, and confirms it."""
    page.get_by_test_id("finish").click()
    page.get_by_test_id("yes").click()


def states(root: Path) -> list[str]:
    """How the assignments ended, oldest first."""
    database = StudioDatabase(root / "studio" / "studio.db")
    rows = database.rows("SELECT state FROM assignments ORDER BY created")
    database.close()
    return [row["state"] for row in rows]
