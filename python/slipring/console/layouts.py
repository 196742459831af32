"""The routes for layouts: list, read, save, remove. Names of parameters go only to who may watch
them.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from slipring.console.catalog import Catalog
from slipring.console.json_body import Refused, json_body
from slipring.console.login_routes import proof_of
from slipring.console.narrowing import CatalogView
from slipring.console.operating import asker, refused
from slipring.console.operation import operation
from slipring.console.ready_layouts import TITLES, ReadyLayouts
from slipring.console.visitor import Visitor
from slipring.control import Broker
from slipring.control.layout import (
    A_LAYOUT,
    LAYOUT_BYTES_MAX,
    READY_MADE,
    Layout,
    LayoutError,
    checked_name,
    read_layout,
)
from slipring.control.layout_store import LayoutConflict, LayoutStore, SavedLayout
from slipring.status.layouts import (
    LayoutBody,
    LayoutConflictMessage,
    LayoutMessage,
    LayoutRemoved,
    LayoutSaved,
    LayoutsMessage,
)

VERSION = re.compile(r'"(\d{1,15})"')
HIDDEN = (
    "this layout has parameters that you may not watch; leave it, and save yours under another name"
)
NO_VERSION = 'If-Match is the ETag of the layout, such as "1790000000000"; If-None-Match is *'

Json = dict[str, Any]
Answer = Callable[[Request], Awaitable[Response]]


def layout_routes(broker: Broker) -> list[BaseRoute]:
    """List, read, save and remove layouts."""
    store = LayoutStore(broker.config.data)
    catalog = Catalog(broker.engine.ask_table)
    ready = ReadyLayouts(catalog)

    @operation("The layouts.", LayoutsMessage)
    async def listed(_: Request) -> Response:
        return JSONResponse({"layouts": await asyncio.to_thread(_summaries, store)})

    @operation("One layout.", LayoutMessage, refusals=(404,))
    async def read(request: Request) -> Response:
        name, visitor = _name(request), proof_of(request).visitor
        if name in READY_MADE:
            layout = await ready.make(name, CatalogView(catalog, visitor))
            told = _summary(name, TITLES[name], is_ready_made=True)
            return JSONResponse(told | {"is_narrowed": False} | layout.model_dump())
        found = await asyncio.to_thread(store.read, name)
        if found is None:
            return PlainTextResponse(f"there is no layout {name}\n", 404)
        return JSONResponse(_told(name, found, visitor), headers=_version(found))

    @operation(
        "Save a layout; with If-Match only if nobody has changed it.",
        LayoutSaved,
        body=LayoutBody,
        conflict=LayoutConflictMessage,
    )
    async def save(request: Request) -> Response:
        name, expected = _name(request), _expected(request)
        body = await json_body(request, f"{A_LAYOUT}\n", LAYOUT_BYTES_MAX)
        if isinstance(body, tuple):
            return PlainTextResponse(*body)
        layout, by = read_layout(body), asker(request)
        if refusal := await _hidden(store, name, layout, proof_of(request).visitor):
            return PlainTextResponse(*refusal)
        saved = await asyncio.to_thread(store.write, name, layout, by.get("user"), expected)
        broker.audit("changed", **by, topic="layouts", detail=f"saved the layout {name}")
        told = {"name": name, "changed_ms": saved.changed_ms, "by": saved.by}
        return JSONResponse(told, headers=_version(saved))

    path = "/api/layouts/{name:path}"
    return [
        Route("/api/layouts", listed),
        _route(path, "GET", read),
        _route(path, "PUT", save),
        _route(path, "DELETE", _removal(broker, store)),
    ]


def _removal(broker: Broker, store: LayoutStore) -> Answer:
    @operation("Remove a layout.", LayoutRemoved, refusals=(404,), conflict=LayoutConflictMessage)
    async def remove(request: Request) -> Response:
        name, expected = _name(request), _expected(request)
        if refusal := await _hidden(store, name, Layout(widgets=[]), proof_of(request).visitor):
            return PlainTextResponse(*refusal)
        if not await asyncio.to_thread(store.remove, name, expected):
            return PlainTextResponse(f"there is no layout {name}\n", 404)
        detail = f"removed the layout {name}"
        broker.audit("changed", **asker(request), topic="layouts", detail=detail)
        return JSONResponse({"removed": name})

    return remove


def narrowed_layout(layout: Layout, visitor: Visitor) -> tuple[Layout, bool]:
    """The layout without parameters that may not be watched, and whether there are some."""
    hidden = hidden_names(layout, visitor)
    if not hidden:
        return layout, False
    told = layout.model_copy(deep=True)
    for widget in told.widgets:
        if hidden.intersection(widget.names):  # other options may tell of them, too
            widget.options = {"names": [one for one in widget.names if one not in hidden]}
    return told, True


def hidden_names(layout: Layout, visitor: Visitor) -> set[str]:
    """The parameters of a layout that a visitor may not watch."""
    names = sorted(layout.names)
    seen = visitor.may_watch_each(names)
    return {name for name, is_seen in zip(names, seen, strict=True) if not is_seen}


async def _hidden(
    store: LayoutStore, name: str, layout: Layout, visitor: Visitor
) -> Refused | None:
    """Why a visitor may not put this here; None if it may: what it cannot see is not lost."""
    if visitor.watched == "all" or name in READY_MADE:
        return None
    before = await asyncio.to_thread(store.read, name)
    replaced = set() if before is None else hidden_names(before.layout, visitor)
    is_hidden = replaced or hidden_names(layout, visitor)
    return (f"{HIDDEN}\n", 403) if is_hidden else None


def _told(name: str, found: SavedLayout, visitor: Visitor) -> Json:
    """A layout that people made, without what the visitor may not watch."""
    layout, is_narrowed = narrowed_layout(found.layout, visitor)
    told = _summary(name, found.layout.title or name, changed_ms=found.changed_ms, by=found.by)
    return told | {"is_narrowed": is_narrowed} | layout.model_dump()


def _version(saved: SavedLayout) -> dict[str, str]:
    return {"etag": f'"{saved.changed_ms}"'}


def _summaries(store: LayoutStore) -> list[Json]:
    """Those that are ready-made, then those that people made."""
    own = [
        _summary(one.name, one.title, changed_ms=one.changed_ms, by=one.by, trouble=one.trouble)
        for one in store.listed()
    ]
    return [*(_summary(name, TITLES[name], is_ready_made=True) for name in READY_MADE), *own]


def _summary(
    name: str,
    title: str,
    *,
    is_ready_made: bool = False,
    changed_ms: int | None = None,
    by: str | None = None,
    trouble: str | None = None,
) -> Json:
    return {
        "name": name,
        "title": title,
        "is_ready_made": is_ready_made,
        "changed_ms": changed_ms,
        "by": by,
        "trouble": trouble,
    }


def _name(request: Request) -> str:
    # Not the parameter of the path, which is without a line feed at the end.
    return checked_name(request.scope["path"].removeprefix("/api/layouts/"))


def _expected(request: Request) -> int | None:
    """The version that a change was made from: 0 for a new layout, None for any."""
    matches, none = request.headers.get("if-match"), request.headers.get("if-none-match")
    if none is not None:
        if none.strip() != "*" or matches is not None:
            raise LayoutError(NO_VERSION)
        return 0
    if matches is None or matches.strip() == "*":
        return None
    found = VERSION.fullmatch(matches.strip())
    if found is None:
        raise LayoutError(NO_VERSION)
    return int(found[1])


def _route(path: str, method: str, answer: Answer) -> Route:
    """A route whose refusals are sentences; changes are for operators only."""

    @wraps(answer)
    async def guarded(request: Request) -> Response:
        if method != "GET" and (refusal := refused(request)):
            return PlainTextResponse(*refusal)
        try:
            return await answer(request)
        except LayoutConflict as conflict:
            found = conflict.found
            told: Json = {"conflict": str(conflict), "by": None, "changed_ms": None}
            if found is not None:
                told |= {"by": found.by, "changed_ms": found.changed_ms}
            return JSONResponse(told, 409)
        except LayoutError as error:
            return PlainTextResponse(f"{error}\n", 400)

    return Route(path, guarded, methods=[method])
