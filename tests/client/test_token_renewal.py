"""Tokens that are refused, late, too long, or of another clock: the client comes back."""

import asyncio
import base64
import gc
import json
import logging
import threading
import time

import pytest

import slipring
from slipring.client.renewal import pause_s
from slipring.credentials import broker_credentials, token_end_s, token_left_s
from tests.client.fake_broker import CONNECT, Peer, enhanced, fake_broker
from tests.client.issuing_broker import issuing_broker
from tests.client.test_credentials_tokens import ENDED, METHOD, connected
from tests.packets import Kind

REFUSED = enhanced(Kind.CONNACK, b"\0\x87", METHOD, b"")


def made(**claims: object) -> bytes:
    """A token of nobody with these claims."""
    parts = (b"{}", json.dumps(claims).encode(), b"x")
    return b".".join(base64.urlsafe_b64encode(part).rstrip(b"=") for part in parts)


async def refused(peer: Peer, token: str) -> None:
    body = await peer.expect(CONNECT)
    assert token.encode() in body
    await peer.send(REFUSED)


async def test_a_token_that_is_refused_on_the_way_back_is_followed_by_another_one(
    caplog: pytest.LogCaptureFixture,
) -> None:
    given, followed = iter(["first", "ended", "ended", "third"]), asyncio.Event()

    async def end(peer: Peer) -> None:
        await connected(peer, "first")
        await followed.wait()
        await peer.send(ENDED)

    async def refuse(peer: Peer) -> None:
        await refused(peer, "ended")

    async def stay(peer: Peer) -> None:
        await connected(peer, "third")
        await peer.packet()

    async with (
        fake_broker(end, refuse, stay) as url,
        slipring.connect(url, token=lambda: next(given)) as bus,
    ):
        changes = bus.changes()
        followed.set()
        async for change in changes:
            if change.connected:
                break
    assert "has refused the newest token" in caplog.text
    assert "ended" not in caplog.text.replace("the connection ended", "")


async def test_the_first_connection_with_a_refused_token_is_not_tried_again() -> None:
    async def refuse(peer: Peer) -> None:
        await refused(peer, "first")

    async with fake_broker(refuse) as url:
        with pytest.raises(slipring.ConnectError, match="not authorized"):
            await slipring.connect(url, token=lambda: "first")


async def test_a_token_that_no_packet_carries_is_told() -> None:
    with pytest.raises(slipring.ConnectError, match="65,536 bytes, and at most 65,535"):
        await slipring.connect("mqtt://127.0.0.1:1", token=lambda: "x" * 65_536)


async def test_a_callback_that_hangs_is_not_called_again_and_its_answer_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(broker_credentials, "TOKEN_S", 0.05)
    calls, hangs = list[threading.Thread](), threading.Event()

    def token() -> str:
        calls.append(threading.current_thread())
        if len(calls) > 1:
            assert hangs.wait(60)
        return f"token-{len(calls)}"

    cut_now = asyncio.Event()

    async def cut(peer: Peer) -> None:
        await connected(peer, "token-1")
        await cut_now.wait()

    async def stay(peer: Peer) -> None:
        await connected(peer, "token-2")
        await peer.packet()

    heard = _warnings()
    async with fake_broker(cut, stay) as url, slipring.connect(url, token=token) as bus:
        changes = bus.changes()
        cut_now.set()
        while "TimeoutError" not in await heard.get():
            pass
        hangs.set()
        async for change in changes:
            if change.connected:
                break
    assert len(calls) == 2
    assert all(call.daemon for call in calls), "the program would wait for it in the end"


def _warnings() -> asyncio.Queue[str]:
    heard: asyncio.Queue[str] = asyncio.Queue()

    class ToQueue(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            heard.put_nowait(record.getMessage())

    logging.getLogger("slipring.client").addHandler(ToQueue())
    return heard


async def test_what_a_callback_raises_is_never_logged(caplog: pytest.LogCaptureFixture) -> None:
    def token() -> str:
        raise RuntimeError("hunter2")

    with pytest.raises(slipring.ConnectError, match="RuntimeError"):
        await slipring.connect("mqtt://127.0.0.1:1", token=token)
    gc.collect()
    await asyncio.sleep(0)
    assert "hunter2" not in caplog.text


async def test_a_callback_that_cancels_itself_has_given_no_token() -> None:
    async def token() -> str:
        raise asyncio.CancelledError

    with pytest.raises(slipring.ConnectError, match=r"gave no token .*: CancelledError"):
        await slipring.connect("mqtt://127.0.0.1:1", token=token)


async def test_who_is_cancelled_while_a_token_is_awaited_stays_cancelled() -> None:
    asked = asyncio.Event()

    async def token() -> str:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    connecting = asyncio.create_task(
        asyncio.wait_for(slipring.connect("mqtt://127.0.0.1:1", token=token), None)
    )
    await asked.wait()
    connecting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await connecting


@pytest.mark.parametrize(
    ("claims", "now_s", "left_s"),
    [
        ({"exp": 1_100}, 1_000, 100),
        ({"exp": 1_100}, 1_200, -100),
        ({"iat": 1_000, "exp": 1_100}, 1_000, 100),
        ({"iat": 1_000, "exp": 1_100}, 1_040, 60),
        ({"iat": 1_000, "exp": 1_100}, 400, 100),  # our clock is ten minutes slow
        ({"iat": 1_000, "exp": 1_100}, 1_700, 100),  # or fast
        ({"iat": 1_200, "exp": 1_100}, 1_000, 100),  # nonsense
        ({"iat": "soon", "exp": 1_100}, 1_000, 100),
        ({"iat": 1_000}, 1_000, None),
        ({"exp": 10**400}, 1_000, None),
        ({"exp": -1}, 1_000, None),
    ],
)
def test_a_clock_that_differs_does_not_change_how_long_a_new_token_lasts(
    claims: dict[str, object], now_s: float, left_s: float | None
) -> None:
    assert token_left_s(made(**claims), now_s) == left_s


def test_a_token_that_seems_to_have_ended_is_not_asked_for_all_the_time() -> None:
    assert pause_s(made(exp=1_000), 2_000) == 30
    assert pause_s(made(iat=1_000, exp=1_900), 9_000) == 720


def test_a_client_whose_clock_is_fast_asks_for_few_tokens(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """With our own broker, whose tokens say when they were made."""
    ahead = time.time() + 7_200
    with issuing_broker(tmp_path_factory.mktemp("issuing")) as broker:
        token = broker.token(3_600).encode()
    end_s = token_end_s(token)
    assert end_s is not None
    assert end_s < ahead
    assert pause_s(token, ahead) == pytest.approx(3_600 - 300, abs=5)
