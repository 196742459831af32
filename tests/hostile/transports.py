"""The ways by which bytes reach the broker, each of which gives a raw peer.

What is sent and heard is the same bytes of MQTT on each of them.
"""

import base64
import os
import socket
import ssl
import subprocess
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.raw_mqtt import DEADLINE_S, RawPeer, Version
from tests.running_broker import RunningBroker

LISTENERS = """
[[listener]]
name = "tls"
listen = "127.0.0.1:0"
certificate = "{folder}/broker.pem"
key = "{folder}/broker.key"

[[listener]]
name = "web"
listen = "127.0.0.1:0"
websocket = true

[[listener]]
name = "local"
listen = "unix:{folder}/mqtt.sock"
"""


def make_certificate(folder: Path) -> None:
    """A certificate that signs itself, and its key."""
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-nodes", "-subj", "/CN=broker"]
    command += ["-pkeyopt", "ec_paramgen_curve:prime256v1", "-days", "2"]
    command += ["-keyout", str(folder / "broker.key"), "-out", str(folder / "broker.pem")]
    subprocess.run(command, check=True, capture_output=True)


class StreamPeer(RawPeer):
    """A raw peer over a stream that is open already."""

    def __init__(self, stream: Any, version: Version) -> None:
        self.version = version
        self.socket = stream
        self._unread = b""
        self._set_aside = deque()


class WebSocketStream:
    """MQTT in binary frames, as a socket. Frames of the broker are never masked or compressed."""

    BINARY, CLOSE = 2, 8

    def __init__(self, inner: socket.socket) -> None:
        self.inner = inner
        self.arrived = b""

    def greet(self, host: str, extensions: str = "") -> bytes:
        """Ask for a WebSocket; the head of the answer."""
        key = base64.b64encode(os.urandom(16)).decode()
        lines = ["GET /mqtt HTTP/1.1", f"Host: {host}", "Upgrade: websocket"]
        lines += ["Connection: Upgrade", f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13"]
        lines += ["Sec-WebSocket-Protocol: mqtt", extensions]
        self.inner.sendall("".join(f"{line}\r\n" for line in lines if line).encode() + b"\r\n")
        while b"\r\n\r\n" not in self.arrived:
            more = self.inner.recv(4096)
            assert more, self.arrived
            self.arrived += more
        head, _, self.arrived = self.arrived.partition(b"\r\n\r\n")
        return head

    def sendall(self, data: bytes) -> None:
        self.inner.sendall(self.frame(data))

    def frame(self, data: bytes, first: int = 0x80 | BINARY, length: int | None = None) -> bytes:
        """One frame; a length that is given replaces the true one."""
        size = len(data) if length is None else length
        head = bytes([first])
        if size < 126:
            head += bytes([0x80 | size])
        elif size < 1 << 16:
            head += bytes([0x80 | 126]) + size.to_bytes(2)
        else:
            head += bytes([0x80 | 127]) + size.to_bytes(8)
        return head + bytes(4) + data

    def recv(self, _size: int) -> bytes:
        """The payload of the next binary frame; nothing after a close frame or the end."""
        while True:
            header = self._take(2)
            if len(header) < 2:
                return b""
            size = header[1] & 0x7F
            if size >= 126:
                size = int.from_bytes(self._take(2 if size == 126 else 8))
            payload = self._take(size)
            if header[0] & 0x0F == self.CLOSE:
                return b""
            if payload:
                return payload

    def _take(self, count: int) -> bytes:
        while len(self.arrived) < count:
            more = self.inner.recv(65_536)
            if not more:
                return b""
            self.arrived += more
        taken, self.arrived = self.arrived[:count], self.arrived[count:]
        return taken

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


@dataclass(frozen=True)
class Transport:
    """A name for the test, how to connect, and what an open connection may cost the broker."""

    name: str
    dial: Callable[[RunningBroker, Version], RawPeer]
    crowd: int
    connection_bytes: int


def dial_tcp(broker: RunningBroker, version: Version) -> RawPeer:
    return RawPeer(broker.host, broker.port, version)


TRUSTING = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
TRUSTING.check_hostname, TRUSTING.verify_mode = False, ssl.CERT_NONE


class TlsStream:
    """TLS as a socket: an end that TLS finds too sudden is an end like any other."""

    def __init__(self, inner: ssl.SSLSocket) -> None:
        self.inner = inner

    def sendall(self, data: bytes) -> None:
        try:
            self.inner.sendall(data)
        except ssl.SSLError as error:
            raise BrokenPipeError from error

    def recv(self, size: int) -> bytes:
        try:
            return self.inner.recv(size)
        except ssl.SSLError:
            return b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


def dial_tls(broker: RunningBroker, version: Version) -> RawPeer:
    return StreamPeer(TlsStream(TRUSTING.wrap_socket(connected(broker, "tls"))), version)


def open_websocket(broker: RunningBroker) -> WebSocketStream:
    stream = WebSocketStream(connected(broker, "web"))
    head = stream.greet(broker.further["web"])
    assert head.startswith(b"HTTP/1.1 101 "), head
    return stream


def dial_websocket(broker: RunningBroker, version: Version) -> RawPeer:
    return StreamPeer(open_websocket(broker), version)


def dial_unix(broker: RunningBroker, version: Version) -> RawPeer:
    stream = socket.socket(socket.AF_UNIX)
    stream.settimeout(DEADLINE_S)
    stream.connect(broker.further["local"].removeprefix("unix:"))
    return StreamPeer(stream, version)


def connected(broker: RunningBroker, name: str) -> socket.socket:
    host, _, port = broker.further[name].rpartition(":")
    stream = socket.create_connection((host, int(port)), DEADLINE_S)
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return stream


KIB = 1024
TCP = Transport("tcp", dial_tcp, 2000, 8 * KIB)
TRANSPORTS = (
    TCP,
    Transport("tls", dial_tls, 200, 64 * KIB),
    Transport("websocket", dial_websocket, 500, 24 * KIB),
    Transport("unix", dial_unix, 2000, 8 * KIB),
)
