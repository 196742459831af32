"""Askers and services that go through kills, and keep their side of MQTT.

Pure: packets in, bytes out. What was not acknowledged is sent again; at QoS 2 a message under an
identifier that is still held is the same message again (4.3.3).
"""

from collections import deque
from dataclasses import dataclass, field
from itertools import count
from typing import Protocol

from tests.mqtt_bytes import Pair
from tests.packets import PINGREQ
from tests.raw_mqtt import V5, Kind, Packet, properties
from tests.requests.inquiries import Inquiries, Inquiry
from tests.requests.request_peer import (
    CANCEL,
    LASTING,
    answer_topic_of,
    correlation_of,
    reason_of,
    status_of,
)

WINDOW = 50
"""Messages of one client that wait for their acknowledgement."""
PING_EVERY = 20
"""Events of the run between two PINGREQs of a service."""


class Party(Protocol):
    """One client of a run."""

    name: str

    def hello(self) -> bytes: ...
    def hear(self, packet: Packet) -> bytes: ...
    def more(self) -> bytes: ...
    def gone(self) -> None: ...


@dataclass
class Asker:
    """Asks with a kept session, cancels some, and notes every end."""

    name: str
    qos: int
    inquiries: Inquiries
    most_open: int
    """It asks while fewer requests of all askers are open."""
    asked: int = 0
    connection: int = 0
    is_up: bool = False
    unsent: dict[int, Inquiry] = field(default_factory=dict)
    """By identifier: not acknowledged, or not released."""
    released: set[int] = field(default_factory=set)
    given_up: set[bytes] = field(default_factory=set)
    """To be cancelled, and not over: a cancel that is lost with a broker is sent again."""
    cancels: dict[int, bytes] = field(default_factory=dict)
    to_cancel: deque[bytes] = field(default_factory=deque)
    held: dict[int, tuple[bytes, str, bytes]] = field(default_factory=dict)
    seen: bool = False
    _ids: "count[int]" = field(default_factory=count)

    def hello(self) -> bytes:
        return V5.connect(self.name, clean=not self.seen, properties=LASTING)

    def gone(self) -> None:
        self.is_up = False
        self.cancels.clear()
        self.to_cancel.extend(self.given_up)

    def hear(self, packet: Packet) -> bytes:
        match packet.kind:
            case Kind.CONNACK:
                return self._resume(packet)
            case Kind.PUBLISH:
                return self._told(packet)
            case Kind.PUBREL:
                self.held.pop(packet.id, None)
                return V5.pubcomp(packet.id)
            case Kind.PUBACK:
                return self._acknowledged(packet)
            case Kind.PUBREC:
                self._check(packet)
                self.released.add(packet.id)
                return V5.pubrel(packet.id)
            case Kind.PUBCOMP:
                self.released.discard(packet.id)
                self._is_taken(packet.id)
        return b""

    def more(self) -> bytes:
        """Ask and cancel as much as there is room for."""
        sent = b""
        while self.is_up and len(self.unsent) + len(self.cancels) < WINDOW:
            if self.to_cancel:
                sent += self._cancel(self.to_cancel.popleft())
            elif self.inquiries.open < self.most_open:
                self.asked += 1
                correlation = f"{self.name}-{self.asked}".encode()
                packet_id = self._free_id()
                self.unsent[packet_id] = self.inquiries.ask(correlation, self.qos)
                sent += self._publish(packet_id)
            else:
                break
        return sent

    def _free_id(self) -> int:
        while True:
            packet_id = next(self._ids) % 1_000 + 1
            if packet_id not in self.unsent and packet_id not in self.cancels:
                return packet_id

    def _publish(self, packet_id: int) -> bytes:
        inquiry = self.unsent[packet_id]
        is_again, inquiry.sends = inquiry.sends > 0, inquiry.sends + 1
        user: list[Pair] = [("slipring-timeout", f"{inquiry.timeout_s:.3f}"), *inquiry.kind.terms]
        given = properties(
            response_topic=f"ends/{self.name}", correlation_data=inquiry.correlation, user=user
        )
        return V5.publish(
            inquiry.kind.topic,
            inquiry.correlation,
            qos=self.qos,
            packet_id=packet_id,
            dup=is_again,
            properties=given,
        )

    def _cancel(self, correlation: bytes) -> bytes:
        if self.inquiries.all[correlation].is_over:
            self.given_up.discard(correlation)
            return b""
        packet_id = self._free_id()
        self.cancels[packet_id] = correlation
        given = properties(correlation_data=correlation)
        return V5.publish(CANCEL, qos=1, packet_id=packet_id, properties=given)

    def _resume(self, packet: Packet) -> bytes:
        assert packet.reason == 0, f"{self.name}: {packet}"
        if self.seen and not packet.session_present:
            self.inquiries.wrong.append(f"the session of {self.name} is lost")
        self.seen = self.is_up = True
        self.connection += 1
        again = (
            V5.pubrel(one) if one in self.released else self._publish(one)
            for one in sorted(self.unsent)
        )
        return b"".join(again)

    def _check(self, packet: Packet) -> None:
        if packet.reason >= 0x80:
            inquiry = self.unsent[packet.id]
            self.inquiries.wrong.append(f"refused, {reason_of(packet)}: {inquiry}")

    def _acknowledged(self, packet: Packet) -> bytes:
        cancelled = self.cancels.pop(packet.id, None)
        if cancelled is None:
            self._check(packet)
            self._is_taken(packet.id)
        return b""

    def _is_taken(self, packet_id: int) -> None:
        inquiry = self.unsent.pop(packet_id, None)
        if inquiry and inquiry.kind.is_cancelled:
            self.given_up.add(inquiry.correlation)
            self.to_cancel.append(inquiry.correlation)

    def _told(self, packet: Packet) -> bytes:
        correlation, status = correlation_of(packet), status_of(packet)
        message = (correlation, status, packet.payload)
        held = None
        if packet.qos == 2:
            held = self.held.get(packet.id)
            if held not in (None, message):
                fault = f"{packet} under an identifier that {held} still has"
                self.inquiries.wrong.append(f"{self.name}: {fault}")
            self.held[packet.id] = message
        if held is None:
            payload = packet.payload or reason_of(packet).encode()
            self.inquiries.told(correlation, status, payload, self.connection)
        match packet.qos:
            case 2:
                return V5.pubrec(packet.id)
            case 1:
                return V5.puback(packet.id)
        return b""


@dataclass
class Solver:
    """A service. One that is mortal loses everything with its connection, the others nothing."""

    name: str
    inquiries: Inquiries
    filter: str
    at_once: int
    qos: int = 2
    is_mortal: bool = False
    credit: int = 0
    """So many answers it still gives in this life of the broker."""
    is_up: bool = False
    is_subscribed: bool = False
    seen: bool = False
    lives: int = 0
    answers: int = 0
    to_answer: list[tuple[str, bytes]] = field(default_factory=list)
    answering: dict[int, tuple[str, bytes]] = field(default_factory=dict)
    held: dict[int, str] = field(default_factory=dict)
    known: dict[str, int] = field(default_factory=dict)
    """The connection on which each key last came: at QoS 1 it may come again on a later one."""
    connection: int = 0
    settled: int = 0
    _pinged: int | None = None
    _ids: "count[int]" = field(default_factory=count)

    def hello(self) -> bytes:
        self.settled = self.inquiries.now
        if self.is_mortal:
            self.lives += 1
            return V5.connect(f"{self.name}-{self.lives}")
        return V5.connect(self.name, clean=not self.seen, properties=LASTING)

    def gone(self) -> None:
        self.is_up, self._pinged = False, None
        self.to_answer += self.answering.values()
        self.answering.clear()
        if self.is_mortal:
            self.is_subscribed = False
            self.to_answer.clear()
            self.held.clear()
            self.known.clear()

    def hear(self, packet: Packet) -> bytes:
        match packet.kind:
            case Kind.CONNACK:
                return self._resume(packet)
            case Kind.SUBACK:
                assert packet.reasons == (self.qos,), f"{self.name}: {packet}"
                self.is_subscribed = self.seen = True
            case Kind.PUBLISH:
                return self._receive(packet)
            case Kind.PUBREL:
                self.held.pop(packet.id, None)
                return V5.pubcomp(packet.id)
            case Kind.PUBACK:
                self.answering.pop(packet.id, None)
            case Kind.PINGRESP if self._pinged is not None:
                self.settled, self._pinged = self._pinged, None
        return b""

    def more(self) -> bytes:
        """Answer as much as there is credit for, in any order."""
        sent = b""
        if self.is_up and self._pinged is None and self.inquiries.now >= self.settled + PING_EVERY:
            self._pinged, sent = self.inquiries.now, PINGREQ
        while self.is_up and self.credit and self.to_answer and len(self.answering) < WINDOW:
            self.credit -= 1
            at = self.inquiries.choice.randrange(len(self.to_answer))
            self.to_answer[at], self.to_answer[-1] = self.to_answer[-1], self.to_answer[at]
            sent += self._answer(*self.to_answer.pop())
        return sent

    def _answer(self, topic: str, correlation: bytes) -> bytes:
        name = self.inquiries.all[correlation].kind.name
        sent = b""
        if name == "parts":
            for number in range(2):
                part = properties(user=("slipring-status", "part"))
                sent += V5.publish(topic, b"part %d" % number, properties=part)
        status = "failed" if name == "fails" else "answered"
        packet_id = next(one for one in self._ids if one % 1_000 + 1 not in self.answering)
        packet_id = packet_id % 1_000 + 1
        self.answering[packet_id] = (topic, correlation)
        given = properties(user=("slipring-status", status))
        return sent + V5.publish(topic, self._words(), qos=1, packet_id=packet_id, properties=given)

    def _words(self) -> bytes:
        """No two answers are the same."""
        self.answers += 1
        return f"{self.name} {self.answers}".encode()

    def _resume(self, packet: Packet) -> bytes:
        assert packet.reason == 0, f"{self.name}: {packet}"
        self.is_up = True
        self.connection += 1
        if packet.session_present:
            return b""
        if self.seen and not self.is_mortal:
            self.inquiries.wrong.append(f"the session of {self.name} is lost")
        said = properties(user=("slipring-serve", str(self.at_once))) if self.at_once else b""
        return V5.subscribe(1, (self.filter, self.qos), properties=said)

    def _receive(self, packet: Packet) -> bytes:
        key = answer_topic_of(packet).rpartition("/")[2]
        if packet.qos == 2:
            held = self.held.get(packet.id)
            if held not in (None, key):
                fault = f"{packet} under an identifier that {held} still has"
                self.inquiries.wrong.append(f"{self.name}: {fault}")
            is_new, self.held[packet.id] = held is None, key
        else:
            is_new = self.known.get(key) in (None, self.connection)
        self.known[key] = self.connection
        if is_new:
            self._take(packet, key)
        elif packet.qos == 1:
            self._owe(packet)
        match packet.qos:
            case 2:
                return V5.pubrec(packet.id)
            case 1:
                return V5.puback(packet.id)
        return b""

    def _take(self, packet: Packet, key: str) -> None:
        correlation = correlation_of(packet)
        name = f"{self.name}-{self.lives}" if self.is_mortal else self.name
        settled = 0 if packet.dup else self.settled
        self.inquiries.taken(correlation, key, name, settled)
        self._owe(packet)

    def _owe(self, packet: Packet) -> None:
        """Answer it, unless that is to come anyway. An answer may have met a broker that had
        forgotten who has the request, and gives it away again.
        """
        owed = (answer_topic_of(packet), correlation_of(packet))
        is_owed = owed in self.to_answer or owed in self.answering.values()
        if packet.topic != "work/silent" and not is_owed:
            self.to_answer.append(owed)
