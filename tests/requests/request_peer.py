"""A client of requests, byte by byte: it asks, serves, answers and cancels over any raw connection.

It acknowledges what it gets, and keeps messages apart from acknowledgements. It hides nothing: an
acknowledgement is returned as the broker sent it.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from typing import Any, Self, TypeAlias

import pytest

from tests.metrics import Metrics
from tests.mqtt_bytes import Giving, Pair, PropertyValues
from tests.packets import PINGREQ
from tests.raw_mqtt import V5, Kind, Packet, RawPeer, Version, properties
from tests.running_broker import PATIENCE_S, RunningBroker

ANSWERS = "answers"
CANCEL = "$slipring/cancel"
CANCELLED = "$slipring/cancelled"
LASTING = properties(session_expiry=3_600)
ACKNOWLEDGED = {1: Kind.PUBACK, 2: Kind.PUBREC}


def terms(named: dict[str, str]) -> list[Pair]:
    """User properties: `timeout="5"` is `slipring-timeout: 5`."""
    return [(f"slipring-{name}", text) for name, text in named.items()]


def text_of(values: PropertyValues, name: str) -> str:
    """The first user property of this name, without `slipring-`; empty if there is none."""
    pairs: list[Any] = list(values.get("user", ()))
    return next((pair[1] for pair in pairs if pair[0] == f"slipring-{name}"), "")


def status_of(message: Packet) -> str:
    """How a request ended, or `part`."""
    return text_of(message.properties, "status")


def reason_of(packet: Packet) -> str:
    """The words beside an end or a reason code."""
    told = packet.properties.get("reason_string", ("",))
    return text_of(packet.properties, "reason") or str(told[0])


def correlation_of(message: Packet) -> bytes:
    found = message.properties.get("correlation_data", (b"",))[0]
    assert isinstance(found, bytes)
    return found


def answer_topic_of(message: Packet) -> str:
    return str(message.properties["response_topic"][0])


class RequestPeer:
    """One client that was let in."""

    def __init__(self, raw: RawPeer, client_id: str = "", **options: Any) -> None:
        self.raw = raw
        self.connack = raw.connect(client_id, **options)
        assert self.connack.reason == 0, self.connack
        self.messages: deque[Packet] = deque()
        self._ids = count(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.raw.close()

    def ask(
        self,
        topic: str,
        payload: bytes = b"",
        *,
        correlation: bytes | None = b"1",
        answer_topic: str | bytes | None = ANSWERS,
        qos: int = 1,
        dup: bool = False,
        **named: str,
    ) -> Packet | None:
        """Publish a request with these terms; the acknowledgement, which QoS 0 has not."""
        named.setdefault("timeout", "60")
        given: dict[str, Giving] = {"user": terms({k: v for k, v in named.items() if v})}
        if answer_topic is not None:
            given["response_topic"] = answer_topic
        if correlation is not None:
            given["correlation_data"] = correlation
        return self.publish(topic, payload, qos=qos, dup=dup, properties=properties(**given))

    def publish(self, topic: str, payload: bytes = b"", qos: int = 1, **more: Any) -> Packet | None:
        """Publish anything; the PUBACK, the PUBREC, or nothing at QoS 0."""
        packet_id = next(self._ids) % 60_000 + 1 if qos else None
        self.raw.send(V5.publish(topic, payload, qos=qos, packet_id=packet_id, **more))
        if not qos:
            return None
        said = self._until(ACKNOWLEDGED[qos])
        if qos == 2 and said.reason < 0x80:
            self.raw.send(V5.pubrel(said.id))
            assert self._until(Kind.PUBCOMP).reason == 0
        return said

    def asked(self, topic: str, payload: bytes = b"", **more: Any) -> None:
        """Ask, and see that it is taken."""
        said = self.ask(topic, payload, **more)
        assert said is None or said.reason == 0, said

    def cancel(self, correlation: bytes | None) -> Packet:
        """Give up the requests with this correlation data."""
        given = properties(correlation_data=correlation) if correlation is not None else b""
        said = self.publish(CANCEL, properties=given)
        assert said is not None
        return said

    def serve(self, wanted: str, at_once: int = 0, qos: int = 2, **named: str) -> Self:
        """Subscribe as a service; 0 at once is a subscription that says nothing about requests."""
        if at_once:
            named["serve"] = str(at_once)
        given = properties(user=terms(named)) if named else b""
        self.raw.send(V5.subscribe(1, (wanted, qos), properties=given))
        assert self._until(Kind.SUBACK).reasons == (qos,)
        return self

    def answer(
        self, request: Packet, payload: bytes = b"", status: str = "", qos: int = 1, **more: Giving
    ) -> Packet | None:
        """Answer what was received; the acknowledgement."""
        return self.answer_to(answer_topic_of(request), payload, status, qos, **more)

    def answer_to(
        self, topic: str, payload: bytes = b"", status: str = "", qos: int = 1, **more: Giving
    ) -> Packet | None:
        """Answer to any topic."""
        user: list[Pair] = [("slipring-status", status)] if status else []
        return self.publish(topic, payload, qos=qos, properties=properties(user=user, **more))

    def message(self) -> Packet:
        """The next message, acknowledged."""
        while not self.messages:
            self._take(self.raw.packet())
        return self.messages.popleft()

    def end(self, correlation: bytes | None = None) -> Packet:
        """The next message, which says how the request with this correlation data ended."""
        found = self.message()
        assert correlation is None or correlation_of(found) == correlation, found
        assert status_of(found), found
        return found

    def rest(self) -> list[Packet]:
        """All messages that came before the answer to a PINGREQ that is sent now."""
        self.raw.send(PINGREQ)
        self._until(Kind.PINGRESP)
        found = list(self.messages)
        self.messages.clear()
        return found

    def quiet(self) -> bool:
        """Whether no message is there."""
        return not self.rest()

    def leave(self) -> None:
        """DISCONNECT, and wait for the broker to close."""
        self.raw.send(V5.disconnect())
        assert self.raw.closed()

    def _until(self, kind: Kind) -> Packet:
        while (packet := self.raw.packet()).kind is not kind:
            self._take(packet)
        return packet

    def _take(self, packet: Packet) -> None:
        match packet.kind:
            case Kind.PUBLISH:
                if packet.qos:
                    said = V5.puback if packet.qos == 1 else V5.pubrec
                    self.raw.send(said(packet.id))
                self.messages.append(packet)
            case Kind.PUBREL:
                self.raw.send(V5.pubcomp(packet.id))
            case _:
                raise AssertionError(f"nobody asked for {packet}")


def gathered(services: list[RequestPeer], count: int) -> list[list[Packet]]:
    """What each service has got, once they have so many requests together; more would be wrong."""
    found: list[list[Packet]] = [[] for _ in services]
    given_up_s = time.monotonic() + PATIENCE_S
    while sum(map(len, found)) < count:
        assert time.monotonic() < given_up_s, f"{sum(map(len, found))} of {count} requests came"
        for service, requests in zip(services, found, strict=True):
            requests.extend(service.rest())
    assert sum(map(len, found)) == count
    assert all(service.quiet() for service in services)
    return found


Peers: TypeAlias = Callable[..., RequestPeer]


class Requested:
    """What a broker's metrics say about requests, against what they said before."""

    def __init__(self, broker: RunningBroker) -> None:
        self.broker = broker
        self.before = Metrics.of(broker)

    def more(self, name: str) -> float:
        """By how much a count has grown: `asked`, `retried`, `parts`, `late`, `refused`."""
        sample = f"slipring_requests_{name}_total"
        return Metrics.of(self.broker)[sample] - self.before[sample]

    def reached(self, limit: str) -> float:
        """How often a limit was reached meanwhile."""
        return Metrics.of(self.broker).reached(limit) - self.before.reached(limit)


@pytest.fixture
def peers(shared_broker: RunningBroker) -> Iterator[Peers]:
    """Makes clients of the broker that the file's tests share; each is closed with its test."""
    with ExitStack() as stack:

        def made(client_id: str = "", version: Version = V5, **options: Any) -> RequestPeer:
            raw = RawPeer(shared_broker.host, shared_broker.port, version)
            return stack.enter_context(RequestPeer(raw, client_id, **options))

        yield made
