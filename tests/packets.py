"""Every MQTT packet in both versions: built as bytes, and read back as what the broker said.

`V5.publish("a/b", b"1", qos=1, packet_id=7)` and `V311.publish(...)` are bytes; `V5.read(data)`
is a `Packet`, whose text is the notation of the conformance rows.
"""

from dataclasses import dataclass, field
from enum import IntEnum

from tests.mqtt_bytes import (
    Malformed,
    PropertyValues,
    Reader,
    Text,
    Value,
    binary,
    packet,
    text,
    u16,
    variable,
)


class Kind(IntEnum):
    """The control packet types (2.1.2), as the upper half of the first byte."""

    CONNECT = 0x10
    CONNACK = 0x20
    PUBLISH = 0x30
    PUBACK = 0x40
    PUBREC = 0x50
    PUBREL = 0x60
    PUBCOMP = 0x70
    SUBSCRIBE = 0x80
    SUBACK = 0x90
    UNSUBSCRIBE = 0xA0
    UNSUBACK = 0xB0
    PINGREQ = 0xC0
    PINGRESP = 0xD0
    DISCONNECT = 0xE0
    AUTH = 0xF0


PINGREQ = packet(Kind.PINGREQ)
PINGRESP = packet(Kind.PINGRESP)


@dataclass(frozen=True, slots=True)
class Will:
    """What the broker publishes when the client has gone."""

    topic: Text
    payload: bytes = b""
    qos: int = 0
    retain: bool = False
    properties: bytes = b""


@dataclass(frozen=True, slots=True)
class Packet:
    """What the broker sent. A field its kind does not have keeps its default."""

    kind: Kind
    raw: bytes = b""
    id: int = 0
    reason: int = 0
    reasons: tuple[int, ...] = ()
    session_present: bool = False
    topic: str = ""
    payload: bytes = b""
    qos: int = 0
    retain: bool = False
    dup: bool = False
    properties: PropertyValues = field(default_factory=dict)

    def __str__(self) -> str:
        words = [self.kind.name]
        for name in ("id", "topic", "qos", "retain", "dup", "payload", "session_present"):
            value = getattr(self, name)
            if value:
                words.append(f"{name}={_shown(value)}")
        if self.reason or self.kind in {Kind.CONNACK, Kind.DISCONNECT}:
            words.append(f"reason={self.reason:#04x}")
        if self.reasons:
            words.append("reasons=" + ",".join(f"{reason:#04x}" for reason in self.reasons))
        for name, values in self.properties.items():
            words += [f"{name}={_shown(value)}" for value in values]
        return " ".join(words)


def _shown(value: Value) -> str:
    """A value in the notation: text and bytes are quoted, a Boolean is 0 or 1."""
    return repr(int(value) if isinstance(value, bool) else value)


@dataclass(frozen=True, slots=True)
class Version:
    """One version of the protocol: it builds packets, and reads them."""

    level: int
    name: str

    @property
    def has_properties(self) -> bool:
        return self.level == 5

    def connect(
        self,
        client_id: Text = "",
        *,
        clean: bool = True,
        keep_alive_s: int = 0,
        username: Text | None = None,
        password: bytes | None = None,
        will: Will | None = None,
        properties: bytes = b"",
        flags: int | None = None,
    ) -> bytes:
        """CONNECT; `flags` replaces the connect flags, whatever the payload has."""
        right = clean << 1 | (username is not None) << 7 | (password is not None) << 6
        payload = text(client_id)
        if will is not None:
            right |= 0x04 | will.qos << 3 | will.retain << 5
            payload += self._properties(will.properties) + text(will.topic) + binary(will.payload)
        if username is not None:
            payload += text(username)
        if password is not None:
            payload += binary(password)
        name = "MQIsdp" if self.level == 3 else "MQTT"
        header = text(name) + bytes([self.level, right if flags is None else flags])
        header += u16(keep_alive_s) + self._properties(properties)
        return packet(Kind.CONNECT, header + payload)

    def connack(
        self, reason: int = 0, *, session_present: bool = False, properties: bytes = b""
    ) -> bytes:
        body = bytes([session_present, reason])
        return packet(Kind.CONNACK, body + self._properties(properties))

    def publish(
        self,
        topic: Text,
        payload: bytes = b"",
        *,
        qos: int = 0,
        packet_id: int | None = None,
        retain: bool = False,
        dup: bool = False,
        properties: bytes = b"",
    ) -> bytes:
        """PUBLISH; the identifier is written if it is given, whatever the QoS."""
        identifier = b"" if packet_id is None else u16(packet_id)
        body = text(topic) + identifier + self._properties(properties) + payload
        return packet(Kind.PUBLISH | dup << 3 | qos << 1 | retain, body)

    def puback(self, packet_id: int, reason: int = 0, properties: bytes = b"") -> bytes:
        return self._acknowledge(Kind.PUBACK, packet_id, reason, properties)

    def pubrec(self, packet_id: int, reason: int = 0, properties: bytes = b"") -> bytes:
        return self._acknowledge(Kind.PUBREC, packet_id, reason, properties)

    def pubrel(self, packet_id: int, reason: int = 0, properties: bytes = b"") -> bytes:
        return self._acknowledge(Kind.PUBREL | 0x02, packet_id, reason, properties)

    def pubcomp(self, packet_id: int, reason: int = 0, properties: bytes = b"") -> bytes:
        return self._acknowledge(Kind.PUBCOMP, packet_id, reason, properties)

    def subscribe(
        self, packet_id: int, *filters: Text | tuple[Text, int], properties: bytes = b""
    ) -> bytes:
        """SUBSCRIBE; a filter is written with its options, which are 0 if it stands alone."""
        body = u16(packet_id) + self._properties(properties)
        for given in filters:
            wanted, options = given if isinstance(given, tuple) else (given, 0)
            body += text(wanted) + bytes([options])
        return packet(Kind.SUBSCRIBE | 0x02, body)

    def suback(self, packet_id: int, *reasons: int, properties: bytes = b"") -> bytes:
        return packet(Kind.SUBACK, u16(packet_id) + self._properties(properties) + bytes(reasons))

    def unsubscribe(self, packet_id: int, *filters: Text, properties: bytes = b"") -> bytes:
        body = u16(packet_id) + self._properties(properties) + b"".join(map(text, filters))
        return packet(Kind.UNSUBSCRIBE | 0x02, body)

    def unsuback(self, packet_id: int, *reasons: int, properties: bytes = b"") -> bytes:
        if not self.has_properties:
            return packet(Kind.UNSUBACK, u16(packet_id))
        return packet(Kind.UNSUBACK, u16(packet_id) + self._properties(properties) + bytes(reasons))

    def disconnect(self, reason: int = 0, properties: bytes = b"") -> bytes:
        return packet(Kind.DISCONNECT, self._reason(reason, properties))

    def auth(self, reason: int = 0, properties: bytes = b"") -> bytes:
        return packet(Kind.AUTH, self._reason(reason, properties))

    def read(self, data: bytes) -> Packet:
        """Read one whole packet from a broker; what breaks the standard is Malformed."""
        head = Reader(data)
        first = head.byte()
        body = Reader(head.take(head.variable()))
        kind = Kind(first & 0xF0)
        found = self._read(kind, first & 0x0F, body, data)
        if head.data or body.data:
            raise Malformed(f"more bytes than a {kind.name} has: {data.hex(' ')}")
        return found

    def _properties(self, properties: bytes) -> bytes:
        return variable(len(properties)) + properties if self.has_properties else b""

    def _acknowledge(self, first: int, packet_id: int, reason: int, properties: bytes) -> bytes:
        return packet(first, u16(packet_id) + self._reason(reason, properties))

    def _reason(self, reason: int, properties: bytes) -> bytes:
        """The short forms: no reason when it is 0, no properties when there are none."""
        if not self.has_properties or not (reason or properties):
            return b""
        return bytes([reason]) + (self._properties(properties) if properties else b"")

    def _read(self, kind: Kind, flags: int, body: Reader, raw: bytes) -> Packet:
        if kind is Kind.PUBLISH:
            return self._read_publish(flags, body, raw)
        if flags != (0x02 if kind is Kind.PUBREL else 0):
            raise Malformed(f"{kind.name} with the flags {flags:#x}")
        match kind:
            case Kind.CONNACK:
                return self._read_connack(body, raw)
            case Kind.PUBACK | Kind.PUBREC | Kind.PUBREL | Kind.PUBCOMP:
                packet_id = body.u16()
                reason, properties = self._read_reason(body)
                return Packet(kind, raw, id=packet_id, reason=reason, properties=properties)
            case Kind.SUBACK | Kind.UNSUBACK:
                packet_id, properties = body.u16(), self._read_properties(body)
                return Packet(
                    kind, raw, id=packet_id, properties=properties, reasons=tuple(body.rest())
                )
            case Kind.DISCONNECT | Kind.AUTH if self.has_properties:
                reason, properties = self._read_reason(body)
                return Packet(kind, raw, reason=reason, properties=properties)
            case Kind.PINGRESP:
                return Packet(kind, raw)
        raise Malformed(f"a broker does not send {kind.name} in {self.name}")

    def _read_connack(self, body: Reader, raw: bytes) -> Packet:
        acknowledge, reason = body.byte(), body.byte()
        if acknowledge > 1:
            raise Malformed(f"CONNACK with the acknowledge flags {acknowledge:#x}")
        properties = self._read_properties(body)
        present = bool(acknowledge)
        return Packet(Kind.CONNACK, raw, 0, reason, session_present=present, properties=properties)

    def _read_publish(self, flags: int, body: Reader, raw: bytes) -> Packet:
        topic, qos = body.text(), flags >> 1 & 3
        return Packet(
            Kind.PUBLISH,
            raw,
            topic=topic,
            qos=qos,
            retain=bool(flags & 1),
            dup=bool(flags & 8),
            id=body.u16() if qos else 0,
            properties=self._read_properties(body),
            payload=body.rest(),
        )

    def _read_properties(self, body: Reader) -> PropertyValues:
        return body.properties() if self.has_properties else {}

    def _read_reason(self, body: Reader) -> tuple[int, PropertyValues]:
        if not self.has_properties or not body.data:
            return 0, {}
        return body.byte(), body.properties() if body.data else {}


V31 = Version(3, "3.1")
V311 = Version(4, "3.1.1")
V5 = Version(5, "5.0")
