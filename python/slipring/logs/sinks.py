"""Sends lines to a log server in its own format. Blocks for a bounded time, so only the thread of
that server may use it.
"""

import errno
import http.client
import ssl
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from slipring.errors import ConfigError
from slipring.logs.address import SECURE, LogServerKind, ServerAddress
from slipring.logs.gelf import gelf_datagrams, gelf_frame, gelf_message
from slipring.logs.line import LogLine, LogSource
from slipring.logs.sockets import TIMEOUT_S, DatagramSocket, StreamSocket
from slipring.logs.syslog import syslog_frame, syslog_message
from slipring.logs.tls import tls_context

STREAM_LINES_MAX = 64
REQUEST_LINES_MAX = 512
ANSWER_BYTES_MAX = 65_536
RETRY_CODES = frozenset({429, 502, 503, 504})
"""Answers after which a request is sent again, as OTLP has it."""
REASON_MAX = 100
"""Characters of a server's words that are told."""
CONTENT_TYPE = "application/x-protobuf"
PATH = "/v1/logs"


class LinesRefused(Exception):
    """The server refuses what it is sent; the text is its own."""


class LogSink(Protocol):
    """A way to a log server."""

    lines_max: int
    """Lines of one call, at most."""
    refuses_late: bool
    """Whether a refused connection is about the line before: that is how UDP tells it."""

    def send(self, lines: Sequence[LogLine]) -> int:
        """Send lines; return how many the server refused for good.

        OSError: try again later. LinesRefused: it refused all of them, and will refuse others.
        """

    def close(self) -> None:
        """Close what is open; the next call opens it again."""


class DatagramSink:
    """Each line in datagrams of its own."""

    lines_max = 1
    refuses_late = True

    def __init__(
        self, address: ServerAddress, encode: Callable[[LogLine], Sequence[bytes]]
    ) -> None:
        """Open nothing yet."""
        self._socket, self._encode = DatagramSocket(address), encode

    def send(self, lines: Sequence[LogLine]) -> int:
        """Send them. A line that is too long for this way is refused for good."""
        refused = 0
        for line in lines:
            try:
                datagrams = self._encode(line)
            except ValueError:  # it needs more datagrams than the format has
                refused += 1
                continue
            try:
                self._socket.send(datagrams)
            except OSError as error:
                if error.errno != errno.EMSGSIZE:
                    raise
                refused += 1
        return refused

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()


class StreamSink:
    """Lines as frames of a stream."""

    lines_max = STREAM_LINES_MAX
    refuses_late = False

    def __init__(
        self,
        address: ServerAddress,
        encode: Callable[[LogLine], bytes],
        context: ssl.SSLContext | None = None,
    ) -> None:
        """Open nothing yet."""
        self._socket, self._encode = StreamSocket(address, context), encode

    def send(self, lines: Sequence[LogLine]) -> int:
        """Send them with one call."""
        self._socket.send([self._encode(line) for line in lines])
        return 0

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()


class UnixSink:
    """Lines to a Unix socket: as datagrams, or as frames if the socket is one for streams."""

    lines_max = 1
    refuses_late = False

    def __init__(self, datagrams: DatagramSink, stream: StreamSink) -> None:
        """Try datagrams first."""
        self._datagrams, self._stream = datagrams, stream
        self._used: DatagramSink | StreamSink = datagrams

    def send(self, lines: Sequence[LogLine]) -> int:
        """Send them."""
        try:
            return self._used.send(lines)
        except OSError as error:
            if error.errno != errno.EPROTOTYPE:
                raise
            is_stream = self._used is self._stream
            self._used = self._datagrams if is_stream else self._stream
        return self._used.send(lines)

    def close(self) -> None:
        """Close both."""
        self._datagrams.close()
        self._stream.close()


class OtlpSink:
    """Lines as requests to an OpenTelemetry collector."""

    lines_max = REQUEST_LINES_MAX
    refuses_late = False

    def __init__(
        self,
        address: ServerAddress,
        headers: Mapping[str, str],
        source: LogSource,
        context: ssl.SSLContext | None = None,
    ) -> None:
        """Import the library; ConfigError if it is not installed."""
        try:
            from slipring.logs.otlp import otlp_rejected, otlp_request
        except ImportError as error:
            raise ConfigError(
                f"a log server of kind otlp needs a library: pip install slipring[otlp] ({error})"
            ) from None
        self._request, self._rejected = otlp_request, otlp_rejected
        self._source, self._path = source, f"{address.path}{PATH}"
        self._headers = {**headers, "content-type": CONTENT_TYPE}
        host, port = address.host, address.port
        self._connection = (
            http.client.HTTPSConnection(host, port, timeout=TIMEOUT_S, context=context)
            if context
            else http.client.HTTPConnection(host, port, timeout=TIMEOUT_S)
        )

    def send(self, lines: Sequence[LogLine]) -> int:
        """Send them as one request, and wait for the answer."""
        body = self._request(lines, self._source)
        try:
            self._connection.request("POST", self._path, body, self._headers)
            response = self._connection.getresponse()
            answer = response.read(ANSWER_BYTES_MAX)
        except http.client.HTTPException as error:
            self._connection.close()
            raise OSError(f"no answer: {error!r}") from None
        except OSError:
            self._connection.close()
            raise
        if not response.isclosed():
            self._connection.close()  # there is more than an answer can have
        said = f"it answers {response.status} {response.reason[:REASON_MAX]} to {self._path}"
        if response.status in RETRY_CODES:
            raise OSError(said)
        if response.status != http.client.OK:
            raise LinesRefused(said)
        try:
            return self._rejected(answer)
        except ValueError:  # it answered with something else, and took the lines
            return 0

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def make_sink(
    kind: LogServerKind,
    address: str,
    headers: Mapping[str, str],
    source: LogSource,
    ca: Path | None = None,
) -> LogSink:
    """The way to a log server; ConfigError if there is none."""
    at = ServerAddress.parse(address)
    context = tls_context(ca) if at.scheme in SECURE else None
    if kind == "otlp":
        return OtlpSink(at, headers, source, context)
    if kind == "gelf":
        if at.scheme == "udp":
            return DatagramSink(at, lambda line: gelf_datagrams(gelf_message(line, source)))
        return StreamSink(at, lambda line: gelf_frame(gelf_message(line, source)), context)
    datagrams = DatagramSink(at, lambda line: [syslog_message(line, source)])
    stream = StreamSink(at, lambda line: syslog_frame(syslog_message(line, source)), context)
    if at.scheme == "unix":
        return UnixSink(datagrams, stream)
    return datagrams if at.scheme == "udp" else stream
