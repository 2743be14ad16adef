"""A headless Chromium for the tests marked `browser`."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

EXPECT_TIMEOUT_MS = 20_000  # a page on a busy machine may take longer than the default of 5 seconds


@pytest.fixture(scope="module")  # Playwright's event loop would keep tests of later modules from `asyncio.run`
def browser() -> Iterator[Browser]:
    """Debian's Chromium; tests open contexts of their own."""
    expect.set_options(timeout=EXPECT_TIMEOUT_MS)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield chromium
        chromium.close()
