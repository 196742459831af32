"""The journal in a browser: what is promised, who reads it, who is away, when it is in trouble."""

import re

from playwright.sync_api import Browser, Locator, Page, expect

from slipring.native import JournalReader, commit_consumer
from tests.chromium import opened, visit
from tests.configured_broker import Configured, ConfiguredBroker
from tests.limited_broker import KEPT
from tests.metrics import Metrics
from tests.raw_mqtt import V5

HOSTILE = "<img src=x onerror=document.title='hacked'>"
UNKNOWN = "\N{EN DASH}"
BOUNDED = """
[journal]
segment_bytes = 65536
bytes_max = 200000
retain_age_s = 86400
[[durability]]
topics = ["telemetry/#", "video"]
level = "memory"
"""


def cell(row: Locator, label: str) -> Locator:
    return row.locator(f'[data-label="{label}"]')


def fact(page: Page, name: str) -> Locator:
    return page.locator(f'[data-fact="{name}"]')


def publish(broker: ConfiguredBroker, *topics: str) -> None:
    with broker.peer("writer") as peer:
        for number, topic in enumerate(topics, 1):
            peer.send(V5.publish(topic, b"12345", qos=1, packet_id=number))
            peer.packet()


def leave(broker: ConfiguredBroker, client_id: str, **options: object) -> None:
    """A client with a session that subscribes to `t`, and goes."""
    with broker.peer(client_id, clean=False, properties=KEPT, **options) as peer:
        peer.send(V5.subscribe(1, ("t", 1)), V5.disconnect())
        peer.packet()
        assert peer.closed()


def test_durability_and_bounds_are_shown_as_they_are_configured(
    configured: Configured, browser: Browser
) -> None:
    broker = configured(BOUNDED)
    publish(broker, "a", "telemetry/b")
    page = opened(browser, broker.console, "storage")
    rows = page.locator("#levels-table tbody tr")
    expect(cell(rows.nth(0), "Topics")).to_have_text("telemetry/#, video")
    expect(cell(rows.nth(0), "Durability")).to_have_text("memory")
    expect(cell(rows.nth(1), "Topics")).to_have_text("everything else")
    expect(cell(rows.nth(1), "Durability")).to_have_text("disk")
    expect(fact(page, "acknowledged")).to_have_text("1 on disk, 0 written, 1 in memory")
    expect(fact(page, "stored")).to_contain_text("full at 200 kB")
    expect(fact(page, "offsets")).to_have_text("first 0, next 2, on disk before 2")
    expect(fact(page, "retention")).to_contain_text("older than 1 d 0 h is removed")
    expect(page.locator("#journal-meter")).to_be_visible()
    expect(page.locator("#journal-alarm")).to_be_hidden()
    broker.reload("[journal]\ndurability = 'disk'\n")
    expect(rows).to_have_count(1)
    expect(cell(rows, "Topics")).to_have_text("everything")
    expect(page.locator("#journal-meter")).to_be_hidden()


def test_a_consumer_is_shown_with_how_far_it_is_behind(
    configured: Configured, browser: Browser
) -> None:
    broker = configured("")
    publish(broker, "a", "b", "c")
    page = opened(browser, broker.console, "storage")
    expect(fact(page, "readers")).to_have_text("nobody has left a position")
    expect(fact(page, "disk")).to_contain_text("free of")
    visit(page, "pipeline")
    expect(page.locator("#consumers-count")).to_have_text("nobody has left a position")
    expect(page.locator("#pipeline-empty")).to_contain_text("slipring pipeline run")
    folder = broker.running.data / "journal"
    identity = JournalReader(folder).identity
    commit_consumer(folder, "lake", identity, 1)
    commit_consumer(folder, "stranger", "0" * len(identity), 1)
    row = page.locator('[data-consumer="lake"]')
    expect(cell(row, "Read to")).to_have_text("1")
    expect(cell(row, "Behind")).to_have_text("2")
    expect(cell(row, "Lag")).to_have_text(re.compile(r"\d.* s"))
    expect(cell(row, "Messages/s")).to_have_text("0")
    expect(cell(row, "Rows/s")).to_have_text(UNKNOWN)
    stranger = page.locator('[data-consumer="stranger"]')
    expect(cell(stranger, "Moved")).to_contain_text("it read journal")
    expect(page.locator("#pipeline-empty")).to_be_hidden()
    visit(page, "storage")
    expect(fact(page, "readers")).to_contain_text("2 consumers")
    metrics = Metrics.of(broker.running)
    assert metrics['slipring_journal_consumer_behind{consumer="lake"}'] == 2


def test_a_session_that_is_away_is_shown_and_what_is_there_again_after_a_restart(
    configured: Configured, browser: Browser
) -> None:
    broker = configured("")
    leave(broker, HOSTILE, username="operator")
    publish(broker, "t", "t")
    page = opened(browser, broker.console, "clients")
    row = page.locator("#away-table tbody tr")
    expect(cell(row, "Client")).to_have_attribute("title", HOSTILE)
    expect(cell(row, "User")).to_have_text("operator")
    expect(cell(row, "Waiting")).to_have_text("2")
    expect(cell(row, "Ends in")).to_have_text(re.compile(r"5\d min \d+ s"))
    expect(cell(row, "Subscriptions")).to_have_text("t")
    assert page.locator("main img").count() == 0
    visit(page, "storage")
    expect(fact(page, "receipt")).to_contain_text("no messages yet")
    assert broker.stop() == 0
    again = configured("")
    page = opened(browser, again.console, "storage")
    expect(fact(page, "receipt")).to_contain_text("2 messages kept, offsets 0 to 1")
    expect(fact(page, "receipt")).to_contain_text("recovered 1 session, 2 messages that wait")
    visit(page, "clients")
    expect(cell(page.locator("#away-table tbody tr"), "Waiting")).to_have_text("2")
    with again.peer(HOSTILE, clean=False, properties=KEPT, username="operator"):
        expect(page.locator("#away-empty")).to_contain_text("No client with a session is away")


def test_a_full_journal_is_a_red_line_with_what_to_do_and_it_goes_when_there_is_room(
    configured: Configured, browser: Browser
) -> None:
    broker = configured(BOUNDED)
    page = opened(browser, broker.console)
    alarm = page.locator("#journal-alarm")
    expect(alarm).to_be_hidden()
    with broker.peer("writer") as peer:
        for number in range(1, 41):
            peer.send(V5.publish("t", b"x" * 10_000, qos=1, packet_id=number))
        expect(alarm).to_be_visible()
        expect(alarm).to_contain_text("No room for more")
        expect(alarm).to_contain_text("raise journal.bytes_max")
        visit(page, "broker")
        tile = page.locator('[data-tile="journal"]')
        expect(tile.locator('[data-field="state"]')).to_have_text("full")
        broker.reload(BOUNDED.replace("200000", "0"))
        expect(alarm).to_be_hidden()
        expect(tile.locator('[data-field="state"]')).to_have_text("recording")
