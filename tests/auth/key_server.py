"""An HTTP server in a process of its own that hands out keys, or misbehaves as it is told.

    python -m tests.auth.key_server FOLDER

For each request it reads FOLDER/answer.json: {"kind": ..., "body": ...}; it notes each request in
FOLDER/requests. Its port is the first line on standard output.
"""

import json
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

PATIENCE_S = 60


@dataclass
class KeyServer:
    """The server as a test sees it."""

    folder: Path
    process: subprocess.Popen[str]
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def answer(
        self, body: str = "", kind: str = "json", paths: dict[str, str] | None = None
    ) -> None:
        """What it answers from now on."""
        fresh = self.folder / "answer.new"
        fresh.write_text(json.dumps({"kind": kind, "body": body, "paths": paths or {}}))
        fresh.replace(self.folder / "answer.json")

    @property
    def requests(self) -> list[dict[str, Any]]:
        """What it was asked so far."""
        file = self.folder / "requests"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def stop(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE_S)


@contextmanager
def key_server(folder: Path, port: int = 0) -> Iterator[KeyServer]:
    """A running server."""
    folder.mkdir(exist_ok=True)
    line = [sys.executable, "-m", "tests.auth.key_server", str(folder), str(port)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        server = KeyServer(folder, process, int(process.stdout.readline()))
        try:
            yield server
        finally:
            server.stop()


class _Asked(BaseHTTPRequestHandler):
    folder: Path

    def do_GET(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _answer(self, asked: Any) -> None:
        with (self.folder / "requests").open("a") as file:
            file.write(json.dumps({"path": self.path, "asked": asked}) + "\n")
        told = json.loads((self.folder / "answer.json").read_text())
        body = told["paths"].get(self.path, told["body"])
        if told["kind"] == "redirect":
            self._send(302, b"", ("Location", body))
        elif told["kind"] == "huge":
            self._send(200, b" " * (1 << 20) + body.encode())
        elif told["kind"] == "html":
            self._send(200, b"<html><body>Please log in</body></html>")
        elif told["kind"] == "error":
            self._send(int(body), b"{}")
        elif told["kind"] == "slow":
            self._drip(body.encode())
        elif told["kind"] == "gate":
            self._wait(body)
        else:
            self._send(200, body.encode())

    def _wait(self, body: str) -> None:
        """Answer once the test has made the file `open`."""
        while not (self.folder / "open").exists():
            self._pause(0.01)
        self._send(200, body.encode())

    def _pause(self, seconds: float) -> None:
        """Until the client hangs up, or for so long."""
        select.select([self.connection], [], [], seconds)

    def _drip(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        for at in range(len(body)):
            self.wfile.write(body[at : at + 1])
            self._pause(0.2)

    def _send(self, status: int, body: bytes, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Quiet."""


if __name__ == "__main__":
    _Asked.folder = Path(sys.argv[1])
    with ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), _Asked) as server:
        sys.stdout.write(f"{server.server_address[1]}\n")
        sys.stdout.flush()
        server.serve_forever()
