"""A person's login, in a browser."""

from __future__ import annotations

from playwright.sync_api import BrowserContext

from interplay.studio.live.live_client import LiveVisitor


def log_in(context: BrowserContext, visitor: LiveVisitor) -> None:
    """Gives the browser the cookies of a visitor that has entered, in place of earlier ones."""
    for cookie in visitor._jar:
        context.add_cookies([{"name": cookie.name, "value": cookie.value or "", "url": visitor.origin}])
