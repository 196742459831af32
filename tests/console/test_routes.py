"""Every route of the console by everybody: the table has all of them, so that none is forgotten."""

import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.routing import Route, WebSocketRoute
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from slipring.console.app import make_app
from slipring.console.history_routes import history_of
from slipring.console.listener import ConsoleListener
from slipring.control import Broker
from slipring.control.address import Address
from slipring.control.config import load_config
from tests.console.test_login import PASSWORD, people
from tests.running_broker import PATIENCE_S, RunningBroker

__all__ = ["people"]

PEOPLE = ("", "nobody-special", "narrow", "vera", "otto", "anna")
"""From no right to all; the first has not proved who it is."""
LEAST = {
    "anybody": "",
    "known": "nobody-special",
    "some": "narrow",
    "viewer": "vera",
    "operator": "otto",
    "all": "anna",
}
"""Who is the first of these that may do something."""

ROUTES = {
    "GET /live": "anybody",
    "GET /ready": "anybody",
    "GET /metrics": "viewer",
    "GET /api/openapi.json": "anybody",
    "GET /api/me": "anybody",
    "POST /api/login": "anybody",
    "POST /api/logout": "anybody",
    "POST /api/logout/everywhere": "known",
    "GET /api/oidc/login": "anybody",
    "GET /api/oidc/callback": "anybody",
    "POST /api/token": "anybody",
    "GET /api/overview": "some",
    "GET /api/parameters": "some",
    "GET /api/quick-look": "some",
    "GET /api/parameters/branches": "some",
    "GET /api/parameters/words": "some",
    "GET /api/parameters/one": "some",
    "GET /api/history": "some",
    "GET /api/history.csv": "some",
    "GET /api/range": "some",
    "GET /api/values": "some",
    "SOCKET /api/live": "some",
    "SOCKET /api/samples": "some",
    "SOCKET /api/parameters": "some",
    "GET /api/grafana/series": "some",
    "GET /api/grafana/values": "some",
    "GET /api/health": "viewer",
    "GET /api/clients": "viewer",
    "GET /api/topics": "some",
    "GET /api/storage": "viewer",
    "GET /api/memory": "viewer",
    "GET /api/sessions": "viewer",
    "GET /api/requests": "viewer",
    "GET /api/requests/{key}": "viewer",
    "GET /api/services": "viewer",
    "GET /api/subscribers": "viewer",
    "GET /api/log": "viewer",
    "POST /api/log": "operator",
    "POST /api/memory": "operator",
    "POST /api/sessions/end": "operator",
    "POST /api/clients/disconnect": "operator",
    "GET /api/alarms": "some",
    "POST /api/alarms/acknowledge": "operator",
    "POST /api/alarms/shelve": "operator",
    "POST /api/alarms/unshelve": "operator",
    "POST /api/alarms/comment": "operator",
    "GET /api/layouts": "some",
    "GET /api/layouts/{name:path}": "some",
    "PUT /api/layouts/{name:path}": "operator",
    "DELETE /api/layouts/{name:path}": "operator",
    "GET /api/audit": "all",
    "GET /api/access": "all",
    "GET /api/access/explain": "all",
    "POST /api/access/rules": "all",
    "DELETE /api/access/rules/{name}": "all",
    "POST /api/access/users": "all",
    "PUT /api/access/users/{name:path}": "all",
    "DELETE /api/access/users/{name:path}": "all",
}
"""Who may use each route: what is not here is closed."""
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
CLOSED = (401, 403)
PATHS = sorted({route.partition(" ")[2] for route in ROUTES} | {"/api", "/api/", "/api/unheard"})


def may(name: str, route: str) -> bool:
    """Whether somebody may use a route, by the table."""
    return PEOPLE.index(name) >= PEOPLE.index(LEAST[ROUTES[route]])


def proof(name: str) -> dict[str, Any]:
    return {"auth": (name, PASSWORD)} if name else {}


def filled(path: str) -> str:
    return re.sub("{.*?}", "absent", path)


@pytest.fixture
def routes(tmp_path: Path) -> Iterator[set[str]]:
    """What the application has, as the table writes it."""
    broker = Broker(load_config(data=tmp_path, mqtt__listen="127.0.0.1:0"))
    try:
        with socket.socket() as unused:
            listener = ConsoleListener(unused, lambda: None, 4)  # type: ignore[arg-type, return-value]
            app = make_app(broker, history_of(broker), Address("127.0.0.1", 0), tmp_path, listener)
        found = set()
        for route in app.routes:
            if isinstance(route, WebSocketRoute):
                found.add(f"SOCKET {route.path}")
            elif isinstance(route, Route):
                found |= {f"{one} {route.path}" for one in (route.methods or ()) if one != "HEAD"}
        yield found
    finally:
        broker.engine.stop()


def test_the_table_has_every_route(routes: set[str]) -> None:
    assert routes == set(ROUTES)


@pytest.mark.parametrize("name", PEOPLE)
def test_each_route_is_open_to_whom_the_table_says_and_closed_to_all_others(
    people: RunningBroker, name: str
) -> None:
    """Bodies are no JSON: what is let in changes nothing."""
    with httpx.Client(base_url=people.console, timeout=PATIENCE_S, **proof(name)) as client:
        for path in PATHS:
            for method in METHODS:
                answer = client.request(method, filled(path), content=b"x", follow_redirects=False)
                asked = f"{'GET' if method == 'HEAD' else method} {path}"
                if asked in ROUTES:
                    is_closed = answer.status_code in CLOSED
                    assert is_closed is not may(name, asked), (asked, answer.status_code)
                else:
                    assert answer.status_code in (*CLOSED, 404, 405), (method, path)
                assert "Traceback" not in answer.text
                assert answer.headers["x-content-type-options"] == "nosniff", asked


@pytest.mark.parametrize("name", PEOPLE)
def test_each_websocket_is_open_to_whom_the_table_says(people: RunningBroker, name: str) -> None:
    headers = {}
    if name:
        request = httpx.Request("GET", people.console)
        flow = httpx.BasicAuth(name, PASSWORD).auth_flow(request)
        headers["authorization"] = next(flow).headers["authorization"]
    for path in PATHS:
        address = people.console.replace("http", "ws", 1) + filled(path)
        asked = f"SOCKET {path}"
        if asked in ROUTES and may(name, asked):
            with connect(address, additional_headers=headers, max_size=None) as page:
                assert page.recv(PATIENCE_S)
        else:
            with pytest.raises(InvalidStatus) as refused:
                connect(address, additional_headers=headers).close()
            assert refused.value.response.status_code in (*CLOSED, 404), asked


def test_what_is_for_one_visitor_is_kept_by_no_browser(people: RunningBroker) -> None:
    with httpx.Client(base_url=people.console, timeout=PATIENCE_S, **proof("anna")) as client:
        for path in ("/api/me", "/api/audit", "/metrics", "/api/unheard"):
            assert client.get(path).headers["cache-control"] == "no-store", path
        assert client.get("/").headers["cache-control"] == "no-cache"
        for path in ("/", "/api/me"):
            assert client.get(path).headers["cross-origin-resource-policy"] == "same-origin"
    unproved = httpx.get(f"{people.console}/api/overview", timeout=PATIENCE_S)
    assert unproved.headers["cache-control"] == "no-store"


JSON_ROUTES = sorted(one for one in ROUTES if one.startswith(("POST", "PUT")) and "out" not in one)


@pytest.mark.parametrize("route", JSON_ROUTES)
def test_a_form_or_plain_text_of_another_page_changes_nothing(
    people: RunningBroker, route: str
) -> None:
    method, _, path = route.partition(" ")
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        with httpx.Client(base_url=people.console, timeout=PATIENCE_S, **proof("anna")) as client:
            answer = client.request(
                method, filled(path), content=b"{}", headers={"content-type": kind}
            )
            assert answer.status_code == 415, (kind, answer.text)


@pytest.mark.parametrize("route", sorted(one for one in ROUTES if not one.startswith("GET")))
def test_another_origin_is_refused_on_every_route_that_changes_something(
    people: RunningBroker, route: str
) -> None:
    method, _, path = route.partition(" ")
    for origin in ("http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1"):
        with httpx.Client(base_url=people.console, timeout=PATIENCE_S, **proof("anna")) as client:
            method = "GET" if method == "SOCKET" else method
            answer = client.request(method, filled(path), headers={"origin": origin})
            assert answer.status_code == 403, origin
            assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("OPTIONS", "/api/alarms/acknowledge", "POST"),
        ("GET", "/api/alarms/shelve", "POST"),
        ("POST", "/api/overview", "GET, HEAD"),
        ("PATCH", "/api/log", "GET, HEAD, POST"),
        ("POST", "/api/layouts/mine", "DELETE, GET, HEAD, PUT"),
        ("GET", "/api/nothing", None),
        ("GET", "/api", None),
    ],
)
def test_what_the_api_does_not_have_is_refused_with_the_methods_there_are(
    shared_broker: RunningBroker, method: str, path: str, allow: str | None
) -> None:
    answer = httpx.request(method, f"{shared_broker.console}{path}", timeout=PATIENCE_S)
    assert answer.status_code == (405 if allow else 404), answer.text
    assert answer.headers.get("allow") == allow


@pytest.mark.parametrize("path", ["/api/nothing", "/nothing", "/api/overview"])
def test_a_websocket_that_there_is_not_is_refused(shared_broker: RunningBroker, path: str) -> None:
    address = f"{shared_broker.console.replace('http', 'ws', 1)}{path}"
    with pytest.raises(InvalidStatus) as refused, connect(address):
        raise AssertionError(path)
    assert refused.value.response.status_code == 403
