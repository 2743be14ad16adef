"""A headless Chromium for the tests marked `browser`."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright


@pytest.fixture(scope="module")  # Playwright's event loop would keep tests of later modules from `asyncio.run`
def browser() -> Iterator[Browser]:
    """Debian's Chromium; tests open contexts of their own."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield chromium
        chromium.close()
