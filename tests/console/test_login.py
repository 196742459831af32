"""Logging in to the console of a broker with users: cookies, forgery, rights, and their end."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from slipring.control.users import verifier_of
from tests.configured_broker import Configured, ConfiguredBroker
from tests.running_broker import PATIENCE_S, RunningBroker, broker_in

PASSWORD = "correct horse"
VERIFIER = verifier_of(PASSWORD, 4_096)
OTHER = verifier_of("another", 4_096)


def user(name: str, *roles: str, verifier: str = VERIFIER) -> str:
    """A user, as a config file has it."""
    return f'[[user]]\nname = "{name}"\npassword = "{verifier}"\nroles = {json.dumps(roles)}\n'


RULES = """
[[access.rule]]
who = ["user:narrow"]
allow = ["watch"]
topics = ["own/#"]

[[access.rule]]
who = ["known"]
allow = ["publish", "declare"]
"""
USERS = (
    user("anna", "administrator")
    + user("otto", "operator")
    + user("vera", "viewer")
    + user("narrow")
    + user("nobody-special")
    + RULES
)


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """A broker with one user of each kind."""
    with broker_in(tmp_path_factory.mktemp("people"), config=USERS) as running:
        yield running


def browser(console: str) -> httpx.Client:
    """A browser without a login."""
    return httpx.Client(base_url=console, timeout=PATIENCE_S)


@contextmanager
def logged_in(console: str, name: str, password: str = PASSWORD) -> Iterator[httpx.Client]:
    """A browser after a login; it sends the token against forgery with every request."""
    with browser(console) as client:
        answer = client.post("/api/login", json={"user": name, "password": password})
        assert answer.status_code == 200, answer.text
        client.headers["x-slipring-csrf"] = client.get("/api/me").json()["csrf"]
        yield client


def page(client: httpx.Client, path: str = "/api/live") -> ClientConnection:
    """The WebSocket of a page of this browser."""
    cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    address = str(client.base_url).rstrip("/").replace("http", "ws", 1)
    return connect(f"{address}{path}", additional_headers={"cookie": cookies}, max_size=None)


def test_without_users_nobody_logs_in(broker: RunningBroker) -> None:
    with browser(broker.console) as client:
        me = client.get("/api/me").json()
        assert (me["has_users"], me["needs_login"], me["watches"]) == (False, False, "all")
        assert me["administers"] == [
            "clients",
            "memory",
            "log",
            "requests",
            "alarms",
            "layouts",
            "access",
            "tokens",
        ]
        assert client.get("/api/overview").status_code == 200
        answer = client.post("/api/login", json={"user": "a", "password": "b"})
        assert answer.status_code == 409


CLOSED = (
    "/api/overview",
    "/api/parameters",
    "/api/memory",
    "/api/sessions",
    "/api/log",
    "/api/requests",
    "/api/requests/key",
    "/api/services",
    "/api/subscribers?topic=a",
    "/api/unheard/of",
    "/metrics",
)


def test_with_users_nothing_is_shown_before_a_login(people: RunningBroker) -> None:
    with browser(people.console) as client:
        for path in CLOSED:
            answer = client.get(path)
            assert (answer.status_code, answer.text[:12]) == (401, "log in first"), path
        for path in ("/api/sessions/end", "/api/clients/disconnect", "/api/memory", "/api/log"):
            assert client.post(path, json={}).status_code == 401, path
        for path in ("/api/live", "/api/parameters"):
            with pytest.raises(InvalidStatus, match="401"):
                page(client, path)
        me = client.get("/api/me").json()
        assert (me["needs_login"], me["user"], me["administers"]) == (True, None, [])


def test_the_page_and_the_probes_need_no_login(people: RunningBroker) -> None:
    with browser(people.console) as client:
        assert "<title>Slipring" in client.get("/").text
        assert client.get("/live").text == "live\n"
        assert client.get("/ready").text == "ready\n"


def test_a_login_is_a_cookie_that_no_script_reads_and_no_other_page_sends(
    people: RunningBroker,
) -> None:
    with browser(people.console) as client:
        answer = client.post("/api/login", json={"user": "vera", "password": PASSWORD})
        cookie = answer.headers["set-cookie"]
        name_and_value, *attributes = cookie.split("; ")
        assert sorted(attributes) == ["HttpOnly", "Path=/", "SameSite=Strict"]
        assert len(name_and_value.partition("=")[2]) == 43, "256 random bits"
        me = client.get("/api/me").json()
        assert (me["user"], me["role"], me["needs_login"]) == ("vera", "viewer", False)
        again = client.post("/api/login", json={"user": "vera", "password": PASSWORD})
        assert again.headers["set-cookie"] != cookie
        client.cookies.clear()
        headers = {"cookie": name_and_value}
        assert client.get("/api/overview", headers=headers).status_code == 401, (
            "the first has ended"
        )


def test_a_wrong_password_and_an_unknown_name_are_answered_alike(people: RunningBroker) -> None:
    with browser(people.console) as client:
        answers = [
            client.post("/api/login", json={"user": name, "password": "wrong"})
            for name in ("otto", "unknown")
        ]
        assert {(one.status_code, one.text) for one in answers} == {
            (401, "the user name or the password is wrong\n")
        }
        assert all("set-cookie" not in one.headers for one in answers)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", 400),
        (b"[]", 400),
        (b'{"user": "vera"}', 400),
        (b'{"user": "vera", "password": 1}', 400),
        (b'{"user": "\\ud800", "password": "\\ud800"}', 401),
        (b'{"user": "vera", "password": ""}', 401),
        (b'{"user": "' + b"v" * 300 + b'", "password": "x"}', 401),
        (b'{"user": "vera", "password": "' + b"x" * 20_000 + b'"}', 413),
    ],
)
def test_a_login_that_is_not_understood_is_refused(
    people: RunningBroker, body: bytes, code: int
) -> None:
    headers = {"content-type": "application/json"}
    answer = httpx.post(
        f"{people.console}/api/login", content=body, headers=headers, timeout=PATIENCE_S
    )
    assert answer.status_code == code


def test_a_form_of_another_page_cannot_log_in(people: RunningBroker) -> None:
    answer = httpx.post(
        f"{people.console}/api/login",
        data={"user": "vera", "password": PASSWORD},
        timeout=PATIENCE_S,
    )
    assert answer.status_code == 415
    foreign = {"origin": "http://evil.example"}
    answer = httpx.post(f"{people.console}/api/login", json={}, headers=foreign, timeout=PATIENCE_S)
    assert answer.status_code == 403


def test_a_cookie_changes_something_only_with_the_token_against_forgery(
    people: RunningBroker,
) -> None:
    with logged_in(people.console, "otto") as client:
        token = client.headers.pop("x-slipring-csrf")
        body = {"client_ids": ["not there"]}
        for headers in ({}, {"x-slipring-csrf": "wrong"}, {"x-slipring-csrf": ""}):
            refused = client.post("/api/clients/disconnect", json=body, headers=headers)
            assert (refused.status_code, "x-slipring-csrf" in refused.text) == (403, True)
        accepted = client.post(
            "/api/clients/disconnect", json=body, headers={"x-slipring-csrf": token}
        )
        assert accepted.json() == {"done": [], "unknown": ["not there"]}


def test_log_out_ends_the_login_and_its_open_pages(people: RunningBroker) -> None:
    with logged_in(people.console, "vera") as client, page(client) as socket:
        socket.recv(PATIENCE_S)
        cookies = dict(client.cookies)
        assert client.post("/api/logout", json={}).headers["set-cookie"].endswith("Max-Age=0")
        with browser(people.console) as again:
            again.cookies.update(cookies)
            assert again.get("/api/overview").status_code == 401
        assert ended(socket) == (4401, "Your login has ended. Log in again.")


def test_a_person_logs_out_everywhere(people: RunningBroker) -> None:
    console = people.console
    with (
        logged_in(console, "vera") as here,
        logged_in(console, "vera") as there,
        page(there) as open_,
    ):
        open_.recv(PATIENCE_S)
        with logged_in(console, "otto") as other:
            forged = here.post("/api/logout/everywhere", headers={"x-slipring-csrf": "x"})
            assert forged.status_code == 403
            answer = here.post("/api/logout/everywhere")
            assert answer.json()["ended"] >= 2
            assert answer.headers["set-cookie"].endswith("Max-Age=0")
            assert ended(open_) == (4401, "Your login has ended. Log in again.")
            assert there.get("/api/overview").status_code == 401
            assert other.get("/api/overview").status_code == 200


def ended(socket: ClientConnection) -> tuple[int, str]:
    """How the console closes a page."""
    with pytest.raises(ConnectionClosed) as closed:
        _read_on(socket)
    assert closed.value.rcvd is not None
    return closed.value.rcvd.code, closed.value.rcvd.reason


def _read_on(socket: ClientConnection) -> None:
    while True:
        socket.recv(PATIENCE_S)


def test_basic_authentication_is_for_scrapers_and_commands(people: RunningBroker) -> None:
    for name, code in (("vera", 200), ("narrow", 403), ("nobody-special", 403)):
        answer = httpx.get(f"{people.console}/metrics", auth=(name, PASSWORD), timeout=PATIENCE_S)
        assert answer.status_code == code, name
    unproved = httpx.get(f"{people.console}/metrics", timeout=PATIENCE_S)
    assert unproved.headers["www-authenticate"] == 'Basic realm="slipring"'
    asked = httpx.get(f"{people.console}/api/overview", timeout=PATIENCE_S)
    assert asked.headers["www-authenticate"] == 'Bearer realm="slipring"'
    for value in ("Basic !", "Basic " + "YQ==", "Digest x", ""):
        answer = httpx.get(
            f"{people.console}/metrics", headers={"authorization": value}, timeout=PATIENCE_S
        )
        assert answer.status_code == 401, value


ROWS = [
    # user, what may be read, and what may be changed
    ("anna", 200, 200, 200),
    ("otto", 200, 200, 403),
    ("vera", 200, 403, 403),
    ("narrow", 403, 403, 403),
    ("nobody-special", 403, 403, 403),
]


@pytest.mark.parametrize(("name", "reads", "operates", "administers"), ROWS)
def test_every_route_asks_for_its_right(
    people: RunningBroker, name: str, reads: int, operates: int, administers: int
) -> None:
    with logged_in(people.console, name) as client:
        for path in ("/api/sessions", "/api/memory", "/api/log", "/api/requests", "/api/services"):
            assert client.get(path).status_code == reads, path
        nobody: dict[str, list[str]] = {"client_ids": []}
        for path in ("/api/sessions/end", "/api/clients/disconnect"):
            assert client.post(path, json=nobody).status_code == operates, path
        level = {"room": "requests", "level": "info"}
        assert client.post("/api/log", json=level).status_code == operates
        unlisted = client.get("/api/unheard/of").status_code
        assert unlisted == (404 if administers == 200 else 403)


def audited(console: str, kind: str, **wanted: str) -> dict[str, Any]:
    """The newest such record, which is there at most a moment after what it tells of."""
    address, told = f"{console}/api/audit", {"kind": kind, "most": "1"} | wanted
    deadline_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline_s:
        answer = httpx.get(address, params=told, auth=("anna", PASSWORD), timeout=PATIENCE_S)
        if found := answer.raise_for_status().json()["records"]:
            record: dict[str, Any] = found[0]
            return record
    raise AssertionError(f"no {kind} of {wanted}")


def test_what_was_refused_is_in_the_audit_and_in_the_metrics(configured: Configured) -> None:
    broker = configured(USERS)
    with logged_in(broker.console, "vera") as client:
        client.post("/api/memory", json={"size": "1GB"})
        client.post("/api/login", json={"user": "anna", "password": "w0rng"})
    metrics = httpx.get(
        f"{broker.console}/metrics", auth=("anna", PASSWORD), timeout=PATIENCE_S
    ).text
    for outcome, count in (("accepted", 2), ("wrong", 1), ("refused", 1), ("slowed", 0)):
        line = f'slipring_console_login_attempts_total{{outcome="{outcome}"}} {count}\n'
        assert line in metrics, outcome
    assert audited(broker.console, "login", user="vera")["address"] == "127.0.0.1"
    denied = audited(broker.console, "denied", user="vera")
    assert denied["topic"] == "/api/memory"
    assert denied["detail"].startswith("POST")
    wrong = audited(broker.console, "login", user="anna")
    assert wrong["outcome"] == "refused"
    assert "w0rng" not in json.dumps(wrong)


def test_the_audit_is_shown_from_a_time_on(people: RunningBroker) -> None:
    with logged_in(people.console, "anna") as client:
        opened = audited(people.console, "login", user="anna")
        for since_ns, is_found in ((opened["at_ns"], True), (opened["at_ns"] + 10**15, False)):
            told = {"kind": "login", "since_ns": str(since_ns)}
            found = client.get("/api/audit", params=told).json()["records"]
            assert bool(found) is is_found, since_ns
        for since_ns in ("9" * 19, "9" * 20, "x", "-1"):
            told = {"since_ns": since_ns, "before": since_ns}
            assert client.get("/api/audit", params=told).status_code == 400


def test_a_name_that_is_guessed_at_has_to_wait(configured: Configured) -> None:
    broker = configured(USERS)
    with browser(broker.console) as client:
        wrong = {"user": "vera", "password": "wrong"}
        answers = [client.post("/api/login", json=wrong) for _ in range(7)]
        codes = [one.status_code for one in answers]
        assert codes[:5] == [401] * 5
        slowed = next(one for one in answers if one.status_code == 429)
        assert int(slowed.headers["retry-after"]) >= 1
        assert f"try again in {slowed.headers['retry-after']} s" in slowed.text


def changed(broker: ConfiguredBroker, text: str) -> None:
    broker.reload(text)
    broker.line("config: ")


@pytest.mark.parametrize(
    ("users", "code", "reason"),
    [
        (user("anna") + RULES, 4401, "Your user was removed"),
        (user("vera", "viewer", verifier=OTHER) + RULES, 4401, "Your user was removed"),
        (user("vera") + RULES, 4403, "Your right to watch was taken back."),
        (
            user("vera", "of-narrow") + RULES.replace("user:narrow", "role:of-narrow"),
            4403,
            "Your rights were changed.",
        ),
    ],
    ids=["removed", "another password", "no rights", "narrower rights"],
)
def test_a_page_ends_when_its_user_or_rights_change(
    configured: Configured, users: str, code: int, reason: str
) -> None:
    broker = configured(user("vera", "viewer") + RULES)
    with logged_in(broker.console, "vera") as client:
        for path in ("/api/live", "/api/parameters"):
            broker.reload(f"name = 'for{path}'\n" + user("vera", "viewer") + RULES)
            broker.line(f"name is 'for{path}' now")
            if client.get("/api/me").json()["user"] is None:  # the first round has ended the login
                client.post("/api/login", json={"user": "vera", "password": PASSWORD})
            with page(client, path) as socket:
                socket.recv(PATIENCE_S)
                broker.reload(users)
                found = ended(socket)
            assert found[0] == code
            assert found[1].startswith(reason)
