"""Plots in a browser: past and present, zoom, pause, replay, cursors, and what is saved of them."""

import csv
import io
import re
from datetime import UTC, datetime
from pathlib import Path

from playwright.sync_api import Browser, expect

import slipring.sync
from slipring import Parameter
from tests.chromium import new_page, opened
from tests.console.plot_rig import (
    FORMULA,
    HOSTILE,
    PARAMETERS,
    SPIKE,
    Rig,
    canvas,
    drawn,
    plot,
    rig,
    value,
)
from tests.running_broker import RunningBroker

__all__ = ["rig"]


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


SINGLE_SAMPLES_MS = 80_000
"""At 10 Hz a screen has a column for each sample of so much time."""


def test_a_zoom_reads_finer_steps_and_an_address_brings_the_time_back(
    rig: Rig, browser: Browser
) -> None:
    page = new_page(browser)
    page.goto(f"{rig.broker.console}/#/plots?name=rig/height&{rig.window(-3_000, 240)}")
    expect(page.locator("body")).to_have_attribute("data-time", "paused")
    drawn(page)
    expect(plot(page)).to_have_attribute("data-step", re.compile(r"^\d{4,}$"))
    left, middle, width = canvas(page)
    page.mouse.move(left + width - 1, middle)
    span_ms = page.get_by_label("How much time is shown")
    while float(span_ms.input_value()) > SINGLE_SAMPLES_MS:
        page.mouse.wheel(0, -200)
        page.evaluate("() => new Promise(requestAnimationFrame)")
    drawn(page)
    expect(plot(page)).to_have_attribute("data-step", "0")
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


EXACT = r"\d{4}-\d\d-\d\dT[\d:]{8}\.\d{9}Z"


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
    wrong = [row for row in rows if not re.fullmatch(EXACT, row["time"])]
    assert not wrong
    times = {datetime.fromisoformat(row["time"][:26] + "+00:00") for row in rows}
    assert len(times) == len(rows)
    exact = rig.began_ns + 55 * 10**9
    at = datetime.fromtimestamp(exact // 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    assert f"{at}.{exact % 10**9:09}Z" in {row["time"] for row in rows}


def test_a_spike_is_seen_where_a_pixel_has_hundreds_of_samples(rig: Rig, browser: Browser) -> None:
    page = opened(browser, rig.broker.console, f"plots?name=rig/height&{rig.window(-20_000, 230)}")
    drawn(page)
    expect(plot(page)).to_have_attribute("data-step", re.compile(r"^\d{4,}"))
    with page.expect_download() as saved:
        page.get_by_role("button", name="CSV").click()
    text = Path(saved.value.path()).read_text(encoding="utf-8")
    assert max(float(row["max"]) for row in csv.DictReader(io.StringIO(text))) == SPIKE
    column = page.evaluate(LONGEST_COLUMN)
    assert column > 0.7, "the line reaches from the ground to the spike"


LONGEST_COLUMN = """() => {
  const canvas = document.querySelector("[data-plot] canvas");
  const style = getComputedStyle(document.body).getPropertyValue("--plot-1").slice(1);
  const code = parseInt(style, 16);
  const { width, height } = canvas;
  const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
  const near = (at, wanted) => Math.abs(data[at] - wanted) < 60;
  let longest = 0;
  for (let x = 0; x < width; x += 1) {
    let count = 0;
    for (let y = 0; y < height; y += 1) {
      const at = 4 * (y * width + x);
      if (near(at, code >> 16) && near(at + 1, (code >> 8) & 255) && near(at + 2, code & 255))
        count += 1;
    }
    longest = Math.max(longest, count);
  }
  return longest / document.querySelector("[data-plot] .u-over").clientHeight;
}"""


def test_a_millisecond_shows_its_samples_or_how_far_they_are(rig: Rig, browser: Browser) -> None:
    page = opened(browser, rig.broker.console, f"plots?name=rig/height&{rig.window(30, 30.001)}")
    drawn(page)
    field = value(page, "rig/height")
    left, middle, width = canvas(page)
    page.mouse.move(left + width / 2, middle)
    exact = f"{(rig.began_ns + 30 * 10**9) % 10**9:09}Z"
    expect(field).to_have_attribute("title", re.compile(f"measured .*{exact}$"))
    page.goto(f"{rig.broker.console}/#/plots?name=rig/height&{rig.window(30.008, 30.048)}")
    expect(plot(page).locator(".plot-said")).to_contain_text(
        re.compile(r"No samples in this time; the newest is [78](\.\d+)? ms before it")
    )


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
