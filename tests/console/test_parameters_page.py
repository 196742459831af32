"""Parameters in a browser: seen, searched, exceeding a limit, and left by their publisher."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import PIPE, Popen

from playwright.sync_api import Browser, Locator, Page, WebSocket, expect

import slipring
import slipring.sync
from slipring import AlarmLimits, Parameter, Quality, Reason, Status
from tests.chromium import PATIENCE_MS, new_page, opened, visit
from tests.running_broker import RunningBroker

TURN = """state => {
  Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
HOUR_MS = 3_600_000
HOSTILE = "<img src=x onerror=document.title='hacked'>"
ENGINE = {
    "rpm": Parameter(
        "f64",
        unit="1/min",
        description="Shaft speed",
        limits=AlarmLimits(low=100, high=18_000, high_critical=20_000),
    ),
    "mode": Parameter("enum", labels={0: "off", 1: "running"}),
    "on": Parameter("bool"),
    "egt": Parameter("f32", unit="°C"),
    "hours": Parameter("u64"),
}


def row(page: Page, name: str) -> Locator:
    return page.locator(f'[data-parameter="{name}"]')


def field(one: Locator, name: str) -> Locator:
    return one.locator(f'[data-field="{name}"]')


def test_values_are_seen_in_their_type_and_change(broker: RunningBroker, browser: Browser) -> None:
    page = opened(browser, broker.console)
    with slipring.sync.connect(broker.url) as bus:
        engine = bus.declare("jet/engine", ENGINE)
        rpm = row(page, "jet/engine/rpm")
        expect(field(rpm, "state")).to_have_text("no value yet")
        engine.write({"rpm": 12034.5, "mode": "running", "on": True, "hours": 2**64 - 1})
        for name, text in (
            ("rpm", "12035"),
            ("mode", "running"),
            ("on", "on"),
            ("egt", "\u2013"),
            ("hours", "18446744073709551615"),
        ):
            expect(field(row(page, f"jet/engine/{name}"), "value")).to_have_text(text)
        expect(field(rpm, "unit")).to_have_text("1/min")
        expect(field(rpm, "state")).to_have_text("good")
        expect(field(rpm, "topic")).to_have_attribute("title", "jet/engine/rpm\nShaft speed")
        engine.write({"rpm": 12100.0})
        expect(field(rpm, "value")).to_have_text("12100")
        expect(field(rpm, "spark").locator("path")).to_have_attribute("d", re.compile("^M.*L"))
        expect(page.locator("#parameters-inflow")).to_contain_text("samples/s")
        expect(page.locator('[data-point="parameters"]')).to_contain_text("5 live")


def test_a_limit_that_is_exceeded_is_coloured_and_said(
    broker: RunningBroker, browser: Browser
) -> None:
    page = opened(browser, broker.console)
    with slipring.sync.connect(broker.url) as bus:
        engine = bus.declare("jet/engine", ENGINE)
        rpm = row(page, "jet/engine/rpm")
        for value, severity, why in (
            (18_001.0, "warning", "above the limit of 18000 1/min"),
            (20_001.0, "critical", "above the critical limit of 20000 1/min"),
            (99.0, "warning", "below the limit of 100 1/min"),
            (18_000.0, "good", "good"),
        ):
            engine.write({"rpm": value})
            expect(field(rpm, "state")).to_have_text(why)
            expect(rpm).to_have_attribute("data-severity", severity)
        engine.write({"rpm": 5_000.0}, quality=Quality(Status.BAD, Reason.SENSOR_FAILED))
        expect(field(rpm, "state")).to_have_text("bad: sensor failed")


def test_a_parameter_whose_publisher_leaves_goes_stale_in_words(
    broker: RunningBroker, browser: Browser
) -> None:
    page = opened(browser, broker.console)
    rpm = row(page, "jet/engine/rpm")
    with slipring.sync.connect(broker.url) as bus:
        bus.declare("jet/engine", ENGINE).write({"rpm": 12034.5})
        expect(field(rpm, "value")).to_have_text("12035")
        expect(rpm).to_have_attribute("data-severity", "good")
    expect(rpm).to_have_attribute("data-severity", "stale")
    expect(field(rpm, "state")).to_have_text(re.compile(r"publisher gone \d+ s ago"))
    expect(field(rpm, "value")).to_have_text("12035")
    expect(field(rpm, "age")).not_to_have_text("now")


def test_a_search_finds_by_part_of_the_name_and_by_filter(
    broker: RunningBroker, browser: Browser
) -> None:
    page = opened(browser, broker.console)
    with slipring.sync.connect(broker.url) as bus:
        bus.declare("jet", {f"cell/{number}/voltage": Parameter("f32") for number in range(300)})
        bus.declare("jet/engine", ENGINE)
        said = page.locator("#parameters-count")
        expect(said).to_have_text("305")
        search = page.get_by_label("Search parameters")
        search.fill("CELL/29")
        expect(said).to_have_text("11 that match, of 305")
        expect(row(page, "jet/cell/299/voltage")).to_be_visible()
        search.fill("jet/engine/+")
        expect(said).to_have_text("5 that match, of 305")
        expect(row(page, "jet/cell/299/voltage")).to_have_count(0)
        search.fill("nowhere")
        expect(page.locator("#parameters-empty")).to_contain_text("No parameter matches")


def test_the_keyboard_reaches_a_row_and_tells_all_about_it(
    broker: RunningBroker, browser: Browser
) -> None:
    page = opened(browser, broker.console)
    with slipring.sync.connect(broker.url) as bus:
        bus.declare("jet/engine", ENGINE)
        search = page.get_by_label("Search parameters")
        search.fill("rpm")
        expect(page.locator("#parameters-count")).to_have_text("1 that match, of 5")
        page.locator("#parameters-scroll").focus()
        for key in ("ArrowDown", "Enter"):
            page.keyboard.press(key)
        detail = page.locator(".drawer")
        expect(detail).to_contain_text("Shaft speed")
        expect(detail).to_contain_text("low 100, high 18000, critical high 20000")


def test_no_parameter_is_more_than_text_on_the_page_cve_2020_13821(
    broker: RunningBroker, browser: Browser
) -> None:
    page = opened(browser, broker.console)
    hostile = Parameter("text", unit=HOSTILE, description=HOSTILE, source=HOSTILE)
    labelled = Parameter("enum", labels={0: HOSTILE})
    with slipring.sync.connect(broker.url) as bus:
        bus.declare("x", {HOSTILE: hostile, "label": labelled}).write(
            {HOSTILE: HOSTILE, "label": HOSTILE}
        )
        shown = page.locator("#parameters-sizer .parameter-row").filter(has_text="x/<img")
        expect(field(shown, "topic")).to_have_text(f"x/{HOSTILE}")
        expect(field(shown, "value")).to_have_text(HOSTILE)
        expect(field(shown, "unit")).to_have_text(HOSTILE)
        expect(field(row(page, "x/label"), "value")).to_have_text(HOSTILE)
        field(shown, "topic").click()
        drawer = page.locator(".drawer")
        expect(drawer).to_contain_text(f"Measured by{HOSTILE}")
        page.keyboard.press("Escape")
        page.get_by_label("Search parameters").fill(HOSTILE)
        expect(page.locator("#parameters-count")).to_have_text("1 that match, of 2")
    assert page.locator("main img").count() == 0
    assert "hacked" not in page.title()


def test_an_empty_table_says_how_to_declare_a_first_parameter(
    broker: RunningBroker, browser: Browser
) -> None:
    page = opened(browser, broker.console)
    line = page.locator("#parameters-empty code").inner_text()
    command = [sys.executable, "-c", f"{line}; input()"]
    with Popen(command, stdin=PIPE) as person:
        shown = field(row(page, "demo/rpm"), "value")
        expect(shown).to_have_text("12035")
        expect(field(row(page, "demo/rpm"), "state")).to_have_text("good")
        person.communicate(b"\n", timeout=60)


def test_a_page_is_told_of_the_rows_in_view_as_it_scrolls(
    broker: RunningBroker, browser: Browser
) -> None:
    page = opened(browser, broker.console)
    with slipring.sync.connect(broker.url) as bus:
        names = [f"{number}" for number in range(150)]
        cells = bus.declare("cell", dict.fromkeys(names, Parameter("f32")))
        cells.write(dict.fromkeys(names, 0.1))
        expect(field(row(page, "cell/0"), "value")).to_have_text("0.1")
        cells.write(dict.fromkeys(names, 0.2))
        expect(field(row(page, "cell/0"), "value")).to_have_text("0.2")
        page.locator("#parameters-scroll").evaluate("node => node.scrollTop = node.scrollHeight")
        expect(field(row(page, "cell/149"), "value")).to_have_text("0.2")
        cells.write(dict.fromkeys(names, 0.3))
        expect(field(row(page, "cell/149"), "value")).to_have_text("0.3")


def test_a_hidden_page_lets_its_connections_go_and_comes_back(
    broker: RunningBroker, browser: Browser
) -> None:
    page = new_page(browser)
    # The page's time stands still but for what is run here, however slow the machine is.
    page.clock.install(time=0)
    page.clock.pause_at(HOUR_MS)
    sockets = list[WebSocket]()
    # A lambda, for Playwright takes no built-in function.
    page.on("websocket", lambda socket: sockets.append(socket))  # noqa: PLW0108
    with live_connections(page):
        page.goto(broker.console)
    page.evaluate(TURN, "hidden")
    page.clock.run_for(9_000)
    assert not any(one.is_closed() for one in sockets)
    page.clock.run_for(2_000)
    for one in sockets:
        if not one.is_closed():
            one.wait_for_event("close", timeout=PATIENCE_MS)
    page.clock.run_for(60_000)
    assert len(sockets) == 2
    with live_connections(page):
        page.evaluate(TURN, "visible")
    page.clock.resume()
    expect(page.get_by_test_id("connection")).to_contain_text("live")
    assert len(sockets) == 4


@contextmanager
def live_connections(page: Page) -> Iterator[None]:
    """Whatever is done inside opens both of the page's connections."""
    with (
        page.expect_event("websocket", lambda one: "/api/live" in one.url),
        page.expect_event("websocket", lambda one: "/api/parameters" in one.url),
    ):
        yield


def test_times_are_in_utc_and_under_the_pointer_in_the_viewers_zone_too(
    broker: RunningBroker, browser: Browser
) -> None:
    context = browser.new_context(timezone_id="Asia/Tokyo")
    page = opened(context, broker.console)
    with slipring.sync.connect(broker.url) as bus:
        bus.declare("jet", {"raw": Parameter("bytes")}).write({"raw": b"\x00\xff"})
        shown = row(page, "jet/raw")
        expect(field(shown, "value")).to_have_text("00ff")
        field(shown, "age").hover()
        told = re.compile(r"GMT\+9 · \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} UTC$")
        expect(field(shown, "age")).to_have_attribute("title", told)
    visit(page, "events")
    time = page.locator("#events-list time").first
    expect(time).to_have_attribute("title", told)
    said = str(time.get_attribute("title"))
    expect(time).to_have_text(said.split(" ")[-2][:8])
    context.close()
