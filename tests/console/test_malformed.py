"""Malformed requests: each gets an answer, and none a traceback in the log."""

import base64
import os
import re
import socket
import struct
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.running_broker import PATIENCE_S, RunningBroker

STATUS = re.compile(rb"HTTP/1\.1 ([0-9]{3}) ")
NASTY = [
    "[", "[::1", "//[", "http://[", "]", "%", "%00", "%zz", "%ed%a0%80", "\xff", "-1", "1e9",
    "99999999999999999999", "0x10", "", " ", "a, b", "chunked, chunked", "12", "13", "x" * 300,
    "permessage-deflate; server_max_window_bits=99", "websocket, h2c", "bytes=5-1,0-", "W/",
]  # fmt: skip
VALUES = st.sampled_from(NASTY) | st.text(
    st.characters(min_codepoint=0x20, max_codepoint=0xFF, exclude_characters="\x7f"), max_size=20
)
NAMES = st.sampled_from(
    [
        "Host", "Origin", "Content-Length", "Transfer-Encoding", "Connection", "Upgrade", "Expect",
        "Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Extensions", "Cookie",
        "Sec-WebSocket-Protocol", "Range", "If-Modified-Since", "If-None-Match", "Accept-Encoding",
    ]
)  # fmt: skip
HEADERS = st.lists(st.tuples(NAMES, VALUES), max_size=4)
PATHS = st.sampled_from(
    ["/", "/api/overview", "/api/parameters", "/api/live", "/metrics", "/ready", "*", "/assets"]
)
PARTS = st.sampled_from(
    ["%00", "%", "%ed%a0%80", "..%2f..", "?search=%00", "?search=%ff/%2b", "?search=[(", "//[", "?"]
)
TARGETS = st.builds(lambda path, parts: path + "".join(parts), PATHS, st.lists(PARTS, max_size=3))
METHODS = st.sampled_from(["GET", "HEAD", "POST", "OPTIONS", "CONNECT", "PRI"])


def answer(broker: RunningBroker, request: bytes, messages: bytes = b"") -> int:
    """The status of the answer. Messages follow it; then the console closes the connection."""
    host, port = broker.console.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), PATIENCE_S) as connection:
        connection.sendall(request)
        received = b""
        while b"\r\n\r\n" not in received and (more := connection.recv(65_536)):
            received += more
        if messages:
            connection.sendall(messages)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65_536):
                pass
    found = STATUS.match(received)
    assert found, received
    return int(found[1])


def upgrade(path: str, *headers: str) -> bytes:
    key = base64.b64encode(os.urandom(16)).decode()
    lines = [
        f"GET {path} HTTP/1.1", "Host: localhost", "Connection: Upgrade", "Upgrade: websocket",
        "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {key}", *headers,
    ]  # fmt: skip
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"


def frame(opcode: int, payload: bytes) -> bytes:
    """A final frame of a client, with a mask of zeros."""
    length = (
        bytes([0x80 | len(payload)])
        if len(payload) < 126
        else bytes([0x80 | 126]) + struct.pack(">H", len(payload))
    )
    return bytes([0x80 | opcode]) + length + bytes(4) + payload


def test_half_a_bracket_as_host_is_a_bad_request(shared_broker: RunningBroker) -> None:
    assert answer(shared_broker, b"GET / HTTP/1.1\r\nHost: [\r\n\r\n") == 400
    assert answer(shared_broker, upgrade("/api/live").replace(b"localhost", b"[")) == 400
    assert answer(shared_broker, b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n") == 403


@pytest.mark.parametrize("body", ["Content-Length: 12", "Transfer-Encoding: chunked"])
def test_an_upgrade_that_has_a_body_is_a_plain_request(
    shared_broker: RunningBroker, body: str
) -> None:
    """No WebSocket begins so; who waited for the rest of it would never be answered."""
    assert answer(shared_broker, upgrade("/", body)) == 200
    assert answer(shared_broker, upgrade("/api/live", body)) == 404
    assert answer(shared_broker, upgrade("/api/live", "Content-Length: 0")) == 101


def test_no_request_is_an_error_of_the_console(shared_broker: RunningBroker) -> None:
    @settings(max_examples=300, deadline=None, database=None)
    @given(METHODS, TARGETS, HEADERS, st.booleans())
    def ask(method: str, target: str, headers: list[tuple[str, str]], is_upgrade: bool) -> None:
        if is_upgrade:
            request = upgrade(target, *(f"{name}: {value}" for name, value in headers))
        else:
            lines = [
                f"{method} {target} HTTP/1.1",
                *(f"{name}: {value}" for name, value in headers),
            ]
            if "Host" not in dict(headers):
                lines.append("Host: localhost")
            request = "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"
        given_up_s = time.monotonic() + PATIENCE_S
        while (code := answer(shared_broker, request)) == 503:  # the engine is busy for a second
            assert time.monotonic() < given_up_s
        assert code < 500

    ask()


@pytest.mark.parametrize(
    "payload",
    [
        frame(1, b"\xff\xfe"),
        frame(1, b'{"search": "\\ud800/+"}'),
        frame(1, b'{"search": "\\u0000"}'),
        frame(1, b'{"search": "a", "first": ' + b"9" * 5000 + b"}"),
        frame(1, b"[" * 10_000),
        frame(2, b"\x00"),
        frame(8, b"\x00\x01"),
        frame(8, b"\x03"),
        frame(3, b""),
        b"\xff\xff" + bytes(8),
    ],
    ids=repr,
)
def test_no_message_of_a_page_is_an_error_of_the_console(
    shared_broker: RunningBroker, payload: bytes
) -> None:
    for path in ("/api/parameters", "/api/live"):
        assert answer(shared_broker, upgrade(path), payload) == 101
    assert answer(shared_broker, b"GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n") == 200
