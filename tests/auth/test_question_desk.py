"""Questions of the engine about keys and logins: one that is slow delays no other."""

import queue
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from slipring.control import Config
from slipring.control import token_keys as module
from slipring.control.http_fetch import FetchError
from slipring.control.question_desk import QuestionDesk
from slipring.control.token_keys import KeySource
from slipring.control.token_sections import IssuerSection
from slipring.control.tokens import Tokens
from slipring.native import Engine

PATIENCE_S = 60


class AskingEngine:
    """Asks what a test tells it to, and notes the answers."""

    def __init__(self) -> None:
        self.asked: queue.Queue[dict[str, Any]] = queue.Queue()
        self.answered: queue.Queue[int] = queue.Queue()

    def take_questions(self, wait_s: float, _: int) -> list[dict[str, Any]]:
        try:
            return [self.asked.get(timeout=wait_s)]
        except queue.Empty:
            return []

    def answer_keys(self, number: int) -> None:
        self.answered.put(number)

    def answer_login(self, number: int, *_: Any) -> None:
        self.answered.put(number)


class HangingTokens:
    """Two issuers; the keys of `slow` do not come before the test lets them."""

    def __init__(self) -> None:
        self.may_go_on = threading.Event()
        self.fetched: list[str] = []

    def due(self) -> list[str]:
        return []

    def read_again(self, issuer: str, _: float) -> None:
        if issuer == "slow":
            assert self.may_go_on.wait(PATIENCE_S)


@pytest.fixture
def asking() -> Iterator[tuple[AskingEngine, HangingTokens, QuestionDesk]]:
    engine, tokens = AskingEngine(), HangingTokens()
    issuers = [
        {"name": name, "issuer": name, "keys": "https://id.example/"} for name in ("slow", "fast")
    ]
    config = Config.model_validate({"issuer": issuers})
    desk = QuestionDesk(cast("Engine", engine), cast("Tokens", tokens), config)
    yield engine, tokens, desk
    tokens.may_go_on.set()
    desk.stop()


def test_a_server_of_keys_that_hangs_delays_no_other_issuer(
    asking: tuple[AskingEngine, HangingTokens, QuestionDesk],
) -> None:
    engine, tokens, _ = asking
    for number in range(40):
        engine.asked.put({"kind": "keys", "number": number, "issuer": "slow"})
    engine.asked.put({"kind": "keys", "number": 99, "issuer": "fast"})
    assert engine.answered.get(timeout=PATIENCE_S) == 99
    tokens.may_go_on.set()
    assert [engine.answered.get(timeout=PATIENCE_S) for _ in range(40)] == list(range(40))


def test_questions_are_answered_while_the_service_and_the_issuers_change(
    asking: tuple[AskingEngine, HangingTokens, QuestionDesk],
) -> None:
    engine, _, desk = asking
    for number in range(60):
        hook = {"url": f"http://127.0.0.1:{number + 1}/", "timeout_ms": 10} if number % 3 else {}
        desk.follow(Config.model_validate({"hook": hook}))
        kind: dict[str, Any] = {"kind": "keys", "issuer": "gone"}
        if number % 2:
            kind = {"kind": "login", "client_id": "", "user_name": "a", "password": b"b"}
            kind |= {"address": "192.0.2.1:1", "listener": 0}
        engine.asked.put(kind | {"number": number})
    answered = {engine.answered.get(timeout=PATIENCE_S) for _ in range(60)}
    assert answered == set(range(60))


def source() -> KeySource:
    return KeySource(IssuerSection(name="a", issuer="a", keys="https://id.example/keys"))


def test_keys_that_are_being_fetched_are_not_due(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, may_go_on = threading.Event(), threading.Event()

    def hang(*_: Any, **__: Any) -> bytes:
        begun.set()
        assert may_go_on.wait(PATIENCE_S)
        raise FetchError("too late")

    monkeypatch.setattr(module, "fetch", hang)
    keys = source()
    due = [keys.is_due]
    thread = threading.Thread(target=keys.read)
    thread.start()
    assert begun.wait(PATIENCE_S)
    due.append(keys.is_due)
    assert due == [True, False]
    may_go_on.set()
    thread.join()
    assert keys.trouble == "too late"


def test_a_token_that_came_after_a_fetch_began_has_the_keys_fetched_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = [b'{"keys": []}'] * 9
    monkeypatch.setattr(module, "fetch", lambda *_, **__: answers.pop())
    keys = source()
    keys.read()
    before_s = 0.0
    keys.read_if_allowed(before_s)
    assert len(answers) == 8, "what was read is newer than the token"
    keys.read_if_allowed(time.monotonic())
    assert len(answers) == 7
    for _ in range(9):
        keys.read_if_allowed(time.monotonic())
    assert len(answers) == 5, "no more than is fair"


def test_keys_that_are_nested_too_deep_are_trouble_and_nothing_worse(tmp_path: Path) -> None:
    file = tmp_path / "jwks.json"
    file.write_text('{"keys": ' + "[" * 100_000)
    keys = KeySource(IssuerSection(name="a", issuer="a", keys=str(file)))
    assert not keys.read()
    assert keys.trouble


def test_discovery_that_is_nested_too_deep_is_trouble_and_nothing_worse(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "fetch", lambda *_, **__: b"[" * 200_000)
    keys = KeySource(IssuerSection(name="a", issuer="https://id.example", discovery=True))
    assert not keys.read()
    assert keys.trouble
