"""Health, clients, topics and storage, for programs. Changes nothing."""

import asyncio
import time
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from slipring import __version__
from slipring.console.journal import journal_summary
from slipring.console.live_message import limit_reached
from slipring.console.login_routes import proof_of
from slipring.console.operation import operation
from slipring.console.query import query_of
from slipring.console.silence import silent
from slipring.console.topic_index import TOPICS_SHOWN, TopicIndex
from slipring.control import Broker
from slipring.control.health import Trouble, trouble
from slipring.errors import InvalidTopic, SlipringError
from slipring.lake.storage import LakeLocation
from slipring.native import check_filter
from slipring.status.asked import ClientsQuery, TopicsQuery
from slipring.status.broker_state import (
    ClientsMessage,
    HealthMessage,
    HealthTrouble,
    LakeFigures,
    StorageMessage,
    TopicsMessage,
)

CLIENTS_SHOWN = 500
LAKE_S = 5.0
"""How long figures of the lake are kept: each look reads the logs of its tables."""


def state_routes(broker: Broker) -> list[BaseRoute]:
    """Health, clients, topics, storage."""
    engine, index, lake = broker.engine, TopicIndex(broker.engine.values), LakeLook(broker)
    looking = asyncio.Lock()
    """Topics are looked through one at a time: who asks takes one thread from others, not all."""

    @operation("Whether the broker is well: readiness with reasons, ages, drops.", HealthMessage)
    async def health(_: Request) -> Response:
        if silence := await silent(broker):
            return silence
        return JSONResponse(await asyncio.to_thread(health_message, broker))

    @operation("Connected clients, and how they keep up.", ClientsMessage, query=ClientsQuery)
    async def clients(request: Request) -> Response:
        most = query_of(request.query_params, ClientsQuery).get("most", CLIENTS_SHOWN)
        if silence := await silent(broker):
            return silence
        found = await asyncio.to_thread(engine.clients, min(most, CLIENTS_SHOWN))
        total = engine.status()["clients_total"]
        return JSONResponse({"at_ms": _now_ms(), "clients": found, "total": total})

    @operation(
        "Topics that are no parameters, with their newest message.",
        TopicsMessage,
        query=TopicsQuery,
    )
    async def topics(request: Request) -> Response:
        asked = query_of(request.query_params, TopicsQuery)
        wanted, most = asked.get("filter", "#"), min(asked.get("most", 100), TOPICS_SHOWN)
        try:
            check_filter(wanted)
        except InvalidTopic as error:
            return PlainTextResponse(f"{error}\n", 400)
        if silence := await silent(broker):
            return silence
        seen = proof_of(request).visitor.may_watch_each
        async with looking:
            page = await asyncio.to_thread(index.page, wanted, asked.get("after"), most, seen)
        return JSONResponse(page)

    @operation("The journal with its consumers and archive, and the lake.", StorageMessage)
    async def storage(_: Request) -> Response:
        if silence := await silent(broker):
            return silence
        journal = journal_summary(broker, engine.status())
        return JSONResponse({"at_ms": _now_ms(), "journal": journal, "lake": await lake.figures()})

    return [
        Route("/api/health", health),
        Route("/api/clients", clients),
        Route("/api/topics", topics),
        Route("/api/storage", storage),
    ]


def health_message(broker: Broker) -> HealthMessage:
    """The broker's health, in numbers and reasons."""
    status, overview = broker.engine.status(), broker.overview
    found = [one for one in (broker.pulse.trouble, trouble(status["journal"])) if one]
    return {
        "at_ms": _now_ms(),
        "version": __version__,
        "uptime_s": status["uptime_s"],
        "is_live": broker.pulse.trouble is None,
        "is_ready": not found,
        "troubles": [_trouble(one) for one in found],
        **broker.sample_ages(),
        "clients": status["clients_total"],
        "parameters": status["table"]["parameters"],
        "stale": status["table"]["stale"],
        "samples_s": overview.table_rates["samples_s"],
        "messages_s": overview.rates["messages_in"],
        "dropped": status["totals"]["dropped"],
        "dropped_s": overview.rates["dropped"],
        "refused": status["table"]["refused"],
        "limits": [limit_reached(broker, status, one) for one in overview.limits_reached()],
    }


def _trouble(one: Trouble) -> HealthTrouble:
    return {"state": one.state, "reason": one.reason, "advice": one.advice}


class LakeLook:
    """Figures of the lake, read on a thread by the first who asks; others share them."""

    def __init__(self, broker: Broker, now_s: Callable[[], float] = time.monotonic) -> None:
        self._where = LakeLocation.of(broker.config.console.lake or broker.config.data / "lake")
        self._now_s = now_s
        self._reading = asyncio.Lock()
        self._read_s = -LAKE_S
        self._told: LakeFigures | None = None

    async def figures(self) -> LakeFigures | None:
        """The lake's tables; None if there is no lake."""
        async with self._reading:
            if self._now_s() - self._read_s >= LAKE_S:
                self._told = await asyncio.to_thread(lake_figures, self._where)
                self._read_s = self._now_s()
            return self._told


def lake_figures(where: LakeLocation) -> LakeFigures | None:
    """Read the logs of the tables; None if there is no lake."""
    told: LakeFigures = {"uri": where.uri, "tables": [], "trouble": None}
    try:
        from slipring.lake.catalogue import table_names
        from slipring.lake.lake import Lake  # loads deltalake, which may not be installed

        table_names(where)
        for one in Lake(where).tables():
            told["tables"].append(
                {
                    "name": one.name,
                    "rows": one.rows,
                    "bytes": one.bytes,
                    "files": one.files,
                    "version": one.version,
                    "newest_ms": one.newest.timestamp() * 1e3 if one.newest else None,
                }
            )
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (SlipringError, OSError, ImportError) as error:
        told["trouble"] = str(error)
    return told


def _now_ms() -> float:
    return time.time_ns() / 1e6
