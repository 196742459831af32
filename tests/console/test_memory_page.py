"""The memory budget in a browser: how much is used, by which sessions, and ending one of them."""

import re

from playwright.sync_api import Browser, Locator, Page, expect

from tests.chromium import opened
from tests.limited_broker import KEPT, Limited
from tests.raw_mqtt import V5

BUDGET_BYTES = 100_000_000


def holder(page: Page, client_id: str) -> Locator:
    return page.locator(f'[data-holder="{client_id}"]')


def press(page: Page, client_id: str, deed: str) -> None:
    page.once("dialog", lambda dialog: dialog.accept())
    holder(page, client_id).get_by_role("button", name=deed).click()


def test_the_budget_and_for_whom_most_waits_are_seen(limited: Limited, browser: Browser) -> None:
    broker = limited(memory_bytes=BUDGET_BYTES)
    broker.away("greedy", ("flood/#", 1))
    broker.client("modest")
    publisher = broker.client("publisher")
    for _ in range(10):
        publisher.send(V5.publish("flood/a", bytes(100_000), qos=1, packet_id=1))
        assert publisher.packet().reason == 0
    page = opened(browser, broker.running.console, "broker")
    expect(page.locator("#memory-used")).to_have_text(re.compile(r"^[\d.]+ .?B of 100 MB$"))
    first = page.locator("#holders-table tbody tr").first
    expect(first).to_have_attribute("data-holder", "greedy")
    expect(first.locator('[data-label="Owner"]')).to_have_text("address:127.0.0.1")
    expect(first.locator('[data-label="Data"]')).to_have_text("1.0 MB")
    expect(first.locator('[data-label="State"]')).to_have_text("away")
    sessions = page.locator('[data-owner="sessions address:127.0.0.1"]')
    expect(sessions.locator('[data-label="Holds"]')).to_have_text("1")


def test_a_session_is_ended_and_a_client_disconnected_after_a_question(
    limited: Limited, browser: Browser
) -> None:
    broker = limited()
    broker.away("greedy", ("flood/#", 1))
    client = broker.client("slow", properties=KEPT)
    page = opened(browser, broker.running.console, "broker")
    page.once("dialog", lambda dialog: dialog.dismiss())
    holder(page, "slow").get_by_role("button", name="Disconnect").click()
    assert client.quiet(), "the person said no"
    press(page, "slow", "Disconnect")
    expect(page.locator("#memory-said")).to_have_text("Disconnect: slow, done")
    assert client.packet().reason == 0x98
    expect(holder(page, "slow").locator('[data-label="State"]')).to_have_text("away")
    press(page, "greedy", "End session")
    expect(page.locator("#memory-said")).to_have_text("End session: greedy, done")
    expect(holder(page, "greedy")).to_have_count(0)
    assert not broker.peer().connect("greedy", clean=False, properties=KEPT).session_present


def test_another_budget_is_set_after_a_question_and_what_is_no_size_is_told(
    limited: Limited, browser: Browser
) -> None:
    broker = limited(memory_bytes=BUDGET_BYTES)
    page = opened(browser, broker.running.console, "broker")
    for size, told in (("50MB", "the memory budget is 50.0 MB now"), ("much", "not a size")):
        page.once("dialog", lambda dialog: dialog.accept())
        page.locator("#memory-size").fill(size)
        page.locator("#memory-form").get_by_role("button", name="Set").click()
        expect(page.locator("#memory-said")).to_contain_text(told)
    expect(page.locator("#memory-used")).to_have_text(re.compile(r"of 50.0 MB$"))
