"""Accepts the console's connections, bounds their number, and closes those that are too slow.

The web server speaks HTTP on them. This module never reads or writes what is on a connection.
"""

import asyncio
import errno
import logging
import socket
import ssl
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from slipring.console.eviction import ConnectionUse, Stage, connection_to_close, page_to_close
from slipring.status.console import ConsoleFigures

WAIT_S = 10.0
"""How long a request may take to arrive, and a connection may wait for another one."""
STUCK_S = 20.0
"""How long a reader may leave unsent bytes unread."""
UNSENT_BYTES_MAX = 16 << 20
"""Unsent bytes of one connection at most. The largest answer is smaller."""
SWEEP_S = 1.0
TELL_S = 60.0
"""The log has at most one line about closed connections in this time."""
ACCEPTS_IN_A_TURN = 32
"""Connections accepted before other tasks run."""
NO_ROOM_S = 0.5
"""How long nothing is accepted after the system had no descriptor or memory for a connection."""
NO_ROOM = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}

log: logging.Logger = logging.getLogger("slipring.console")

TURNED_AWAY = ("no_place", "displaced", "too_slow", "no_page")
"""Why connections are refused or closed: all were in use; another took its place; a request took
too long to arrive, or a reader read nothing; too many WebSockets were open."""

Peer = tuple[str, int]
"""The address and port that a connection comes from."""


@dataclass(eq=False, slots=True)
class ConsoleConnection:
    """A connection, and what the last sweep saw of it."""

    use: ConnectionUse
    moved_s: float
    """When it last read something, or had nothing left to read."""
    transport: asyncio.Transport | None = None
    """None until the event loop has made it."""
    unsent_bytes: int = 0


class ConsoleListener:
    """Accepts connections on one listening socket."""

    def __init__(
        self,
        listening: socket.socket,
        protocols: Callable[[], asyncio.Protocol],
        connections_max: int,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """`protocols` makes the HTTP protocol of each connection."""
        self.accepted: int = 0
        self.turned_away: Counter[str] = Counter(dict.fromkeys(TURNED_AWAY, 0))
        self.connections: dict[Peer, ConsoleConnection] = {}
        self.connections_max = connections_max
        self.pages_max: int = connections_max // 2
        """Pages take half at most, so that plain requests always find room."""
        self._socket = listening
        self._protocols = protocols
        self._tls = tls
        self._handshakes: set[asyncio.Task[None]] = set()
        """One for each connection that is not made yet, so as many as there are connections."""
        self._told_s = -TELL_S
        self._told = 0

    @property
    def pages(self) -> int:
        """How many WebSockets are open."""
        return sum(use.stage is Stage.PAGE for use in self._uses())

    def figures(self) -> ConsoleFigures:
        """How many connections there are, and how many were turned away."""
        return {
            "connections": len(self.connections),
            "connections_max": self.connections_max,
            "pages": self.pages,
            "pages_max": self.pages_max,
            "accepted": self.accepted,
            "turned_away": dict(self.turned_away),
        }

    async def serve(self) -> None:
        """Accept connections until cancelled."""
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._accept_all())
                tasks.create_task(self._sweep_all())
        finally:
            self._socket.close()

    @contextmanager
    def answering(self, peer: Peer | None) -> Iterator[None]:
        """Mark the connection as busy while one of its requests is answered."""
        self._come_to(peer, Stage.ANSWERED)
        try:
            yield
        finally:
            self._come_to(peer, Stage.WAITING)

    def open_page(self, peer: Peer | None) -> bool:
        """Whether this connection may open a WebSocket; another page may be closed for it."""
        connection = self.connections.get(peer) if peer else None
        if connection is None:
            return False
        self._forget_ended()
        if self.pages >= self.pages_max:
            leaving = page_to_close(self._uses(), connection.use.address)
            if leaving is None:
                self.turned_away["no_page"] += 1
                return False
            self._displace(leaving)
        self._come_to(peer, Stage.PAGE)
        return True

    def sweep(self, now_s: float) -> None:
        """Forget connections that have ended, and close those that are too slow."""
        self._forget_ended()
        for peer, connection in list(self.connections.items()):
            if _is_late(connection, now_s):
                self.turned_away["too_slow"] += 1
                self._end(peer)
        turned_away = self.turned_away.total()
        if turned_away > self._told and now_s >= self._told_s + TELL_S:
            self._tell(turned_away)
            self._told_s = now_s

    async def _sweep_all(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_S)
            self.sweep(time.monotonic())

    async def _accept_all(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                accepted = [await loop.sock_accept(self._socket)]
                accepted += self._accept_more()
            except OSError as error:
                await self._on_error(error)
            else:
                for accepted_socket, peer in accepted:
                    await self._enter(accepted_socket, (str(peer[0]), int(peer[1])))

    def _accept_more(self) -> Iterator[tuple[socket.socket, Peer]]:
        """Accept the others that are already waiting."""
        for _ in range(ACCEPTS_IN_A_TURN - 1):
            try:
                yield self._socket.accept()
            except OSError:  # none are left; another error comes back at the next sock_accept
                return

    async def _on_error(self, error: OSError) -> None:
        """Without a free descriptor, close an idle connection; without an idle one, pause."""
        waiting = [use for use in self._uses() if use.stage is Stage.WAITING]
        leaving = connection_to_close(waiting, "") if error.errno in NO_ROOM else None
        if leaving is None:
            await asyncio.sleep(NO_ROOM_S)
            return
        self._displace(leaving)
        await asyncio.sleep(0)  # the loop frees its descriptor in the next turn

    async def _enter(self, accepted: socket.socket, peer: Peer) -> None:
        if len(self.connections) >= self.connections_max and not self._make_room(peer[0]):
            self.turned_away["no_place"] += 1
            accepted.close()
            return
        self.accepted += 1
        now_s = time.monotonic()
        connection = self.connections[peer] = ConsoleConnection(
            ConnectionUse(peer[0], now_s), now_s
        )
        accepted.setblocking(False)
        if self._tls is None:
            await self._make(connection, peer, accepted)
            return
        handshake = asyncio.create_task(self._make(connection, peer, accepted))
        self._handshakes.add(handshake)
        handshake.add_done_callback(self._handshakes.discard)

    async def _make(
        self, connection: ConsoleConnection, peer: Peer, accepted: socket.socket
    ) -> None:
        """Give the connection its protocol, after the handshake of TLS if there is one."""
        loop = asyncio.get_running_loop()
        most_s = WAIT_S if self._tls else None
        try:
            connection.transport, _ = await loop.connect_accepted_socket(
                self._protocols, accepted, ssl=self._tls, ssl_handshake_timeout=most_s
            )
        except OSError:  # the handshake failed or took too long; ssl.SSLError is one of these
            if self.connections.get(peer) is connection:
                del self.connections[peer]
            return
        if self.connections.get(peer) is not connection:  # it was closed for another one meanwhile
            connection.transport.abort()

    def _forget_ended(self) -> None:
        for peer, connection in list(self.connections.items()):
            if _has_ended(connection):
                del self.connections[peer]

    def _make_room(self, newcomer: str) -> bool:
        self._forget_ended()
        if len(self.connections) < self.connections_max:
            return True
        leaving = connection_to_close(self._uses(), newcomer)
        if leaving is not None:
            self._displace(leaving)
        return leaving is not None

    def _come_to(self, peer: Peer | None, stage: Stage) -> None:
        connection = self.connections.get(peer) if peer else None
        if connection is not None and connection.use.stage is not Stage.PAGE:
            connection.use.stage, connection.use.since_s = stage, time.monotonic()

    def _uses(self) -> list[ConnectionUse]:
        return [connection.use for connection in self.connections.values()]

    def _displace(self, leaving: ConnectionUse) -> None:
        self.turned_away["displaced"] += 1
        self._end(next(peer for peer, one in self.connections.items() if one.use is leaving))

    def _end(self, peer: Peer) -> None:
        transport = self.connections.pop(peer).transport
        if transport is not None:
            transport.abort()

    def _tell(self, turned_away: int) -> None:
        log.warning(
            "console: %d connections were turned away or ended since the last such line: there are "
            "at most %d (console.connections), a request has %d s to arrive, and a reader "
            "%d s to read on; /metrics has the counts as slipring_console_turned_away_total",
            turned_away - self._told,
            self.connections_max,
            WAIT_S,
            STUCK_S,
        )
        self._told = turned_away


def _has_ended(connection: ConsoleConnection) -> bool:
    transport = connection.transport
    if transport is None:
        return False
    return transport.is_closing() and not _unsent_bytes(transport)


def _unsent_bytes(transport: asyncio.Transport | None) -> int:
    try:
        return transport.get_write_buffer_size() if transport else 0
    except AttributeError:  # CPython's TLS transport has no buffer any more once it has ended
        return 0


def _is_late(connection: ConsoleConnection, now_s: float) -> bool:
    unsent_bytes = _unsent_bytes(connection.transport)
    if unsent_bytes < connection.unsent_bytes or not unsent_bytes:
        connection.moved_s = now_s
    connection.unsent_bytes = unsent_bytes
    if unsent_bytes > UNSENT_BYTES_MAX or now_s - connection.moved_s > STUCK_S:
        return True
    if unsent_bytes:  # an answer is being read
        return False
    return connection.use.stage is Stage.WAITING and now_s - connection.use.since_s > WAIT_S
