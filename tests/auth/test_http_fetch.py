"""Servers that answer slowly, in pieces or with nonsense: an answer has a bounded time and size."""

import select
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from slipring.control.http_fetch import FetchError, fetch
from tests.cli.authority import Authority

PATIENCE_S = 60
Serve = Callable[[socket.socket], None]


@contextmanager
def server(serve: Serve) -> Iterator[str]:
    """A server for one client."""

    def run() -> None:
        line, _ = listening.accept()
        with line:
            line.settimeout(PATIENCE_S)
            line.recv(4_096)
            serve(line)
            # A connection that is closed with something unread is reset, and its answer is lost.
            with suppress(OSError):
                line.shutdown(socket.SHUT_WR)
                while line.recv(4_096):
                    pass

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=run)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/keys?a=b"
        thread.join(PATIENCE_S)
        assert not thread.is_alive()


def drips(piece: bytes) -> Serve:
    """Sends this again and again, often enough for a time-out that begins anew with each."""

    def serve(line: socket.socket) -> None:
        ends_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < ends_s:
            try:
                line.sendall(piece)
            except OSError:
                return  # the client has hung up
            select.select([line], [], [], 0.05)

    return serve


def says(answer: bytes) -> Serve:
    return lambda line: line.sendall(answer)


@pytest.mark.parametrize(
    "piece", [b"x-more: 1\r\n", b"x"], ids=["lines of a header", "a status line without end"]
)
def test_a_server_that_sends_its_headers_slowly_gets_no_more_time(piece: bytes) -> None:
    def serve(line: socket.socket) -> None:
        if b":" in piece:
            line.sendall(b"HTTP/1.1 200 OK\r\n")
        drips(piece)(line)

    began_s = time.monotonic()
    with server(serve) as url, pytest.raises(FetchError):
        fetch(url, timeout_s=0.4, bytes_max=100)
    assert time.monotonic() < began_s + PATIENCE_S / 2


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"SSH-2.0-OpenSSH\r\n", "SSH"),
        (b"", ""),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{}", "cut off"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\n{}", ""),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", ""),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 101\r\n\r\n" + b" " * 101, "longer than 100"),
        (b"HTTP/1.1 200 OK\r\nx: " + b"a" * 70_000 + b"\r\n\r\n{}", ""),
        (
            b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n",
            "302",
        ),
        (b"HTTP/1.1 204 No Content\r\n\r\n", "204"),
    ],
)
def test_nonsense_is_no_answer(answer: bytes, why: str) -> None:
    with server(says(answer)) as url, pytest.raises(FetchError, match=why or "."):
        fetch(url, timeout_s=PATIENCE_S, bytes_max=100)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n",
        b"HTTP/1.0 200 OK\r\n\r\n{}",
    ],
)
def test_an_answer_of_each_form_is_read_whole(answer: bytes) -> None:
    with server(says(answer)) as url:
        assert fetch(url, timeout_s=PATIENCE_S, bytes_max=100, body=b"{}") == b"{}"


@pytest.mark.parametrize(
    ("host", "is_known", "why"),
    [
        ("localhost", True, None),
        ("127.0.0.1", True, None),
        ("127.0.0.2", True, "mismatch"),
        ("localhost", False, "verify failed"),
    ],
)
def test_over_https_only_a_server_with_a_known_certificate_of_its_name_is_believed(
    tmp_path: Path, host: str, is_known: bool, why: str | None
) -> None:
    authority = Authority.made(tmp_path, "one")
    papers = authority.server()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(papers.certificate, papers.key)

    def run() -> None:
        line, _ = listening.accept()
        try:
            with context.wrap_socket(line, server_side=True) as secure:
                secure.recv(4_096)
                secure.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
        except OSError:
            line.close()  # it was not believed

    ca = str(authority.file) if is_known else ""
    with socket.create_server(("", 0)) as listening:
        thread = threading.Thread(target=run)
        thread.start()
        url = f"https://{host}:{listening.getsockname()[1]}/"
        if why is None:
            assert fetch(url, timeout_s=PATIENCE_S, bytes_max=100, ca=ca) == b"{}"
        else:
            with pytest.raises(FetchError, match=why):
                fetch(url, timeout_s=PATIENCE_S, bytes_max=100, ca=ca)
        thread.join(PATIENCE_S)
