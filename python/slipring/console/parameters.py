"""How a page watches parameters: it says what it searches for, and is sent what changes."""

import json

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from slipring.console.catalog import Catalog
from slipring.console.page import converse, send
from slipring.console.silence import silent
from slipring.console.watch import ROWS_SHOWN, Watch
from slipring.control import Broker

SEARCH_MAX = 1_000
"""Characters of a search."""
NOT_UNDERSTOOD = (
    f'send {{"search": "text", "first": 0, "count": 20}}; text has at most {SEARCH_MAX}'
)


def parameter_routes(broker: Broker) -> list[BaseRoute]:
    """Parameters once, and live."""
    catalog = Catalog(broker.engine.ask_table)

    async def once(request: Request) -> Response:
        search = request.query_params.get("search", "")
        if len(search) > SEARCH_MAX:
            return PlainTextResponse(f"a search has at most {SEARCH_MAX} characters\n", 400)
        if silence := await silent(broker):
            return silence
        return JSONResponse(await Watch(catalog, search).look())

    async def live(socket: WebSocket) -> None:
        await socket.accept()
        watch = Watch(catalog, socket.query_params.get("search", "")[:SEARCH_MAX])

        def search(text: str | None) -> str | None:
            """The newest counts, at the next beat: however fast they come, one costs one look."""
            wish = _wish(text)
            if wish is None:
                return NOT_UNDERSTOOD
            watch.search, watch.view = wish
            return None

        await converse(socket, send_changes(socket, watch, broker), search)

    path = "/api/parameters"
    return [Route(path, once), WebSocketRoute(path, live)]


async def send_changes(socket: WebSocket, watch: Watch, broker: Broker) -> None:
    """At every beat; a page that is slow is sent less often, and then what is true by then."""
    while True:
        if not broker.pulse.is_busy:
            told = await watch.look()
            await send(socket, json.dumps(told, separators=(",", ":")))
        async with broker.beaten:
            await broker.beaten.wait()


def _wish(text: str | None) -> tuple[str, tuple[int, int]] | None:
    """What a page searches for, and the rows of it that are in view: all, where it says none."""
    try:
        asked = json.loads(text or "")
        json.dumps(asked, ensure_ascii=False).encode()  # half of a surrogate pair is no text
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
