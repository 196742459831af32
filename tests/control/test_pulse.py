"""Whether the engine answers, as the control plane sees it, with a small fake engine."""

import asyncio
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest
from starlette.websockets import WebSocketDisconnect

from slipring.console.app import make_app
from slipring.console.history_routes import history_of
from slipring.console.parameters import send_changes
from slipring.console.watch import Watch
from slipring.control.address import Address
from slipring.control.config import Config
from slipring.control.health import Trouble
from slipring.control.pulse import BUSY_S, Pulse
from slipring.status.requests import PublisherStatus


class Engine:
    """Silent for as long as the test says, one answer after the other; the last one stays."""

    is_access_enforced = False

    def __init__(self, *silences_s: float) -> None:
        self.silences_s = list(silences_s)

    def ask_table(self, name: str, body: bytes) -> bytes:
        raise AssertionError(f"{name} {body!r}: it does not answer")

    def publishers(self, most: int) -> list[PublisherStatus]:
        raise AssertionError(f"{most}: it does not answer")

    def values(self, since: int) -> Iterator[object]:
        raise AssertionError(f"{since}: it does not answer")

    def silence_s(self) -> float:
        return self.silences_s.pop(0) if len(self.silences_s) > 1 else self.silences_s[0]


def test_an_engine_that_answers_is_no_news() -> None:
    pulse = Pulse(Engine(0.0))
    assert (pulse.is_busy, pulse.trouble, pulse.news()) == (False, None, None)


def test_silence_is_told_once_and_so_is_its_end() -> None:
    engine = Engine(0.9)
    pulse = Pulse(engine)
    assert pulse.is_busy
    assert pulse.news() is None
    engine.silences_s = [1.5]
    news = pulse.news()
    assert news is not None
    assert news[0] == "silent"
    assert "it has not answered for 1.5 s" in news[1]
    assert pulse.news() is None
    engine.silences_s = [0.0]
    assert pulse.news() == ("answers", "engine: it answers again")
    assert pulse.news() is None


def test_who_waits_for_an_answer_gets_it_or_the_reason() -> None:
    assert asyncio.run(Pulse(Engine(0.5, 0.6, 0.6, 0.0)).answered()) is None
    silent = asyncio.run(Pulse(Engine(0.5, 0.6, 1.1)).answered())
    assert silent is not None
    assert silent.state == "silent"


def asked(engine: Engine, trouble: Trouble | None, path: str) -> tuple[int, str]:
    """What the console of a broker with this engine answers."""
    pulse = Pulse(engine)
    listener: Any = SimpleNamespace(answering=lambda _: nullcontext())
    broker: Any = SimpleNamespace(
        pulse=pulse,
        trouble=pulse.trouble or trouble,
        engine=engine,
        alarms=SimpleNamespace(board=None),
        id="0" * 32,
        config=Config(),
    )
    app = make_app(
        broker, history_of(broker), Address("127.0.0.1", 80), Path(__file__).parent, listener
    )

    async def get() -> httpx.Response:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.get(path)

    answer = asyncio.run(get())
    return answer.status_code, answer.text


class Page:
    """Takes what it is sent; the engine answers after the first poll, and the test ends with the
    second.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.sent_by_beat: list[int] = []
        self.sent: list[str] = []

    async def send_text(self, text: str) -> None:
        self.sent.append(text)

    async def __aenter__(self) -> None:
        self.sent_by_beat.append(len(self.sent))

    async def __aexit__(self, *_: object) -> None:
        pass

    async def wait(self) -> None:
        self.engine.silences_s = [0.0]
        if len(self.sent_by_beat) == 2:
            raise WebSocketDisconnect


class Watching:
    """What a page watches, without a table."""

    async def look(self) -> str:
        return "{}"


async def test_a_page_with_parameters_does_not_wait_for_a_silent_engine() -> None:
    engine = Engine(BUSY_S + 0.1)
    page: Any = Page(engine)
    broker: Any = SimpleNamespace(pulse=Pulse(engine), polled=page)
    with pytest.raises(WebSocketDisconnect):
        await send_changes(page, cast("Watch", Watching()), asyncio.Event(), broker, lambda: None)
    assert page.sent_by_beat == [0, 1]


def test_a_silent_engine_is_not_ready_and_still_live() -> None:
    code, text = asked(Engine(2.0), None, "/ready")
    assert code == 503
    assert "it has not answered for 2.0 s" in text
    assert asked(Engine(2.0), None, "/live") == (200, "live\n")
    assert asked(Engine(BUSY_S), None, "/ready") == (200, "ready\n")


def test_who_asks_a_silent_engine_for_more_is_told_at_once() -> None:
    for path in ("/api/overview", "/metrics", "/api/parameters?search=x"):
        code, text = asked(Engine(2.0), None, path)
        assert code == 503
        assert text.startswith("engine: it has not answered for 2.0 s; ")
