"""The console's web server, inside the broker's event loop."""

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from typing import Self

import uvicorn

from slipring.console.app import make_app
from slipring.control import Broker
from slipring.control.address import Address
from slipring.errors import StartError

STOP_S = 2
"""How long open pages may hold up the end."""


class _Uvicorn(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to whoever runs the broker."""
        yield


class ConsoleServer:
    """Listens when made; serves between entering and leaving `async with`."""

    def __init__(self, broker: Broker, listen: str) -> None:
        """Bind the socket; StartError says why not."""
        self.listen = Address.parse(listen)
        self._socket = _bind(self.listen)
        config = uvicorn.Config(
            make_app(broker, self.listen),
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="websockets-sansio",
            timeout_graceful_shutdown=STOP_S,
            server_header=False,
        )
        self._server = _Uvicorn(config)
        self._task: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        """Where a browser finds the page."""
        return f"http://{Address(self.listen.host, self._socket.getsockname()[1])}"

    async def __aenter__(self) -> Self:
        """Start serving; connections are accepted from now on."""
        self._task = asyncio.create_task(self._server.serve(sockets=[self._socket]))
        while not self._server.started and not self._task.done():
            await asyncio.sleep(0.001)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop serving."""
        self._server.should_exit = True
        if self._task:
            await self._task


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
