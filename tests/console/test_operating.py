"""The operator's requests: taken from this machine only, in time, and always answered."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from slipring.console import json_body, operating
from slipring.errors import JournalError
from tests.running_broker import PATIENCE_S

LOOPBACK = "http://127.0.0.1:8080"
END = "/api/sessions/end"
NAMED = {"client_ids": ["c"]}


class Engine:
    """Ends whom it is told to; a test may say why it cannot."""

    def __init__(self) -> None:
        self.ended: list[str] = []
        self.failure: JournalError | None = None

    def end_session(self, client_id: str) -> bool:
        if self.failure:
            raise self.failure
        self.ended.append(client_id)
        return True

    def disconnect(self, client_id: str) -> bool:
        return self.end_session(client_id)

    def sessions(self, *_: object, **__: object) -> tuple[list[object], int]:
        return [], 0


@pytest.fixture
def engine() -> Engine:
    return Engine()


@pytest.fixture
def app(engine: Engine) -> Starlette:
    broker: Any = SimpleNamespace(engine=engine, audit=lambda *_, **__: True)
    return Starlette(routes=operating.operator_routes(broker))


def asked(
    app: Starlette,
    ask: Callable[[httpx.AsyncClient], Awaitable[httpx.Response]],
    *,
    by: str = LOOPBACK,
    source: str = "127.0.0.1",
) -> httpx.Response:
    """The answer to who comes from an address, and calls this machine by a name."""

    async def answer() -> httpx.Response:
        transport = httpx.ASGITransport(app, client=(source, 1))
        async with httpx.AsyncClient(transport=transport, base_url=by) as client:
            return await ask(client)

    return asyncio.run(asyncio.wait_for(answer(), PATIENCE_S))


@pytest.mark.parametrize(
    ("by", "source", "code"),
    [
        (LOOPBACK, "127.0.0.1", 200),
        ("http://localhost:8080", "127.0.0.1", 200),
        ("http://[::1]:8080", "::1", 200),
        ("http://127.0.0.1:8080", "::ffff:127.0.0.1", 200),
        ("http://0.0.0.0:8080", "127.0.0.1", 200),
        ("http://rebound.example:8080", "127.0.0.1", 403),
        ("http://192.0.2.1:8080", "127.0.0.1", 403),
        (LOOPBACK, "192.0.2.1", 403),
        (LOOPBACK, "::ffff:192.0.2.1", 403),
    ],
)
def test_a_session_is_ended_from_this_machine_by_a_name_of_its_own(
    app: Starlette, engine: Engine, by: str, source: str, code: int
) -> None:
    """A name that someone else gave this machine brings a page of someone else with it."""
    answer = asked(app, lambda client: client.post(END, json=NAMED), by=by, source=source)
    assert answer.status_code == code
    assert engine.ended == (["c"] if code == 200 else [])


def test_a_body_that_never_comes_is_not_waited_for_for_ever(
    app: Starlette, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def body() -> AsyncIterator[bytes]:
        yield b'{"client_ids": ["c"'
        await asyncio.Event().wait()

    monkeypatch.setattr(json_body, "WAIT_S", 0.01)
    as_json = {"content-type": "application/json"}
    answer = asked(app, lambda client: client.post(END, content=body(), headers=as_json))
    assert (answer.status_code, engine.ended) == (408, [])


async def test_who_goes_before_the_body_has_come_is_no_error_of_the_console(
    app: Starlette, engine: Engine
) -> None:
    async def gone() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def send(_: object) -> None:
        pass

    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope = {
        "type": "http", "method": "POST", "path": END, "headers": headers, "query_string": b"",
        "client": ("127.0.0.1", 1), "http_version": "1.1", "scheme": "http", "root_path": "",
    }  # fmt: skip
    await app(scope, gone, send)
    assert engine.ended == []


@pytest.mark.parametrize("most", ["0", "999999999"])
def test_however_many_are_asked_for_there_is_an_answer(app: Starlette, most: str) -> None:
    answer = asked(app, lambda client: client.get("/api/sessions", params={"most": most}))
    assert answer.json() == {"sessions": [], "total": 0}


@pytest.mark.parametrize("most", ["", "-1", "x", "9" * 5_000])
def test_what_is_no_number_is_refused_in_words(app: Starlette, most: str) -> None:
    answer = asked(app, lambda client: client.get("/api/sessions", params={"most": most}))
    assert answer.status_code == 400
    assert answer.text.startswith("'most' ")


def test_why_a_session_could_not_be_ended_is_told(app: Starlette, engine: Engine) -> None:
    engine.failure = JournalError("the disk is full")
    answer = asked(app, lambda client: client.post(END, json=NAMED))
    assert (answer.status_code, answer.text) == (503, "the disk is full\n")
