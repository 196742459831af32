"""Brings bytes to a log server: datagrams, or frames in a stream. It blocks for a bounded time, so
only the thread of that server may use it.
"""

import contextlib
import select
import socket
import ssl
from collections.abc import Sequence
from typing import Any

from slipring.logs.address import ServerAddress
from slipring.logs.tls import is_over, say_goodbye, secured

TIMEOUT_S = 5.0
"""How long a server may take to accept a connection, or bytes."""
REFUSAL_MS = 200
"""How long a refusal of a datagram is waited for, once one was refused."""


class DatagramSocket:
    """Sends datagrams by UDP or to a Unix socket. Whether one arrives is not known; that nobody
    listens may be.
    """

    def __init__(self, address: ServerAddress) -> None:
        """Open nothing yet."""
        self._address = address
        self._socket: socket.socket | None = None
        self._is_suspect = False
        self._failures = 0

    def send(self, datagrams: Sequence[bytes]) -> None:
        """Send them; OSError if an earlier one or one of these was refused."""
        try:
            opened = self._socket or self._open()
            for datagram in datagrams:
                opened.send(datagram)
            if self._is_suspect:
                _wait_for_refusal(opened)
        except OSError:
            self.close()
            self._is_suspect = True
            self._failures += 1  # the next one goes to another address of the name
            raise
        self._is_suspect = False

    def close(self) -> None:
        """Close the socket; the next datagram opens another one."""
        if self._socket:
            self._socket.close()
        self._socket = None

    def _open(self) -> socket.socket:
        kind, ways = socket.SOCK_DGRAM, _ways(self._address, socket.SOCK_DGRAM)
        self._socket = _connected(self._address, kind, ways[self._failures % len(ways)])
        return self._socket


class StreamSocket:
    """Sends frames by TCP, with or without TLS, or by a Unix socket."""

    def __init__(self, address: ServerAddress, context: ssl.SSLContext | None = None) -> None:
        """Open nothing yet."""
        self._address, self._context = address, context
        self._socket: socket.socket | None = None

    def send(self, frames: Sequence[bytes]) -> None:
        """Send them; after an OSError (the server did not take all in time) some may arrive."""
        try:
            if self._socket and _is_closed(self._socket):
                self.close()
            opened = self._socket or self._open()
            opened.sendall(b"".join(frames))
        except OSError:
            self.close()
            raise

    def close(self) -> None:
        """Close the connection; the next frame opens another one."""
        if isinstance(self._socket, ssl.SSLSocket):
            say_goodbye(self._socket)
        if self._socket:
            self._socket.close()
        self._socket = None

    def _open(self) -> socket.socket:
        ways = _ways(self._address, socket.SOCK_STREAM)
        for number, way in enumerate(ways, 1):
            try:
                self._socket = _connected(self._address, socket.SOCK_STREAM, way, self._context)
            except OSError:
                if number == len(ways):
                    raise
            else:
                break
        assert self._socket is not None
        return self._socket


_Way = tuple[socket.AddressFamily, Any]
"""A family of addresses, and one of them."""


def _ways(address: ServerAddress, kind: socket.SocketKind) -> list[_Way]:
    """The addresses of a name, in the system's order."""
    if address.scheme == "unix":
        return [(socket.AF_UNIX, address.path)]
    found = socket.getaddrinfo(address.host, address.port, type=kind)
    return [(family, where) for family, _, _, _, where in found]


def _connected(
    address: ServerAddress,
    kind: socket.SocketKind,
    way: _Way,
    context: ssl.SSLContext | None = None,
) -> socket.socket:
    family, where = way
    opened = socket.socket(family, kind)
    opened.settimeout(TIMEOUT_S)
    try:
        opened.connect(where)
        if address.scheme in {"tcp", "tls"}:
            _notice_absence(opened)
        return secured(opened, address.host, context) if context else opened
    except OSError:
        opened.close()
        raise


def _notice_absence(opened: socket.socket) -> None:
    """Let the connection fail when the machine at its other end is gone."""
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    with contextlib.suppress(AttributeError):  # Linux has it
        milliseconds = int(TIMEOUT_S * 1_000)
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)


def _is_readable(opened: socket.socket, wait_ms: int) -> bool:
    poll = select.poll()  # `select` knows no descriptor above 1,023
    poll.register(opened, select.POLLIN)
    return bool(poll.poll(wait_ms))


def _wait_for_refusal(opened: socket.socket) -> None:
    """Raise what the network says about the last datagram, if it says so soon."""
    _is_readable(opened, REFUSAL_MS)
    if code := opened.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
        raise OSError(code, "nobody listens there")


def _is_closed(opened: socket.socket) -> bool:
    """Whether the server has closed a connection: what is written to it then is lost."""
    if isinstance(opened, ssl.SSLSocket):
        return _is_readable(opened, 0) and is_over(opened, TIMEOUT_S)
    return _is_readable(opened, 0) and not opened.recv(4_096)
