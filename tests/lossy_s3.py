"""A connection to an S3-compatible server that loses answers: the requests themselves are done."""

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tests.s3_server import S3Server

READ_BYTES = 1 << 16


class LossyS3:
    """Passes bytes on to a server and back; ends the connection instead of some answers."""

    def __init__(self, server: S3Server) -> None:
        host, _, port = server.endpoint.removeprefix("http://").partition(":")
        self._server = (host, int(port))
        self._pattern = re.compile(rb"(?!)")
        self._lock = threading.Lock()  # each direction of each connection has a thread
        self.left = 0
        """How many answers are still to be lost."""
        self._listener = socket.create_server(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.options = {**server.options, "AWS_ENDPOINT_URL": address}

    def lose(self, pattern: bytes, count: int = 1) -> None:
        """Lose the next answers to requests whose first line begins so."""
        self._pattern, self.left = re.compile(pattern), count

    @contextmanager
    def running(self) -> Iterator["LossyS3"]:
        threading.Thread(target=self._accept, daemon=True).start()
        try:
            yield self
        finally:
            self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):  # it was closed
            while True:
                client, _ = self._listener.accept()
                server, is_lost = socket.create_connection(self._server), threading.Event()
                for pair in ((client, server, None), (server, client, is_lost)):
                    threading.Thread(target=self._pass, args=(*pair, is_lost), daemon=True).start()

    def _pass(
        self,
        source: socket.socket,
        sink: socket.socket,
        answers: threading.Event | None,
        is_lost: threading.Event,
    ) -> None:
        with suppress(OSError):
            while data := source.recv(READ_BYTES):
                if answers is None and self._takes(data):
                    is_lost.set()
                elif answers is not None and answers.is_set():
                    break
                sink.sendall(data)
        for one in (source, sink):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _takes(self, request: bytes) -> bool:
        with self._lock:
            is_lost = self.left > 0 and self._pattern.match(request) is not None
            self.left -= is_lost
            return is_lost
