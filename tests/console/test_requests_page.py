"""Requests in a browser: their states, who is busy, and the life of one as a line of time."""

import re

from playwright.sync_api import Browser, Locator, Page, expect

from tests.chromium import new_page, opened
from tests.limited_broker import Limited
from tests.request_peers import ENDED, OPEN, every_state

HOSTILE = "<img src=x onerror=document.title='hacked'>\u202e" + "long" * 30 + "end"


def row(page: Page, topic: str) -> Locator:
    return page.locator("#requests-table tbody tr").filter(has_text=topic)


def page_of_every_state(limited: Limited, browser: Browser, asker_id: str = "asker") -> Page:
    broker = limited()
    every_state(broker, asker_id=asker_id)
    return opened(browser, broker.running.console, "requests")


def test_a_request_in_every_state_is_seen_and_chosen(limited: Limited, browser: Browser) -> None:
    broker = limited()
    page = opened(browser, broker.running.console, "requests")
    expect(page.locator("#requests-empty")).to_contain_text("No requests yet")
    every_state(broker)
    for state in [*OPEN, *ENDED]:
        button = page.locator(f'[data-request-state="{state}"]')
        expect(button.locator("strong")).to_have_text("1")
    expect(page.locator("#requests-count")).to_contain_text("3 open · 1 service, 1 of 1 busy")
    expect(page.locator("#requests-table tbody tr")).to_have_count(len(OPEN) + len(ENDED))
    page.locator('[data-request-state="timed out"]').click()
    expect(page.locator("#requests-table tbody tr")).to_have_count(1)
    expect(page.locator('[data-state="timed out"] th')).to_have_text("nobody/there")
    page.locator('[data-request-state="timed out"]').click()
    page.locator("#requests-search").fill("work/#")
    expect(row(page, "nobody")).to_have_count(0)
    expect(row(page, "work/long")).to_have_count(1)
    page.locator("#requests-search").fill("a/#/b")
    expect(page.locator("#requests-empty")).to_contain_text("#")


def test_who_is_busy_and_how_soon_it_answers_is_seen(limited: Limited, browser: Browser) -> None:
    page = page_of_every_state(limited, browser)
    service = page.locator('[data-service="solver"]')
    expect(service.locator('[data-label="Busy"]')).to_have_text("1 of 1")
    expect(service.locator('[data-label="State"]')).to_have_text("connected")
    expect(service.locator('[data-label="p99"]')).to_have_text(re.compile(r"[\d.]+ m?s"))
    topic = page.locator('[data-request-topic="nobody/yet"]')
    expect(topic.locator('[data-label="Stored"]')).to_have_text("1")


def test_the_life_of_a_request_is_a_line_of_time(limited: Limited, browser: Browser) -> None:
    page = page_of_every_state(limited, browser)
    life = page.locator("#request-life")
    expect(life).to_be_hidden()
    row(page, "work/done").get_by_role("button", name="Life").click()
    expect(life.locator("h3")).to_have_text(re.compile("Request [0-9a-f]{16}"))
    phases = [step.get_attribute("data-phase") for step in life.locator("ol li").all()]
    assert phases == ["asked", "delivered", "ended"]
    expect(life.locator("li").nth(1)).to_contain_text("delivered to solver")
    expect(life.locator("li").nth(2)).to_contain_text(re.compile(r"\+[\d.]+ m?s"))
    row(page, "work/failing").click()
    expect(life.locator("li").last).to_contain_text("failed: so")
    row(page, "nobody/yet").click()
    expect(life.locator("li").last).to_contain_text("now")
    expect(life.locator('.life-bar [data-phase="stored"]')).to_be_visible()
    expect(life.locator('.life-bar [data-phase="left"]')).to_be_visible()
    life.get_by_role("button", name="Close").click()
    expect(life).to_be_hidden()


def test_hostile_names_are_text_and_shortened_in_the_middle(
    limited: Limited, browser: Browser
) -> None:
    page = page_of_every_state(limited, browser, asker_id=HOSTILE)
    asker = row(page, "work/done").locator('[data-label="Asker"]')
    expect(asker).to_have_text(re.compile(r"^<img src=x.*….*end$"))
    row(page, "work/done").click()
    expect(page.locator("#request-life li").first).to_contain_text("asked by <img src=x")
    expect(page.locator("#request-life li").first).to_contain_text("\u2039U+202E\u203a")
    assert page.locator("main img").count() == 0
    assert "hacked" not in page.title()


def test_a_phone_shows_it_without_scrolling_sideways(limited: Limited, browser: Browser) -> None:
    broker = limited()
    every_state(broker, asker_id=HOSTILE)
    page = new_page(browser)
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(f"{broker.running.console}/#/requests")
    row(page, "work/done").click()
    expect(page.locator("#request-life")).to_be_visible()
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wide) <= 0
