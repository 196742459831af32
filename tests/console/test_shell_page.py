"""What every page of the console has: the bar, colours, keys, the way to other pages, the title."""

import re
import time

import pytest
from playwright.sync_api import Browser, Page, expect

import slipring
import slipring.sync
from tests.chromium import new_page, opened, visit
from tests.configured_broker import Configured
from tests.limited_broker import Limited
from tests.running_broker import RunningBroker

LONG = "A source with a very long name, as long as those of campaigns of many weeks, flight 211"
MARKED = f'[console]\nsource = "{LONG}"\nmark = "DEMO DATA"\n'
WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
PAGES = (
    "",
    "plots",
    "layouts",
    "broker",
    "clients",
    "flow",
    "topics",
    "storage",
    "requests",
    "pipeline",
    "links",
    "events",
)


def theme(page: Page) -> str:
    return str(page.evaluate("document.documentElement.dataset.theme"))


def text_of(page: Page) -> str:
    return str(page.evaluate("getComputedStyle(document.body).color"))


def test_colours_follow_the_system_until_a_person_chooses_and_the_choice_stays(
    shared_broker: RunningBroker, browser: Browser
) -> None:
    context = browser.new_context(color_scheme="dark")
    page = opened(context, shared_broker.console)
    dark = text_of(page)
    assert theme(page) == "dark"
    page.emulate_media(color_scheme="light")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    assert text_of(page) != dark
    button = page.locator("#theme")
    expect(button).to_have_attribute("aria-label", "Colours: as the system")
    button.click()
    expect(button).to_have_attribute("aria-label", "Colours: dark")
    assert text_of(page) == dark
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    button.click()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    button.click()
    expect(button).to_have_attribute("aria-label", "Colours: as the system")


KEYS_OVER_WORDS = """() => [...document.querySelectorAll("#keys dl > div")]
  .filter((row) => {
    const right = row.querySelector("kbd:last-of-type").getBoundingClientRect().right;
    return right > row.querySelector("dd").getBoundingClientRect().left;
  })
  .map((row) => row.textContent)"""


def test_keys_go_to_pages_and_to_the_search_box_and_are_listed(
    shared_broker: RunningBroker, browser: Browser
) -> None:
    page = opened(browser, shared_broker.console)
    page.keyboard.press("g")
    page.keyboard.press("c")
    expect(page).to_have_url(re.compile("#/clients$"))
    expect(page.locator("#page-title")).to_be_focused()
    expect(page.locator("#page-title")).to_have_text("Clients")
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    expect(page.locator("#keys")).to_contain_text("Data flow")
    expect(page.locator("#keys h2")).to_be_in_viewport()
    assert page.evaluate(KEYS_OVER_WORDS) == []
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()
    page.keyboard.press("g")
    page.keyboard.press("e")
    page.keyboard.press("/")
    search = page.locator("#events-search")
    expect(search).to_be_focused()
    page.keyboard.type("g/?")
    expect(search).to_have_value("g/?")
    expect(page).to_have_url(re.compile("#/events$"))


def test_every_page_opens_by_its_link_and_names_itself(
    shared_broker: RunningBroker, browser: Browser
) -> None:
    page = opened(browser, shared_broker.console)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    first, *others = page.locator("nav.pages li:not([hidden]) a").all()
    for link in (*others, first):
        link.click()
        expect(link).to_have_attribute("aria-current", "page")
        expect(page.locator("#page-title")).to_have_text(link.inner_text())
        expect(page.locator("#page-title")).to_be_focused()
    expect(page.locator('nav.pages a[href="#/links"]')).to_be_hidden()
    assert errors == []


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_window_and_the_bar_stays(
    configured: Configured, browser: Browser, width: int
) -> None:
    page = new_page(browser)
    page.set_viewport_size({"width": width, "height": 700})
    broker = configured(MARKED)
    page.goto(broker.console)
    expect(page.locator("#broker-mark")).to_have_text("DEMO DATA")
    for shown in PAGES:
        page.goto(f"{broker.console}/#/{shown}")
        expect(page.locator(f'.page[data-page="{shown or "overview"}"]')).to_be_visible()
        assert page.evaluate(WIDE) <= 0, shown
    visit(page, "broker")
    page.mouse.wheel(0, 2_000)
    expect(page.locator("#broker-mark")).to_be_in_viewport()
    expect(page.locator("#time-mode")).to_be_in_viewport()
    expect(page.get_by_test_id("connection")).to_be_in_viewport(ratio=1)


def test_the_line_about_health_says_what_is_fine_and_what_is_not(
    broker: RunningBroker, browser: Browser
) -> None:
    page = opened(browser, broker.console)
    parameters, age = page.locator('[data-point="parameters"]'), page.locator('[data-point="age"]')
    expect(parameters).to_contain_text("nothing declared")
    expect(age).to_contain_text("no samples")
    with slipring.sync.connect(broker.url) as bus:
        table = bus.declare("jet", {"rpm": slipring.Parameter("f64")})
        table.write({"rpm": 1.0})
        expect(parameters).to_contain_text("1 live")
        expect(parameters).to_have_attribute("data-health", "good")
        expect(age).to_contain_text("p99")
    expect(parameters).to_contain_text("1 stale")
    expect(parameters).to_have_attribute("data-health", "fault")
    expect(page.locator('[data-point="drops"]')).to_contain_text("nothing lost")
    for name in ("parameters", "samples", "age", "drops"):
        one = page.locator(f'[data-point="{name}"]')
        why = one.locator(".health-why")
        expect(why).to_be_hidden()
        one.hover()
        expect(why).to_be_visible()


def test_a_sample_that_was_long_on_its_way_is_over_the_line(
    broker: RunningBroker, browser: Browser
) -> None:
    page = opened(browser, broker.console)
    age = page.locator('[data-point="age"]')
    with slipring.sync.connect(broker.url) as bus:
        table = bus.declare("jet", {"rpm": slipring.Parameter("f64")})
        table.write({"rpm": 1.0}, time_ns=time.time_ns() - 900_000_000)
        expect(age).to_contain_text("over 200 ms")
        expect(age).to_have_attribute("data-health", "fault")


def test_a_page_is_sent_what_it_shows_and_pinned_values_go_on(
    limited: Limited, browser: Browser
) -> None:
    broker = limited()
    asked: list[str] = []
    page = new_page(browser)
    page.on(
        "websocket",
        lambda socket: (
            socket.on("framesent", lambda text: asked.append(str(text)))
            if "/api/live" in socket.url
            else None
        ),
    )
    page.goto(f"{broker.running.console}/#/clients")
    expect(page.get_by_test_id("connection")).to_contain_text("live")
    broker.client("somebody")
    expect(page.locator('[data-client="somebody"]')).to_be_visible()
    visit(page, "topics")
    expect(page.locator("#values-title")).to_be_visible()
    visit(page, "storage")
    expect(page.locator("#journal-title")).to_be_visible()
    visit(page, "clients")
    broker.client("another")
    expect(page.locator('[data-client="another"]')).to_be_visible()
    assert any('"values"' in text for text in asked)
    assert '{"parts":[]}' in asked
