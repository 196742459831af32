"""Every route and WebSocket, by the description of the API: what each kind of visitor gets."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

import slipring.sync
from slipring import Parameter
from slipring.model import AlarmLimits
from tests.console.test_login import PASSWORD, USERS, logged_in
from tests.raw_mqtt import V5, RawPeer
from tests.running_broker import PATIENCE_S, RunningBroker, broker_in

OPEN = {"/api/openapi.json", "/api/me", "/live", "/ready"}
"""Open to everybody; they tell of nothing."""
HIDDEN = ("other/", "secretive", "submarine", "torpedo")
Json = dict[str, Any]
EGT = Parameter("f64", unit="submarine", limits=AlarmLimits(high=1))
ASKED: Json = {"name": "own/rpm", "user": "anna", "action": "watch", "topic": "own/rpm"}
"""A query for each parameter that a route needs."""


@pytest.fixture(scope="module")
def sea(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """Topics, parameters, alarms and a layout below `own` and `other`."""
    with broker_in(tmp_path_factory.mktemp("sea"), config=USERS) as running:
        peer = RawPeer(running.host, running.port)
        peer.connect("secretive", username="anna", password=PASSWORD.encode())
        topics = [f"{prefix}/topic" for prefix in ("own", "other")]
        peer.send(*(V5.publish(topic, b"torpedo-free", retain=True) for topic in topics[:1]))
        peer.send(V5.publish(topics[1], b"torpedo", retain=True))
        peer.settle()
        with slipring.sync.connect(running.url, user="anna", password=PASSWORD) as bus:
            own = bus.declare("own", {"rpm": Parameter("f64", limits=AlarmLimits(high=1))})
            other = bus.declare("other", {"depth": EGT})
            own.write({"rpm": 0.5})
            other.write({"depth": 5.0})
            own.flush()
            other.flush()
            with logged_in(running.console, "anna") as client:
                names = ["own/rpm", "other/depth"]
                widget = {"kind": "plot", "x": 0, "y": 0, "w": 1, "h": 1}
                told = {"widgets": [widget | {"options": {"names": names}}]}
                assert client.put("/api/layouts/mixed", json=told).status_code == 200
                while not client.get("/api/alarms").json()["alarms"]:
                    pass
            yield running
        peer.socket.close()


@pytest.fixture(scope="module")
def described(sea: RunningBroker) -> Json:
    document: Json = httpx.get(f"{sea.console}/api/openapi.json", timeout=PATIENCE_S).json()
    return document


def reads(described: Json) -> Iterator[tuple[str, Json]]:
    for path, methods in described["paths"].items():
        if "get" in methods and "/oidc/" not in path:
            needed = [one["name"] for one in methods["get"]["parameters"] if one["required"]]
            yield (
                path.replace("{name}", "mixed"),
                {name: ASKED[name] for name in needed if name in ASKED},
            )


def changes(described: Json) -> Iterator[tuple[str, str]]:
    for path, methods in described["paths"].items():
        for method in methods.keys() - {"get"}:
            if path not in ("/api/login", "/api/logout"):
                yield method.upper(), path.replace("{name}", "mixed")


def test_without_a_login_nothing_is_read(sea: RunningBroker, described: Json) -> None:
    with httpx.Client(base_url=sea.console, timeout=PATIENCE_S) as client:
        for path, asked in reads(described):
            answer = client.get(path, params=asked)
            assert (answer.status_code == 401) == (path not in OPEN), path
            assert not [one for one in HIDDEN if one in answer.text], path


def test_who_may_watch_some_topics_reads_nothing_of_others_anywhere(
    sea: RunningBroker, described: Json
) -> None:
    with logged_in(sea.console, "narrow") as client:
        for path, asked in reads(described):
            wide = [{}, {"filter": "#"}, {"path": "other"}, {"name": "other/depth"}]
            for more in wide:
                answer = client.get(path, params=asked | more)
                assert answer.status_code < 500, path
                text = answer.text.replace("torpedo-free", "").replace("other/depth and", "")
                if more.get("name"):
                    absent = client.get(path, params=asked | {"name": "absent/depth"})
                    assert answer.status_code == absent.status_code, path
                    text = text.replace("other/depth", "")  # a refusal repeats what was asked
                assert not [one for one in HIDDEN if one in text], (path, more, text[:300])


def test_a_viewer_changes_nothing_and_nobody_does_without_csrf_or_from_another_page(
    sea: RunningBroker, described: Json
) -> None:
    with logged_in(sea.console, "vera") as vera, logged_in(sea.console, "anna") as anna:
        for method, path in changes(described):
            if path not in ("/api/logout/everywhere", "/api/token"):
                assert vera.request(method, path, json={}).status_code == 403, path
            foreign = anna.request(method, path, json={}, headers={"origin": "http://evil.example"})
            assert foreign.status_code == 403, path
            unproved = {"x-slipring-csrf": "wrong"}
            assert anna.request(method, path, json={}, headers=unproved).status_code == 403, path
        assert anna.get("/api/layouts/mixed").status_code == 200


def test_each_websocket_asks_for_a_login_and_for_its_own_origin(
    sea: RunningBroker, described: Json
) -> None:
    address = sea.console.replace("http", "ws", 1)
    with logged_in(sea.console, "vera") as vera:
        cookies = "; ".join(f"{name}={value}" for name, value in vera.cookies.items())
        for path in described["x-websockets"]:
            for headers, status in (
                ({}, 401),
                ({"cookie": cookies, "origin": "http://evil.example"}, 403),
            ):
                with (
                    pytest.raises(InvalidStatus) as refused,
                    connect(f"{address}{path}", additional_headers=headers),
                ):
                    pass
                assert refused.value.response.status_code == status, path


def test_each_websocket_tells_who_may_watch_some_topics_nothing_of_others(
    sea: RunningBroker, described: Json
) -> None:
    address = sea.console.replace("http", "ws", 1)
    asked = {
        "/api/parameters": {"search": "", "names": ["other/depth"]},
        "/api/samples": {"names": ["own/rpm", "other/depth"]},
        "/api/live": {"parts": ["values", "clients", "events", "prefixes", "streams", "away"]},
    }
    assert set(described["x-websockets"]) == set(asked)
    with logged_in(sea.console, "narrow") as client:
        cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
        for path, question in asked.items():
            headers = {"cookie": cookies}
            with connect(f"{address}{path}", additional_headers=headers, max_size=None) as socket:
                socket.send(json.dumps(question))
                texts = [str(socket.recv(timeout=PATIENCE_S)) for _ in range(4)]
            told = "".join(texts).replace("torpedo-free", "")
            if path == "/api/samples":  # it says which of the asked names are left out
                told = told.replace('"left_out":["other/depth"]', "")
            assert not [one for one in HIDDEN if one in told], (path, told[:300])
