"""What a person asks about requests, services, and the subscribers of a topic. Changes nothing."""

import asyncio
import time
from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from slipring.console.operation import operation
from slipring.console.silence import silent
from slipring.control import Broker
from slipring.errors import InvalidTopic
from slipring.native import check_filter, check_topic
from slipring.status.answers import ServicesAnswer
from slipring.status.asked import RequestsQuery, ServicesQuery, SubscribersQuery
from slipring.status.description import part
from slipring.status.requests import (
    REQUEST_STATES,
    OneRequestMessage,
    RequestFigures,
    RequestsMessage,
    RequestsStatus,
    RequestTotals,
    TopicStatus,
)

REQUESTS_SHOWN = 1_000
"""Requests of one answer, at most."""
SERVICES_SHOWN = 50
TOPICS_SHOWN = 20
WAITING_SHOWN = 20
SUBSCRIBERS_SHOWN = 1_000
"""Subscriptions, or services, of one answer that is about them alone."""
DIGITS_MAX = 9
"""Digits of a number in a query: Python refuses to convert thousands of them."""


def request_routes(broker: Broker) -> list[BaseRoute]:
    """Requests, one request, services, the subscribers of a topic."""
    engine = broker.engine

    @operation(
        "Requests, services, topics with requests, and what waits.",
        RequestsMessage,
        query=RequestsQuery,
    )
    async def listed(request: Request) -> Response:
        wanted = request.query_params
        if wrong := _wrong(wanted):
            return PlainTextResponse(f"{wrong}\n", 400)
        if silence := await silent(broker):
            return silence
        return JSONResponse(await asyncio.to_thread(requests_message, broker, wanted))

    @operation("One request.", OneRequestMessage, refusals=(404,))
    async def one(request: Request) -> Response:
        if silence := await silent(broker):
            return silence
        found = engine.requests(1, key=request.path_params["key"])
        if not found:
            lost = "no open request has this key, and none of the last 1,000 that ended\n"
            return PlainTextResponse(lost, 404)
        return JSONResponse({"at_ms": time.time_ns() / 1e6, "request": found[0]})

    @operation("Services of requests, the busiest first.", ServicesAnswer, query=ServicesQuery)
    async def services(request: Request) -> Response:
        if silence := await silent(broker):
            return silence
        most = _most(request.query_params, SUBSCRIBERS_SHOWN)
        found = await asyncio.to_thread(engine.services, most)
        total = engine.status()["requests"]["services"]
        return JSONResponse({"services": found, "total": total})

    @operation("A topic, and who is subscribed to it.", TopicStatus, query=SubscribersQuery)
    async def subscribers(request: Request) -> Response:
        topic = request.query_params.get("topic", "")
        try:
            check_topic(topic)
        except InvalidTopic as error:
            return PlainTextResponse(f"{error}\n", 400)
        if silence := await silent(broker):
            return silence
        most = _most(request.query_params, SUBSCRIBERS_SHOWN)
        return JSONResponse(await asyncio.to_thread(engine.topic, topic, most))

    return [
        Route("/api/requests", listed),
        Route("/api/requests/{key}", one),
        Route("/api/services", services),
        Route("/api/subscribers", subscribers),
    ]


def requests_message(broker: Broker, wanted: Mapping[str, str]) -> RequestsMessage:
    """Everything about requests, with those that were asked for."""
    engine = broker.engine
    found = engine.requests(
        _most(wanted, REQUESTS_SHOWN),
        state=wanted.get("state") or None,
        topic=wanted.get("topic") or None,
        client=wanted.get("client"),
    )
    return {
        "at_ms": time.time_ns() / 1e6,
        "figures": request_figures(engine.status()["requests"]),
        "requests": found,
        "services": engine.services(SERVICES_SHOWN),
        "topics": engine.request_topics(TOPICS_SHOWN),
        "waiting": engine.waiting(WAITING_SHOWN),
    }


def request_figures(status: RequestsStatus) -> RequestFigures:
    """Make rows of the counts, in the order of a request's life."""
    return {
        **part(RequestTotals, status),
        "states": [
            {"state": state, "count": status["states"][state]}
            for state in REQUEST_STATES
            if state in status["states"]
        ],
        "ends": [
            {"state": state, "count": status["ends"][state]}
            for state in REQUEST_STATES
            if state in status["ends"]
        ],
    }


def answer_times(status: RequestsStatus) -> dict[str, float]:
    """Quantiles in seconds; empty before the first answer."""
    times_ms = {"0.5": status["p50_ms"], "0.99": status["p99_ms"]}
    return {quantile: ms / 1_000 for quantile, ms in times_ms.items() if ms is not None}


def _wrong(wanted: Mapping[str, str]) -> str | None:
    """What is wrong with a question; None if nothing is."""
    try:
        if topic := wanted.get("topic", ""):
            check_filter(topic)
    except InvalidTopic as error:
        return str(error)
    return None


def _most(wanted: Mapping[str, str], most: int) -> int:
    text = wanted.get("most", "")
    is_number = text.isascii() and text.isdigit() and len(text) <= DIGITS_MAX
    return min(int(text), most) if is_number else most
