"""The routes: page, login, live message once and over WebSocket, parameters, requests, metrics,
health.
"""

from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket

from slipring.console.access import access_routes
from slipring.console.alarms import alarm_routes
from slipring.console.audit import audit_routes
from slipring.console.authenticator import Authenticator
from slipring.console.broker_state import state_routes
from slipring.console.grafana import grafana_routes
from slipring.console.history_desk import HistoryDesk
from slipring.console.history_routes import history_routes
from slipring.console.layouts import layout_routes
from slipring.console.listener import ConsoleListener
from slipring.console.live_message import LivePosition
from slipring.console.log_levels import log_routes
from slipring.console.login_routes import login_routes, proof_of
from slipring.console.metrics import METRICS_TYPE, metrics_text
from slipring.console.middleware import AccessMiddleware
from slipring.console.oidc_routes import oidc_routes
from slipring.console.openapi import openapi_route
from slipring.console.operating import operator_routes
from slipring.console.operation import TEXT, operation, socket_operation
from slipring.console.page import PageEnded, converse, send
from slipring.console.parameters import parameter_routes
from slipring.console.quick_look import quick_look_route
from slipring.console.requests import request_routes
from slipring.console.samples_feed import SamplesFeed
from slipring.console.samples_socket import samples_routes
from slipring.console.shared_messages import SharedMessages
from slipring.console.shown_parts import ShownParts
from slipring.console.silence import silent
from slipring.console.token_route import token_route
from slipring.console.unmatched import UnmatchedPath
from slipring.control import Broker
from slipring.control.address import Address
from slipring.history import History
from slipring.status.asked import PartsAsked
from slipring.status.message import LiveMessage


def make_app(
    broker: Broker, history: History, listen: Address, static: Path, listener: ConsoleListener
) -> Starlette:
    """Make the application with all routes."""
    messages = SharedMessages(broker)
    authenticator = Authenticator(broker, listen)
    desk = HistoryDesk(history)

    @operation("The broker as the page shows it.", LiveMessage)
    async def overview(request: Request) -> Response:
        if silence := await silent(broker):
            return silence
        text, _ = messages.after(LivePosition(), proof_of(request).visitor)
        return Response(text, media_type="application/json")

    @socket_operation("The broker, with what is new after each look.", LiveMessage, PartsAsked)
    async def live(socket: WebSocket) -> None:
        await socket.accept()
        shown = ShownParts(socket.query_params.get("parts"))
        sending = _send_messages(socket, broker, messages, authenticator, shown)
        await converse(socket, sending, shown.take)

    @operation("Metrics for Prometheus.", TEXT)
    async def metrics(request: Request) -> Response:
        if silence := await silent(broker):
            return silence
        text = metrics_text(broker, listener, authenticator, proof_of(request).visitor)
        return Response(text, media_type=METRICS_TYPE)

    routes = [
        *_probe_routes(broker),
        Route("/api/overview", overview),
        Route("/metrics", metrics),
        WebSocketRoute("/api/live", live),
        openapi_route(),
        *login_routes(authenticator),
        *oidc_routes(authenticator),
        token_route(authenticator),
        *parameter_routes(broker, authenticator),
        *history_routes(broker, desk),
        *grafana_routes(broker, desk),
        *samples_routes(broker, authenticator, SamplesFeed(history)),
        quick_look_route(broker),
        *state_routes(broker),
        *operator_routes(broker),
        *layout_routes(broker),
        *request_routes(broker),
        *alarm_routes(broker),
        *log_routes(broker),
        *access_routes(broker),
        *audit_routes(broker),
    ]
    behind = [
        Mount("/api", UnmatchedPath(routes)),
        Mount("/", StaticFiles(directory=static, html=True)),
    ]
    access = Middleware(
        AccessMiddleware, listen=listen, listener=listener, authenticator=authenticator
    )
    return Starlette(routes=[*routes, *behind], middleware=[access])


def _probe_routes(broker: Broker) -> list[BaseRoute]:
    @operation("Whether the process lives.", TEXT)
    async def live_probe(_: Request) -> Response:
        return PlainTextResponse("live\n")

    @operation("Whether the broker serves clients; 503 says why not.", TEXT)
    async def ready_probe(_: Request) -> Response:
        trouble = broker.trouble
        if trouble and broker.engine.is_access_enforced:  # who asks has proved nothing
            return PlainTextResponse("not ready\n", 503)
        return PlainTextResponse(f"{trouble or 'ready'}\n", 503 if trouble else 200)

    return [Route("/live", live_probe), Route("/ready", ready_probe)]


async def _send_messages(
    socket: WebSocket,
    broker: Broker,
    messages: SharedMessages,
    authenticator: Authenticator,
    shown: ShownParts,
) -> None:
    """Send what is new after every poll; a slow reader gets fewer messages, never old ones."""
    seen, proof = LivePosition(), proof_of(socket)
    while True:
        if end := authenticator.page_end(proof):
            raise PageEnded(*end)
        if not broker.pulse.is_busy:
            text, seen = messages.after(seen, proof.visitor, shown.parts)
            await send(socket, text)
        async with broker.polled:
            await broker.polled.wait()
