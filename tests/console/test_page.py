"""The page in a browser: what a person sees of clients, limits and traffic."""

from playwright.sync_api import Browser, Locator, expect

from tests.chromium import opened, visit
from tests.limited_broker import Limited
from tests.raw_mqtt import V5

HOSTILE = "<img src=x onerror=document.title='hacked'>"


def cell(row: Locator, label: str) -> Locator:
    return row.locator(f'[data-label="{label}"]')


def test_a_client_is_shown_with_its_user_its_way_in_and_how_it_keeps_up(
    limited: Limited, browser: Browser
) -> None:
    broker = limited(inflight=1, queue_messages=2)
    reader = broker.client("reader", username="operator")
    reader.send(V5.subscribe(1, ("t", 1)))
    reader.packet()
    writer = broker.client("writer")
    writer.send(V5.publish("t", b"x", qos=1, packet_id=1))
    reader.packet()
    for number in (2, 3, 4):
        writer.send(V5.publish("t", b"x", qos=1, packet_id=number))
    writer.settle()
    page = opened(browser, broker.running.console, "clients")
    row = page.locator('[data-client="reader"]')
    for label, text in (
        ("User", "operator"),
        ("Protocol", "MQTT 5"),
        ("Queue", "3, 6 B"),
        ("In flight", "1"),
        ("Dropped", "1"),
        ("Subscriptions", "t"),
    ):
        expect(cell(row, label)).to_have_text(text)
    row.get_by_role("link", name="Details").click()
    detail = page.locator("#client-detail")
    for fact, words in (("address", "by listener mqtt"), ("dropped", "1, now"), ("user", "oper")):
        expect(detail.locator(f'[data-fact="{fact}"] dd')).to_contain_text(words)
    expect(detail.locator('[data-fact="dropped"] dd')).to_contain_text("0 expired")


def test_a_limit_that_was_reached_is_shown_with_its_key(limited: Limited, browser: Browser) -> None:
    broker = limited(subscriptions=1)
    page = opened(browser, broker.running.console, "broker")
    expect(page.locator("#limits-empty")).to_contain_text("No limit has been reached")
    greedy = broker.client("greedy", keep_alive_s=60)
    greedy.send(V5.subscribe(1, "a", "b", "c"))
    greedy.packet()
    row = page.locator('[data-limit="subscriptions"]')
    expect(cell(row, "Limit")).to_have_text("limits.subscriptions")
    expect(cell(row, "Set to")).to_have_text("1")
    expect(cell(row, "Reached")).to_have_text("2")
    expect(page.locator("#limits-empty")).to_be_hidden()


def test_sessions_away_and_retained_messages_are_shown(limited: Limited, browser: Browser) -> None:
    broker = limited()
    broker.away("gone", ("t", 1))
    writer = broker.client("writer")
    writer.send(V5.publish("t", b"x", retain=True))
    page = opened(browser, broker.running.console, "broker")
    clients = page.locator('[data-tile="clients"]')
    expect(clients.locator('[data-field="value"]')).to_have_text("1")
    expect(clients.locator('[data-field="note"]')).to_contain_text("1 away")
    topics = page.locator('[data-tile="topics"] [data-field="note"]')
    expect(topics).to_contain_text("1 retained")


def test_no_name_is_more_than_text_on_the_page_cve_2020_13821(
    limited: Limited, browser: Browser
) -> None:
    broker = limited()
    page = opened(browser, broker.running.console, "clients")
    hostile = broker.client(HOSTILE, username=HOSTILE)
    hostile.send(V5.subscribe(1, HOSTILE), V5.publish(HOSTILE, HOSTILE.encode()))
    hostile.packet()
    row = page.locator("#clients-table tbody tr")
    for label in ("Client", "User"):
        expect(cell(row, label)).to_have_attribute("title", HOSTILE)
    expect(cell(row, "Subscriptions")).to_have_text(HOSTILE)
    visit(page, "topics")
    prefix = page.locator("#prefixes-table tbody tr").filter(has_text="<img src=x")
    expect(cell(prefix, "Prefix")).to_have_attribute("title", HOSTILE)
    expect(cell(prefix, "Messages")).to_have_text("1")
    assert page.locator("main img").count() == 0
    assert "hacked" not in page.title()


CUT = """() => [...document.querySelectorAll("thead th, .table-scroll")]
    .filter((one) => one.offsetParent !== null && one.scrollWidth > one.clientWidth)
    .map((one) => one.textContent.trim())"""
"""Heads of columns that are cut off, and tables that are wider than their panels."""


def test_no_column_is_cut_off_on_a_small_desk(limited: Limited, browser: Browser) -> None:
    broker = limited()
    broker.away("gone", ("t", 1))
    broker.client("writer").send(V5.publish("t", b"x"))
    page = opened(browser, broker.running.console, "clients")
    page.set_viewport_size({"width": 1280, "height": 800})
    expect(page.locator("#away-table tbody tr")).to_have_count(1)
    expect(page.locator("#clients-table tbody tr")).to_have_count(1)
    for shown in ("clients", "broker", "topics", "storage", "events"):
        visit(page, shown)
        expect(page.locator(f'[data-page="{shown}"]')).to_be_visible()
        assert page.evaluate(CUT) == []
