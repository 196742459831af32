"""The routes for parameters: a page sends a search, and is sent what changes."""

import json
from collections.abc import Callable
from functools import partial

from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from slipring.console.authenticator import Authenticator, PageEnd
from slipring.console.catalog import Catalog
from slipring.console.login_routes import proof_of
from slipring.console.narrowing import CatalogView
from slipring.console.operation import operation, socket_operation
from slipring.console.page import PageEnded, converse, send
from slipring.console.silence import silent
from slipring.console.watch import ROWS_SHOWN, Watch
from slipring.control import Broker
from slipring.status.asked import SEARCH_MAX, ParametersAsked, ParametersQuery
from slipring.status.parameters import ParametersMessage

NOT_UNDERSTOOD = (
    f'send {{"search": "text", "first": 0, "count": 20}}; text has at most {SEARCH_MAX}'
)


def parameter_routes(broker: Broker, authenticator: Authenticator) -> list[BaseRoute]:
    """Parameters once, and live."""
    catalog = Catalog(broker.engine.ask_table)

    @operation(
        "The parameters that a search finds, with their newest values.",
        ParametersMessage,
        query=ParametersQuery,
    )
    async def once(request: Request) -> Response:
        search = request.query_params.get("search", "")
        if silence := await silent(broker):
            return silence
        return JSONResponse(await Watch(_view(catalog, request), search).look())

    @socket_operation(
        "What changes of the parameters that a search finds.", ParametersMessage, ParametersAsked
    )
    async def live(socket: WebSocket) -> None:
        await socket.accept()
        watch = Watch(_view(catalog, socket), socket.query_params.get("search", "")[:SEARCH_MAX])

        def search(text: str | None) -> str | None:
            """Keep the newest search for the next poll: many in a row cost no more than one."""
            asked = _asked(text)
            if asked is None:
                return NOT_UNDERSTOOD
            watch.search, watch.view = asked
            return None

        page_end = partial(authenticator.page_end, proof_of(socket))
        await converse(socket, send_changes(socket, watch, broker, page_end), search)

    path = "/api/parameters"
    return [Route(path, once), WebSocketRoute(path, live)]


async def send_changes(
    socket: WebSocket, watch: Watch, broker: Broker, page_end: Callable[[], PageEnd | None]
) -> None:
    """Send what changed after every poll; a slow page is sent less often, and then the newest."""
    while True:
        if end := page_end():
            raise PageEnded(*end)
        if not broker.pulse.is_busy:
            told = await watch.look()
            await send(socket, json.dumps(told, separators=(",", ":")))
        async with broker.polled:
            await broker.polled.wait()


def _view(catalog: Catalog, asked: HTTPConnection) -> CatalogView:
    return CatalogView(catalog, proof_of(asked).visitor)


def _asked(text: str | None) -> tuple[str, tuple[int, int]] | None:
    """Read what a page searches for, and which rows are in view (all by default)."""
    try:
        asked = json.loads(text or "")
        json.dumps(asked, ensure_ascii=False).encode()  # half of a surrogate pair is not text
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
