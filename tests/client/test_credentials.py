"""How a client proves its name: SCRAM without sending the password, and whom it believes; wills."""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import slipring
from slipring import sync
from tests.access_rules import ALL
from tests.auth.scram import verifier
from tests.client.fake_broker import CONNECT, Peer, enhanced, fake_broker
from tests.client.relay import Relay, relay_to
from tests.client.test_secure import Secured, echo, secured
from tests.packets import Kind
from tests.running_broker import RunningBroker, broker_in

__all__ = ["secured"]

PASSWORD = "a pass, word=ö"
METHOD = "SCRAM-SHA-256"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    stored = verifier(PASSWORD, iterations=20_000)
    config = f"[[user]]\nname = 'a,b=ö'\npassword = '{stored}'\n{ALL}"
    with broker_in(
        tmp_path_factory.mktemp("guarded"), "--console", "off", config=config
    ) as running:
        yield running


@pytest.mark.parametrize("transport", ["plain", "secure", "web", "secure_web", "local"])
async def test_scram_proves_a_name_over_every_transport(secured: Secured, transport: str) -> None:
    tls = secured.tls() if transport.startswith("secure") else None
    async with slipring.connect(
        getattr(secured, transport),
        user="gripen",
        password="pencil",
        authentication="scram",
        tls=tls,
    ) as bus:
        assert await echo(bus, b"heard") == b"heard"


async def test_scram_never_sends_the_password(
    guarded: RunningBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    carried = bytearray()
    copy = Relay._copy

    async def listen(
        self: Relay, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        read = reader.read

        async def heard(most: int = -1) -> bytes:
            part = await read(most)
            carried.extend(part)
            return part

        reader.read = heard  # type: ignore[method-assign, assignment]
        await copy(self, reader, writer)

    monkeypatch.setattr(Relay, "_copy", listen)
    async with relay_to(guarded.url) as relay:
        options = {"user": "a,b=ö", "password": PASSWORD}
        async with slipring.connect(relay.url, authentication="scram", **options) as bus:  # type: ignore[arg-type]
            await bus.ping()
        assert METHOD.encode() in carried
        assert PASSWORD.encode() not in carried
        async with slipring.connect(relay.url, **options) as bus:  # type: ignore[arg-type]
            await bus.ping()
        assert PASSWORD.encode() in carried  # it would have been seen


@pytest.mark.parametrize(("user", "password"), [("a,b=ö", "wrong"), ("nobody", PASSWORD)])
async def test_a_wrong_proof_is_refused(guarded: RunningBroker, user: str, password: str) -> None:
    with pytest.raises(slipring.ConnectError, match="not authorized"):
        await slipring.connect(guarded.url, user=user, password=password, authentication="scram")


async def test_a_broker_without_users_does_not_take_scram(tmp_path: Path) -> None:
    with broker_in(tmp_path, "--console", "off") as running:
        told = "bad authentication method.*choose another authentication"
        with pytest.raises(slipring.ConnectError, match=told):
            await slipring.connect(
                running.url, user="gripen", password="pencil", authentication="scram"
            )


async def test_after_a_loss_scram_proves_the_name_again(guarded: RunningBroker) -> None:
    async with relay_to(guarded.url) as relay:
        options = {"user": "a,b=ö", "password": PASSWORD, "authentication": "scram"}
        async with slipring.connect(relay.url, **options) as bus:  # type: ignore[arg-type]
            changes = bus.changes()
            relay.cut()
            assert not (await anext(changes)).connected
            assert (await anext(changes)).connected
            assert await echo(bus, b"again") == b"again"


def auth(reason: int, data: bytes) -> bytes:
    return enhanced(Kind.AUTH, bytes([reason]), METHOD, data)


def connack(data: bytes = b"") -> bytes:
    return enhanced(Kind.CONNACK, b"\0\0", METHOD, data)


def nonce_of(body: bytes) -> bytes:
    """The client's nonce, from its CONNECT."""
    return body.split(b",r=", 1)[1][:32]


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        (lambda _: [connack(b"v=AAAA")], "it accepts without asking"),
        (lambda _: [b"\x20\x03\0\0\0"], "it accepts without asking"),
        (lambda _: [auth(0x18, b"r=another,s=AAAA,i=4096")], "its nonce does not continue ours"),
        (
            lambda nonce: [auth(0x18, b"r=" + nonce + b"x,s=AAAA,i=1")],
            "it asks for too few or too many",
        ),
        (
            lambda nonce: [auth(0x18, b"r=" + nonce + b"x,s=AAAA,i=99999999")],
            "it asks for too few or too many",
        ),
        (
            lambda nonce: [auth(0x18, b"r=" + nonce + b"x,s=AAAA,i=4096"), connack(b"v=AAAA")],
            "its proof is wrong",
        ),
        (
            lambda nonce: [auth(0x18, b"r=" + nonce + b"x,s=AAAA,i=4096"), connack()],
            "it sends no proof",
        ),
    ],
)
async def test_who_only_pretends_to_be_the_broker_is_not_believed(
    answers: Callable[[bytes], list[bytes]], told: str
) -> None:
    async def pretend(peer: Peer) -> None:
        body = await peer.expect(CONNECT)
        assert b"pencil" not in body
        for answer in answers(nonce_of(body)):
            await peer.send(answer)
        await peer.reader.read()

    async with fake_broker(pretend) as url:
        with pytest.raises(slipring.ConnectError, match=f"has not proved itself: {told}"):
            await slipring.connect(url, user="me", password="pencil", authentication="scram")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"authentication": "scram", "user": "me"}, "needs user and password"),
        ({"authentication": "scram", "password": "x"}, "needs user and password"),
        ({"authentication": "token", "password": "x"}, "needs token"),
        ({"authentication": "magic"}, "password, scram or token"),
        ({"password": "x", "token": "y"}, "give one of"),
        ({"token": "y", "token_file": "z"}, "give one of"),
    ],
)
def test_credentials_that_do_not_fit_together_are_told(options: dict[str, str], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        slipring.connect("mqtt://127.0.0.1:1", **options)  # type: ignore[arg-type]


def test_no_text_of_a_connection_shows_a_secret() -> None:
    connecting = slipring.connect("mqtt://127.0.0.1:1", user="me", password="hunter2")
    token = slipring.connect("mqtt://127.0.0.1:1", token="hunter2")
    for one in (connecting, token):
        assert "hunter2" not in repr(one) + repr(vars(one)["_credentials"]) + str(one)


def test_the_client_without_asyncio_uses_scram_too(guarded: RunningBroker) -> None:
    with sync.connect(guarded.url, user="a,b=ö", password=PASSWORD, authentication="scram") as bus:
        assert bus.ping() > 0


DIES = """
import os, slipring.sync as sync, slipring, sys
will = slipring.Will("gripen/state", "gone", qos=1, retain=True, delay_s=int(sys.argv[2]))
bus = sync.connect(sys.argv[1], will=will, session_expiry_s=100, client_id="gripen")
print("connected", flush=True)
sys.stdin.readline()
if sys.argv[3] == "close":
    bus.close()
os._exit(1)
"""


def die(url: str, delay_s: int, how: str) -> None:
    """A client with a will that goes like this."""
    with subprocess.Popen(
        [sys.executable, "-c", DIES, url, str(delay_s), how],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "connected\n"
        process.communicate("\n")


async def test_the_will_of_a_client_that_died_is_published_and_kept(tmp_path: Path) -> None:
    with broker_in(tmp_path, "--console", "off") as running:
        async with slipring.connect(running.url) as bus, bus.subscribe("gripen/+", qos=1) as heard:
            await asyncio.to_thread(die, running.url, 0, "close")  # withdraws it
            await asyncio.to_thread(die, running.url, 0, "crash")
            said = await anext(heard)
            assert (said.topic, said.payload, said.qos) == ("gripen/state", b"gone", 1)
            async with bus.subscribe("gripen/state") as later:
                kept = await anext(later)
                assert (kept.payload, kept.retain) == (b"gone", True)


WILL = slipring.Will(
    "wills/state",
    "gone",
    properties={"by": "gripen"},
    content_type="text/plain",
    response_topic="wills/answer",
    correlation_data=b"7",
    expiry_s=1000,
)


async def test_a_will_carries_what_a_message_carries(broker_url: str) -> None:
    async with slipring.connect(broker_url) as bus, bus.subscribe("wills/state") as heard:
        options = {"client_id": "wills", "reconnect_s": 0}
        gone = await slipring.connect(broker_url, will=WILL, **options)  # type: ignore[arg-type]
        # Another client with its id ends its connection, which publishes the will.
        async with slipring.connect(broker_url, **options):  # type: ignore[arg-type]
            said = await anext(heard)
        assert (said.payload, said.properties) == (b"gone", (("by", "gripen"),))
        assert (said.content_type, said.response_topic) == ("text/plain", "wills/answer")
        assert said.correlation_data == b"7"
        assert said.expiry_s is not None
        await gone.close()


def test_the_client_without_asyncio_has_wills_too(broker_url: str) -> None:
    with sync.connect(broker_url) as bus, bus.subscribe("wills/state") as heard:
        gone = sync.connect(broker_url, client_id="sync-wills", reconnect_s=0, will=WILL)
        with sync.connect(broker_url, client_id="sync-wills"):
            said = next(heard)
        assert (said.payload, said.properties, said.content_type) == (
            *(b"gone", (("by", "gripen"),)),
            "text/plain",
        )
        gone.close()


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"qos": 3}, "QoS is 0, 1 or 2"),
        ({"delay_s": -1}, "delay_s is whole seconds"),
        ({"expiry_s": 1 << 32}, "expiry_s is whole seconds"),
    ],
)
def test_a_will_that_no_packet_can_say_is_told(wrong: dict[str, int], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        slipring.Will("a", **wrong)  # type: ignore[arg-type]


async def test_a_will_waits_for_a_client_that_comes_back(tmp_path: Path) -> None:
    with broker_in(tmp_path, "--console", "off") as running:
        async with slipring.connect(running.url) as bus, bus.subscribe("#") as heard:
            await asyncio.to_thread(die, running.url, 1000, "crash")
            async with slipring.connect(
                running.url, client_id="gripen", session_expiry_s=100
            ) as back:
                await back.publish("back", b"")
                assert (await anext(heard)).topic == "back"  # no will before it


@pytest.mark.parametrize(
    "will",
    [
        slipring.Will("a/#"),
        slipring.Will("a", b"x" * 70_000),
        slipring.Will("a", properties={"x": "y" * 60_000, "z": "y" * 60_000}),
    ],
)
async def test_a_will_that_cannot_be_carried_is_told(will: slipring.Will) -> None:
    with pytest.raises(slipring.ConnectError, match="a will is for a topic"):
        await slipring.connect("mqtt://127.0.0.1:1", will=will)
