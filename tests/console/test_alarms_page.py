"""The page of alarms in a browser: they appear, are acknowledged, shelved, commented, and stay."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.alarm_peers import exhaust
from tests.chromium import PATIENCE_MS, new_page, opened, visit
from tests.console.test_login import PASSWORD, USERS
from tests.running_broker import RunningBroker, broker_in

HOSTILE = "x/<img src=x onerror=document.title='harm'>\u202e\"&'?#"


def card(page: Page, parameter: str) -> Locator:
    found = page.locator(".alarm-list").first.locator(".alarm-card")
    return found.filter(has=page.get_by_text(parameter, exact=True))


def press(where: Locator, name: str) -> None:
    where.get_by_role("button", name=name).click()


def test_an_alarm_appears_is_acknowledged_ends_and_is_history(
    broker: RunningBroker, browser: Browser
) -> None:
    page = opened(browser, broker.console, "alarms")
    expect(page.locator(".alarms .empty")).to_contain_text("No alarms")
    with exhaust(broker) as egt:
        egt.sample("jet/egt", 860.0)
        alarm = card(page, "jet/egt")
        expect(alarm).to_contain_text("above its limit: 860 degC, limit 850 degC")
        expect(alarm.locator(".alarm-mark")).to_have_text("▲")
        expect(alarm.locator(".alarm-level")).to_have_text("warning")
        expect(page.locator('.alarms [aria-live="polite"]')).to_contain_text(
            "warning alarm: jet/egt"
        )
        link = page.locator('nav.pages a[href="#/alarms"]')
        expect(link).to_have_attribute("data-badge", "1")
        press(alarm, "Acknowledge jet/egt high")
        expect(alarm).to_contain_text("acknowledged by somebody at 127.0.0.1")
        expect(page.locator(".alarms .panel-head")).to_contain_text("1 alarm acknowledged")
        expect(link).not_to_have_attribute("data-badge", re.compile("."))
        egt.sample("jet/egt", 700.0)
        expect(page.locator(".alarms .empty")).to_contain_text("within its limits")
        page.get_by_text("History", exact=True).click()
        past = page.locator(".alarm-history .alarm-card")
        expect(past).to_contain_text("ended after")
        expect(past.locator("button:visible")).to_have_count(0)


def test_both_levels_of_a_limit_are_one_row_and_one_deed(
    broker: RunningBroker, browser: Browser
) -> None:
    page = opened(browser, broker.console, "alarms")
    with exhaust(broker) as egt:
        egt.sample("jet/egt", 1_000.0)
        alarm = card(page, "jet/egt")
        expect(alarm).to_have_count(1)
        expect(alarm).to_contain_text("far above its limit")
        expect(page.locator(".alarms .panel-head")).to_contain_text("2 not acknowledged; 1 row")
        press(alarm, "Acknowledge jet/egt high_critical")
        expect(page.locator(".alarms .panel-head")).to_contain_text("2 alarms acknowledged")
        expect(alarm).to_contain_text("acknowledged by somebody at 127.0.0.1")
        height = alarm.bounding_box()
        assert height is not None
        assert height["height"] < 80  # one line, and who acknowledged it
        alarm.locator("summary").click()
        alarm.get_by_role("textbox", name="Comment").fill("known")
        alarm.get_by_role("textbox", name="Comment").press("Enter")
        expect(alarm.locator(".alarm-comments li")).to_have_count(1)


def test_a_person_shelves_and_comments_by_keyboard_and_the_words_stay(
    tmp_path: Path, browser: Browser
) -> None:
    with broker_in(tmp_path) as first, exhaust(first) as egt:
        page = opened(browser, first.console, "alarms")
        egt.sample("jet/egt", 860.0)
        alarm = card(page, "jet/egt")
        alarm.locator("summary").focus()
        page.keyboard.press("Enter")
        comment = alarm.get_by_role("textbox", name="Comment")
        comment.fill("the probe is broken")
        comment.press("Enter")
        expect(alarm.locator(".alarm-comments")).to_contain_text("the probe is broken")
        expect(comment).to_have_value("")
        alarm.get_by_role("combobox", name="For how long").select_option("1 hour")
        alarm.get_by_role("button", name="Shelve").press("Enter")
        expect(alarm).to_contain_text("shelved by somebody at 127.0.0.1 until")
        page.close()
    with broker_in(tmp_path) as second:
        page = opened(browser, second.console, "alarms")
        alarm = card(page, "jet/egt")
        expect(alarm).to_contain_text("shelved by somebody at 127.0.0.1 until")
        expect(alarm.locator(".alarm-comments")).to_contain_text("the probe is broken")
        press(alarm, "Take back")
        expect(alarm).not_to_contain_text("shelved by")


def test_a_hostile_name_is_shown_and_does_no_harm_on_a_phone_either(
    broker: RunningBroker, browser: Browser
) -> None:
    page = new_page(browser.new_context(viewport={"width": 390, "height": 844}))
    page.goto(f"{broker.console}/#/alarms")
    name = HOSTILE.replace("#", "") + "y" * 200
    with exhaust(broker, name) as egt:
        egt.sample(name, 1_000.0)
        shown = page.locator(".alarm-name").first
        expect(shown).to_contain_text("<img src=x onerror=document.title='harm'>\u2039U+202E\u203a")
        expect(page.locator(".alarm-card")).to_have_count(1)
        assert page.title() != "harm"
        assert page.locator(".alarms img").count() == 0
        assert page.evaluate("document.scrollingElement.scrollWidth") <= 390
        shown.click()
        expect(page).to_have_url(re.compile(r"#/\?parameter=x%2F%3Cimg"))


@pytest.mark.parametrize(("user", "buttons"), [("otto", True), ("vera", False)])
def test_only_who_may_act_is_offered_to(
    tmp_path: Path, browser: Browser, user: str, buttons: bool
) -> None:
    with (
        broker_in(tmp_path, config=USERS) as running,
        exhaust(running, user="vera", password=PASSWORD) as egt,
    ):
        page = browser.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.goto(running.console)
        page.locator("#login-user").fill(user)
        page.locator("#login-password").fill(PASSWORD)
        page.locator("#login-button").click()
        expect(page.get_by_test_id("connection")).to_contain_text("live")
        visit(page, "alarms")
        egt.sample("jet/egt", 860.0)
        alarm = card(page, "jet/egt")
        expect(alarm).to_contain_text("above its limit")
        expect(alarm.get_by_role("button", name="Acknowledge")).to_have_count(int(buttons))
        if buttons:
            press(alarm, "Acknowledge")
            expect(alarm).to_contain_text("acknowledged by otto")
