"""Streams in a browser and in the metrics: live, what is kept, how they flow, and left silent."""

import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

import slipring
import slipring.sync
from tests.chromium import opened
from tests.metrics import Metrics
from tests.running_broker import RunningBroker

HOSTILE = "<img src=x onerror=document.title='hacked'>"
SOUND = "jet/cockpit/sound"


def row(page: Page, name: str) -> Locator:
    return page.locator(f'[data-stream="{name}"]')


def cell(one: Locator, label: str) -> Locator:
    return one.locator(f'[data-label="{label}"]')


def test_a_stream_is_seen_live_and_then_silent(broker: RunningBroker, browser: Browser) -> None:
    page = opened(browser, broker.console, "topics")
    expect(page.locator("#streams-empty")).to_contain_text("No streams")
    with slipring.sync.connect(broker.url) as bus:
        sound = bus.declare_stream(SOUND, media="audio/pcm;rate=48000", buffer_bytes=2_000, qos=1)
        shown = row(page, SOUND)
        expect(cell(shown, "State")).to_have_text("live")
        expect(cell(shown, "Media")).to_have_text("audio/pcm;rate=48000")
        expect(cell(shown, "Last chunk")).to_have_text("\u2013")
        for _ in range(3):
            sound.write(bytes(1_000))
        expect(cell(shown, "Kept")).to_have_text("2.0 kB of 2.0 kB")
        expect(cell(shown, "Chunks kept")).to_have_text("2")
        expect(cell(shown, "Publishers")).to_have_text("1")
        expect(cell(shown, "Last chunk")).to_have_text(re.compile(r"now|\d+ s"))
        expect(page.locator("#streams-empty")).to_be_hidden()
    expect(cell(shown, "State")).to_have_text("silent")
    expect(cell(shown, "Publishers")).to_have_text("0")
    expect(cell(shown, "Chunks/s")).to_have_text("0")


def test_a_rate_is_seen_while_a_stream_flows(broker: RunningBroker, browser: Browser) -> None:
    page = opened(browser, broker.console, "topics")
    with slipring.sync.connect(broker.url) as bus:
        sound = bus.declare_stream(SOUND, media="audio/pcm", qos=1)
        rate = cell(row(page, SOUND), "Chunks/s")
        expect(rate).to_have_text("0")
        # It is seen only while chunks come, so that nothing can be waited for afterwards.
        while not re.search("[1-9]", rate.inner_text()):
            sound.write(bytes(100))


def test_what_readers_miss_and_what_is_refused_is_said_and_counted(
    broker: RunningBroker, browser: Browser
) -> None:
    page = opened(browser, broker.console, "topics")
    with slipring.sync.connect(broker.url) as bus, slipring.sync.connect(broker.url) as other:
        sound = bus.declare_stream(SOUND, media="audio/pcm", buffer_bytes=1_024, qos=1)
        with bus.stream(SOUND) as chunks:
            for number in range(3):
                sound.write(bytes([number]))
                assert next(chunks).sequence == number
            with pytest.raises(slipring.PublishRefused):
                other.publish(SOUND, b"noise", qos=1)
            said = page.locator("#streams-count")
            expect(said).to_have_text("1 subscription reads them · 1 chunk refused")
            metrics = Metrics.of(broker)
    figures = {
        "slipring_streams": 1,
        "slipring_streams_readers": 1,
        "slipring_streams_kept_bytes": 3 * 64,
        "slipring_streams_chunks_total": 3,
        "slipring_streams_bytes_total": 3,
        "slipring_streams_delivered_total": 3,
        "slipring_streams_lost_total": 0,
        "slipring_streams_refused_total": 1,
    }
    assert {name: metrics[name] for name in figures} == figures


def test_no_stream_is_more_than_text_on_the_page_cve_2020_13821(
    broker: RunningBroker, browser: Browser
) -> None:
    page = opened(browser, broker.console, "topics")
    with slipring.sync.connect(broker.url) as bus:
        bus.declare_stream(f"x/{HOSTILE}", media=f"text/plain;{HOSTILE}")
        shown = page.locator("#streams-table tbody tr").filter(has_text="x/<img")
        expect(shown.locator("th")).to_have_attribute("title", f"x/{HOSTILE}")
        expect(cell(shown, "Media")).to_have_text(f"text/plain;{HOSTILE}")
    assert page.locator("main img").count() == 0
    assert "hacked" not in page.title()
