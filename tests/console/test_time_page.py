"""One time for the whole page, in a browser: live, pause, the past, replay; never confused."""

import re

from playwright.sync_api import Browser, expect

from tests.chromium import opened
from tests.console.plot_rig import Rig, canvas, drawn, plot, rig, value

__all__ = ["rig"]


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


def test_another_page_has_the_shown_time_in_its_address(rig: Rig, browser: Browser) -> None:
    page = opened(browser, rig.broker.console, f"plots?name=rig/height&{rig.window(10, 50)}")
    drawn(page)
    shown = page.get_by_label("Shown time in UTC").input_value()
    pages = page.get_by_role("navigation", name="Pages")
    pages.get_by_role("link", name="Layouts").click()
    expect(page).to_have_url(re.compile(r"#/layouts\?from=.*&to="))
    pages.get_by_role("link", name="Broker").click()
    expect(page).to_have_url(re.compile(r"#/broker$"))
    pages.get_by_role("link", name="Overview").click()
    expect(page).to_have_url(re.compile(r"#/\?from=.*&to="))
    page.reload()
    expect(page.locator("#time-mode")).to_have_text("PAUSED")
    expect(page.get_by_label("Shown time in UTC")).to_have_value(shown)


def test_a_cursor_beyond_the_shown_time_has_no_value(rig: Rig, browser: Browser) -> None:
    page = opened(browser, rig.broker.console, f"plots?name=rig/height&{rig.window(10, 50)}")
    drawn(page)
    left, middle, width = canvas(page)
    page.mouse.click(left + width * 0.75, middle)
    expect(value(page, "rig/height", "a")).to_have_text(re.compile(r"^(39\.9|40)"))
    page.mouse.move(left + width * 0.5, middle)
    expect(value(page, "rig/height")).to_have_text(re.compile(r"^(29\.9|30)"))
    page.get_by_role("link", name="Overview").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#quick-look [data-plot]")).to_have_count(2)
    field = page.get_by_label("Shown time in UTC")
    field.fill(rig.at(20))
    field.press("Enter")
    expect(value(page, "rig/height")).to_have_text(re.compile(r"^(19\.9|20)"))
    expect(value(page, "rig/height", "a")).to_have_text("\u2013")
    expect(plot(page).locator(".plot-at")).to_be_empty()


def test_the_time_field_goes_on_after_a_time_was_typed(rig: Rig, browser: Browser) -> None:
    page = opened(browser, rig.broker.console, f"plots?name=rig/height&{rig.window(0, 20)}&play=10")
    expect(page.locator("body")).to_have_attribute("data-time", "replay")
    field = page.get_by_label("Shown time in UTC")
    field.fill(rig.at(30))
    field.press("Enter")
    expect(field).not_to_have_value(rig.at(30))
    expect(field).to_be_focused()
    field.press_sequentially("1")
    expect(field).to_have_value(re.compile("^.*1.*$"))
    typed = field.input_value()
    expect(value(page, "rig/height")).to_have_text(re.compile(r"^[6-9]\d\."))
    assert field.input_value() == typed


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
