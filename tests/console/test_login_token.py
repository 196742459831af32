"""Tokens for scripts: given for a password or a login, accepted on every route, ended by time."""

import json
import time
from collections.abc import Iterator

import httpx
import pytest
from websockets.sync.client import connect

from tests.configured_broker import Configured
from tests.console.test_login import CLOSED, PASSWORD, USERS, ended, logged_in
from tests.running_broker import PATIENCE_S, RunningBroker, broker_in

TOKENS = "[token]\nenabled = true\nlifetime_s = 600\n" + USERS


@pytest.fixture(scope="module")
def issuing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """A broker that makes tokens."""
    with broker_in(tmp_path_factory.mktemp("issuing"), config=TOKENS) as running:
        yield running


def token_of(console: str, name: str, **more: object) -> str:
    body = {"user": name, "password": PASSWORD} | more
    answer = httpx.post(f"{console}/api/token", json=body, timeout=PATIENCE_S)
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert told["user"] == name
    token: str = told["token"]
    return token


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def test_a_token_for_a_password_is_accepted_on_every_route_and_websocket(
    issuing: RunningBroker,
) -> None:
    headers = bearer(token_of(issuing.console, "vera"))
    for path in CLOSED:
        code = httpx.get(
            f"{issuing.console}{path}", headers=headers, timeout=PATIENCE_S
        ).status_code
        assert code in ({403} if path == "/api/unheard/of" else {200, 404}), path
    for path in ("/api/live", "/api/parameters"):
        address = issuing.console.replace("http", "ws", 1) + path
        with connect(address, additional_headers=headers, max_size=None) as page:
            assert "at_ms" in json.loads(page.recv(PATIENCE_S))
    size = {"size": "1GB"}
    for name, code in (("vera", 403), ("otto", 200)):
        given = bearer(token_of(issuing.console, name))
        answer = httpx.post(
            f"{issuing.console}/api/memory", json=size, headers=given, timeout=PATIENCE_S
        )
        assert answer.status_code == code, "a token needs no token against forgery"


def test_a_token_for_a_login_of_a_page(issuing: RunningBroker) -> None:
    with logged_in(issuing.console, "vera") as client:
        told = client.post("/api/token", json={}).json()
        assert told["expires_s"] == 600
    me = httpx.get(
        f"{issuing.console}/api/me", headers=bearer(told["token"]), timeout=PATIENCE_S
    ).json()
    assert (me["user"], me["role"], me["csrf"]) == ("vera", "viewer", None)


def test_a_token_gives_no_token_and_nothing_longer_is_given(issuing: RunningBroker) -> None:
    headers = bearer(token_of(issuing.console, "vera"))
    for given in ({}, headers):
        answer = httpx.post(
            f"{issuing.console}/api/token", json={}, headers=given, timeout=PATIENCE_S
        )
        assert answer.status_code == 401
    body = {"user": "vera", "password": PASSWORD}
    for asked, given_s in ((10, 10), (1e9, 600)):
        answer = httpx.post(
            f"{issuing.console}/api/token", json=body | {"lifetime_s": asked}, timeout=PATIENCE_S
        )
        assert answer.json()["expires_s"] == given_s
    refused: tuple[object, ...] = (0, -1, "10", True, [], {})
    for wrong in refused:
        answer = httpx.post(
            f"{issuing.console}/api/token", json=body | {"lifetime_s": wrong}, timeout=PATIENCE_S
        )
        assert answer.status_code == 400


def test_a_token_that_is_not_ours_is_refused(issuing: RunningBroker) -> None:
    token = token_of(issuing.console, "vera")
    head, claims, signature = token.split(".")
    rows = [
        "x",
        "é",
        f"{head}.{claims}.",
        f"{head}.{claims}.{signature[::-1]}",
        f"eyJhbGciOiJub25lIn0.{claims}.",
        token + "x",
        "a" * 10_000,
    ]
    for row in rows:
        headers = {b"authorization": f"Bearer {row}".encode("latin-1")}
        answer = httpx.get(f"{issuing.console}/api/overview", headers=headers, timeout=PATIENCE_S)
        assert answer.status_code == 401, row[:40]


def test_a_page_ends_with_its_token(configured: Configured) -> None:
    broker = configured(TOKENS.replace("lifetime_s = 600", "lifetime_s = 600\nleeway_s = 0"))
    headers = bearer(token_of(broker.console, "vera", lifetime_s=2))
    began_s = time.monotonic()
    address = broker.console.replace("http", "ws", 1) + "/api/live"
    with connect(address, additional_headers=headers, max_size=None) as page:
        assert ended(page) == (4401, "Your token has ended, or was revoked.")
    assert time.monotonic() - began_s < PATIENCE_S


def test_a_broker_that_makes_no_tokens_says_so(configured: Configured) -> None:
    broker = configured(USERS)
    body = {"user": "vera", "password": PASSWORD}
    answer = httpx.post(f"{broker.console}/api/token", json=body, timeout=PATIENCE_S)
    assert (answer.status_code, "[token]" in answer.text) == (409, True)
    refused = httpx.get(
        f"{broker.console}/api/overview", headers=bearer("a.b.c"), timeout=PATIENCE_S
    )
    assert refused.status_code == 401
