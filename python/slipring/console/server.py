"""The console's web server, inside the broker's event loop.

Listening is quick and comes first; `serve` loads the web framework while browsers already wait at
the door.
"""

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from slipring.control import Broker
from slipring.control.address import Address
from slipring.errors import StartError

STATIC = Path(str(files("slipring.console"))) / "static"
STOP_S = 2
"""How long open pages may hold up the end."""
ASKED_BYTES_MAX = 16_384
"""Bytes of a message from a page: all that a page sends is a search."""


class ConsoleServer:
    """Listens when made; answers while `serve` runs."""

    def __init__(self, broker: Broker, listen: str) -> None:
        """Bind the socket; StartError says why not."""
        if not (STATIC / "index.html").is_file():
            raise StartError(
                f"the console's page is not built: no index.html in {STATIC}; run `make setup`"
            )
        self.broker = broker
        self.listen = Address.parse(listen)
        self._socket = _bind(self.listen)

    @property
    def url(self) -> str:
        """Where a browser finds the page."""
        return f"http://{Address(self.listen.host, self._socket.getsockname()[1])}"

    async def serve(self, stop: asyncio.Event) -> None:
        """Answer until told to stop."""
        import uvicorn

        from slipring.console.app import make_app

        class Server(uvicorn.Server):
            @contextlib.contextmanager
            def capture_signals(self) -> Iterator[None]:
                """Leave signals to whoever runs the broker."""
                yield

        config = uvicorn.Config(
            make_app(self.broker, self.listen, STATIC),
            log_config=None,
            # What it says of connections is nothing to a person, and has what pages search for.
            log_level="warning",
            access_log=False,
            lifespan="off",
            ws="websockets-sansio",
            ws_max_size=ASKED_BYTES_MAX,
            timeout_graceful_shutdown=STOP_S,
            server_header=False,
        )
        server = Server(config)
        serving = asyncio.create_task(server.serve(sockets=[self._socket]))
        await stop.wait()
        server.should_exit = True
        await serving


def _bind(listen: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in listen.host else socket.AF_INET
    bound = socket.socket(family)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((listen.host, listen.port))
        bound.listen()
    except OSError as error:
        bound.close()
        raise StartError(
            f"cannot listen on {listen} for the console: {error.strerror}; "
            "choose another address with --console HOST:PORT, or --console off"
        ) from None
    bound.setblocking(False)
    return bound
