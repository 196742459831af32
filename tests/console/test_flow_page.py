"""Who sends to the broker and who gets from it, in a picture; a client in detail; its end."""

import re
import threading
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, expect

import slipring
import slipring.sync
from slipring import Parameter
from slipring.native import JournalReader, commit_consumer
from tests.chromium import opened, visit
from tests.limited_broker import KEPT, Limited, LimitedBroker
from tests.raw_mqtt import V5
from tests.running_broker import RunningBroker, broker_in

HOSTILE = "<img src=x onerror=document.title='hacked'>/" + "long" * 20


def box(page: Page, client_id: str) -> Locator:
    return page.locator(f'a[data-flow="{client_id}"]')


def part(page: Page, name: str) -> Locator:
    """The broker, its journal, or a reader of it."""
    return page.locator(f'svg.flow [data-flow-part="{name}"]')


def lossy(limited: Limited) -> LimitedBroker:
    """A broker with a client that reads nothing and has lost messages."""
    broker = limited(inflight=1, queue_messages=60)
    reader = broker.client("sleepy", properties=KEPT, clean=False)
    reader.send(V5.subscribe(1, ("flood", 1)))
    reader.packet()
    writer = broker.client("writer")
    writer.send(*(V5.publish("flood", b"x", qos=1, packet_id=1 + n) for n in range(100)))
    writer.settle()
    return broker


def test_the_flow_has_publishers_the_broker_and_subscribers_and_marks_who_is_slow(
    limited: Limited, browser: Browser
) -> None:
    broker = lossy(limited)
    page = opened(browser, broker.running.console, "flow")
    expect(box(page, "writer")).to_have_attribute("aria-label", "writer sends 0 messages/s, 0 B/s")
    slow = box(page, "sleepy")
    expect(slow).to_have_class("flow-box flow-slow")
    expect(slow).to_contain_text("slow: messages wait")
    expect(slow).to_contain_text(re.compile(r"queue: \d+ messages, \d"))
    expect(page.locator("#flow-count")).to_contain_text("1 slow client")
    expect(part(page, "broker")).to_contain_text("out: ")
    expect(part(page, "broker")).to_contain_text("queues and buffers: ")
    expect(part(page, "journal")).to_contain_text("on disk")


def test_samples_and_bytes_of_a_publisher_are_told_and_not_its_messages_alone(
    shared_broker: RunningBroker, browser: Browser
) -> None:
    page = opened(browser, shared_broker.console, "flow")
    with slipring.sync.connect(shared_broker.url, client_id="jet") as bus:
        rig = bus.declare("rig", {f"p{n}": Parameter("f64") for n in range(100)})
        stopped = threading.Event()

        def fly() -> None:
            while not stopped.wait(0.02):
                rig.write({f"p{n}": 1.0 for n in range(100)})

        flight = threading.Thread(target=fly)
        flight.start()
        try:
            sends = box(page, "jet").first
            expect(sends).to_contain_text(re.compile(r"[1-9],\d{3} samples/s"))
            expect(sends).to_contain_text(re.compile(r"[\d.]+ messages/s, .*kB/s"))
            expect(part(page, "broker")).to_contain_text(re.compile(r"with [1-9],\d{3} samples/s"))
        finally:
            stopped.set()
            flight.join()


def test_readers_of_the_journal_hang_at_the_journal_and_lead_to_the_pipeline(
    tmp_path: Path, browser: Browser
) -> None:
    with broker_in(tmp_path) as running, slipring.sync.connect(running.url) as bus:
        bus.publish("a/b", b"x", qos=1)
        folder = running.data / "journal"
        commit_consumer(folder, "lake", JournalReader(folder).identity, 1)
        page = opened(browser, running.console, "flow")
        expect(part(page, "journal")).to_contain_text("on disk")
        reader = part(page, "reader lake")
        expect(reader).to_contain_text(re.compile(r"0 messages/s.*behind"))
        reader.focus()
        page.keyboard.press("Enter")
        expect(page.locator("#consumers-table")).to_contain_text("lake")


def test_a_slow_client_is_found_and_disconnected_by_the_keyboard(
    limited: Limited, browser: Browser
) -> None:
    broker = lossy(limited)
    page = opened(browser, broker.running.console, "flow")
    box(page, "sleepy").focus()
    page.keyboard.press("Enter")
    detail = page.locator("#client-detail")
    expect(detail.locator("h2")).to_have_text("sleepy")
    expect(detail.locator('[data-fact="keeps up"] dd')).to_have_text("slow: messages wait")
    expect(detail.locator(".filters li")).to_have_text("flood")
    expect(detail.locator(".events-list")).to_contain_text("sleepy lost ")
    button = detail.get_by_role("button", name="Disconnect")
    page.once("dialog", lambda dialog: dialog.dismiss())
    button.click()
    expect(page.locator("#client-said")).to_have_text("")
    page.once("dialog", lambda dialog: dialog.accept())
    button.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#client-said")).to_have_text("Disconnect: sleepy, done")
    expect(detail).to_contain_text("It is not connected now.")
    expect(button).to_have_count(0)
    detail.get_by_role("link", name="Close").click()
    expect(detail).to_be_hidden()


def test_those_beyond_the_room_are_summed_up(limited: Limited, browser: Browser) -> None:
    broker = limited()
    for number in range(15):
        broker.client(f"writer-{number}").send(V5.publish("t", b"x"))
    page = opened(browser, broker.running.console, "flow")
    expect(page.locator("svg.flow")).to_contain_text("3 more")
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator("svg.flow")).to_contain_text("9 more")


def test_hostile_names_are_text_in_the_picture_and_in_the_details(
    limited: Limited, browser: Browser
) -> None:
    broker = limited()
    page = opened(browser, broker.running.console, "flow")
    expect(page.locator(".flow-panel .empty")).to_contain_text("No client is connected")
    broker.client(HOSTILE).send(V5.publish("t", b"x"))
    shown = page.locator("a[data-flow]")
    expect(shown.locator("text").first).to_contain_text("<img src=x")
    shown.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#client-detail h2")).to_have_text(HOSTILE)
    visit(page, "clients")
    expect(page.locator("#clients-table th[role=rowheader]")).to_have_attribute("title", HOSTILE)
    assert page.locator("main img").count() == 0
    assert "hacked" not in page.title()


def test_a_row_keeps_the_focus_when_others_come_before_it(
    limited: Limited, browser: Browser
) -> None:
    broker = limited()
    broker.client("b")
    page = opened(browser, broker.running.console, "clients")
    link = page.locator('[data-client="b"]').get_by_role("link", name="Details")
    link.focus()
    broker.client("a")
    broker.client("c")
    expect(page.locator("#clients-table tbody tr")).to_have_count(3)
    expect(link).to_be_focused()


def test_names_that_differ_in_the_middle_are_told_apart(limited: Limited, browser: Browser) -> None:
    broker = limited()
    names = [f"{'fleet/' * 12}{side}{'/engine' * 12}" for side in ("left", "right")]
    for name in names:
        broker.client(name)
    page = opened(browser, broker.running.console, "clients")
    cells = page.locator("#clients-table th[role=rowheader]")
    expect(cells).to_have_count(2)
    expect(cells.first).to_contain_text("…")
    shown = cells.all_text_contents()
    assert len(set(shown)) == 2
    assert sorted(cells.nth(n).get_attribute("aria-label") for n in (0, 1)) == names  # type: ignore[type-var]
