"""A service of the customer's own decides: allowed, denied, slow, away; and what is remembered."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from slipring.control.hook import Hook, read_answer
from slipring.control.http_fetch import FetchError
from slipring.control.token_sections import HookSection
from tests.auth.key_server import KeyServer, key_server
from tests.auth.scram import verifier
from tests.auth.token_peers import (
    AWAY,
    ENDED,
    WRONG,
    by_old_password,
    by_password,
    ends_with,
    is_in,
)
from tests.raw_mqtt import V5
from tests.running_broker import RunningBroker

CONFIG = """
[hook]
url = "{url}/login"
{more}

[[user]]
name = "local"
password = "{verifier}"

[[access.rule]]
who = ["role:engineer"]
allow = ["subscribe"]
topics = ["engine/%{{site}}"]
"""

Start = Callable[..., RunningBroker]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[KeyServer]:
    with key_server(tmp_path / "server") as running:
        yield running


@pytest.fixture
def start(tmp_path: Path, server: KeyServer) -> Iterator[Start]:
    """Start a broker that asks the server."""
    with ExitStack() as stack:

        def begin(more: str = "") -> RunningBroker:
            file = tmp_path / "broker.toml"
            file.write_text(CONFIG.format(url=server.url, more=more, verifier=verifier("pencil")))
            running = RunningBroker.start(
                tmp_path / "data", "--console", "off", "--config", str(file)
            )
            stack.callback(end, running)
            return running

        yield begin


def end(broker: RunningBroker) -> None:
    code, errors = broker.stop()
    assert code == 0, errors
    assert "Traceback" not in errors, errors
    assert "eraser" not in errors


def allowed(**more: Any) -> str:
    return json.dumps({"allow": True} | more)


def test_the_service_is_asked_with_all_that_the_client_says_and_gives_its_rights(
    start: Start, server: KeyServer
) -> None:
    server.answer(allowed(user="ben@company", roles=["engineer"], claims={"site": "linkoping"}))
    broker = start()
    with by_password(broker, b"eraser", user="ben") as peer:
        assert is_in(peer)
        peer.send(V5.subscribe(1, "engine/linkoping", "engine/other"))
        assert peer.packet().reasons == (0, 0x87)
    (request,) = server.requests
    assert request["path"] == "/login"
    address = request["asked"].pop("address")
    assert address.startswith("127.0.0.1:")
    assert request["asked"] == {
        "client_id": "",
        "user_name": "ben",
        "password": "eraser",
        "listener": "mqtt",
    }


@pytest.mark.parametrize(
    ("body", "kind", "reason"),
    [
        ('{"allow": false}', "json", WRONG),
        ("403", "error", WRONG),
        ("401", "error", WRONG),
        ("500", "error", AWAY),
        ('{"allow": "true"}', "json", AWAY),
        ('{"allow": 1}', "json", AWAY),
        ('{"allow": true, "user": ["ben"]}', "json", AWAY),
        ('{"allow": true, "roles": "administrator"}', "json", AWAY),
        ("{}", "json", AWAY),
        ("[]", "json", AWAY),
        ("", "html", AWAY),
        (allowed(), "huge", AWAY),
        ("/elsewhere", "redirect", AWAY),
    ],
)
def test_only_a_clear_yes_lets_in(
    start: Start, server: KeyServer, body: str, kind: str, reason: int
) -> None:
    server.answer(body, kind, {"/elsewhere": allowed()})
    broker = start("timeout_ms = 1000")
    with by_password(broker, b"eraser", user="ben") as peer:
        assert peer.packet().reason == reason
        assert peer.closed()


def test_users_of_the_file_are_not_asked_about_and_a_service_that_is_away_denies(
    start: Start, server: KeyServer
) -> None:
    server.answer(allowed())
    broker = start()
    server.stop()
    with by_password(broker, b"pencil", user="local") as peer:
        assert is_in(peer)
    with by_password(broker, b"eraser", user="local") as peer:
        assert peer.packet().reason == WRONG
    with by_password(broker, b"eraser", user="ben") as peer:
        assert peer.packet().reason == AWAY
    with by_old_password(broker, b"eraser", user="ben") as peer:
        assert peer.packet().reason == 3  # server unavailable


def test_answers_are_remembered_for_the_same_client_and_password_only(
    start: Start, server: KeyServer
) -> None:
    server.answer(allowed())
    broker = start("cache_s = 600")
    for password, asked in ((b"one", 1), (b"one", 1), (b"two", 2), (b"one", 2)):
        with by_password(broker, password, user="ben") as peer:
            assert is_in(peer)
        assert len(server.requests) == asked
    server.answer('{"allow": false}')
    for _ in range(2):
        with by_password(broker, b"three", user="ben") as peer:
            assert peer.packet().reason == WRONG
    assert len(server.requests) == 3


@pytest.mark.parametrize(("policy", "is_let_in"), [("known", True), ("deny", False)])
def test_who_is_known_may_come_back_while_the_service_is_away_if_so_chosen(
    start: Start, server: KeyServer, policy: str, is_let_in: bool
) -> None:
    server.answer(allowed())
    broker = start(f'cache_s = 0\nwhen_away = "{policy}"')
    with by_password(broker, b"eraser", user="ben") as peer:
        assert is_in(peer)
    server.stop()
    with by_password(broker, b"eraser", user="ben") as peer:
        assert is_in(peer) == is_let_in
    with by_password(broker, b"pencil", user="ben") as peer:
        assert not is_in(peer)


def test_a_slow_service_delays_nobody_else(start: Start, server: KeyServer) -> None:
    server.answer(allowed(), "gate")
    broker = start("timeout_ms = 60000")
    with ExitStack() as stack:
        waiting = [
            stack.enter_context(by_password(broker, b"eraser", user=f"user {number}"))
            for number in range(40)
        ]
        with by_password(broker, b"pencil", user="local") as peer:
            assert is_in(peer)
            assert peer.quiet()
        (server.folder / "open").touch()
        assert all(is_in(peer) for peer in waiting)


def test_what_the_service_allows_for_a_time_ends_then(start: Start, server: KeyServer) -> None:
    server.answer(allowed(expires_s=1))
    broker = start()
    with by_password(broker, b"eraser", user="ben") as peer:
        assert is_in(peer)
        assert ends_with(peer, ENDED)


def test_an_answer_gives_a_name_or_nothing() -> None:
    assert read_answer(allowed().encode(), "ben", 0).who == {
        "user": "ben",
        "roles": [],
        "claims": [],
        "expires_s": None,
    }
    rows: list[tuple[str | None, dict[str, Any]]]
    rows = [(None, {}), ("ben", {"user": "a\nb"}), ("ben", {"expires_s": True})]
    for name, body in rows:
        with pytest.raises(FetchError):
            read_answer(allowed(**body).encode(), name, 0)


def test_what_is_remembered_is_bounded_and_holds_no_password() -> None:
    hook = Hook(HookSection(url="http://127.0.0.1:1/"), ["mqtt"])
    login = {"client_id": "c", "user_name": "u", "address": "a:1", "listener": 0}
    for answer in (allowed(), '{"allow": false}'):
        for number in range(10_001):
            key = hook._key(login | {"password": f"{answer} word {number}".encode()})
            hook._remember(key, read_answer(answer.encode(), "ben", 0))
    assert (len(hook._allowed), len(hook._denied)) == (10_000, 10_000)
    assert "word" not in repr((hook._allowed, hook._denied))


def test_invented_names_do_not_push_out_who_was_allowed() -> None:
    hook = Hook(HookSection(url="http://127.0.0.1:1/", timeout_ms=10), ["mqtt"])
    login = {"client_id": "c", "address": "a:1", "listener": 0, "password": b"word"}
    ben = login | {"user_name": "ben"}
    hook._remember(hook._key(ben), read_answer(allowed().encode(), "ben", time.monotonic()))
    for number in range(10_001):
        invented = hook._key(login | {"user_name": f"invented {number}"})
        hook._remember(invented, read_answer(b'{"allow": false}', None, time.monotonic()))
    assert hook.answer(ben)[0] is True
    assert hook.answer(login | {"user_name": "invented 0"})[0] is None  # asked again, in vain
    assert hook.answer(login | {"user_name": "invented 10000"})[0] is False
