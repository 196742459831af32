"""How a page watches parameters: it says what it searches for, and is sent what changes."""

import asyncio
import json

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from slipring.console.catalog import Catalog
from slipring.console.watch import ROWS_SHOWN, Watch
from slipring.control import Broker

SEARCH_MAX = 1_000
"""Characters of a search."""
NOT_UNDERSTOOD = (
    f'send {{"search": "text", "first": 0, "count": 20}}; text has at most {SEARCH_MAX}'
)
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
        wish = _wish(await socket.receive_text())
        if wish is None:
            await socket.close(UNSUPPORTED, NOT_UNDERSTOOD)
            raise WebSocketDisconnect(UNSUPPORTED)
        watch.search, watch.view = wish


def _wish(text: str) -> tuple[str, tuple[int, int]] | None:
    """What a page searches for, and the rows of it that are in view: all, where it says none."""
    try:
        asked = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(asked, dict):
        return None
    search, first, count = (
        asked.get("search"),
        asked.get("first", 0),
        asked.get("count", ROWS_SHOWN),
    )
    if not isinstance(search, str) or len(search) > SEARCH_MAX:
        return None
    return (search, (first, count)) if _is_row(first) and _is_row(count) else None


def _is_row(number: object) -> bool:
    return type(number) is int and 0 <= number <= ROWS_SHOWN
