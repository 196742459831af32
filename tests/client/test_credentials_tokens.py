"""Tokens: how they are sent, renewed before they end and for each connection, and never shown.

The brokers here say exactly what a test tells them; `tests/tokens` has ours.
"""

import asyncio
import base64
import json
import logging
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import slipring
from slipring import sync
from slipring.client.renewal import pause_s
from slipring.credentials import token_end_s
from tests.client.fake_broker import CONNECT, Peer, enhanced, fake_broker
from tests.packets import Kind

METHOD = "OAUTH2-JWT"
CONNACK = enhanced(Kind.CONNACK, b"\0\0", METHOD, b"")
ACCEPTED = enhanced(Kind.AUTH, b"\0", METHOD, b"")
ENDED = bytes([Kind.DISCONNECT, 1, 0x87])
AGAIN = 0x19


def jwt(name: str, left_s: float) -> str:
    """A token of nobody that ends so many seconds from now."""
    claims = json.dumps({"sub": name, "exp": time.time() + left_s}).encode()
    parts = (b'{"alg":"EdDSA"}', claims, name.encode() * 8)
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)


async def connected(peer: Peer, token: str) -> None:
    """Lets in a client that begins with this token."""
    body = await peer.expect(CONNECT)
    assert METHOD.encode() in body
    assert body.count(token.encode()) == 1
    await peer.send(CONNACK)


async def renewed(peer: Peer, token: str) -> None:
    """Accepts this token on the open connection."""
    body = await peer.expect(Kind.AUTH)
    assert body[0] == AGAIN
    assert body.endswith(token.encode())
    await peer.send(ACCEPTED)


class Tokens:
    """Gives one token after the other, and counts."""

    def __init__(self, *tokens: str) -> None:
        self.left = list(tokens)

    def __call__(self) -> str:
        return self.left.pop(0)

    async def later(self) -> bytes:
        await asyncio.sleep(0)
        return self().encode()


async def test_a_token_goes_by_its_own_method_and_never_as_the_password() -> None:
    token = jwt("gripen", 1000)

    async def talk(peer: Peer) -> None:
        await connected(peer, token)
        await peer.packet()

    async with fake_broker(talk) as url, slipring.connect(url, user="gripen", token=token):
        pass


async def test_a_token_can_be_sent_as_the_password_for_other_brokers() -> None:
    token = jwt("gripen", 1000)

    async def talk(peer: Peer) -> None:
        body = await peer.expect(CONNECT)
        assert METHOD.encode() not in body
        assert body.endswith(b"\0\x06gripen" + len(token).to_bytes(2, "big") + token.encode())
        await peer.send(b"\x20\x03\0\0\0")
        await peer.packet()

    async with (
        fake_broker(talk) as url,
        slipring.connect(url, user="gripen", token=token, authentication="password"),
    ):
        pass


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_token_is_renewed_on_the_open_connection_before_it_ends(is_async: bool) -> None:
    first, second = jwt("first", 1.2), jwt("second", 1000)
    tokens, over = Tokens(first, second), asyncio.Event()

    async def talk(peer: Peer) -> None:
        await connected(peer, first)
        await renewed(peer, second)
        assert time.time() < (token_end_s(first.encode()) or 0)
        over.set()
        await peer.packet()

    async with (
        fake_broker(talk) as url,
        slipring.connect(url, token=tokens.later if is_async else tokens),
    ):
        await over.wait()


async def test_each_connection_begins_with_a_new_token_even_after_the_old_one_has_ended() -> None:
    tokens, followed = Tokens("first", "second", "third"), asyncio.Event()

    async def end(peer: Peer) -> None:
        await connected(peer, "first")
        await followed.wait()
        await peer.send(ENDED)  # as a broker does whose token has ended

    async def cut(peer: Peer) -> None:
        await connected(peer, "second")

    async def stay(peer: Peer) -> None:
        await connected(peer, "third")
        await peer.packet()

    async with fake_broker(end, cut, stay) as url, slipring.connect(url, token=tokens) as bus:
        changes = bus.changes()
        followed.set()
        found = [await anext(changes) for _ in range(4)]
        assert [change.connected for change in found] == [False, True, False, True]


async def test_without_a_callback_a_token_that_ended_is_not_tried_again() -> None:
    followed = asyncio.Event()

    async def end(peer: Peer) -> None:
        await connected(peer, "only")
        await followed.wait()
        await peer.send(ENDED)

    async with fake_broker(end) as url, slipring.connect(url, token="only") as bus:
        changes = bus.changes()
        followed.set()
        change = await anext(changes)
        assert not change.connected
        assert change.retry_s is None


async def test_a_callback_that_fails_is_asked_again_and_its_words_are_not_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    calls = 0

    def token() -> str:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise RuntimeError("cannot send hunter2 to the provider")
        return f"token-{calls}"

    followed = asyncio.Event()

    async def cut(peer: Peer) -> None:
        await connected(peer, "token-1")
        await followed.wait()

    async def stay(peer: Peer) -> None:
        await connected(peer, "token-3")
        await peer.packet()

    caplog.set_level(logging.DEBUG)
    async with fake_broker(cut, stay) as url, slipring.connect(url, token=token) as bus:
        changes = bus.changes()
        followed.set()
        async for change in changes:
            if change.connected:
                break
    assert "gave no token" in caplog.text
    assert "RuntimeError" in caplog.text
    assert "hunter2" not in caplog.text
    assert "token-" not in caplog.text


async def test_a_callback_that_keeps_failing_ends_the_connection_in_time() -> None:
    given, followed = iter(["first"]), asyncio.Event()

    async def cut(peer: Peer) -> None:
        await connected(peer, "first")
        await followed.wait()

    async with fake_broker(cut) as url:
        bus = await slipring.connect(url, token=lambda: next(given), reconnect_s=0.1)
        following = bus.changes()
        followed.set()
        changes = [change async for change in following]
        assert not changes[-1].connected
        assert changes[-1].retry_s is None
        await bus.close()


@pytest.mark.parametrize("token", [lambda: 1 / 0, lambda: "", lambda: 7])
async def test_a_first_token_that_cannot_be_had_is_told(token: Callable[[], str]) -> None:
    with pytest.raises(slipring.ConnectError, match="token"):
        await slipring.connect("mqtt://127.0.0.1:1", token=token)


async def test_a_file_of_a_token_is_read_again_for_each_connection(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.touch(0o600)
    file.write_text("first\n")

    followed = asyncio.Event()

    async def cut(peer: Peer) -> None:
        await connected(peer, "first")
        await followed.wait()
        file.write_text("second\n")

    async def stay(peer: Peer) -> None:
        await connected(peer, "second")
        await peer.packet()

    async with fake_broker(cut, stay) as url, slipring.connect(url, token_file=file) as bus:
        changes = bus.changes()
        followed.set()
        async for change in changes:
            if change.connected:
                break


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
async def test_a_file_that_others_can_read_is_refused_with_what_mends_it(
    tmp_path: Path, mode: int
) -> None:
    file = tmp_path / "token"
    file.write_text("secret")
    file.chmod(mode)
    with pytest.raises(slipring.SecretError, match=f"run: chmod 600 {file}"):
        await slipring.connect("mqtt://127.0.0.1:1", token_file=file)


async def test_a_broker_that_asks_for_more_than_a_token_is_not_believed() -> None:
    async def talk(peer: Peer) -> None:
        await peer.expect(CONNECT)
        await peer.send(enhanced(Kind.AUTH, b"\x18", METHOD, b"tell me your password"))

    async with fake_broker(talk) as url:
        with pytest.raises(slipring.ConnectError, match="asks for more than a token"):
            await slipring.connect(url, token="token")


async def test_the_client_without_asyncio_renews_tokens_too() -> None:
    first, second = jwt("first", 1.2), jwt("second", 1000)
    over = asyncio.Event()

    async def talk(peer: Peer) -> None:
        await connected(peer, first)
        await renewed(peer, second)
        over.set()
        await peer.packet()

    async with fake_broker(talk) as url:
        bus = await asyncio.to_thread(sync.connect, url, token=Tokens(first, second))
        await over.wait()
        await asyncio.to_thread(bus.close)


def test_the_end_of_a_token_is_what_it_says_and_nothing_else() -> None:
    assert token_end_s(jwt("x", 0).encode()) == pytest.approx(time.time(), abs=60)
    for claims in ['{"exp": "soon"}', '{"exp": true}', '{"exp": 1e999}', "[]", "{", "{}"]:
        part = base64.urlsafe_b64encode(claims.encode()).rstrip(b"=")
        assert token_end_s(b"e30." + part + b".x") is None, claims
    for odd in [b"", b"opaque", b"a.b", b"a.\xff.c", b"a.b.c.d", b"." * 100]:
        assert token_end_s(odd) is None


@pytest.mark.parametrize(("left_s", "pause"), [(100, 80), (10_000, 9_700), (1, 1), (-5, 30)])
def test_a_token_is_renewed_early_but_not_all_the_time(left_s: float, pause: float) -> None:
    claims = base64.urlsafe_b64encode(json.dumps({"exp": 1_000_000 + left_s}).encode())
    assert pause_s(b"e30." + claims.rstrip(b"=") + b".x", 1_000_000) == pause
    assert pause_s(b"opaque", 0) is None
