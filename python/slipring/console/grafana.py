"""Rows for Grafana's data source Infinity: series over a time, and current values. Reads as the
other routes do; has no rules of its own.
"""

import asyncio
import json
import time
from collections.abc import Iterator
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from slipring.console.history_answer import NS_PER_MS, series_json
from slipring.console.history_desk import FULL, Busy, HistoryDesk
from slipring.console.login_routes import proof_of
from slipring.console.operation import operation
from slipring.console.query import query_of
from slipring.console.shared_rows import sample_of
from slipring.console.silence import silent
from slipring.console.visitor import Visitor
from slipring.control import Broker
from slipring.control.newest_values import newest_rows
from slipring.errors import InvalidTopic
from slipring.history import HistoryQuestion
from slipring.native import check_filter, check_topic
from slipring.status.grafana import (
    GrafanaPoint,
    GrafanaSeriesQuery,
    GrafanaValue,
    GrafanaValuesQuery,
)

POINTS_MAX = 50_000
"""Rows of one answer; with many parameters each has fewer."""
WIDTH = 800
SPAN_MS = 300_000
"""How much is answered if nothing is said."""
VALUES_SHOWN = 1_000
LOOKED_AT_MAX = 20_000
"""Parameters that are looked at for those that a visitor may watch."""
SERIES_MAX = 24
NO_NAME = f"ask for 1 to {SERIES_MAX} parameters, each as name= or var-name=\n"


def grafana_routes(broker: Broker, desk: HistoryDesk) -> list[BaseRoute]:
    """Series and current values, as rows."""
    looking = asyncio.Lock()
    """One at a time: who asks takes one thread from others, not all."""

    @operation(
        "Series as rows, for Grafana's data source Infinity.",
        list[GrafanaPoint],
        query=GrafanaSeriesQuery,
    )
    async def series(request: Request) -> Response:
        asked = query_of(request.query_params, GrafanaSeriesQuery)
        names = [*dict.fromkeys((*asked.get("name", ()), *asked.get("var-name", ())))]
        if not 1 <= len(names) <= SERIES_MAX:
            return PlainTextResponse(NO_NAME, 400)
        try:
            for name in names:
                check_topic(name)
            question = _question(asked, names)
        except (InvalidTopic, ValueError) as error:
            return PlainTextResponse(f"{error}\n", 400)
        if silence := await silent(broker):
            return silence
        key = ("rows", names_seen := _seen(proof_of(request).visitor, names), question)
        try:
            return Response(
                await desk.run(key, lambda: _points(desk, names_seen, question)),
                media_type="application/json",
            )
        except Busy:
            return PlainTextResponse(FULL, 503, {"retry-after": "1"})

    @operation(
        "Current values as rows, for Grafana's data source Infinity.",
        list[GrafanaValue],
        query=GrafanaValuesQuery,
    )
    async def values(request: Request) -> Response:
        asked = query_of(request.query_params, GrafanaValuesQuery)
        filter_, most = asked.get("filter", "#"), asked.get("most", VALUES_SHOWN)
        try:
            check_filter(filter_)
        except InvalidTopic as error:
            return PlainTextResponse(f"{error}\n", 400)
        if silence := await silent(broker):
            return silence
        visitor = proof_of(request).visitor
        async with looking:
            rows = await asyncio.to_thread(
                _values, broker, visitor, filter_, min(most, VALUES_SHOWN)
            )
        return JSONResponse(rows)

    return [Route("/api/grafana/series", series), Route("/api/grafana/values", values)]


def _question(asked: GrafanaSeriesQuery, names: list[str]) -> HistoryQuestion:
    to_ms = asked.get("to", time.time() * 1e3)
    from_ms = asked.get("from", max(0.0, to_ms - SPAN_MS))
    width = min(asked.get("width", WIDTH), POINTS_MAX // len(names))
    if not from_ms < to_ms:
        raise ValueError("'from' must be before 'to'")
    return HistoryQuestion(tuple(names), int(from_ms * NS_PER_MS), int(to_ms * NS_PER_MS), width)


def _seen(visitor: Visitor, names: list[str]) -> tuple[str, ...]:
    """Those that may be watched; the others are as if they were not there."""
    may = visitor.may_watch_each(names)
    return tuple(name for name, is_seen in zip(names, may, strict=True) if is_seen)


def _points(desk: HistoryDesk, names: tuple[str, ...], question: HistoryQuestion) -> bytes:
    """Parameters that nobody has declared are left out: a dashboard may name more."""
    known = desk.history.definitions(names)
    there = tuple(name for name in names if name in known)
    rows: list[GrafanaPoint] = []
    if there:
        wanted = HistoryQuestion(there, question.from_ns, question.to_ns, question.width)
        for one in desk.history.answer(wanted, known).series:
            rows.extend(_rows(series_json(one)))
    return json.dumps(rows, separators=(",", ":"), allow_nan=False).encode()


def _rows(told: dict[str, Any]) -> Iterator[GrafanaPoint]:
    is_words = any(isinstance(one, str) for one in told["last"])
    single = [None] * len(told["t"]) if is_words else told["last"]
    lows, highs = told["min"] or single, told["max"] or single
    for at_ms, value, low, high in zip(told["t"], told["last"], lows, highs, strict=True):
        yield {"time": at_ms, "name": told["name"], "value": value, "min": low, "max": high}


def _values(broker: Broker, visitor: Visitor, filter_: str, most: int) -> list[GrafanaValue]:
    rows = _listed(broker, visitor, filter_, most) if most else []
    told = newest_rows(broker.engine.ask_table, [row["name"] for row in rows])
    types = {row["index"]: row["type"] for row in rows}
    samples = {  # by index: a name that was declared anew meanwhile is another parameter
        row["index"]: sample_of(row, types[row["index"]])
        for row in told.values()
        if row["index"] in types
    }
    return [_value(row, samples.get(row["index"])) for row in rows]


def _listed(broker: Broker, visitor: Visitor, filter_: str, most: int) -> list[dict[str, Any]]:
    """The first parameters that a visitor may watch: those of others may come before them."""
    found: list[dict[str, Any]] = []
    start: int | None = 0
    for _ in range(LOOKED_AT_MAX // VALUES_SHOWN):
        page = _ask(broker, "list", {"filter": filter_, "from": start, "count": VALUES_SHOWN})
        may = visitor.may_watch_each([row["name"] for row in page["parameters"]])
        seen = zip(page["parameters"], may, strict=True)
        found += [row for row, is_seen in seen if is_seen]
        start = page["next"]
        if start is None or len(found) >= most:
            break
    return found[:most]


def _value(row: dict[str, Any], sample: Any) -> GrafanaValue:
    return {
        "name": row["name"],
        "value": sample["value"] if sample else None,
        "unit": row.get("unit"),
        "time": sample["time_ms"] if sample else None,
        "quality": sample["quality"] if sample else None,
        "description": row.get("description"),
    }


def _ask(broker: Broker, name: str, body: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(broker.engine.ask_table(name, json.dumps(body).encode()))
    return answer
