"""A hostile client: connections that repeat some bytes as fast as the broker takes them."""

import json
import selectors
import socket
import sys
from dataclasses import dataclass, field

from tests.mqtt_bytes import properties
from tests.packets import V5

BLOB_BYTES = 256 << 10
LOOK_S = 0.05


@dataclass
class Peer:
    """One hostile connection: it repeats some bytes, and reads what comes or leaves it unread."""

    socket: socket.socket
    blob: bytes = b""
    reads: bool = True
    sent: int = 0
    offset: int = 0

    def step(self) -> None:
        """Write and read what the socket takes and has."""
        if self.reads:
            while read_some(self.socket):
                pass
        if not self.blob:
            return
        try:
            count = self.socket.send(memoryview(self.blob)[self.offset :])
        except BlockingIOError:
            return
        self.offset = (self.offset + count) % len(self.blob)
        self.sent += count


@dataclass
class Attack:
    """Peers that go on until standard input closes."""

    address: tuple[str, int]
    peers: list[Peer] = field(default_factory=list)

    def peer(self, client_id: str, blob: bytes = b"", *, reads: bool = True) -> Peer:
        """A peer that is connected."""
        one = dial(self.address, client_id)
        one.setblocking(False)
        self.peers.append(Peer(one, blob, reads))
        return self.peers[-1]

    def run(self) -> int:
        """Print "ready", and attack; returns how many bytes were sent."""
        with selectors.DefaultSelector() as selector:
            selector.register(sys.stdin, selectors.EVENT_READ)
            for peer in self.peers:
                wanted = selectors.EVENT_READ if peer.reads else 0
                wanted |= selectors.EVENT_WRITE if peer.blob else 0
                if wanted:
                    selector.register(peer.socket, wanted, peer)
            print("ready", flush=True)
            while True:
                for key, _ in selector.select(LOOK_S):
                    if key.data is None:
                        return sum(peer.sent for peer in self.peers)
                    try:
                        key.data.step()
                    except (ConnectionError, BrokenPipeError):
                        selector.unregister(key.fileobj)


def dial(address: tuple[str, int], client_id: str) -> socket.socket:
    """A client that is connected."""
    one = socket.create_connection(address, timeout=60)
    one.sendall(V5.connect(client_id))
    assert V5.read(one.recv(4096)).reason == 0
    return one


def read_some(one: socket.socket) -> bool:
    """Read and forget what is there; false when there is nothing more now."""
    try:
        data = one.recv(BLOB_BYTES)
    except BlockingIOError:
        return False
    if not data:
        raise ConnectionResetError
    return True


def repeated(*packets: bytes) -> bytes:
    """The packets, repeated to fill one write."""
    once = b"".join(packets)
    return once * max(1, BLOB_BYTES // len(once))


def question(name: str, body: object) -> bytes:
    """A request about the table."""
    where = properties(response_topic="answer")
    return V5.publish(f"$slipring/table/{name}", json.dumps(body).encode(), properties=where)


def stopped() -> bool:
    """Whether standard input has closed."""
    with selectors.DefaultSelector() as selector:
        selector.register(sys.stdin, selectors.EVENT_READ)
        return bool(selector.select(0))
