"""One hundred clients that try to make a broker hold more than its memory budget, all at once.

Each sends what it has whenever its socket takes bytes, and reads nothing. A client that the broker
ends comes back.
"""

import selectors
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count

from tests.limited_broker import KEPT
from tests.mqtt_bytes import Pair, properties
from tests.raw_mqtt import V5, RawPeer
from tests.running_broker import RunningBroker

STUCK_S = 2.0
"""Nobody's socket took a byte for so long: the broker takes no more from anyone."""
AT_ONCE = 64 * 1024
KINDS = ("low", "normal", "high")

Bytes = Iterator[bytes]


def hears(qos: int) -> Callable[[int], Bytes]:
    """Subscribes to the flood, and reads nothing of it."""

    def sends(number: int) -> Bytes:
        yield V5.subscribe(1, (f"flood/{number % 10}/#", qos), ("flood/all", qos))

    return sends


def floods(size: int, qos: int) -> Callable[[int], Bytes]:
    """Publishes to those that hear nothing."""

    def sends(number: int) -> Bytes:
        for turn in count():
            topic = "flood/all" if turn % 4 == 0 else f"flood/{turn % 10}/{number}"
            told = KINDS[turn % 3]
            pairs: list[Pair] = [("slipring-priority", told)]
            packet_id = turn % 60_000 + 1 if qos else None
            of = properties(user=pairs)
            yield V5.publish(topic, bytes(size), qos=qos, packet_id=packet_id, properties=of)

    return sends


def retains(number: int) -> Bytes:
    """Large retained messages, each of another topic."""
    for turn in count():
        topic = f"kept/{number}/{turn}"
        yield V5.publish(topic, bytes(300_000), qos=1, packet_id=turn % 60_000 + 1, retain=True)


def waits(number: int) -> Bytes:
    """Messages that wait for a subscriber who never comes."""
    for turn in count():
        pairs: list[Pair] = [("slipring-wait", "1"), ("slipring-priority", KINDS[turn % 3])]
        of = properties(user=pairs)
        topic = f"nobody/{number}/{turn}"
        yield V5.publish(topic, bytes(100_000), qos=1, packet_id=turn % 60_000 + 1, properties=of)


def begins(_: int) -> Bytes:
    """Half of a large packet, and no more."""
    yield V5.publish("half", bytes(4_000_000))[:2_000_000]


def invents(number: int) -> Bytes:
    """Message after message, each to another topic of many levels."""
    for turn in count():
        topic = "/".join(("new", str(number), str(turn), *("level",) * 20))
        yield V5.publish(topic, bytes(1_500))


def subscribes(number: int) -> Bytes:
    """As many long filters as are allowed."""
    for turn in range(1_200):
        yield V5.subscribe(1, ("/".join((f"of/{number}/{turn}", *("x" * 20,) * 20)), 1))


def asks(number: int) -> Bytes:
    """Requests with large answers, which it never reads."""
    for turn in count():
        of = properties(response_topic=f"answers/{number}")
        body = struct.pack("<QQI", 0, 1 << 40, 4 << 20)
        yield V5.publish("$slipring/journal/read", body, properties=of)
        if turn % 4 == 0:
            yield V5.publish("$slipring/table/list", b'{"count": 100000}', properties=of)


CROWD: list[tuple[int, Callable[[int], Bytes]]] = [
    (12, hears(0)), (12, hears(1)), (12, hears(2)),
    (6, floods(200, 0)), (6, floods(20_000, 0)), (6, floods(2_000, 1)), (4, floods(400_000, 1)),
    (8, retains), (8, waits), (10, begins), (5, invents), (5, subscribes), (6, asks),
]  # fmt: skip
"""How many of each kind: one hundred."""


@dataclass
class Attacker:
    """One of them, with what it has not sent yet."""

    client_id: str
    peer: RawPeer
    sends: Bytes
    unsent: bytes = b""
    is_done: bool = False

    def send(self) -> int:
        """Send what the socket takes; how many bytes that were, -1 if the broker has ended it."""
        while len(self.unsent) < AT_ONCE and not self.is_done:
            following = next(self.sends, None)
            self.is_done = following is None
            self.unsent += following or b""
        try:
            sent = self.peer.socket.send(self.unsent)
        except BlockingIOError:
            return 0
        except OSError:
            return -1
        self.unsent = self.unsent[sent:]
        return sent


@dataclass
class Crowd:
    """All of them."""

    broker: RunningBroker
    attackers: list[Attacker] = field(default_factory=list)
    ended: int = 0

    def arrive(self) -> None:
        """Connect them: half of those that hear have a session that is kept."""
        for many, kind in CROWD:
            for _ in range(many):
                number = len(self.attackers)
                self._come(f"{number:03}-" + "x" * 900, kind(number))

    def _come(self, client_id: str, sends: Bytes) -> None:
        peer = RawPeer(self.broker.host, self.broker.port)
        session = KEPT if int(client_id[:3]) % 2 == 0 else properties()
        assert peer.connect(client_id, clean=False, properties=session).reason == 0
        peer.socket.setblocking(False)
        self.attackers.append(Attacker(client_id, peer, sends))

    def attack(self, bytes_max: int) -> int:
        """Send until so many bytes are sent, or nobody can send; how many were sent."""
        total = 0
        with selectors.DefaultSelector() as ready:
            for one in self.attackers:
                ready.register(one.peer.socket, selectors.EVENT_WRITE, one)
            while total < bytes_max and (events := ready.select(STUCK_S)):
                for key, _ in events:
                    sent = key.data.send()
                    total += max(sent, 0)
                    if sent < 0 or (key.data.is_done and not key.data.unsent):
                        ready.unregister(key.fileobj)
                        self.ended += sent < 0
        return total

    def leave(self) -> None:
        for one in self.attackers:
            one.peer.close()
