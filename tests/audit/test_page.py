"""The audit in a browser: who sees it, searching it, its pages, and hostile names."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.audit.records import awaited, of_kind
from tests.audit.users import PASSWORD, USERS, VERIFIER
from tests.configured_broker import Configured, ConfiguredBroker, configured
from tests.console.test_login_page import form, log_in

__all__ = ["configured"]

HOSTILE = "<img src=x onerror=document.title='taken'>\x1b[2J\u202e"
VIEWER = f"\n[[user]]\nname = 'vera'\npassword = '{VERIFIER}'\nroles = ['viewer']\n"
MANY = 250
"""More than one page of records."""


def _shown(page: Page, broker: ConfiguredBroker, name: str) -> Page:
    log_in(page, name, PASSWORD.decode())
    expect(page.get_by_test_id("connection")).to_contain_text("live")
    return page


def _cells(page: Page, label: str) -> list[str]:
    return page.locator(f"#audit-table tbody tr [data-label='{label}']").all_text_contents()


@pytest.fixture
def broker(configured: Configured) -> ConfiguredBroker:
    return configured(USERS + VIEWER)


def test_an_administrator_searches_the_audit_and_names_stay_text(
    broker: ConfiguredBroker, tmp_path: Path, browser: Browser
) -> None:
    broker.peer(HOSTILE, username="anna", password=PASSWORD).close()
    awaited(tmp_path / "data", of_kind("disconnected", client=HOSTILE))
    page = _shown(form(browser, broker.console, "events"), broker, "root")
    page.locator("#audit-kind").select_option("connected")
    page.locator("#audit-user").fill("anna")
    page.get_by_role("button", name="Show the newest").click()
    row = page.locator("#audit-table tbody tr")
    expect(row).to_have_count(1)
    expect(row.locator("[data-label='User']")).to_have_text("anna (password)")
    expect(row.locator("[data-label='Client']")).to_contain_text("<img src=x onerror")
    assert page.locator("#audit-table img").count() == 0
    assert not {"\x1b", "\u202e"} & set(page.locator("#audit-table").inner_text())
    page.locator("#audit-user").fill("nobody")
    page.get_by_role("button", name="Show the newest").click()
    expect(page.locator("#audit-empty")).to_have_text("No record is like this.")
    # Reading the audit is in the audit.
    found = awaited(tmp_path / "data", of_kind("read", topic="/api/audit"))
    assert (found["user"], found["proof"]) == ("root", "login")


def test_older_records_come_page_by_page(
    broker: ConfiguredBroker, tmp_path: Path, browser: Browser
) -> None:
    for number in range(MANY):
        broker.peer(f"client-{number}", username="anna", password=PASSWORD).close()
    awaited(tmp_path / "data", of_kind("disconnected", client=f"client-{MANY - 1}"))
    page = _shown(form(browser, broker.console, "events"), broker, "root")
    page.locator("#audit-kind").select_option("connected")
    page.get_by_role("button", name="Show the newest").click()
    rows = page.locator("#audit-table tbody tr")
    expect(rows).to_have_count(200)
    page.get_by_role("button", name="Older").click()
    expect(rows).to_have_count(MANY)
    expect(page.get_by_role("button", name="Older")).to_be_hidden()
    assert _cells(page, "Client") == [f"client-{number}" for number in reversed(range(MANY))]


def test_who_may_not_administer_rights_sees_no_audit(
    broker: ConfiguredBroker, browser: Browser
) -> None:
    page = _shown(form(browser, broker.console, "events"), broker, "vera")
    expect(page.locator("#audit")).to_be_hidden()
    answer = page.evaluate("() => fetch('api/audit').then((one) => one.status)")
    assert answer == 403
