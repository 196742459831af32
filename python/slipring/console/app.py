"""The routes: the page, a picture of the broker, the same live, parameters, metrics, and health."""

import json
from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from slipring.console.guard import SECURITY_HEADERS, is_ours
from slipring.console.metrics import METRICS_TYPE, metrics_text
from slipring.console.parameters import parameter_routes
from slipring.console.picture import Seen, picture
from slipring.control import Broker
from slipring.control.address import Address

FOREIGN = (
    "this console answers only to its own page; "
    "open it by the address that `slipring serve` printed\n"
)


def make_app(broker: Broker, listen: Address, static: Path) -> Starlette:
    """Everything the console answers to."""

    async def overview(_: Request) -> Response:
        return JSONResponse(picture(broker, Seen()))

    async def live(socket: WebSocket) -> None:
        await socket.accept()
        try:
            await _send_pictures(socket, broker)
        except WebSocketDisconnect:
            return

    async def metrics(_: Request) -> Response:
        return Response(metrics_text(broker), media_type=METRICS_TYPE)

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
        Mount("/", StaticFiles(directory=static, html=True)),
    ]
    return Starlette(routes=routes, middleware=[Middleware(Guard, listen=listen)])


async def _send_pictures(socket: WebSocket, broker: Broker) -> None:
    """At every beat what is new; a reader that is slow gets fewer pictures, never old ones."""
    seen = Seen()
    while True:
        await socket.send_text(json.dumps(picture(broker, seen), separators=(",", ":")))
        async with broker.beaten:
            await broker.beaten.wait()


class Guard:
    """Turns away what is not ours, and sends the security headers with everything."""

    def __init__(self, app: ASGIApp, listen: Address) -> None:
        """Stand in front of `app`."""
        self.app = app
        self.listen = listen

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request of ours through."""
        headers = {
            name.decode("latin-1"): value.decode("latin-1")
            for name, value in scope.get("headers", [])
        }
        if not is_ours(headers, self.listen):
            await self._refuse(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                extra = [
                    (name.encode(), value.encode()) for name, value in SECURITY_HEADERS.items()
                ]
                message["headers"] = [*message.get("headers", []), *extra]
            await send(message)

        await self.app(scope, receive, send_guarded)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await WebSocket(scope, receive, send).close(code=1008, reason="not our page")
        else:
            await PlainTextResponse(FOREIGN, 403)(scope, receive, send)
