"""The console's web server, inside the broker's event loop.

Listening is quick and comes first; `serve` loads the web framework when the first browser waits at
the door.
"""

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from slipring.control import Broker
from slipring.control.address import Address
from slipring.errors import StartError

if TYPE_CHECKING:
    import uvicorn

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
        """Answer until told to stop; nothing is loaded for a console that nobody opens."""
        if not await _knocked(self._socket, stop):
            self._socket.close()
            return
        server = await asyncio.to_thread(self._loaded)
        serving = asyncio.create_task(server.serve(sockets=[self._socket]))
        await stop.wait()
        server.should_exit = True
        await serving

    def _loaded(self) -> "uvicorn.Server":
        """The web server with all that it imports; on a thread, so that the broker goes on."""
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
        config.load()
        return Server(config)


async def _knocked(door: socket.socket, stop: asyncio.Event) -> bool:
    """Whether somebody connects before the end; they wait at the door meanwhile."""
    loop, knock = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(door, knock.set)
    waits = [asyncio.create_task(event.wait()) for event in (knock, stop)]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        loop.remove_reader(door)
        for wait in waits:
            wait.cancel()
    return knock.is_set()


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
