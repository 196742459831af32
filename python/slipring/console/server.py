"""The console's web server, inside the broker's event loop.

It listens at once; `serve` loads the web framework when the first connection comes, or at once if
the last minutes of some parameters are to be kept.
"""

import asyncio
import contextlib
import logging
import socket
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from slipring.console.certificate import ConsoleCertificate
from slipring.console.guard import has_body
from slipring.console.listener import ConsoleListener
from slipring.console.log_guard import LogGuard
from slipring.console.quick_look_memory import keep_quick_look
from slipring.control import Broker
from slipring.control.address import Address
from slipring.errors import StartError

if TYPE_CHECKING:
    import uvicorn

    from slipring.history import History

STATIC = Path(str(files("slipring.console"))) / "static"
STOP_S = 2
"""How long open pages may delay the shutdown."""
ASKED_BYTES_MAX = 65_536
"""Bytes of a message from a page: a search, and the names that a person marked."""
HEAD_BYTES_MAX = 16_384
"""Bytes of a request's head."""
BACKLOG = 512
"""Connections that wait to be accepted."""


class ConsoleServer:
    """Listens when made; answers while `serve` runs."""

    def __init__(self, broker: Broker, listen: str) -> None:
        """Bind the socket; StartError says why not."""
        if not (STATIC / "index.html").is_file():
            raise StartError(
                f"the console's page is not built: no index.html in {STATIC}; run `make setup`"
            )
        self.broker = broker
        self.listen: Address = Address.parse(listen)
        self.log_guard: LogGuard = LogGuard()
        self._certificate = ConsoleCertificate.of(broker.config.console)
        self._socket = _bind(self.listen)

    @property
    def url(self) -> str:
        """Where a browser finds the page."""
        scheme = "https" if self._certificate else "http"
        return f"{scheme}://{Address(self.listen.host, self._socket.getsockname()[1])}"

    async def serve(self, stop: asyncio.Event) -> None:
        """Answer until told to stop; the first connection loads the web framework."""
        if not self._quick_look() and not await _has_connection(self._socket, stop):
            self._socket.close()
            return
        server, listener, history = await asyncio.to_thread(self._loaded)
        serving = asyncio.create_task(server.serve(sockets=[]))
        own = [asyncio.create_task(listener.serve())]
        own.append(asyncio.create_task(keep_quick_look(history, self._quick_look)))
        if self._certificate:
            own.append(asyncio.create_task(self._certificate.follow()))
        await stop.wait()
        for task in own:
            task.cancel()
        server.should_exit = True
        await asyncio.gather(serving, *own, return_exceptions=True)

    def _quick_look(self) -> list[str]:
        """The parameters that the configuration names: of these the page begins with the past."""
        return [name for plot in self.broker.config.console.quick_look for name in plot]

    def _loaded(self) -> "tuple[uvicorn.Server, ConsoleListener, History]":
        """Import and make the web server; on a thread, so that the event loop is free."""
        import uvicorn
        from uvicorn.protocols.http.h11_impl import H11Protocol

        from slipring.console.app import make_app
        from slipring.console.history_routes import history_of

        class Server(uvicorn.Server):
            @contextlib.contextmanager
            def capture_signals(self) -> Iterator[None]:
                """Leave signals to the program that runs the broker."""
                yield

        class Http(H11Protocol):
            def _should_upgrade(self) -> bool:
                """Treat an upgrade with a body as a plain request: else it gets no answer."""
                return super()._should_upgrade() and not has_body(self.headers)

        def speak_http() -> asyncio.Protocol:
            return Http(config, server.server_state, app_state={})

        connections_max = self.broker.config.console.connections
        tls = self._certificate.context if self._certificate else None
        listener = ConsoleListener(self._socket, speak_http, connections_max, tls)
        history = history_of(self.broker)
        config = uvicorn.Config(
            make_app(self.broker, history, self.listen, STATIC, listener),
            log_config=None,
            # Its lines about connections say nothing to a person, and contain the searches.
            log_level="warning",
            access_log=False,
            lifespan="off",
            ws="websockets-sansio",
            ws_max_size=ASKED_BYTES_MAX,
            # Pages share each message, but each would have a compression of its own: with 50 pages
            # a quarter of the broker's time, and 300 kB of memory for each WebSocket.
            ws_per_message_deflate=False,
            h11_max_incomplete_event_size=HEAD_BYTES_MAX,
            # The peer is what the system says, not what a header claims.
            proxy_headers=False,
            timeout_graceful_shutdown=STOP_S,
            server_header=False,
        )
        config.load()
        for name in ("uvicorn.error", "asyncio"):
            logging.getLogger(name).addFilter(self.log_guard)
        server = Server(config)
        return server, listener, history


async def _has_connection(listening: socket.socket, stop: asyncio.Event) -> bool:
    """Wait for the first connection; False if `stop` comes first. The connection stays queued."""
    loop, connected = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(listening, connected.set)
    waits = [asyncio.create_task(event.wait()) for event in (connected, stop)]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        loop.remove_reader(listening)
        for wait in waits:
            wait.cancel()
    return connected.is_set()


def _bind(listen: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in listen.host else socket.AF_INET
    bound = socket.socket(family)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((listen.host, listen.port))
        bound.listen(BACKLOG)
    except OSError as error:
        bound.close()
        raise StartError(
            f"cannot listen on {listen} for the console: {error.strerror}; "
            "choose another address with --console HOST:PORT, or --console off"
        ) from None
    bound.setblocking(False)
    return bound
