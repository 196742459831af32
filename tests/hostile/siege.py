"""A broker under attack, and what must hold meanwhile.

Whatever a hostile client does: the broker lives, an honest client that was connected before is
served as before, and memory does not grow beyond a stated bound.
"""

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TypeVar

from tests.hostile.transports import Transport
from tests.raw_mqtt import V5, Kind, RawPeer, Version, properties
from tests.running_broker import RunningBroker

MIB = 1 << 20
GROWTH_BYTES_MAX = 24 * MIB
"""How much memory an attack may leave behind, unless its test says otherwise."""

OFTEN = 20
"""Of so many things that an attacker does one after the other, one is followed by a look around."""

LASTING = properties(session_expiry=600)
"""A session that outlives its connection, in MQTT 5."""


Thing = TypeVar("Thing")


def resident_bytes(process_id: int) -> int:
    """Memory of a process that is in use (VmRSS)."""
    status = Path(f"/proc/{process_id}/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) * 1024


@dataclass
class Bystander:
    """Two honest clients, connected all the time: what one publishes, the other hears."""

    subscriber: RawPeer
    publisher: RawPeer
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    @classmethod
    def arrive(cls, broker: RunningBroker) -> "Bystander":
        peers = RawPeer(broker.host, broker.port), RawPeer(broker.host, broker.port)
        for name, peer in zip(("hears", "speaks"), peers, strict=True):
            assert peer.connect(f"bystander-{name}").reason == 0
        peers[0].send(V5.subscribe(1, ("bystander/#", 1)))
        assert peers[0].packet().reasons == (1,)
        return cls(*peers)

    def round_trip(self) -> None:
        """One message from one to the other, acknowledged on both ways."""
        payload = f"message {next(self.numbers)}".encode()
        self.publisher.send(V5.publish("bystander/topic", payload, qos=1, packet_id=1))
        heard = self.subscriber.packet()
        assert (heard.kind, heard.payload) == (Kind.PUBLISH, payload)
        self.subscriber.send(V5.puback(heard.id))
        acknowledged = self.publisher.packet()
        assert (acknowledged.kind, acknowledged.reason) == (Kind.PUBACK, 0)

    def leave(self) -> None:
        self.subscriber.close()
        self.publisher.close()


@dataclass
class Siege:
    """A broker, a bystander, and the way by which the attack comes."""

    broker: RunningBroker
    transport: Transport
    bystander: Bystander
    growth_bytes_max: int = GROWTH_BYTES_MAX
    peers: list[RawPeer] = field(default_factory=list)

    def peer(self, version: Version = V5) -> RawPeer:
        """A connection that has sent nothing yet; closed with the siege."""
        peer = self.transport.dial(self.broker, version)
        self.peers.append(peer)
        return peer

    def client(self, client_id: str = "", version: Version = V5, **options: object) -> RawPeer:
        """A connection that the broker has let in."""
        peer = self.peer(version)
        answer = peer.connect(client_id, **options)
        assert answer.reason == 0, answer
        return peer

    def drained(self, peer: RawPeer) -> bytes:
        """All that a peer hears until the broker closes it; the bystander goes on meanwhile."""
        found = b""
        peer.socket.settimeout(0.5)
        while True:
            try:
                data = peer.socket.recv(65_536)
            except TimeoutError:
                self.bystander.round_trip()
                continue
            except ConnectionResetError:
                return found
            if not data:
                return found
            found += data

    def meanwhile(self, things: Iterable[Thing]) -> Iterator[Thing]:
        """One after the other, while the bystander goes on."""
        for number, thing in enumerate(things):
            if number % OFTEN == 0:
                self.bystander.round_trip()
            yield thing

    def memory(self) -> int:
        return resident_bytes(self.broker.process.pid)

    def is_alive(self) -> bool:
        return self.broker.process.poll() is None


@contextlib.contextmanager
def laid_to(broker: RunningBroker, transport: Transport) -> Iterator[Siege]:
    """Let a test attack; then see that nothing happened to anybody else."""
    siege = Siege(broker, transport, Bystander.arrive(broker))
    siege.bystander.round_trip()
    before = siege.memory()
    try:
        yield siege
        assert siege.is_alive()
        siege.bystander.round_trip()
        grown = siege.memory() - before
        assert grown <= siege.growth_bytes_max, f"{grown / MIB:.1f} MiB more"
    finally:
        for peer in siege.peers:
            peer.close()
        siege.bystander.leave()
