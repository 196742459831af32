"""Plots in a browser: past and present, zoom, pause, replay, cursors, and what is saved of them."""

import csv
import io
import math
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

import slipring.sync
from slipring import AlarmLimits, Parameter
from slipring.sync import Declared
from tests.chromium import new_page, opened
from tests.running_broker import RunningBroker, broker_in

HOSTILE = "<img src=x onerror=document.title='hacked'>"
CONFIG = """
[console]
source = "Test rig"
mark = "TEST DATA"
quick_look = [["rig/height", "rig/energy"], ["rig/load"]]
"""
FORMULA = "Energy height = height + v^2 / (2 * 9.81)"
PARAMETERS = {
    "height": Parameter("f64", unit="m", limits=AlarmLimits(high=2_500), rate_hz=10),
    "energy": Parameter("f64", unit="m", description=FORMULA, rate_hz=10),
    "load": Parameter("f32", unit="g", rate_hz=10),
    "on": Parameter("bool"),
}
SECONDS = 240
RATE_HZ = 10
SPIKE = 2_222.125
SPIKE_S = 60.0


@dataclass
class Rig:
    """A broker with a past of four minutes: height climbs by 1 m/s, with a spike and a gap."""

    broker: RunningBroker
    declared: Declared
    began_ns: int

    def at(self, seconds: float) -> str:
        """A time of the past as the address and the time field take it."""
        return f"{(self.began_ns + seconds * 1e9) / 1e6:.3f}"

    def window(self, begin_s: float, end_s: float) -> str:
        return f"from={self.at(begin_s)}&to={self.at(end_s)}"

    def write(self, height: float) -> None:
        self.declared.write({"height": height})
        self.declared.flush()


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """Shared by all tests of this file; they only add to its present."""
    hostile = Parameter("f64", unit=HOSTILE, description=HOSTILE)
    with (
        broker_in(tmp_path_factory.mktemp("rig"), config=CONFIG) as broker,
        slipring.sync.connect(broker.url) as bus,
    ):
        declared = bus.declare("rig", PARAMETERS)
        bus.declare("x", {HOSTILE: hostile}).write({HOSTILE: 41.5})
        yield Rig(broker, declared, _fly(declared))


def _fly(declared: Declared) -> int:
    """Write the past; a tenth of a second between rows, nothing from 100 s to 130 s."""
    began_ns = time.time_ns() - SECONDS * 1_000_000_000
    for number in range(SECONDS * RATE_HZ):
        seconds = number / RATE_HZ
        if 100 <= seconds < 130:
            continue
        row = {
            "height": SPIKE if seconds == SPIKE_S else seconds,
            "energy": seconds + 1_000,
            "load": math.sin(seconds),
            "on": seconds % 20 < 10,
        }
        declared.write(row, time_ns=began_ns + int(seconds * 1e9))
    declared.flush()
    return began_ns


def plot(page: Page, title: str = "") -> Locator:
    shown = page.locator(".page:not([hidden]) [data-plot]")
    return shown.filter(has=page.locator("h3", has_text=title)) if title else shown.first


def value(page: Page, name: str, what: str = "value") -> Locator:
    return page.locator(f'.page:not([hidden]) [data-series="{name}"] [data-field="{what}"]')


def canvas(page: Page) -> tuple[float, float, float]:
    """Left, middle height and width of the lines' area of the first plot."""
    box = plot(page).locator(".u-over").bounding_box()
    assert box is not None
    return box["x"], box["y"] + box["height"] / 2, box["width"]


def drawn(page: Page) -> None:
    expect(plot(page)).to_have_attribute("data-columns", re.compile("^[1-9]"))


def test_the_first_page_begins_with_the_past_of_what_is_configured(
    rig: Rig, browser: Browser
) -> None:
    page = opened(browser, rig.broker.console)
    expect(page.locator("#quick-look [data-plot]")).to_have_count(2)
    first = plot(page, "height, energy")
    expect(first).to_have_attribute("data-columns", re.compile(r"^\d{3,}$"))
    expect(first.locator(".plot-formula")).to_have_text(FORMULA)
    expect(value(page, "rig/height")).to_have_text(re.compile(r"^[\d\u202f.]+$"))
    assert page.evaluate("slipringFrames.first_value_ms") > 0
    expect(page.locator("body")).to_have_attribute("data-time", "live")


def test_without_a_configuration_the_first_page_draws_what_has_limits(
    broker: RunningBroker, browser: Browser
) -> None:
    page = opened(browser, broker.console)
    expect(page.locator("#quick-look")).to_contain_text("no parameter has limits")
    expect(page.locator("#quick-look code")).to_contain_text("quick_look = ")
    with slipring.sync.connect(broker.url) as bus:
        rig = bus.declare("rig", {"free": Parameter("f64"), "height": PARAMETERS["height"]})
        rig.write({"free": 1.0, "height": 7.25})
        expect(page.locator("#quick-look [data-plot]")).to_have_count(1)
        expect(value(page, "rig/height")).to_have_text(re.compile(r"^7\.250*$"))
        expect(page.locator("#quick-look .empty")).to_be_hidden()


def test_values_appear_as_they_come(rig: Rig, browser: Browser) -> None:
    page = opened(browser, rig.broker.console, "plots?name=rig/height")
    drawn(page)
    for height in (611.5, 622.5):
        rig.write(height)
        expect(value(page, "rig/height")).to_have_text(re.compile(f"^{height}"))


def test_a_zoom_reads_finer_steps_and_an_address_brings_the_time_back(
    rig: Rig, browser: Browser
) -> None:
    page = new_page(browser)
    page.goto(f"{rig.broker.console}/#/plots?name=rig/height&{rig.window(-3_000_000, 240)}")
    expect(page.locator("body")).to_have_attribute("data-time", "paused")
    drawn(page)
    expect(plot(page)).to_have_attribute("data-step", re.compile(r"^\d{4,}$"))
    left, middle, width = canvas(page)
    page.mouse.move(left + width - 1, middle)
    while plot(page).get_attribute("data-step") != "0":
        page.mouse.wheel(0, -200)
    drawn(page)
    expect(page).to_have_url(re.compile(r"from=\d{4}-.*to=\d{4}-"))
    shown = page.get_by_label("Shown time in UTC").input_value()
    page.reload()
    expect(page.locator("body")).to_have_attribute("data-time", "paused")
    expect(page.get_by_label("Shown time in UTC")).to_have_value(shown)
    expect(plot(page)).to_have_attribute("data-step", "0")


def test_cursors_show_values_and_their_differences(rig: Rig, browser: Browser) -> None:
    page = opened(browser, rig.broker.console, f"plots?name=rig/height&{rig.window(10, 50)}")
    drawn(page)
    left, middle, width = canvas(page)
    page.mouse.click(left + width * 0.25, middle)
    page.mouse.click(left + width * 0.75, middle)
    head = plot(page).locator(".plot-legend-head")
    expect(head).to_contain_text(re.compile(r"Δ (19\.9|20)"))
    expect(value(page, "rig/height", "a")).to_have_text(re.compile(r"^(19\.9|20\.)"))
    expect(value(page, "rig/height", "difference")).to_have_text(re.compile(r"^\+(19\.9|20\.)"))
    page.keyboard.press("Escape")
    expect(head).to_be_hidden()


def test_a_drag_goes_to_the_past_and_a_key_back_to_now(rig: Rig, browser: Browser) -> None:
    page = opened(browser, rig.broker.console, "plots?name=rig/height")
    drawn(page)
    left, middle, width = canvas(page)
    page.mouse.move(left + width * 0.2, middle)
    page.mouse.down()
    page.mouse.move(left + width * 0.5, middle, steps=4)
    page.mouse.up()
    expect(page.locator("body")).to_have_attribute("data-time", "paused")
    expect(page.locator("#time-mode")).to_have_text("PAUSED")
    expect(page.locator(".time-said")).to_contain_text("ago")
    page.keyboard.press("l")
    expect(page.locator("body")).to_have_attribute("data-time", "live")
    expect(plot(page)).to_have_attribute("data-time", "live")


def test_a_pause_stands_still_while_new_samples_come(rig: Rig, browser: Browser) -> None:
    page = opened(browser, rig.broker.console, "plots?name=rig/height")
    rig.write(700.5)
    expect(value(page, "rig/height")).to_have_text(re.compile(r"^700\.5"))
    page.keyboard.press("Space")
    expect(plot(page)).to_have_attribute("data-time", "paused")
    shown = page.get_by_label("Shown time in UTC").input_value()
    rig.write(801.5)
    other = opened(browser, rig.broker.console, "plots?name=rig/height")
    expect(value(other, "rig/height")).to_have_text(re.compile(r"^801\.5"))
    expect(value(page, "rig/height")).to_have_text(re.compile(r"^700\.5"))
    expect(page.get_by_label("Shown time in UTC")).to_have_value(shown)
    page.get_by_role("button", name="Live", exact=True).click()
    expect(value(page, "rig/height")).to_have_text(re.compile(r"^801\.5"))


def test_a_replay_moves_and_is_marked_on_the_page(rig: Rig, browser: Browser) -> None:
    page = opened(browser, rig.broker.console, f"plots?name=rig/height&{rig.window(0, 20)}")
    drawn(page)
    expect(value(page, "rig/height")).to_have_text(re.compile(r"^(19\.9|20)"))
    page.get_by_label("Speed of a replay").select_option("10")
    expect(page.locator("body")).to_have_attribute("data-time", "replay")
    expect(page.locator("#time-mode")).to_have_text("REPLAY 10\u00d7")
    expect(plot(page)).to_have_attribute("data-time", "replay")
    expect(value(page, "rig/height")).to_have_text(re.compile(r"^[3-9]\d\."))
    expect(page).to_have_url(re.compile("play=10"))
    page.keyboard.press("Space")
    expect(page.locator("#time-mode")).to_have_text("PAUSED")
    page.get_by_role("link", name="Broker").click()
    expect(page.locator("#time-mode")).to_have_text("PAUSED")
    expect(page.locator("#time-bar")).to_be_hidden()
    expect(page.locator("#page-of-now")).to_contain_text("This page shows now")
    page.get_by_role("button", name="Go live").click()
    expect(page.locator("#time-mode")).to_have_text("LIVE")
    expect(page.locator("#page-of-now")).to_be_hidden()


def test_a_replay_is_shared_by_its_address_while_it_goes_on(rig: Rig, browser: Browser) -> None:
    page = opened(browser, rig.broker.console, f"plots?name=rig/height&{rig.window(0, 20)}&play=10")
    expect(page.locator("#time-mode")).to_have_text("REPLAY 10\u00d7")
    expect(page).to_have_url(re.compile("play=10"))
    first = page.url
    expect(page).not_to_have_url(first)
    other = opened(browser, rig.broker.console, page.url.partition("#/")[2])
    expect(other.locator("#time-mode")).to_have_text("REPLAY 10\u00d7")
    expect(value(other, "rig/height")).to_have_text(re.compile(r"^([3-9]\d|\d{3})\."))


def test_what_is_of_now_says_so_while_another_time_is_shown(rig: Rig, browser: Browser) -> None:
    page = opened(browser, rig.broker.console)
    drawn(page)
    row = page.locator(".parameters-body", has_text="rig/height")
    expect(row).to_be_visible()
    marked = "getComputedStyle(document.querySelector(name), '::before').content"
    for part in ("#health", "#alarm-strip"):
        assert page.evaluate(f"name => {marked}", part) == "none"
    page.keyboard.press("Space")
    expect(page.locator("body")).to_have_attribute("data-time", "paused")
    for part in ("#health", "#alarm-strip"):
        assert "LIVE" in page.evaluate(f"name => {marked}", part)
    expect(page.locator("#parameters")).to_contain_text("values of an earlier time")


def test_a_replay_at_full_speed_asks_the_broker_little_and_ends_live(
    rig: Rig, browser: Browser
) -> None:
    page = opened(browser, rig.broker.console, f"plots?name=rig/height&{rig.window(0, 20)}")
    drawn(page)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.get_by_label("Speed of a replay").select_option("100")
    expect(page.locator("#time-mode")).to_have_text("LIVE")
    questions = [url for url in asked if "/api/history" in url]
    assert len(questions) < 30, "a few a second, not one with every frame"


def test_a_table_has_what_is_drawn_with_its_spike_and_its_gap(rig: Rig, browser: Browser) -> None:
    page = opened(browser, rig.broker.console, f"plots?name=rig/height&{rig.window(50, 140)}")
    drawn(page)
    expect(plot(page)).to_have_attribute("data-step", "0")
    with page.expect_download() as saved:
        page.get_by_role("button", name="CSV").click()
    assert re.fullmatch(r"height-\d{8}T\d{6}Z\.csv", saved.value.suggested_filename)
    text = Path(saved.value.path()).read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    heights = [float(row["last"]) for row in rows]
    assert SPIKE in heights
    assert {row["name"] for row in rows} == {"rig/height"}
    assert {row["unit"] for row in rows} == {"m"}
    assert not any(100 <= height < 130 for height in heights)
    assert len(rows) in (600, 601), "ten a second, but for the gap"
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3,6}Z", row["time"]) for row in rows)


def test_a_picture_is_as_large_as_the_plot_and_has_the_mark_and_the_line(
    rig: Rig, browser: Browser
) -> None:
    page = opened(browser, rig.broker.console, f"plots?name=rig/height&{rig.window(0, 20)}")
    drawn(page)
    with page.expect_download() as saved:
        page.get_by_role("button", name="PNG").click()
    png = Path(saved.value.path()).read_bytes()
    assert png.startswith(b"\x89PNG")
    colours = page.evaluate(COLOURS_OF, [list(png), ["--mark", "--plot-1", "--surface"]])
    assert colours["width"] > 800
    assert colours["height"] > 200
    assert colours["--mark"] > 200
    assert colours["--plot-1"] > 200
    assert colours["--surface"] > 10_000


COLOURS_OF = """async ([bytes, names]) => {
  const bitmap = await createImageBitmap(new Blob([new Uint8Array(bytes)], { type: "image/png" }));
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  const pen = canvas.getContext("2d");
  pen.drawImage(bitmap, 0, 0);
  const { data } = pen.getImageData(0, 0, bitmap.width, bitmap.height);
  const style = getComputedStyle(document.body);
  const found = { width: bitmap.width, height: bitmap.height };
  for (const name of names) {
    const hex = style.getPropertyValue(name).slice(1);
    const code = parseInt(hex.length === 3 ? hex.replace(/./g, "$&$&") : hex, 16);
    const near = (at, wanted) => Math.abs(data[at] - wanted) < 24;
    let count = 0;
    for (let at = 0; at < data.length; at += 4)
      if (near(at, code >> 16) && near(at + 1, (code >> 8) & 255) && near(at + 2, code & 255))
        count += 1;
    found[name] = count;
  }
  return found;
}"""


def test_parameters_are_found_added_divided_and_removed(rig: Rig, browser: Browser) -> None:
    page = opened(browser, rig.broker.console, "plots")
    expect(page.get_by_label("Search a parameter to draw")).to_be_focused()
    page.keyboard.type("rig/height")
    page.locator('.plot-start [data-pick="rig/height"]').click()
    page.get_by_role("button", name="+ Add").click()
    page.get_by_label("Search a parameter to add").fill("rig/load")
    page.locator('.picker:not([hidden]) [data-pick="rig/load"]').click()
    for name in ("rig/height", "rig/load"):
        expect(value(page, name)).not_to_be_empty()
    expect(page).to_have_url(re.compile(r"plots\?name=rig/height&name=rig/load$"))
    page.get_by_role("button", name="One plot each").click()
    expect(page.locator(".page:not([hidden]) [data-plot]")).to_have_count(2)
    page.reload()
    expect(page.locator(".page:not([hidden]) [data-plot]")).to_have_count(2)
    page.get_by_role("button", name="Remove rig/load from the plot").click()
    expect(page.locator(".page:not([hidden]) [data-plot]")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"name=rig/height&split=1$"))


def test_an_empty_page_offers_curves_that_are_a_click_away(rig: Rig, browser: Browser) -> None:
    page = opened(browser, rig.broker.console, "plots")
    suggested = page.get_by_role("group", name="Suggested")
    expect(suggested.get_by_role("button")).to_have_count(2)
    suggested.get_by_role("button", name="rig/height").click()
    drawn(page)
    expect(page).to_have_url(re.compile("name=rig/height&name=rig/energy$"))
    expect(page.locator(".plot-start")).to_be_hidden()
    for name in ("rig/height", "rig/energy"):
        page.get_by_role("button", name=f"Remove {name} from the plot").click()
    expect(page.locator(".page:not([hidden]) [data-plot]")).to_have_count(0)
    before = page.get_by_role("group", name="Drawn before")
    before.get_by_role("button", name="rig/height").click()
    drawn(page)
    expect(page).to_have_url(re.compile(r"name=rig/height$"))


def test_a_plot_says_since_when_there_is_anything(rig: Rig, browser: Browser) -> None:
    page = opened(browser, rig.broker.console, f"plots?name=rig/height&{rig.window(-600, 200)}")
    drawn(page)
    expect(plot(page)).to_have_attribute("data-begin", re.compile(r"^0\.7[45]"))
    page.get_by_label("How much time is shown").select_option("60000")
    expect(plot(page)).to_have_attribute("data-begin", "")


def test_in_a_narrow_plot_names_keep_their_end_and_lines_keep_their_room(
    rig: Rig, browser: Browser
) -> None:
    names = "&".join(f"name=rig/{name}" for name in ("height", "energy", "load", "on"))
    context = browser.new_context(viewport={"width": 300, "height": 800})
    page = opened(context, rig.broker.console, f"plots?{names}&{rig.window(0, 60)}")
    drawn(page)
    shown = [one.inner_text() for one in page.locator(".plot-name").all()]
    assert [name.split("/")[-1] for name in shown] == ["height", "energy", "load", "on"]
    assert all(name.split("/")[0] in ("rig", "\u2026") for name in shown)
    legend, over = (plot(page).locator(one).bounding_box() for one in (".plot-legend", ".u-over"))
    assert legend is not None
    assert over is not None
    assert over["width"] > 120, "lines have most of the plot, whatever axes there are"
    assert over["y"] >= legend["y"] + legend["height"]


def test_a_time_that_is_typed_is_shown_and_a_wrong_one_is_marked(
    rig: Rig, browser: Browser
) -> None:
    page = opened(browser, rig.broker.console, "plots?name=rig/height")
    field = page.get_by_label("Shown time in UTC")
    field.fill("yesterday")
    field.press("Enter")
    expect(field).to_have_attribute("data-wrong", "yes")
    field.fill(rig.at(30))
    field.press("Enter")
    expect(page.locator("body")).to_have_attribute("data-time", "paused")
    expect(value(page, "rig/height")).to_have_text(re.compile(r"^(29\.9|30)"))
    page.get_by_label("How much time is shown").select_option("10000")
    expect(page).to_have_url(re.compile("from="))


def test_keys_are_explained_and_leave_fields_alone(rig: Rig, browser: Browser) -> None:
    page = opened(browser, rig.broker.console, "plots?name=rig/height")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Space")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.get_by_role("button", name="+ Add").click()
    page.get_by_label("Search a parameter to add").press_sequentially("l a ?")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.locator("body")).to_have_attribute("data-time", "live")


def test_hostile_names_are_text_and_an_unknown_one_hides_no_other(
    rig: Rig, browser: Browser
) -> None:
    page = new_page(browser)
    bad = "name=__proto__&name=no/such&name=" + "a" * 3_000
    shown = f"name=x/{HOSTILE.replace('=', '%3D')}&name=rig/height"
    page.goto(f"{rig.broker.console}/#/plots?{shown}&{bad}&from=x&to=%00&play=1e99&span=NaN")
    expect(page.locator(".plot-name", has_text=f"x/{HOSTILE}")).to_be_visible()
    drawn(page)
    page.get_by_role("button", name="+ Add").click()
    page.get_by_label("Search a parameter to add").fill("onerror")
    expect(page.locator(".picker-row")).to_have_text([f"x/{HOSTILE}{HOSTILE}"])
    assert page.locator("main img").count() == 0
    assert "hacked" not in page.title()


def test_a_phone_shows_the_bar_the_values_and_the_lines(rig: Rig, browser: Browser) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = opened(
        context, rig.broker.console, f"plots?name=rig/height&name=rig/load&{rig.window(0, 90)}"
    )
    drawn(page)
    for part in (page.locator("#time-bar"), plot(page), page.get_by_label("Shown time in UTC")):
        box = part.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("button", name="Live", exact=True).tap()
    expect(page.locator("body")).to_have_attribute("data-time", "live")
    context.close()
