"""Logging in with a browser: the form, the keyboard, log out, and what is shown to whom."""

from playwright.sync_api import Browser, Page, expect

from tests.chromium import PATIENCE_MS, new_page
from tests.configured_broker import Configured
from tests.console.test_login import OTHER, PASSWORD, RULES, USERS, people, user
from tests.raw_mqtt import V5
from tests.running_broker import RunningBroker

__all__ = ["people"]


def form(browser: Browser, console: str, shown: str = "") -> Page:
    """A page that asks for a login."""
    page = new_page(browser.new_context())
    page.goto(f"{console}/#/{shown}")
    expect(page.locator("#login-form")).to_be_visible()
    return page


def log_in(page: Page, name: str, password: str = PASSWORD) -> None:
    """By the keyboard alone: the first field has the focus."""
    expect(page.locator("#login-user")).to_be_focused()
    page.keyboard.type(name)
    page.keyboard.press("Tab")
    page.keyboard.type(password)
    page.keyboard.press("Enter")


def test_a_person_logs_in_sees_who_they_are_and_logs_out(
    people: RunningBroker, browser: Browser
) -> None:
    page = form(browser, people.console)
    expect(page.locator("#login-sentence")).to_have_text("This broker has users. Log in to see it.")
    expect(page.locator("main")).to_be_hidden()
    log_in(page, "vera", "wrong")
    trouble = page.locator("#login-trouble")
    expect(trouble).to_have_text("The user name or the password is wrong.")
    expect(page.locator("#login-password")).to_be_focused()
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("connection")).to_contain_text("live")
    expect(page.locator("#visitor")).to_contain_text("vera viewer")
    expect(page.locator("#login-form")).to_be_hidden()
    page.get_by_role("button", name="Log out").click()
    expect(page.locator("#login-form")).to_be_visible()
    expect(page.locator("#visitor")).to_be_hidden()


def test_buttons_are_shown_to_who_may_use_them(people: RunningBroker, browser: Browser) -> None:
    for name, role, is_shown in (("vera", "viewer", False), ("otto", "operator", True)):
        page = form(browser, people.console, "broker")
        log_in(page, name)
        expect(page.locator("#visitor-role")).to_have_text(role)
        expect(page.locator("#memory-used")).to_contain_text("of")
        expect(page.locator("#memory-form")).to_be_visible(visible=is_shown)


def test_an_operator_changes_the_budget_by_the_page(
    configured: Configured, browser: Browser
) -> None:
    page = form(browser, configured(USERS).console, "broker")
    log_in(page, "otto")
    page.on("dialog", lambda dialog: dialog.accept())
    page.locator("#memory-size").fill("700MB")
    page.locator("#memory-form button").click()
    expect(page.locator("#memory-said")).to_have_text("the memory budget is 700 MB now")


def test_who_may_watch_some_topics_is_shown_only_these(
    configured: Configured, browser: Browser
) -> None:
    broker = configured(USERS)
    writer = broker.peer("writer", username="anna", password=PASSWORD.encode())
    writer.send(V5.publish("own/speed", b"42"), V5.publish("other/secret", b"7"))
    page = form(browser, broker.console, "topics")
    log_in(page, "narrow")
    expect(page.locator("#visitor-role")).to_have_text("viewer of some topics")
    expect(page.locator("#values")).to_contain_text("own/speed")
    expect(page.locator("#clients-title")).to_be_hidden()
    assert "secret" not in page.content()
    assert "writer" not in page.content()


def test_a_page_whose_user_was_removed_shows_the_form_and_says_why(
    configured: Configured, browser: Browser
) -> None:
    broker = configured(user("vera", "viewer") + RULES)
    page = form(browser, broker.console)
    log_in(page, "vera")
    expect(page.get_by_test_id("connection")).to_contain_text("live")
    broker.reload(user("vera", "viewer", verifier=OTHER) + RULES)
    sentence = page.locator("#login-sentence")
    expect(sentence).to_have_text(
        "Your user was removed, or its password was changed. Log in again.", timeout=PATIENCE_MS
    )
    expect(page.locator("main")).to_be_hidden()
    log_in(page, "vera", "another")
    expect(page.get_by_test_id("connection")).to_contain_text("live")


def test_the_form_is_legible_in_dark_and_in_light(people: RunningBroker, browser: Browser) -> None:
    page = form(browser, people.console)
    colours = set()
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        style = "(one) => [getComputedStyle(one).color, getComputedStyle(one).backgroundColor]"
        text, ground = page.locator("#login-user").evaluate(style)
        assert text != ground
        colours.add((text, ground))
    assert len(colours) == 2
