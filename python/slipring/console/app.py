"""The routes: page, live message once and over WebSocket, parameters, requests, metrics, health."""

from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket

from slipring.console.access import access_routes
from slipring.console.audit import audit_routes
from slipring.console.listener import ConsoleListener
from slipring.console.live_message import LivePosition
from slipring.console.log_levels import log_routes
from slipring.console.metrics import METRICS_TYPE, metrics_text
from slipring.console.middleware import AccessMiddleware
from slipring.console.operating import operator_routes
from slipring.console.page import converse, ignore_message, send
from slipring.console.parameters import parameter_routes
from slipring.console.requests import request_routes
from slipring.console.shared_messages import SharedMessages
from slipring.console.silence import silent
from slipring.control import Broker
from slipring.control.address import Address


def make_app(broker: Broker, listen: Address, static: Path, listener: ConsoleListener) -> Starlette:
    """Make the application with all routes."""
    messages = SharedMessages(broker)

    async def overview(_: Request) -> Response:
        silence = await silent(broker)
        return silence or Response(messages.after(LivePosition())[0], media_type="application/json")

    async def live(socket: WebSocket) -> None:
        await socket.accept()
        await converse(socket, _send_messages(socket, broker, messages), ignore_message)

    async def metrics(_: Request) -> Response:
        if silence := await silent(broker):
            return silence
        return Response(metrics_text(broker, listener), media_type=METRICS_TYPE)

    async def live_probe(_: Request) -> Response:
        return PlainTextResponse("live\n")

    async def ready_probe(_: Request) -> Response:
        trouble = broker.trouble
        return PlainTextResponse(f"{trouble or 'ready'}\n", 503 if trouble else 200)

    routes = [
        Route("/live", live_probe),
        Route("/ready", ready_probe),
        Route("/api/overview", overview),
        Route("/metrics", metrics),
        WebSocketRoute("/api/live", live),
        *parameter_routes(broker),
        *operator_routes(broker),
        *request_routes(broker),
        *log_routes(broker),
        *access_routes(broker),
        *audit_routes(broker),
        Mount("/", StaticFiles(directory=static, html=True)),
    ]
    return Starlette(
        routes=routes, middleware=[Middleware(AccessMiddleware, listen=listen, listener=listener)]
    )


async def _send_messages(socket: WebSocket, broker: Broker, messages: SharedMessages) -> None:
    """Send what is new after every poll; a slow reader gets fewer messages, never old ones."""
    seen = LivePosition()
    while True:
        if not broker.pulse.is_busy:
            text, seen = messages.after(seen)
            await send(socket, text)
        async with broker.polled:
            await broker.polled.wait()
