"""The routes for names as a tree, for words to search by, and for one parameter in full.

Never tells clients' names to who may watch only some topics.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Iterable

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from slipring.console.catalog import Catalog, definition_of
from slipring.console.copy_lines import copy_lines
from slipring.console.login_routes import proof_of
from slipring.console.narrowing import CatalogView
from slipring.console.operation import operation
from slipring.console.shared_rows import sample_of
from slipring.console.silence import silent
from slipring.console.visitor import Visitor
from slipring.control import Broker
from slipring.control.discovery import endpoints
from slipring.status.asked import BranchesQuery, ParameterQuery
from slipring.status.parameters import (
    BranchesMessage,
    ParameterBranch,
    ParameterMessage,
    PublisherName,
    WordCount,
    WordsMessage,
)

BRANCHES_MAX = 500
"""Branches of one answer."""
WORDS_MAX = 100
"""Words of each kind in one answer."""
SHOWN_MAX = 50
"""Publishers, subscriptions and selections of one answer, of each."""
RANGES_MAX = 100_000
"""Ranges of indices of all publishers that are looked through."""
NAME_MAX = 1_024
"""Characters of a name, or of a branch."""
TOO_LONG = f"a name has at most {NAME_MAX} characters\n"


def fact_routes(broker: Broker, catalog: Catalog) -> list[BaseRoute]:
    """Branches of names, words to search by, one parameter."""
    searching = asyncio.Lock()
    """Large tables are looked through one at a time, on a thread."""

    @operation(
        "The levels of names below a path, for a tree.",
        BranchesMessage,
        query=BranchesQuery,
    )
    async def branches(request: Request) -> Response:
        path = request.query_params.get("path")
        if len(path or "") > NAME_MAX:
            return PlainTextResponse(TOO_LONG, 400)
        if silence := await silent(broker):
            return silence
        await catalog.refresh()
        view = CatalogView(catalog, proof_of(request).visitor)
        async with searching:
            return JSONResponse(await asyncio.to_thread(_branches, catalog, view, path))

    @operation("Words to search parameters by.", WordsMessage)
    async def words(request: Request) -> Response:
        if silence := await silent(broker):
            return silence
        await catalog.refresh()
        view = CatalogView(catalog, proof_of(request).visitor)
        async with searching:
            return JSONResponse(await asyncio.to_thread(_words, broker, catalog, view))

    @operation("One parameter in full.", ParameterMessage, query=ParameterQuery, refusals=(404,))
    async def one(request: Request) -> Response:
        name = request.query_params.get("name", "")
        if len(name) > NAME_MAX:
            return PlainTextResponse(TOO_LONG, 400)
        if silence := await silent(broker):
            return silence
        visitor, host = proof_of(request).visitor, request.url.hostname or "localhost"
        if not visitor.may_watch_each([name])[0]:
            return PlainTextResponse("no parameter has this name\n", 404)
        told = await asyncio.to_thread(_parameter, broker, catalog, visitor, name, host)
        if told is None:
            return PlainTextResponse("no parameter has this name\n", 404)
        return JSONResponse(told)

    return [
        Route("/api/parameters/branches", branches),
        Route("/api/parameters/words", words),
        Route("/api/parameters/one", one),
    ]


def branches_of(names: Iterable[str], path: str | None) -> list[ParameterBranch]:
    """The levels below a path, in the order of the names; None is above the first level."""
    start = "" if path is None else f"{path}/"
    found: dict[str, ParameterBranch] = {}
    for name in names:
        if not name.startswith(start):
            continue
        level, slash, _ = name[len(start) :].partition("/")
        branch = found.get(level)
        if branch is None:
            branch = {"level": level, "parameters": 0, "has_more": False, "is_parameter": False}
            found[level] = branch
        branch["parameters"] += 1
        branch["has_more"] |= bool(slash)
        branch["is_parameter"] |= not slash
    return list(found.values())


def _branches(catalog: Catalog, view: CatalogView, path: str | None) -> BranchesMessage:
    columns = catalog.columns
    names = (columns.names[at] for at in view.positions(columns))
    found = branches_of(names, path)
    return {"branches": found[:BRANCHES_MAX], "total": len(found)}


def _words(broker: Broker, catalog: Catalog, view: CatalogView) -> WordsMessage:
    columns = catalog.columns
    units = Counter(unit for at in view.positions(columns) if (unit := columns.units[at]))
    publishers = Counter[str]()
    if view.is_whole:
        for one in broker.engine.publishers(RANGES_MAX):
            publishers[one["client_id"]] += sum(count for _, count in one["ranges"])
    return {"units": _counted(units), "publishers": _counted(publishers)}


def _counted(found: Counter[str]) -> list[WordCount]:
    return [{"word": word, "parameters": amount} for word, amount in found.most_common(WORDS_MAX)]


def _parameter(
    broker: Broker, catalog: Catalog, visitor: Visitor, name: str, host: str
) -> ParameterMessage | None:
    """Ask the engine. Who publishes and reads is told to who may watch everything."""
    rows = catalog.listed(name)
    if not rows:
        return None
    definition = definition_of(rows[0])
    told = catalog.ask("values", {"names": [name]})
    values = [sample_of(row, definition["type"]) for row in told.get("values", [])]
    message: ParameterMessage = {
        "at_ms": time.time_ns() / 1e6,
        "definition": definition,
        "labels": list((rows[0].get("labels") or {}).values()),
        "value": values[0] if values else None,
        "publishers": [],
        "subscribers": [],
        "subscribers_total": 0,
        "selections": [],
        "selections_total": 0,
        "lines": copy_lines(
            name,
            endpoints(broker.config.listeners, broker.engine.addresses),
            host,
            user=visitor.name,
            needs_user=broker.config.has_users and not broker.config.allow_anonymous,
        ),
    }
    if visitor.watched == "all":
        topic = broker.engine.topic(name, SHOWN_MAX)
        message["publishers"] = _publishers(broker, definition["index"])
        message["subscribers"] = topic["subscribers"]
        message["subscribers_total"] = topic["subscribers_total"]
        message["selections"] = topic["selections"]
        message["selections_total"] = topic["selections_total"]
    return message


def _publishers(broker: Broker, index: int) -> list[PublisherName]:
    found: list[PublisherName] = [
        {"client_id": one["client_id"], "connected": one["connected"]}
        for one in broker.engine.publishers(RANGES_MAX)
        if any(first <= index < first + count for first, count in one["ranges"])
    ]
    return found[:SHOWN_MAX]
