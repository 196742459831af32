"""`/api/access` of a real broker's console: what it takes, and what it refuses."""

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from slipring.control.users import EXAMPLE_VERIFIER, verifier_of
from tests.console_answer import basic
from tests.running_broker import PATIENCE_S, RunningBroker, broker_in

USERS = f"""
[[user]]
name = 'anna'
password = '{verifier_of("secret", 4096)}'
roles = ['a', 'administrator']
"""
JSON = {"content-type": "application/json"}
RULE = {"who": ["known"], "allow": ["publish"], "topics": ["a"]}


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    with broker_in(tmp_path_factory.mktemp("access"), config=USERS) as running:
        yield running


def asked(
    broker: RunningBroker,
    method: str,
    path: str,
    body: object = None,
    headers: dict[str, str] | None = None,
    *,
    user: str | None = "anna",
) -> tuple[int, str]:
    connection = http.client.HTTPConnection(urlsplit(broker.console).netloc, timeout=PATIENCE_S)
    content = body if isinstance(body, bytes) else None if body is None else json.dumps(body)
    proof = basic(user, "secret") if user else {}
    sent = (JSON if headers is None else headers) | proof
    connection.request(method, f"/api/access{path}", content, sent)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def status(broker: RunningBroker, path: str = "") -> dict[str, Any]:
    code, text = asked(broker, "GET", path)
    assert code == 200, text
    found: dict[str, Any] = json.loads(text)
    return found


def test_rules_and_users_are_shown_without_secrets(broker: RunningBroker) -> None:
    shown = status(broker)
    assert {
        "name": "anna",
        "roles": ["a", "administrator"],
        "where": "the config file",
    }.items() <= shown["users"][0].items()
    assert shown["is_enforced"]
    assert "SCRAM" not in json.dumps(shown)


def test_a_list_is_given_from_where_it_is_asked_for(broker: RunningBroker) -> None:
    everything = status(broker)
    rest = status(broker, "?start=1")
    assert rest["rules"] == everything["rules"][1:]
    assert rest["users"] == everything["users"][1:]
    assert rest["rules_total"] == everything["rules_total"]


@pytest.mark.parametrize("start", ["-1", "9" * 5_000, "two"])
def test_a_list_that_begins_nowhere_is_refused_in_words(broker: RunningBroker, start: str) -> None:
    code, text = asked(broker, "GET", f"?start={start}")
    assert code == 400
    assert text.startswith("'start' ")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", 400),
        (b"[" * 100_000, 400),
        (b'"who"', 400),
        (RULE | {"more": 1}, 400),
        ({"who": ["known"]}, 400),
        (RULE | {"who": "known"}, 400),
        (RULE | {"deny": ["publish"]}, 400),
        (RULE | {"topics": []}, 400),
        (RULE | {"topics": ["a"] * 1_025}, 400),
        (RULE | {"topics": [7]}, 400),
        (RULE | {"who": ["user:\ud800"]}, 400),
        (b" " * 600_000, 413),
    ],
)
def test_what_is_no_rule_is_refused(broker: RunningBroker, body: object, code: int) -> None:
    before = status(broker)
    assert asked(broker, "POST", "/rules", body)[0] == code
    assert status(broker) == before


@pytest.mark.parametrize(
    "change",
    [{}, {"roles": "a"}, {"roles": [7]}, {"verifier": "secret"}, {"verifier": 7}, {"name": "x"}],
)
def test_what_is_no_change_of_a_user_is_refused(
    broker: RunningBroker, change: dict[str, Any]
) -> None:
    assert asked(broker, "PUT", "/users/anna", change)[0] == 400
    if "verifier" in change:
        new = {"name": "new", **change}
        code, text = asked(broker, "POST", "/users", new)
        assert code == 400
        assert "secret" not in text


def test_a_name_with_any_sign_can_be_added_and_removed(broker: RunningBroker) -> None:
    for name in ("a/b", "ö%2F", "..", "rules", "#?x=1"):
        user = {"name": name, "verifier": EXAMPLE_VERIFIER, "roles": ["b"]}
        assert asked(broker, "POST", "/users", user)[0] == 200, name
        path = f"/users/{quote(name, safe='')}"
        assert asked(broker, "PUT", path, {"roles": ["c"]})[0] == 200, name
        shown = [one for one in status(broker)["users"] if one["name"] == name]
        assert shown[0]["roles"] == ["c"]
        assert asked(broker, "DELETE", path)[0] == 200, name


def test_other_pages_and_other_machines_neither_see_nor_change_rights(
    broker: RunningBroker,
) -> None:
    before = status(broker)
    for more in ({"host": "evil.example"}, {"origin": "http://evil.example"}):
        for method, path in (
            ("GET", ""),
            ("GET", "/explain?user=anna&action=publish&topic=a"),
            ("POST", "/rules"),
            ("DELETE", "/users/anna"),
        ):
            assert asked(broker, method, path, RULE, JSON | more)[0] == 403
    assert asked(broker, "POST", "/rules", RULE, {"content-type": "text/plain"})[0] == 415
    assert status(broker) == before


def test_an_explanation_has_all_that_was_asked(broker: RunningBroker) -> None:
    rule = {"who": ["claim:site=n"], "allow": ["publish"], "topics": ["%{site}/%c"]}
    name = json.loads(asked(broker, "POST", "/rules", rule)[1])["rule"]
    question = "/explain?user=ben&action=publish&topic=n/pad&client=pad&claim=site%3Dn&role=x"
    found = status(broker, question)
    assert found["is_allowed"]
    assert found["rule"]["name"] == name
    assert asked(broker, "GET", "/explain?action=publish")[0] == 400
    assert asked(broker, "DELETE", f"/rules/{name}")[0] == 200


def test_a_console_that_everyone_sees_shows_rights_to_administrators_only(tmp_path: Path) -> None:
    config = f"""{USERS}
        [[user]]
        name = "olga"
        password = "{verifier_of("secret", 4096)}"
        roles = ["operator"]
        [console]
        allow_anonymous = true
    """
    with broker_in(tmp_path, config=config) as open_to_all:
        for user, refused in ((None, 401), ("olga", 403)):
            assert asked(open_to_all, "GET", "", user=user)[0] == refused
            assert asked(open_to_all, "POST", "/rules", RULE, user=user)[0] == refused
            assert asked(open_to_all, "DELETE", "/users/anna", user=user)[0] == refused
        assert status(open_to_all)["users_total"] == 2
