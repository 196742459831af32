"""The log as an operator sees it: the level of each room, which can be set, and the log servers."""

import json

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from slipring.console.operating import asker, operator_body
from slipring.console.operation import operation
from slipring.control import Broker
from slipring.control.broker_log import BrokerLog
from slipring.errors import ConfigError
from slipring.logs.server import LogServerFigures
from slipring.status.asked import LogLevelBody
from slipring.status.message import LogServerStatus, LogStatus

NOT_UNDERSTOOD = 'send JSON: {"room": "requests", "level": "debug"}\n'


def log_routes(broker: Broker) -> list[BaseRoute]:
    """Show the levels and servers, set a level."""

    @operation("The levels of the log, and the log servers.", LogStatus)
    async def shown(_: Request) -> Response:
        return JSONResponse(log_status(broker.log))

    @operation("Set the level of a room of the log.", LogStatus, body=LogLevelBody)
    async def changed(request: Request) -> Response:
        body = await operator_body(request, NOT_UNDERSTOOD)
        if isinstance(body, tuple):
            return PlainTextResponse(*body)
        try:
            asked = json.loads(body)
            room, level = str(asked["room"]), str(asked["level"])
        except (ValueError, TypeError, KeyError, RecursionError):
            return PlainTextResponse(NOT_UNDERSTOOD, 400)
        try:
            broker.log.set_level(room, level)
            detail = f"the level of {room} is {level} now"
            broker.audit("changed", **asker(request), topic="log", detail=detail)
        except ConfigError as error:
            return PlainTextResponse(f"{error}\n", 400)
        return JSONResponse(log_status(broker.log))

    return [
        Route("/api/log", shown),
        Route("/api/log", changed, methods=["POST"]),
    ]


def log_status(broker_log: BrokerLog) -> LogStatus:
    """The levels and the servers."""
    return {
        "rooms": [{"room": room, "level": level} for room, level in broker_log.levels.items()],
        "servers": [_server(one) for one in broker_log.servers],
    }


def _server(figures: LogServerFigures) -> LogServerStatus:
    return {
        "server": figures.name,
        "sent": figures.sent,
        "lost": figures.lost,
        "waiting": figures.waiting,
        "is_failing": figures.failure is not None,
        "failure": figures.failure,
    }
