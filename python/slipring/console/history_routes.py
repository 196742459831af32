"""The routes for what was: series over a time, values at a time, and which times there are.

Reading is done on threads, a few at a time; pages that ask for the same share one reading.
"""

import json
import time
from collections.abc import Callable, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from slipring.console.history_answer import NS_PER_MS, history_text, shown_value
from slipring.console.history_csv import CSV_TYPE, csv_blocks
from slipring.console.history_desk import FULL, Busy, HistoryDesk
from slipring.console.history_request import (
    VALUES_MAX,
    WrongRequest,
    history_question,
    names_of,
    time_ns,
)
from slipring.console.login_routes import proof_of
from slipring.console.operation import operation
from slipring.console.silence import silent
from slipring.console.visitor import Visitor
from slipring.control import Broker
from slipring.errors import InvalidTopic
from slipring.history import History, HistoryQuestion
from slipring.history.question import KnownParameter
from slipring.history.table_part import TableNow
from slipring.lake.storage import LakeLocation
from slipring.native import check_topic
from slipring.status.asked import HistoryQuery, ValuesQuery
from slipring.status.history import RangeMessage, SeriesMessage, ValuesMessage

Known = dict[str, KnownParameter]
AS_FILE = {"content-disposition": 'attachment; filename="history.csv"'}


def history_routes(broker: Broker, desk: HistoryDesk) -> list[BaseRoute]:
    """Series, values, and the times there are."""
    history = desk.history

    @operation(
        "Series over a time, in as many buckets as a plot has pixels.",
        SeriesMessage,
        query=HistoryQuery,
        refusals=(404,),
    )
    async def series(request: Request) -> Response:
        asked = await _series_asked(broker, desk, request)
        if isinstance(asked, Response):
            return asked
        question, known = asked
        key = ("series", question.names, question.whole_ns, question.step_ns, question.width)
        return await _answered(desk, key, lambda: _series(history, question, known))

    @operation("The same series as CSV.", "text/csv", query=HistoryQuery, refusals=(404,))
    async def as_csv(request: Request) -> Response:
        asked = await _series_asked(broker, desk, request)
        if isinstance(asked, Response):
            return asked
        question, known = asked
        key = ("csv", question.names, question.whole_ns, question.step_ns, question.width)
        try:
            answer = await desk.run(key, lambda: history.answer(question, known))
        except Busy:
            return PlainTextResponse(FULL, 503, {"retry-after": "1"})
        return StreamingResponse(csv_blocks(answer), headers=AS_FILE, media_type=CSV_TYPE)

    @operation("The newest values at a time.", ValuesMessage, query=ValuesQuery, refusals=(404,))
    async def values(request: Request) -> Response:
        try:
            names = names_of(request.query_params, VALUES_MAX)
            at_ns = time_ns(request.query_params, "at_ms")
        except WrongRequest as wrong:
            return PlainTextResponse(f"{wrong}\n", 400)
        known = await _known(broker, desk, request, names)
        if isinstance(known, Response):
            return known
        key = ("values", names, at_ns)
        return await _answered(desk, key, lambda: _values(history, names, at_ns, known))

    @operation("Which times can be asked for.", RangeMessage)
    async def range_(_: Request) -> Response:
        return await _answered(desk, "range", lambda: _range(history))

    return [
        Route("/api/history", series),
        Route("/api/history.csv", as_csv),
        Route("/api/values", values),
        Route("/api/range", range_),
    ]


def history_of(broker: Broker) -> History:
    """The past of a broker: its table, its journal, and its lake."""
    config = broker.config
    topics = config.journal.topics
    journal = config.data / "journal" if topics else None
    lake = LakeLocation.of(config.console.lake or config.data / "lake")
    return History(TableNow(broker.engine.ask_table), journal, lake, topics)


async def _answered(desk: HistoryDesk, key: object, read: Callable[[], bytes]) -> Response:
    try:
        return Response(await desk.run(key, read), media_type="application/json")
    except Busy:
        return PlainTextResponse(FULL, 503, {"retry-after": "1"})


async def _series_asked(
    broker: Broker, desk: HistoryDesk, request: Request
) -> tuple[HistoryQuestion, Known] | Response:
    """What a request for series asks, and the definitions; or the refusal."""
    try:
        question = history_question(request.query_params)
    except WrongRequest as wrong:
        return PlainTextResponse(f"{wrong}\n", 400)
    known = await _known(broker, desk, request, question.names)
    return known if isinstance(known, Response) else (question, known)


async def _known(
    broker: Broker, desk: HistoryDesk, request: Request, names: Sequence[str]
) -> Known | Response:
    """The definitions of the names; or why they are not for this visitor."""
    try:
        for name in names:
            check_topic(name)
    except InvalidTopic as error:
        return PlainTextResponse(f"{error}\n", 400)
    if silence := await silent(broker):
        return silence
    visitor: Visitor = proof_of(request).visitor
    seen = visitor.may_watch_each(names)
    asked = [name for name, is_seen in zip(names, seen, strict=True) if is_seen]
    try:
        known = await desk.known(asked) if asked else {}
    except Busy:
        return PlainTextResponse(FULL, 503, {"retry-after": "1"})
    unknown = [name for name in names if name not in known]
    if unknown:
        others = f", and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        return PlainTextResponse(f"there is no parameter {unknown[0]}{others}\n", 404)
    return known


def _series(history: History, question: HistoryQuestion, known: Known) -> bytes:
    return history_text(history.answer(question, known))


def _values(history: History, names: Sequence[str], at_ns: int | None, known: Known) -> bytes:
    asked_ns = time.time_ns() if at_ns is None else at_ns
    found = history.values_at(names, at_ns, known)
    rows = [
        {
            "name": name,
            "value": shown_value(one.value) if one else None,
            "time_ms": one.time_ns / NS_PER_MS if one else None,
            "quality": one.quality if one else None,
        }
        | ({} if one else {"why": "no sample was found at this time or shortly before"})
        for name, one in ((name, found.get(name)) for name in names)
    ]
    return _encoded({"at_ms": asked_ns / NS_PER_MS, "values": rows})


def _range(history: History) -> bytes:
    parts = {"journal": history.journal_bounds(), "lake": history.lake_bounds()}
    known = [one for one in parts.values() if one]
    told: dict[str, Any] = {
        "from_ms": min((one[0] for one in known), default=None),
        "to_ms": max((*(one[1] for one in known), time.time_ns())),
    }
    told = {key: None if ns is None else ns / NS_PER_MS for key, ns in told.items()}
    for name, bounds in parts.items():
        ends = zip(("from_ms", "to_ms"), bounds or (), strict=False)
        told[name] = {key: ns / NS_PER_MS for key, ns in ends} if bounds else None
    return _encoded(told)


def _encoded(told: object) -> bytes:
    return json.dumps(told, separators=(",", ":"), allow_nan=False).encode()
