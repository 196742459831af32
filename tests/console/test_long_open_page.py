"""A page that is left open for twelve hours, in a browser: neither its heap nor its document grows.

A proxy between page and broker makes the broker's time run 2,000 times as fast.
"""

import re
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

import httpx
from playwright.sync_api import Browser, CDPSession, Page, WebSocketRoute, expect

import slipring.sync
from slipring import AlarmLimits, Parameter
from tests.chromium import new_page
from tests.running_broker import RunningBroker

FASTER = 2_000
TIME_MS = re.compile(r"\b1[5-9]\d{11}(?:\.\d+)?\b")
"""A time in any message of the broker."""
PARAMETERS = {
    **{f"p{at}": Parameter("f64", unit="m", limits=AlarmLimits(high=0.9)) for at in range(6)},
    "stage": Parameter("enum", labels={0: "off", 1: "running"}),
    "note": Parameter("text"),
}
NAMES = [f"rig/{name}" for name in PARAMETERS]
KINDS = (("plot", 6), ("xy", 2), ("gauge", 4), ("number", 4), ("table", 8), ("states", 7))
LOG_LINES = 200
"""As many as a log has; then the oldest go."""
LOOKS = 12
HEAP_GROWTH_MAX = 2_000_000
NODES_GROWTH_MAX = 200


def _layout() -> dict[str, Any]:
    """Every kind of widget, all of them in view on a tall page."""
    widgets: list[dict[str, Any]] = [
        {"kind": kind, "title": "", "options": {"names": NAMES[:count]}} for kind, count in KINDS
    ]
    widgets.append(
        {"kind": "log", "title": "", "options": {"names": NAMES[7:], "source": "events"}}
    )
    widgets.append({"kind": "broker", "title": "", "options": {"names": []}})
    for at, widget in enumerate(widgets):
        widget |= {"x": 6 * (at % 2), "y": 5 * (at // 2), "w": 6, "h": 5}
    return {"title": "All", "widgets": widgets}


def _faster(began_ms: float) -> Callable[[WebSocketRoute], None]:
    def later(found: re.Match[str]) -> str:
        return f"{began_ms + (float(found[0]) - began_ms) * FASTER:.3f}"

    def join(page: WebSocketRoute) -> None:
        broker = page.connect_to_server()
        broker.on_message(lambda text: page.send(TIME_MS.sub(later, str(text))))

    return join


def _hours(page: Page, began_ms: float) -> float:
    """How long the page has been open, by the clock that it shows."""
    shown = datetime.fromisoformat(page.locator("#clock").inner_text().replace(" UTC", "+00:00"))
    return (shown.timestamp() * 1_000 - began_ms) / 3_600_000


def _size(session: CDPSession) -> dict[str, float]:
    """The least of some looks: what is drawn anew meanwhile leaves nodes to collect."""
    least: dict[str, float] = {}
    for _ in range(LOOKS):
        session.send("HeapProfiler.collectGarbage")
        for one in session.send("Performance.getMetrics")["metrics"]:
            least[one["name"]] = min(one["value"], least.get(one["name"], one["value"]))
    return least


def test_twelve_hours_leave_heap_and_document_as_they_were_before(
    broker: RunningBroker, browser: Browser
) -> None:
    began_ms = time.time() * 1_000
    httpx.put(f"{broker.console}/api/layouts/all", json=_layout()).raise_for_status()
    page = new_page(browser.new_context(viewport={"width": 1_280, "height": 2_400}))
    page.route_web_socket(re.compile("/api/"), _faster(began_ms))
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    with slipring.sync.connect(broker.url) as bus:
        rig = bus.declare("rig", PARAMETERS)
        page.goto(f"{broker.console}/#/layouts/all")
        expect(page.locator(".frame")).to_have_count(len(KINDS) + 2)
        expect(page.locator("#clock")).to_contain_text("UTC")
        number = 0

        def live_until(hours: float) -> None:
            nonlocal number
            while _hours(page, began_ms) < hours:
                number += 1
                rig.write({f"p{at}": (number + at) % 10 / 10 for at in range(6)})
                rig.write({"stage": ("off", "running")[number % 2], "note": f"note {number}"})
                rig.flush()
                if number % 10 == 0:
                    slipring.sync.connect(broker.url).close()

        live_until(2)
        while page.locator(".log-lines li").count() < LOG_LINES:
            live_until(_hours(page, began_ms) + 0.5)
        early = _size(session)
        live_until(_hours(page, began_ms) + 12)
        late = _size(session)
    expect(page.locator('[data-kind="log"] .log-text').first).not_to_be_empty()
    assert page.evaluate("slipringFrames.frames") > 100
    assert late["JSHeapUsedSize"] - early["JSHeapUsedSize"] < HEAP_GROWTH_MAX
    assert late["Nodes"] - early["Nodes"] < NODES_GROWTH_MAX
    assert late["JSEventListeners"] - early["JSEventListeners"] < NODES_GROWTH_MAX
