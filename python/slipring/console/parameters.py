"""The routes for parameters: a page says what it searches and shows, and is sent what changes.

Never sends rows that are out of view.
"""

import asyncio
import contextlib
from collections.abc import Callable
from functools import partial

from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from slipring.console.authenticator import Authenticator, PageEnd
from slipring.console.catalog import Catalog
from slipring.console.finding import SORTS, Finder, ParameterQuestion
from slipring.console.login_routes import proof_of
from slipring.console.narrowing import CatalogView
from slipring.console.operation import operation, socket_operation
from slipring.console.page import PageEnded, converse, send
from slipring.console.parameter_facts import fact_routes
from slipring.console.shared_rows import ROWS_MAX, RowsInView
from slipring.console.silence import silent
from slipring.console.watch import (
    FIRST_MAX,
    NAMES_MAX,
    SEARCH_MAX,
    Asked,
    Watch,
    is_search,
    is_sort,
    read_asked,
)
from slipring.control import Broker
from slipring.status.asked import ParametersAsked, ParametersQuery
from slipring.status.parameters import ParametersMessage

LOOK_S = 0.05
"""Least time between two looks of one page: one that scrolls need not wait for the next poll."""
NOT_UNDERSTOOD = (
    f'send {{"search": "text", "sort": "name", "first": 0, "count": {ROWS_MAX}}}; '
    f"text has at most {SEARCH_MAX} characters"
)
DIGITS_MAX = 10


def parameter_routes(broker: Broker, authenticator: Authenticator) -> list[BaseRoute]:
    """Parameters once, and live; and what is known of them."""
    catalog = Catalog(broker.engine.ask_table)
    rows = RowsInView(Finder(catalog, broker.engine.publishers))

    @operation(
        "The parameters that a search finds, with their newest values.",
        ParametersMessage,
        query=ParametersQuery,
    )
    async def once(request: Request) -> Response:
        asked = _in_query(request)
        if isinstance(asked, str):
            return PlainTextResponse(f"{asked}\n", 400)
        if silence := await silent(broker):
            return silence
        text = await Watch(rows, _view(catalog, request), asked).look()
        return Response(text, media_type="application/json")

    @socket_operation(
        "What changes of the parameters that a search finds.", ParametersMessage, ParametersAsked
    )
    async def live(socket: WebSocket) -> None:
        await socket.accept()
        watch = Watch(rows, _view(catalog, socket), _first_asked(socket))
        is_asked = asyncio.Event()

        def take(text: str | None) -> str | None:
            """Keep the newest question for the next look: many in a row cost no more than one."""
            asked = read_asked(text)
            if asked is None:
                return NOT_UNDERSTOOD
            watch.asked = asked
            is_asked.set()
            return None

        page_end = partial(authenticator.page_end, proof_of(socket))
        await converse(socket, send_changes(socket, watch, is_asked, broker, page_end), take)

    path = "/api/parameters"
    return [
        Route(path, once),
        WebSocketRoute(path, live),
        *fact_routes(broker, catalog),
    ]


async def send_changes(
    socket: WebSocket,
    watch: Watch,
    is_asked: asyncio.Event,
    broker: Broker,
    page_end: Callable[[], PageEnd | None],
) -> None:
    """Send what changed after every poll, and at once what a page asks for."""
    while True:
        if end := page_end():
            raise PageEnded(*end)
        is_asked.clear()
        if not broker.pulse.is_busy:
            await send(socket, await watch.look())
        await asyncio.sleep(LOOK_S)
        await _polled_or(is_asked, broker)


async def _polled_or(is_asked: asyncio.Event, broker: Broker) -> None:
    """Wait for the next poll, or until the page asks."""
    waits = [asyncio.create_task(is_asked.wait()), asyncio.create_task(_polled(broker))]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
        for wait in waits:
            with contextlib.suppress(asyncio.CancelledError):
                await wait


async def _polled(broker: Broker) -> None:
    async with broker.polled:
        await broker.polled.wait()


def _view(catalog: Catalog, asked: HTTPConnection) -> CatalogView:
    return CatalogView(catalog, proof_of(asked).visitor)


def _first_asked(socket: WebSocket) -> Asked:
    """What a page asks for in its address, until it says more."""
    asked = _in_query(socket)
    return asked if isinstance(asked, Asked) else Asked()


def _in_query(asked: HTTPConnection) -> Asked | str:
    """The question in a query, or what is wrong with it."""
    query = asked.query_params
    search, sort = query.get("search", ""), query.get("sort", "name")
    first, count = query.get("first", "0"), query.get("count", str(ROWS_MAX))
    names = tuple(query.getlist("name"))
    if not is_search(search):
        return f"a search has at most {SEARCH_MAX} characters"
    if not is_sort(sort):
        return f"sort by {', '.join(SORTS)}, or the other way round with - before it"
    if not _is_digits(first) or int(first) > FIRST_MAX:
        return "first is the number of a row, from 0"
    if not _is_digits(count) or int(count) > ROWS_MAX:
        return f"count is at most {ROWS_MAX}"
    if len(names) > NAMES_MAX:
        return f"at most {NAMES_MAX} names"
    return Asked(ParameterQuestion(search, sort, names, bool(names)), int(first), int(count))


def _is_digits(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= DIGITS_MAX
