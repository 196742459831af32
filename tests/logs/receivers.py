"""Real log servers for tests: sockets that decode GELF and syslog, and an HTTP server for OTLP."""

import json
import re
import socket
import ssl
import subprocess
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)

PATIENCE_S = 60
RFC_5424 = re.compile(
    rb"<(?P<pri>\d{1,3})>1 (?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z) "
    rb"(?P<host>[\x21-\x7e]{1,255}) (?P<app>[\x21-\x7e]{1,48}) (?P<process>[\x21-\x7e]{1,128}) "
    rb"(?P<id>[\x21-\x7e]{1,32}) "
    rb"\[(?P<data>[^ =\]\"]{1,32})(?P<values>(?: [^ =\]\"]{1,32}=\"(?:[^\"\\\]]|\\[\"\\\]])*\")*)\]"
    rb"(?: (?P<text>.*))?",
    re.DOTALL,
)
"""A message of RFC 5424 with one element of structured data, by the grammar of section 6."""
VALUE = re.compile(rb" ([^ =\]\"]+)=\"((?:[^\"\\\]]|\\[\"\\\]])*)\"")
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Received:
    """A line as a server has it."""

    text: str
    fields: dict[str, str]
    """By the names of the log: event, room, client, topic, request, detail."""
    severity: int
    raw: Any = None


class Receiver:
    """What has arrived, in order."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._lines: SimpleQueue[Received] = SimpleQueue()
        self.seen: list[Received] = []
        self.connections: list[socket.socket] = []
        self.refused: SimpleQueue[str] = SimpleQueue()
        """Why handshakes of TLS failed."""
        self.ended = threading.Event()
        """Set when a connection to it has ended, and all that came is read."""

    def disconnect(self) -> None:
        """Close every connection, as a server that ends does."""
        for opened in self.connections:
            opened.shutdown(socket.SHUT_RDWR)

    def put(self, line: Received) -> None:
        self._lines.put(line)

    def until(self, wanted: Callable[[Received], bool]) -> Received:
        """Wait for the first line like this; those seen before count."""
        for line in self.seen:
            if wanted(line):
                return line
        while True:
            line = self._lines.get(timeout=PATIENCE_S)
            self.seen.append(line)
            if wanted(line):
                return line

    def texts(self) -> list[str]:
        """What has arrived so far."""
        while not self._lines.empty():
            self.seen.append(self._lines.get())
        return [line.text for line in self.seen]


def read_gelf(message: bytes) -> Received:
    """A message of GELF 1.1, strictly."""
    found = json.loads(message)
    assert found["version"] == "1.1"
    assert found["host"]
    assert isinstance(found["short_message"], str)
    assert isinstance(found["timestamp"], float)
    own = {name[1:]: value for name, value in found.items() if name.startswith("_")}
    assert all(re.fullmatch(r"[\w.\-]+", name) and name != "id" for name in own)
    known = {"version", "host", "short_message", "full_message", "timestamp", "level"}
    assert {name for name in found if not name.startswith("_")} <= known
    return Received(found["short_message"], own, found["level"], found)


def read_syslog(message: bytes) -> Received:
    """A message of RFC 5424, strictly."""
    found = RFC_5424.fullmatch(message)
    assert found, message
    values = {
        name.decode(): re.sub(rb"\\(.)", rb"\1", value).decode()
        for name, value in VALUE.findall(found["values"])
    }
    text = found["text"]
    assert text.startswith(BOM) or text.isascii(), "UTF-8 begins with a byte order mark"
    return Received(
        text.removeprefix(BOM).decode(), values, int(found["pri"]) % 8, found.groupdict()
    )


class Chunks:
    """Puts the chunks of GELF messages together."""

    def __init__(self) -> None:
        self._parts: dict[bytes, dict[int, bytes]] = {}

    def add(self, datagram: bytes) -> bytes | None:
        """The message that is complete now."""
        if not datagram.startswith(b"\x1e\x0f"):
            return zlib.decompress(datagram)
        number, at, count = datagram[2:10], datagram[10], datagram[11]
        parts = self._parts.setdefault(number, {})
        parts[at] = datagram[12:]
        if len(parts) < count:
            return None
        return zlib.decompress(b"".join(parts[one] for one in range(count)))


def _datagrams(opened: socket.socket, take: Callable[[bytes], None]) -> None:
    while datagram := opened.recv(65_536):
        take(datagram)


def make_certificate(folder: Path, name: str) -> Path:
    """A certificate for localhost that signs itself, in one file with its key."""
    found = folder / f"{name}.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-nodes", "-subj", f"/CN={name}"]
    command += ["-pkeyopt", "ec_paramgen_curve:prime256v1", "-days", "2"]
    command += ["-addext", "subjectAltName=DNS:localhost"]
    command += ["-keyout", str(folder / f"{name}.key"), "-out", str(found)]
    subprocess.run(command, check=True, capture_output=True)
    with found.open("a") as file:
        file.write((folder / f"{name}.key").read_text())
    return found


def _serve_stream(
    listening: socket.socket,
    receiver: Receiver,
    take: Callable[[bytes], bytes],
    context: ssl.SSLContext | None = None,
) -> None:
    """Give the bytes of each connection to `take`, which returns what it has not used."""

    def serve(opened: socket.socket) -> None:
        if context:
            try:
                # Without a goodbye, `recv` raises: the client must say it.
                opened = context.wrap_socket(opened, server_side=True, suppress_ragged_eofs=False)
            except OSError as error:
                receiver.refused.put(str(error))
                return
        receiver.connections.append(opened)
        unread = b""
        with opened:
            try:
                while data := opened.recv(65_536):
                    unread = take(unread + data)
            except ssl.SSLEOFError:  # nobody said goodbye: it is no end
                return
        receiver.ended.set()

    while True:
        try:
            opened, _ = listening.accept()
        except OSError:
            return
        threading.Thread(target=serve, args=(opened,), daemon=True).start()


@contextmanager
def datagram_server(kind: str, path: Path | None = None) -> Iterator[Receiver]:
    """A server for `gelf` or `syslog` by UDP, or at a Unix socket."""
    family = socket.AF_UNIX if path else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as opened:
        opened.bind(str(path) if path else ("127.0.0.1", 0))
        address = f"unix://{path}" if path else f"udp://127.0.0.1:{opened.getsockname()[1]}"
        receiver, chunks = Receiver(address), Chunks()

        def take(datagram: bytes) -> None:
            if kind == "syslog":
                receiver.put(read_syslog(datagram))
            elif message := chunks.add(datagram):
                receiver.put(read_gelf(message))

        reading = threading.Thread(target=_datagrams, args=(opened, take), daemon=True)
        reading.start()
        yield receiver
        if path:
            with socket.socket(family, socket.SOCK_DGRAM) as last:
                last.sendto(b"", str(path))
        else:
            with socket.socket(family, socket.SOCK_DGRAM) as last:
                last.sendto(b"", opened.getsockname())
        reading.join(PATIENCE_S)


@contextmanager
def stream_server(
    kind: str, *, port: int = 0, path: Path | None = None, certificate: Path | None = None
) -> Iterator[Receiver]:
    """A server for `gelf` or `syslog` by TCP, by TLS, or at a Unix socket."""
    context = None
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
    family = socket.AF_UNIX if path else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(str(path) if path else ("127.0.0.1", port))
        listening.listen()
        number = 0 if path else listening.getsockname()[1]
        where = f"tls://localhost:{number}" if certificate else f"tcp://127.0.0.1:{number}"
        address = f"unix://{path}" if path else where
        receiver = Receiver(address)

        def take(unread: bytes) -> bytes:
            while (found := _frame(kind, unread)) is not None:
                message, unread = found
                receiver.put(read_gelf(message) if kind == "gelf" else read_syslog(message))
            return unread

        serving = threading.Thread(
            target=_serve_stream, args=(listening, receiver, take, context), daemon=True
        )
        serving.start()
        yield receiver
        listening.shutdown(socket.SHUT_RDWR)
        serving.join(PATIENCE_S)


def _frame(kind: str, unread: bytes) -> tuple[bytes, bytes] | None:
    """The first message of a stream, and the rest."""
    if kind == "gelf":
        message, end, rest = unread.partition(b"\0")
        return (message, rest) if end else None
    length, space, rest = unread.partition(b" ")
    if not space or len(rest) < int(length):
        return None
    return rest[: int(length)], rest[int(length) :]


class Collector(Receiver):
    """An OpenTelemetry collector: what it answers can be changed."""

    status = 200
    rejected = 0
    """Records of each request that it says it refuses."""
    requests: list[dict[str, str]]
    """The headers of each."""


@contextmanager
def collector() -> Iterator[Collector]:
    """An HTTP server that decodes OTLP."""

    class Exchange(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            found.requests.append({"path": self.path, **dict(self.headers.items())})
            if found.status == 200:
                for line in _records(ExportLogsServiceRequest.FromString(body)):
                    found.put(line)
            answer = ExportLogsServiceResponse()
            answer.partial_success.rejected_log_records = found.rejected
            data = answer.SerializeToString()
            self.send_response(found.status)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Exchange) as server:
        server.daemon_threads = True
        found = Collector(f"http://127.0.0.1:{server.server_port}")
        found.requests = []
        serving = threading.Thread(target=server.serve_forever, daemon=True)
        serving.start()
        yield found
        server.shutdown()


def _records(request: ExportLogsServiceRequest) -> Iterator[Received]:
    for group in request.resource_logs:
        of_all = {one.key: one.value.string_value for one in group.resource.attributes}
        for scoped in group.scope_logs:
            for record in scoped.log_records:
                named = {one.key: one.value.string_value for one in record.attributes}
                fields = {name.removeprefix("slipring."): text for name, text in named.items()}
                raw = {"resource": of_all, "record": record}
                yield Received(record.body.string_value, fields, record.severity_number, raw)
