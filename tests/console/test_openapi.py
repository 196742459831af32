"""The description of the HTTP API: it has every route and no other, and queries are as it says."""

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from starlette.datastructures import QueryParams
from starlette.routing import Route, WebSocketRoute

from slipring.console.openapi import document
from slipring.console.operation import operation_of
from slipring.console.query import query_of, wrong_query
from slipring.status.asked import AuditQuery, ExplainQuery, SessionsQuery, SubscribersQuery
from tests.console.test_routes import ROUTES, filled, routes
from tests.running_broker import PATIENCE_S, RunningBroker

__all__ = ["routes"]


@pytest.fixture(scope="module")
def described(shared_broker: RunningBroker) -> dict[str, Any]:
    """The document, as a program gets it."""
    answer = httpx.get(f"{shared_broker.console}/api/openapi.json", timeout=PATIENCE_S)
    assert answer.headers["content-type"] == "application/json"
    found: dict[str, Any] = answer.json()
    return found


def methods(described: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, by_method in described["paths"].items():
        for method, told in by_method.items():
            yield method.upper(), path, told


def test_it_has_every_route_and_no_other(described: dict[str, Any], routes: set[str]) -> None:
    """A route without a description is named here: write its @operation."""
    told = {f"{method} {path}" for method, path, _ in methods(described)}
    told |= {f"SOCKET {path}" for path in described["x-websockets"]}
    assert told == {one.replace(":path}", "}") for one in routes}
    assert {one.replace(":path}", "}") for one in ROUTES} == told


def test_each_name_in_it_is_there(described: dict[str, Any]) -> None:
    named = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(described)))
    assert named == set(described["components"]["schemas"])
    identifiers = [told["operationId"] for _, _, told in methods(described)]
    assert len(set(identifiers)) == len(identifiers)


def test_each_route_says_what_it_does_and_needs(described: dict[str, Any]) -> None:
    for method, path, told in methods(described):
        assert told["summary"].endswith("."), path
        assert re.fullmatch(r"Needs: .+\.|Needs: Open to everybody\.", told["description"]), path
        assert (method in ("POST", "PUT")) >= ("requestBody" in told), path
    assert described["paths"]["/api/log"]["post"]["description"] == "Needs: To administer log."


def test_each_answer_without_a_parameter_is_as_described(
    described: dict[str, Any], shared_broker: RunningBroker
) -> None:
    for method, path, told in methods(described):
        required = [one for one in told["parameters"] if one["required"]]
        if method != "GET" or required or "oidc" in path:
            continue
        answer = httpx.get(f"{shared_broker.console}{path}", timeout=PATIENCE_S)
        assert str(answer.status_code) in told["responses"], (path, answer.text)
        kinds = told["responses"][str(answer.status_code)]["content"]
        assert answer.headers["content-type"].partition(";")[0] in kinds, path


@pytest.mark.parametrize(
    ("query", "kind", "wrong"),
    [
        ("most=5&owner=a", SessionsQuery, None),
        ("state=asleep", SessionsQuery, "'state' is one of: connected, away"),
        ("most=five", SessionsQuery, "'most' is a whole number"),
        ("most=-1", SessionsQuery, "'most' has 0 to 999,999,999"),
        ("most=%D9%A3", SessionsQuery, "'most' is a whole number"),
        ("most=" + "9" * 5_000, SessionsQuery, "'most' is a whole number"),
        ("most=1&most=2", SessionsQuery, "'most' is there more than once"),
        ("mots=1", SessionsQuery, "there is no parameter 'mots'; the route has state, owner, most"),
        ("most=1", SubscribersQuery, "'topic' is missing: A topic, without wildcards."),
        ("role=a&role=b", ExplainQuery, None),
        ("&".join(["role=a"] * 1_001), ExplainQuery, "'role' is there more than 1,000 times"),
        ("a=1", None, "there is no parameter 'a'; the route has none"),
    ],
)  # fmt: skip
def test_a_query_that_is_not_as_described_is_refused_with_a_sentence(
    query: str, kind: type | None, wrong: str | None
) -> None:
    assert wrong_query(QueryParams(query), kind) == wrong


def test_a_query_is_read_by_its_description() -> None:
    assert query_of(QueryParams("before=7&kind=login"), AuditQuery) == {
        "before": 7,
        "kind": "login",
    }
    assert query_of(QueryParams("role=a&role=b"), ExplainQuery) == {"role": ["a", "b"]}


def test_every_get_of_a_route_refuses_an_unknown_parameter(
    described: dict[str, Any], shared_broker: RunningBroker
) -> None:
    for method, path, _ in methods(described):
        if method == "GET" and "oidc" not in path:
            address = f"{shared_broker.console}{filled(path)}?unheard=1"
            assert httpx.get(address, timeout=PATIENCE_S).status_code == 400, path


def test_a_route_without_a_description_is_not_in_it() -> None:
    async def forgotten(_: object) -> None: ...

    plain, socket = Route("/api/a", forgotten), WebSocketRoute("/api/b", forgotten)
    assert operation_of(forgotten) is None
    assert document([plain, socket])["paths"] == document([plain, socket])["x-websockets"] == {}
