"""Topics in detail, events by level and text, and pages with nothing on them yet."""

from playwright.sync_api import Browser, expect

from tests.chromium import opened, visit
from tests.limited_broker import Limited
from tests.raw_mqtt import V5
from tests.running_broker import RunningBroker


def test_a_topic_is_shown_with_who_is_subscribed_to_it(limited: Limited, browser: Browser) -> None:
    broker = limited()
    reader = broker.client("reader")
    reader.send(V5.subscribe(1, ("lab/#", 1)))
    reader.packet()
    broker.client("writer").send(V5.publish("lab/words", b"hello <b>there</b>"))
    page = opened(browser, broker.running.console, "topics")
    page.locator('[data-topic="lab/words"]').click()
    detail = page.locator("#topic-detail")
    expect(detail).to_contain_text("hello <b>there</b>")
    expect(detail).to_contain_text("1 subscriber")
    expect(detail.locator("li")).to_have_text("reader by lab/#, QoS 1")
    detail.get_by_role("button", name="Close").click()
    expect(detail).to_be_hidden()
    page.locator("#values-scroll").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(detail).to_be_visible()


def test_events_are_chosen_by_level_and_text(limited: Limited, browser: Browser) -> None:
    broker = limited(subscriptions=1)
    greedy = broker.client("greedy")
    greedy.send(V5.subscribe(1, "a", "b"))
    greedy.packet()
    broker.client("modest")
    page = opened(browser, broker.running.console, "events")
    listed = page.locator("#events-list li")
    expect(listed.filter(has_text="modest connected")).to_have_count(1)
    page.locator("#events-search").fill("MODEST")
    expect(listed.filter(has_text="greedy")).to_have_count(0)
    expect(page.locator("#events-count")).to_contain_text(" of the last ")
    page.locator("#events-search").fill("")
    page.locator("#events-level").select_option("warning")
    expect(listed.filter(has_text="modest connected")).to_have_count(0)
    page.locator("#events-search").fill("no such event")
    expect(page.locator("#events-empty")).to_contain_text("No event is like this")


def test_a_page_without_anything_says_what_to_do(
    shared_broker: RunningBroker, browser: Browser
) -> None:
    page = opened(browser, shared_broker.console)
    for shown, words in (
        ("clients", "No client is connected"),
        ("flow", "No client is connected"),
        ("pipeline", "slipring pipeline run"),
        ("requests", "slipring request"),
        ("topics", "slipring stream write"),
    ):
        visit(page, shown)
        expect(page.locator(f'.page[data-page="{shown}"]')).to_contain_text(words)
    page.goto(f"{shared_broker.console}/#/links")
    expect(page.locator('.page[data-page="links"]')).to_contain_text("stands alone")
