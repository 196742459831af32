"""A browser for tests of the page: the system's Chromium, without a window."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.running_broker import PATIENCE_S

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

CHROMIUM = "/usr/bin/chromium"
PATIENCE_MS = PATIENCE_S * 1_000
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture
def browser(chromium: "Browser") -> "Iterator[Browser]":
    """A headless Chromium; its pages are closed, or they would look for their brokers for ever."""
    yield chromium
    for context in chromium.contexts:
        context.close()


@pytest.fixture(scope="module")
def chromium() -> "Iterator[Browser]":
    """The process, which tests of one file share."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=CHROMIUM, args=QUIET, timeout=PATIENCE_MS
        )
        yield launched
        launched.close()


def new_page(browser: "Browser | BrowserContext") -> "Page":
    """A page that waits for whatever must come as long as everybody here does."""
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    return page


def opened(browser: "Browser | BrowserContext", console: str, shown: str = "") -> "Page":
    """A page of a broker's console, with its live connection."""
    from playwright.sync_api import expect

    page = new_page(browser)
    page.goto(f"{console}/#/{shown}")
    expect(page.get_by_test_id("connection")).to_have_attribute("data-condition", "live")
    return page


def visit(page: "Page", shown: str) -> None:
    """Goes to another page of the console by its link."""
    page.locator(f'nav.pages a[href="#/{shown}"]').click()
