"""How a page watches parameters: it says what it searches for, and is sent what changes."""

import asyncio
import json

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from slipring.console.catalog import Catalog
from slipring.console.watch import Watch
from slipring.control import Broker

SEARCH_MAX = 1_000
"""Characters of a search."""
NOT_UNDERSTOOD = f'send {{"search": "text"}}, at most {SEARCH_MAX} characters'
UNSUPPORTED = 1003
"""The code that closes a WebSocket after data that cannot be accepted (RFC 6455, 7.4.1)."""


def parameter_routes(broker: Broker) -> list[BaseRoute]:
    """Parameters once, and live."""
    catalog = Catalog(broker.engine.ask_table)

    async def once(request: Request) -> Response:
        search = request.query_params.get("search", "")
        if len(search) > SEARCH_MAX:
            return PlainTextResponse(f"a search has at most {SEARCH_MAX} characters\n", 400)
        return JSONResponse(await Watch(catalog, search).look())

    async def live(socket: WebSocket) -> None:
        await socket.accept()
        watch = Watch(catalog, socket.query_params.get("search", "")[:SEARCH_MAX])
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(_send_changes(socket, watch, broker))
                tasks.create_task(_take_searches(socket, watch))
        except* WebSocketDisconnect:
            pass

    path = "/api/parameters"
    return [Route(path, once), WebSocketRoute(path, live)]


async def _send_changes(socket: WebSocket, watch: Watch, broker: Broker) -> None:
    """At every beat; a page that is slow is sent less often, and then what is true by then."""
    while True:
        told = await watch.look()
        await socket.send_text(json.dumps(told, separators=(",", ":")))
        async with broker.beaten:
            await broker.beaten.wait()


async def _take_searches(socket: WebSocket, watch: Watch) -> None:
    """The newest counts, at the next beat: however fast they come, a search costs one look."""
    while True:
        search = _search(await socket.receive_text())
        if search is None:
            await socket.close(UNSUPPORTED, NOT_UNDERSTOOD)
            raise WebSocketDisconnect(UNSUPPORTED)
        watch.search = search


def _search(text: str) -> str | None:
    try:
        asked = json.loads(text)
    except (ValueError, RecursionError):
        return None
    search = asked.get("search") if isinstance(asked, dict) else None
    return search if isinstance(search, str) and len(search) <= SEARCH_MAX else None
