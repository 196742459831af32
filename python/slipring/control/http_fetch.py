"""Asks a server over HTTP: bounded in time and size, no redirects; certificates are checked."""

import io
import socket
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from slipring.control.token_sections import is_trusted_address

if TYPE_CHECKING:
    from http.client import HTTPResponse

CHUNK_BYTES = 16 << 10


class FetchError(Exception):
    """No usable answer; `status` is the server's, if it gave one."""

    def __init__(self, why: str, status: int | None = None) -> None:
        """Say why."""
        super().__init__(why)
        self.status = status


def fetch(
    url: str, *, timeout_s: float, bytes_max: int, ca: str = "", body: bytes | None = None
) -> bytes:
    """GET, or POST a JSON body; FetchError unless the answer is 200, whole, in time and small."""
    from http.client import HTTPException  # here, because most brokers ask nobody

    if not is_trusted_address(url):
        raise FetchError(f"{url} is neither https nor on this machine")
    ends_s = time.monotonic() + timeout_s
    try:
        with _opened(url, ca, ends_s) as line:
            answer = _asked(line, url, body, ends_s)
            if answer.status != 200:
                raise FetchError(f"the answer is {answer.status}", answer.status)
            return _read(answer, bytes_max)
    except TimeoutError:
        raise FetchError("the answer takes too long") from None
    except (OSError, ValueError, HTTPException) as error:
        raise FetchError(str(error) or type(error).__name__) from None


def _opened(url: str, ca: str, ends_s: float) -> socket.socket:
    parts = urlsplit(url)
    is_secure = parts.scheme == "https"
    host, port = parts.hostname or "", parts.port or (443 if is_secure else 80)
    line = socket.create_connection((host, port), _left(ends_s))
    if not is_secure:
        return line
    import ssl

    try:
        line.settimeout(_left(ends_s))
        context = ssl.create_default_context(cafile=ca or None)
        return context.wrap_socket(line, server_hostname=host)
    except BaseException:
        line.close()
        raise


def _asked(line: socket.socket, url: str, body: bytes | None, ends_s: float) -> "HTTPResponse":
    from http.client import HTTPConnection, HTTPSConnection

    parts = urlsplit(url)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname or "", parts.port)
    connection.sock = TimedSocket(line, ends_s)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    headers = {"Accept": "application/json", "User-Agent": "slipring", "Connection": "close"}
    if body is not None:
        headers["Content-Type"] = "application/json"
    connection.request("GET" if body is None else "POST", target, body, headers)
    return connection.getresponse()


def _read(answer: "HTTPResponse", bytes_max: int) -> bytes:
    found = bytearray()
    while chunk := answer.read(min(CHUNK_BYTES, bytes_max + 1)):
        found += chunk
        if len(found) > bytes_max:
            raise FetchError(f"the answer is longer than {bytes_max} bytes")
    if answer.length:  # what was announced and did not come
        raise FetchError("the answer was cut off")
    return bytes(found)


def _left(ends_s: float) -> float:
    left_s = ends_s - time.monotonic()
    if left_s <= 0:
        raise TimeoutError
    return left_s


class TimedSocket:
    """What http.client uses of a socket. All its calls together end by one time.

    A time-out of the socket alone begins again with each byte that a slow server sends.
    """

    def __init__(self, line: socket.socket, ends_s: float) -> None:
        self._line, self._ends_s = line, ends_s

    def sendall(self, sent: bytes) -> None:
        self._line.settimeout(_left(self._ends_s))
        self._line.sendall(sent)

    def makefile(self, *_: Any) -> io.BufferedReader:
        return io.BufferedReader(TimedReader(self._line, self._ends_s))

    def close(self) -> None:
        """Nothing: http.client calls it before it reads the answer."""


class TimedReader(io.RawIOBase):
    """Reads from a socket until a time."""

    def __init__(self, line: socket.socket, ends_s: float) -> None:
        self._line, self._ends_s = line, ends_s

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        self._line.settimeout(_left(self._ends_s))
        return self._line.recv_into(room)
