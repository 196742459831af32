"""Mosquitto's sequences of packets (`test/broker/data/*.json`), played by us against Slipring.

A sequence is what a client sends, what it must hear, and whether it is still connected in the end.
Mosquitto's own player compares bytes where the standard leaves a broker free; this one does not.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.outside.canonical import PacketSocket
from tests.packets import PINGREQ, PINGRESP, V5, V31, V311, Version

VERSIONS = {3: V31, 4: V311, 5: V5}
ANSWER_S = 60


@dataclass(frozen=True)
class Sequence:
    """One sequence, with the version its client speaks."""

    name: str
    level: int = 4
    connects: bool = True
    ends: bool = True
    steps: tuple[dict[str, Any], ...] = field(default=())

    def play(self, port: int) -> str:
        """What went otherwise; nothing if all went as written."""
        with PacketSocket() as client:
            client.settimeout(ANSWER_S)
            client.connect(("127.0.0.1", port))
            try:
                if self.connects:
                    greet(client, self.name, VERSIONS[self.level])
                return self._played(client, port) or self._ended(client)
            except TimeoutError:
                return "nothing came"
            except ConnectionError:
                return "" if self.ends else "the connection was reset"

    def _played(self, client: PacketSocket, port: int) -> str:
        for step in self.steps:
            match step["type"]:
                case "send":
                    client.sendall(bytes.fromhex(step["payload"]))
                case "publish":
                    publish(port, step)
                case "recv":
                    expected = bytes.fromhex(step["payload"])
                    instead = client.hears(expected)
                    if instead is not None:
                        return f"expected {expected.hex(' ')}, got {instead.hex(' ')}"
        return ""

    def _ended(self, client: PacketSocket) -> str:
        if self.ends:
            more = client.packet()
            if client.is_v5 and _is_last(more):
                more = client.packet()
            return f"still connected: {more.hex(' ')}" if more else ""
        client.sendall(PINGREQ)
        instead = client.hears(PINGRESP)
        return "" if instead is None else f"disconnected: {instead.hex(' ')}"


def _is_last(packet: bytes) -> bool:
    """Whether a broker closes after this: DISCONNECT, or a CONNACK that refuses."""
    return packet[:1] == b"\xe0" or (packet[:1] == b"\x20" and packet[3] >= 0x80)


def greet(client: PacketSocket, name: str, version: Version) -> None:
    client.sendall(version.connect(name, keep_alive_s=60))
    answer = version.read(client.packet())
    assert answer.reason == 0, answer


def publish(port: int, step: dict[str, Any]) -> None:
    """A message from somebody else, acknowledged before the sequence goes on."""
    with PacketSocket() as other:
        other.settimeout(ANSWER_S)
        other.connect(("127.0.0.1", port))
        greet(other, "helper", V311)
        topic, payload, qos = step["topic"], step["payload"].encode(), step["qos"]
        other.sendall(V311.publish(topic, payload, qos=qos, packet_id=1 if qos else None))
        if qos:
            assert other.packet()
        if qos == 2:
            other.sendall(V311.pubrel(1))
            assert other.packet()


def sequences(folder: Path) -> Iterator[Sequence]:
    """All that are not switched off, in the order of the files."""
    for path in sorted(folder.glob("*.json")):
        for group in json.loads(path.read_text(encoding="utf-8")):
            if not group.get("disable"):
                yield from (_sequence(group["group"], one) for one in group["tests"])


def _sequence(group: str, one: dict[str, Any]) -> Sequence:
    return Sequence(
        f"{group} {one['name']}",
        one.get("ver", 4),
        one.get("connect", True),
        one.get("expect_disconnect", True),
        tuple(one["msgs"]),
    )
