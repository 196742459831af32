"""The console's door: takes connections, keeps their number, and ends those that take too long.

The web server speaks HTTP on them; how many there may be, and how long each may wait, is decided
here. Never reads or writes what is on a connection.
"""

import asyncio
import errno
import logging
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields

from slipring.console.visits import Stage, Visit, which_page_leaves, who_leaves

WAIT_S = 10.0
"""How long a request may take to arrive, and a connection may wait for another one."""
STUCK_S = 20.0
"""How long a reader may take nothing of what waits for it."""
UNSENT_BYTES_MAX = 16 << 20
"""What may wait for one reader. The largest answer is smaller."""
SWEEP_S = 1.0
TELL_S = 60.0
"""The log has one line in this time."""
ACCEPTS_IN_A_TURN = 32
"""Then others have their turn."""
NO_ROOM_S = 0.5
"""How long the door is closed where the system has no descriptor or memory for another one."""
NO_ROOM = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}

log = logging.getLogger("slipring.console")

Peer = tuple[str, int]
"""The address and port of who connects."""


@dataclass(slots=True)
class Counts:
    """What the door did since the start."""

    accepted: int = 0
    refused: int = 0
    """Closed at once: there was no place."""
    displaced: int = 0
    """Closed because a newcomer needed the place."""
    late: int = 0
    """Closed because a request took too long to arrive, or a reader read nothing."""
    pages_refused: int = 0
    """WebSockets that were refused: there are enough."""

    @property
    def turned_away(self) -> int:
        """All that were closed or refused."""
        return sum(getattr(self, one.name) for one in fields(self) if one.name != "accepted")


@dataclass(eq=False, slots=True)
class Guest:
    """A connection, and what was seen of it at the last look."""

    visit: Visit
    moved_s: float
    """When it last took something of what waits for it, or nothing waited."""
    transport: asyncio.Transport | None = None
    """None while it is being made."""
    unsent_bytes: int = 0


class Door:
    """Accepts on one socket, which listens."""

    def __init__(
        self, door: socket.socket, protocols: Callable[[], asyncio.Protocol], guests_max: int
    ) -> None:
        """`protocols` makes who speaks on a connection."""
        self.counts = Counts()
        self.guests: dict[Peer, Guest] = {}
        self.guests_max = guests_max
        self.pages_max = guests_max // 2
        """So that plain requests always find a place."""
        self._socket = door
        self._protocols = protocols
        self._told_s = -TELL_S
        self._told = 0

    @property
    def pages(self) -> int:
        """WebSockets that are open."""
        return sum(visit.stage is Stage.PAGE for visit in self._visits())

    async def serve(self) -> None:
        """Take connections until cancelled."""
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._accept_all())
                tasks.create_task(self._sweep_all())
        finally:
            self._socket.close()

    @contextmanager
    def answering(self, peer: Peer | None) -> Iterator[None]:
        """A request of this connection is being answered."""
        self._come_to(peer, Stage.ANSWERED)
        try:
            yield
        finally:
            self._come_to(peer, Stage.WAITING)

    def open_page(self, peer: Peer | None) -> bool:
        """Whether this connection may open a WebSocket; another one may have to close for it."""
        guest = self.guests.get(peer) if peer else None
        if guest is None:
            return False
        self._forget_ended()
        if self.pages >= self.pages_max:
            leaving = which_page_leaves(self._visits(), guest.visit.address)
            if leaving is None:
                self.counts.pages_refused += 1
                return False
            self._displace(leaving)
        self._come_to(peer, Stage.PAGE)
        return True

    def sweep(self, now_s: float) -> None:
        """Look at every connection; forget those that ended, and end those that are too slow."""
        self._forget_ended()
        for peer, guest in list(self.guests.items()):
            if _is_late(guest, now_s):
                self.counts.late += 1
                self._end(peer)
        turned_away = self.counts.turned_away
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
                for connection, peer in accepted:
                    await self._enter(connection, (str(peer[0]), int(peer[1])))

    def _accept_more(self) -> Iterator[tuple[socket.socket, Peer]]:
        """Those that wait at the door beside the first one."""
        for _ in range(ACCEPTS_IN_A_TURN - 1):
            try:
                yield self._socket.accept()
            except OSError:  # there are no more, or it comes again at the first one
                return

    async def _on_error(self, error: OSError) -> None:
        """Without a descriptor: one that waits gives up its own, or the door is closed a while."""
        waiting = [visit for visit in self._visits() if visit.stage is Stage.WAITING]
        leaving = who_leaves(waiting, "") if error.errno in NO_ROOM else None
        if leaving is None:
            await asyncio.sleep(NO_ROOM_S)
            return
        self._displace(leaving)
        await asyncio.sleep(0)  # its descriptor is free after the next turn of the loop

    async def _enter(self, connection: socket.socket, peer: Peer) -> None:
        if len(self.guests) >= self.guests_max and not self._make_room(peer[0]):
            self.counts.refused += 1
            connection.close()
            return
        self.counts.accepted += 1
        now_s = time.monotonic()
        guest = self.guests[peer] = Guest(Visit(peer[0], now_s), now_s)
        connection.setblocking(False)
        loop = asyncio.get_running_loop()
        guest.transport, _ = await loop.connect_accepted_socket(self._protocols, connection)
        if self.guests.get(peer) is not guest:  # it had to go meanwhile
            guest.transport.abort()

    def _forget_ended(self) -> None:
        for peer, guest in list(self.guests.items()):
            if _has_ended(guest):
                del self.guests[peer]

    def _make_room(self, newcomer: str) -> bool:
        self._forget_ended()
        if len(self.guests) < self.guests_max:
            return True
        leaving = who_leaves(self._visits(), newcomer)
        if leaving is not None:
            self._displace(leaving)
        return leaving is not None

    def _come_to(self, peer: Peer | None, stage: Stage) -> None:
        guest = self.guests.get(peer) if peer else None
        if guest is not None and guest.visit.stage is not Stage.PAGE:
            guest.visit.stage, guest.visit.since_s = stage, time.monotonic()

    def _visits(self) -> list[Visit]:
        return [guest.visit for guest in self.guests.values()]

    def _displace(self, leaving: Visit) -> None:
        self.counts.displaced += 1
        self._end(next(peer for peer, guest in self.guests.items() if guest.visit is leaving))

    def _end(self, peer: Peer) -> None:
        transport = self.guests.pop(peer).transport
        if transport is not None:
            transport.abort()

    def _tell(self, turned_away: int) -> None:
        log.warning(
            "console: %d connections were turned away or ended since the last such line: there are "
            "at most %d (console.connections), a request has %d s to arrive, and a reader "
            "%d s to read on; /metrics has the counts as slipring_console_turned_away_total",
            turned_away - self._told,
            self.guests_max,
            WAIT_S,
            STUCK_S,
        )
        self._told = turned_away


def _has_ended(guest: Guest) -> bool:
    transport = guest.transport
    if transport is None:
        return False
    return transport.is_closing() and not transport.get_write_buffer_size()


def _is_late(guest: Guest, now_s: float) -> bool:
    unsent_bytes = guest.transport.get_write_buffer_size() if guest.transport else 0
    if unsent_bytes < guest.unsent_bytes or not unsent_bytes:
        guest.moved_s = now_s
    guest.unsent_bytes = unsent_bytes
    if unsent_bytes > UNSENT_BYTES_MAX or now_s - guest.moved_s > STUCK_S:
        return True
    if unsent_bytes:  # an answer is on its way, and is being read
        return False
    return guest.visit.stage is Stage.WAITING and now_s - guest.visit.since_s > WAIT_S
