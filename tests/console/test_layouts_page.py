"""Layouts in a browser: arranged by dragging, saved, shared by address, never lost unseen."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, BrowserContext, FloatRect, Locator, Page, expect

import slipring.sync
from slipring import AlarmLimits, Parameter
from tests.chromium import PATIENCE_MS, opened
from tests.running_broker import RunningBroker, kept_address, shared_broker

__all__ = ["shared_broker"]

HOSTILE = "<img src=x onerror=document.title='hacked'>"
ENGINE = {
    "rpm": Parameter("f64", unit="1/min", range=(0, 16_000), limits=AlarmLimits(high=15_000)),
    "egt": Parameter("f32", unit="Cel"),
    "stage": Parameter("enum", labels={0: "off", 1: "running"}),
    "note": Parameter("text"),
}
PHONE = {"width": 390, "height": 844}
NAMES = [f"jet/engine/{name}" for name in ENGINE]


def widget(kind: str, x: int, y: int, w: int, h: int, *names: str, title: str = "") -> Any:
    options = {"names": list(names)}
    return {"kind": kind, "title": title, "x": x, "y": y, "w": w, "h": h, "options": options}


EVERY = [
    widget("number", 0, 0, 3, 3, NAMES[0]),
    widget("gauge", 3, 0, 4, 5, NAMES[0]),
    widget("table", 7, 0, 5, 5, *NAMES),
    widget("states", 0, 5, 7, 4, NAMES[2]),
    widget("log", 7, 5, 5, 4, NAMES[3]),
    widget("xy", 0, 9, 6, 5, NAMES[0], NAMES[1]),
    widget("broker", 6, 9, 6, 5),
]


@contextmanager
def flying(broker: RunningBroker) -> Iterator[Any]:
    """An engine whose first values are there."""
    with slipring.sync.connect(broker.url) as bus:
        engine = bus.declare("jet/engine", ENGINE)
        engine.write({"rpm": 12_000.0, "egt": 600.0, "stage": "running", "note": "lit"})
        yield engine


def saved(broker: RunningBroker, name: str, *widgets: Any, title: str = "Climb") -> None:
    body = {"title": title, "widgets": list(widgets)}
    httpx.put(f"{broker.console}/api/layouts/{name}", json=body).raise_for_status()


def kept(broker: RunningBroker, name: str) -> list[Any]:
    return list(httpx.get(f"{broker.console}/api/layouts/{name}").json()["widgets"])


def frame(page: Page, number: int) -> Locator:
    """A widget, in the order in which they were added."""
    return page.locator(".frame").nth(number)


def box(one: Locator) -> FloatRect:
    found = one.bounding_box()
    assert found is not None
    return found


def drag(page: Page, grip: Locator, right: float, down: float) -> None:
    """Take a thing by its middle, and let it go elsewhere."""
    at = box(grip)
    x, y = at["x"] + at["width"] / 2, at["y"] + at["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + right / 2, y + down / 2)
    page.mouse.move(x + right, y + down)
    page.mouse.up()


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def add(page: Page, kind: str, *names: str, title: str = "") -> None:
    press(page, "Add a widget")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Kind").select_option(kind)
    dialog.get_by_label("Title").fill(title)
    for name in names:
        dialog.get_by_role("button", name="+ Add").click()
        dialog.get_by_role("searchbox").fill(name)
        dialog.locator(f'[data-pick="{name}"]').click()
    dialog.get_by_role("button", name="Done").click()
    expect(dialog).to_have_count(0)


def save(page: Page) -> None:
    press(page, "Save")
    expect(page.locator(".layout-state")).to_have_text("")
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_disabled()


def test_a_layout_is_made_by_dragging_and_survives_a_reload_a_restart_and_another_browser(
    tmp_path: Path, browser: Browser
) -> None:
    with kept_address() as console:
        broker = RunningBroker.start(tmp_path / "data", "--console", console)
        try:
            with flying(broker):
                page = opened(browser, broker.console, "layouts")
                page.get_by_placeholder("Title of a new layout").fill("My climb")
                press(page, "New layout")
                expect(page.locator(".layout-view > .empty")).to_contain_text("add a widget")
                add(page, "gauge", "jet/engine/rpm")
                add(page, "number", "jet/engine/egt", title="Temperature")
                expect(page.locator(".frame")).to_have_count(2)
                step = box(page.locator(".board-grid"))["width"] / 12
                drag(page, frame(page, 0).locator(".frame-title"), 6 * step, 0)
                drag(page, frame(page, 0).locator(".frame-corner"), step, 104)
                expect(page.locator(".layout-state")).to_have_text("not saved")
                save(page)
                gauge, number = kept(broker, "my-climb")
                assert (gauge["x"], gauge["y"], gauge["w"], gauge["h"]) == (6, 0, 4, 7)
                assert (number["x"], number["title"]) == (3, "Temperature")
                before = box(frame(page, 0))
                page.reload()
                expect(page.locator(".frame")).to_have_count(2)
                assert box(frame(page, 0)) == before
            assert broker.stop()[0] == 0
            broker = RunningBroker.start(tmp_path / "data", "--console", console)
            other = opened(_other(browser), broker.console, "layouts/my-climb")
            expect(other.locator(".layout-title")).to_have_text("My climb")
            expect(other.locator(".frame")).to_have_count(2)
            assert abs(box(frame(other, 0))["x"] - before["x"]) < 2
        finally:
            broker.stop()


def _other(browser: Browser) -> BrowserContext:
    """Somebody else's browser."""
    return browser.new_context(viewport={"width": 1280, "height": 720})


def test_what_is_not_saved_is_marked_and_offered_again_after_a_reload(
    shared_broker: RunningBroker, browser: Browser
) -> None:
    saved(shared_broker, "climb-1", widget("broker", 0, 0, 6, 4), widget("log", 6, 0, 6, 4))
    page = opened(browser, shared_broker.console, "layouts/climb-1")
    press(page, "Edit")
    frame(page, 1).get_by_role("button", name="Remove").click()
    expect(page.locator(".frame")).to_have_count(1)
    expect(page.locator(".layout-state")).to_have_text("not saved")
    page.reload()
    expect(page.locator(".frame")).to_have_count(2)
    expect(page.locator(".question")).to_contain_text("did not save it")
    press(page, "Go on with it")
    expect(page.locator(".frame")).to_have_count(1)
    press(page, "Undo")
    expect(page.locator(".frame")).to_have_count(2)
    expect(page.locator(".layout-state")).to_have_text("")
    press(page, "Redo")
    save(page)
    assert [one["kind"] for one in kept(shared_broker, "climb-1")] == ["broker"]
    page.reload()
    expect(page.locator(".frame")).to_have_count(1)
    expect(page.locator(".question")).to_be_hidden()


def test_by_keyboard_widgets_are_moved_resized_and_taken_back(
    shared_broker: RunningBroker, browser: Browser
) -> None:
    saved(shared_broker, "climb-2", widget("broker", 0, 0, 4, 4), widget("log", 0, 4, 4, 4))
    page = opened(browser, shared_broker.console, "layouts/climb-2")
    press(page, "Edit")
    grip = frame(page, 0).locator(".frame-grip")
    grip.focus()
    for key in ("ArrowRight", "ArrowDown", "Shift+ArrowRight", "Shift+ArrowDown"):
        page.keyboard.press(key)
    expect(grip).to_be_focused()
    expect(page.locator(".board [role=status]")).to_contain_text("column 2, row 5, 5 wide, 5 high")
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+s")
    expect(page.locator(".layout-state")).to_have_text("")
    moved, log = kept(shared_broker, "climb-2")
    assert (moved["x"], moved["y"], moved["w"], moved["h"]) == (1, 4, 5, 4)
    assert (log["x"], log["y"]) == (0, 0)


def test_two_people_who_save_at_once_do_not_overwrite_each_other_unseen(
    shared_broker: RunningBroker, browser: Browser
) -> None:
    saved(shared_broker, "climb-3", widget("broker", 0, 0, 4, 4), widget("log", 4, 0, 4, 4))
    mine = opened(browser, shared_broker.console, "layouts/climb-3")
    press(mine, "Edit")
    frame(mine, 0).get_by_role("button", name="Remove").click()
    saved(shared_broker, "climb-3", widget("table", 0, 0, 4, 4), title="Theirs")
    press(mine, "Save")
    expect(mine.locator(".question")).to_contain_text("after you opened it")
    assert [one["kind"] for one in kept(shared_broker, "climb-3")] == ["table"]
    press(mine, "Load the saved one")
    expect(mine.locator(".frame")).to_have_count(1)
    expect(mine.locator(".frame")).to_have_attribute("data-kind", "table")
    mine.get_by_label("Title of the layout").fill("Ours")
    mine.get_by_label("Title of the layout").blur()
    saved(shared_broker, "climb-3", widget("log", 0, 0, 4, 4))
    press(mine, "Save")
    press(mine, "Overwrite it with mine")
    expect(mine.locator(".layout-state")).to_have_text("")
    assert [one["kind"] for one in kept(shared_broker, "climb-3")] == ["table"]


def test_every_widget_shows_values_and_what_is_wrong_with_them(
    shared_broker: RunningBroker, browser: Browser
) -> None:
    saved(shared_broker, "every-4", *EVERY)
    with flying(shared_broker) as engine:
        page = opened(browser, shared_broker.console, "layouts/every-4")
        number, gauge, table = (page.locator(f'[data-kind="{one}"]') for one in _KINDS[:3])
        expect(number.locator(".big-value")).to_have_text("12000")
        expect(gauge.locator(".dial-value")).to_have_text("12000")
        expect(gauge.locator("svg")).to_have_attribute("aria-label", "jet/engine/rpm: 12000 1/min")
        row = table.locator(f'[data-parameter="{NAMES[0]}"]')
        expect(row.locator(".value-parameter")).to_have_text("rpm")
        expect(row.locator(".value-unit")).to_have_text("1/min")
        states = page.locator('[data-kind="states"]')
        expect(states.locator(".state-now")).to_have_text("running")
        expect(page.locator('[data-kind="log"] .log-text').first).to_have_text("lit")
        expect(page.locator('[data-kind="xy"] canvas')).to_have_attribute(
            "aria-label", "jet/engine/rpm 12000 1/min, jet/engine/egt 600 °C"
        )
        expect(page.locator('[data-kind="broker"] .big-label').first).to_have_text("Messages in")
        engine.write({"rpm": 15_500.0, "note": "fast"})
        for one in (number.locator(".big"), gauge.locator(".dial"), row):
            expect(one).to_have_attribute("data-severity", "warning")
        expect(number.locator(".why")).to_contain_text("above the limit of 15000")
        expect(page.locator('[data-kind="log"] .log-text').first).to_have_text("fast")
    for one in (number.locator(".big"), gauge.locator(".dial"), row, states.locator(".state-row")):
        expect(one).to_have_attribute("data-severity", "stale")
    expect(row.locator(".value-state")).to_contain_text("stale")
    expect(states.locator(".state-now")).to_have_text("running (stale)")


_KINDS = [one["kind"] for one in EVERY]


MARK_OF_NOW = """() => {
  const shown = document.querySelector('[data-kind="broker"] .instrument');
  return getComputedStyle(shown, "::before").content;
}"""


def test_widgets_follow_the_time_and_say_that_it_is_not_now(
    shared_broker: RunningBroker, browser: Browser
) -> None:
    saved(shared_broker, "every-5", *EVERY)
    with flying(shared_broker) as engine:
        page = opened(browser, shared_broker.console, "layouts/every-5")
        value = page.locator('[data-kind="number"] .big-value')
        expect(value).to_have_text("12000")
        press(page, "Pause")
        engine.write({"rpm": 9_000.0})
        expect(page.locator("body")).to_have_attribute("data-time", "paused")
        assert "LIVE" in page.evaluate(MARK_OF_NOW)
        expect(value).to_have_text("12000")
        press(page, "Live")
        expect(value).to_have_text("9000")


def test_a_ready_made_layout_cannot_be_changed_but_copied_renamed_and_deleted(
    broker: RunningBroker, browser: Browser
) -> None:
    page = opened(browser, broker.console, "layouts/flight")
    expect(page.locator(".layout-view > .empty")).to_contain_text(
        "No parameter has a name like those of a flight"
    )
    page.goto(f"{broker.console}/#/layouts/broker")
    expect(page.locator(".frame")).to_have_count(4)
    expect(page.get_by_role("button", name="Edit", exact=True)).to_be_hidden()
    press(page, "Copy")
    expect(page.get_by_label("Title of the layout")).to_have_value("Broker (copy)")
    assert page.url.split("?")[0].endswith("#/layouts/broker-copy")
    page.get_by_role("link", name="All layouts").click()
    row = page.locator('[data-layout="broker-copy"]')
    row.get_by_role("button", name="Rename").click()
    row.get_by_role("textbox").fill("Night watch")
    row.get_by_role("button", name="Rename").click()
    expect(row.get_by_role("link")).to_have_text("Night watch")
    row.get_by_role("button", name="Delete").click()
    press(page, "Keep it")
    expect(row).to_have_count(1)
    row.get_by_role("button", name="Delete").click()
    press(page, "Delete it")
    expect(row).to_have_count(0)


def test_hostile_titles_and_names_of_parameters_stay_text(
    shared_broker: RunningBroker, browser: Browser
) -> None:
    name = f"evil/{HOSTILE}\u202e"
    kinds = ("number", "gauge", "table", "states", "log", "xy", "plot")
    widgets = [
        widget(kind, 0, row * 4, 12, 4, name, "evil/b", title=HOSTILE if row % 2 else "")
        for row, kind in enumerate(kinds)
    ]
    with slipring.sync.connect(shared_broker.url) as bus:
        evil = bus.declare("evil", {name.removeprefix("evil/"): Parameter("text")})
        evil.write({name.removeprefix("evil/"): f"{HOSTILE}\x1b[2J"})
        saved(shared_broker, "evil", *widgets, title=HOSTILE)
        page = opened(browser, shared_broker.console, "layouts/evil")
        expect(page.locator(".layout-title")).to_have_text(HOSTILE)
        log = page.locator('[data-kind="log"]')
        log.scroll_into_view_if_needed()
        expect(log.locator(".log-text").first).to_contain_text("<img src=x")
        press(page, "Edit")
        frame(page, 1).get_by_role("button", name="Change").click()
        expect(page.get_by_role("dialog")).to_contain_text("<img src=x")
        page.get_by_role("button", name="Cancel").click()
        page.goto(f"{shared_broker.console}/#/layouts")
        expect(page.locator('[data-layout="evil"]')).to_contain_text("<img src=x")
        assert page.locator("main img").count() == 0
        assert not {"\x1b", "\u202e"} & set(page.locator("main").inner_text())
        assert page.title() != "hacked"


def test_a_layout_that_is_not_there_and_a_strange_address_get_a_sentence(
    shared_broker: RunningBroker, browser: Browser
) -> None:
    page = opened(browser, shared_broker.console, "layouts/absent")
    expect(page.locator(".layout-view > .empty")).to_have_text("There is no layout absent.")
    page.goto(f"{shared_broker.console}/#/layouts/..%2F..%2Fpasswd")
    expect(page.locator(".layout-view > .empty")).to_contain_text(
        "The name of a layout has 1 to 64 characters"
    )


def test_on_a_phone_widgets_stand_below_each_other_and_fit(
    shared_broker: RunningBroker, browser: Browser
) -> None:
    saved(shared_broker, "every-8", *EVERY)
    with flying(shared_broker):
        context = browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True)  # type: ignore[arg-type]
        page = opened(context, shared_broker.console, "layouts/every-8")
        expect(page.locator(".frame")).to_have_count(len(EVERY))
        boxes = [box(one) for one in page.locator(".frame").all()]
        assert all(one["x"] == boxes[0]["x"] and one["width"] > 340 for one in boxes)
        tops = [one["y"] for one in boxes]
        assert sorted(tops) == tops
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        states = page.locator('[data-kind="states"]')
        states.scroll_into_view_if_needed()
        expect(states.locator(".state-now")).to_have_text("running")
        for part in (".state-label", ".state-now"):
            assert states.locator(part).evaluate("one => one.scrollWidth <= one.clientWidth")
        press(page, "Edit")
        expect(frame(page, 0).locator(".frame-corner")).to_be_hidden()
        frame(page, 6).get_by_role("button", name="Remove").tap()
        expect(page.locator(".frame")).to_have_count(len(EVERY) - 1)


def test_a_plot_keeps_its_axis_when_its_legend_grows(
    shared_broker: RunningBroker, browser: Browser
) -> None:
    plots = [widget("plot", at * 4, 0, 4, 5, name) for at, name in enumerate(NAMES[:2])]
    saved(shared_broker, "axis-10", *plots)
    with flying(shared_broker):
        page = opened(browser, shared_broker.console, f"plots?name={NAMES[2]}")
        for key in ("Space", "a", "b"):
            page.keyboard.press(key)
        page.evaluate("location.hash = '#/layouts/axis-10'")
        for number in range(len(plots)):
            shown = frame(page, number)
            expect(shown.locator(".plot-legend-head")).to_contain_text("B ")
            expect(shown.locator(".plot-unit")).not_to_be_empty()
            page.wait_for_function(FITS, arg=number)


FITS = """number => {
  const host = document.querySelectorAll(".frame .plot-host")[number];
  const { clientHeight } = host.querySelector(".uplot");
  return clientHeight > 0 && clientHeight <= host.clientHeight;
}"""


def test_by_touch_a_widget_is_dragged(shared_broker: RunningBroker, browser: Browser) -> None:
    saved(shared_broker, "climb-9", widget("broker", 0, 0, 4, 4))
    context = browser.new_context(viewport={"width": 1024, "height": 768}, has_touch=True)
    page = opened(context, shared_broker.console, "layouts/climb-9?edit")
    expect(frame(page, 0).locator(".frame-grip")).to_be_visible()
    at = box(frame(page, 0).locator(".frame-head"))
    touch = context.new_cdp_session(page)
    x, y = at["x"] + 40, at["y"] + 10
    for kind, points in (
        ("touchStart", [{"x": x, "y": y}]),
        ("touchMove", [{"x": x + 330, "y": y}]),
        ("touchMove", [{"x": x + 670, "y": y}]),
        ("touchEnd", []),
    ):
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    expect(page.locator(".layout-state")).to_have_text("not saved", timeout=PATIENCE_MS)
    save(page)
    assert kept(shared_broker, "climb-9")[0]["x"] == 8
