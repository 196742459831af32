"""All clients of a run in one loop: sockets to packets and back. Decides nothing."""

import selectors
import socket
import struct
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol

from tests.raw_mqtt import Packet, Version, packet_length

READ_BYTES = 1 << 18
LOOK_S = 0.05
RESET = struct.pack("ii", 1, 0)


class Machine(Protocol):
    """One side of MQTT, as the loop drives it."""

    version: Version

    @property
    def name(self) -> str:
        """Its client identifier."""

    @property
    def is_away(self) -> bool:
        """Whether it wants no connection now."""

    def hello(self) -> bytes:
        """What to say first."""

    def hear(self, packet: Packet, /) -> bytes:
        """Take a packet in; what to answer."""

    def more(self) -> bytes:
        """What to say by itself."""

    def gone(self) -> None:
        """The connection has ended."""


class Line:
    """One machine's connection."""

    def __init__(self, machine: Machine, address: tuple[str, int]) -> None:
        self.machine = machine
        self.socket = socket.create_connection(address, timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.heard = 0
        """Packets that came."""
        self._unread = b""
        self._unsent = machine.hello()

    @property
    def is_writing(self) -> bool:
        return bool(self._unsent)

    def attend(self) -> bool:
        """Read all that is there; whether the connection goes on."""
        try:
            data = self.socket.recv(READ_BYTES)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self._unread += data
        while (length := packet_length(self._unread)) and len(self._unread) >= length:
            raw, self._unread = self._unread[:length], self._unread[length:]
            self._unsent += self.machine.hear(self.machine.version.read(raw))
            self.heard += 1
        return bool(data)

    def flush(self) -> bool:
        """Say what there is to say; whether the connection goes on."""
        self._unsent += self.machine.more()
        if not self._unsent:
            return True
        try:
            self._unsent = self._unsent[self.socket.send(self._unsent) :]
        except BlockingIOError:
            return True
        except OSError:
            return False
        return True

    def say(self, data: bytes) -> None:
        """Say this behind what waits."""
        self._unsent += data

    def close(self) -> None:
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self.socket.close()
        self.machine.gone()


class Fleet:
    """The machines, those of them that are connected, and the loop."""

    def __init__(self, machines: Sequence[Machine]) -> None:
        self.machines = list(machines)
        self.lines: dict[str, Line] = {}
        self.heard_s = time.monotonic()
        """When a packet came last."""
        self._selector = selectors.DefaultSelector()

    def connect(self, address: tuple[str, int]) -> None:
        """Connect everyone who wants to be and is not; those who are away leave."""
        for machine in self.machines:
            if machine.is_away:
                self._drop(machine.name)
            elif machine.name not in self.lines:
                # A broker that has died meanwhile is noticed by the loop.
                with suppress(ConnectionError):
                    self._add(Line(machine, address))

    def run(self, until: Callable[[], bool], patience_s: float) -> bool:
        """Go on until something holds; whether it did before there was nothing to hear."""
        self.heard_s = time.monotonic()
        while not until():
            if not self.lines or time.monotonic() - self.heard_s > patience_s:
                return False
            self._turn()
        return True

    def hang_up(self) -> None:
        """End all connections, as a crash does."""
        for name in list(self.lines):
            self._drop(name)

    def _turn(self) -> None:
        for name, line in list(self.lines.items()):
            if not line.flush():
                self._drop(name)
                continue
            wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if line.is_writing else 0)
            self._selector.modify(line.socket, wanted, line)
        for key, _ in self._selector.select(LOOK_S) if self.lines else ():
            line = key.data
            before = line.heard
            if line.machine.name in self.lines and not line.attend():
                self._drop(line.machine.name)
            if line.heard > before:
                self.heard_s = time.monotonic()

    def _add(self, line: Line) -> None:
        self.lines[line.machine.name] = line
        self._selector.register(line.socket, selectors.EVENT_READ, line)

    def _drop(self, name: str) -> None:
        line = self.lines.pop(name, None)
        if line is not None:
            self._selector.unregister(line.socket)
            line.close()
