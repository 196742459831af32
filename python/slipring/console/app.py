"""The routes: the page, a picture of the broker, the same live, parameters, metrics, and health."""

from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket

from slipring.console.door import Door
from slipring.console.door_metrics import console_families
from slipring.console.gate import Gate
from slipring.console.metrics import METRICS_TYPE, metrics_text
from slipring.console.operating import operator_routes
from slipring.console.page import converse, nothing_to_say, send
from slipring.console.parameters import parameter_routes
from slipring.console.picture import Seen
from slipring.console.pictures import Pictures
from slipring.console.silence import silent
from slipring.control import Broker
from slipring.control.address import Address


def make_app(broker: Broker, listen: Address, static: Path, door: Door) -> Starlette:
    """Everything the console answers to."""
    pictures = Pictures(broker)

    async def overview(_: Request) -> Response:
        silence = await silent(broker)
        return silence or Response(pictures.after(Seen())[0], media_type="application/json")

    async def live(socket: WebSocket) -> None:
        await socket.accept()
        await converse(socket, _send_pictures(socket, broker, pictures), nothing_to_say)

    async def metrics(_: Request) -> Response:
        if silence := await silent(broker):
            return silence
        text = metrics_text(broker, console_families(door))
        return Response(text, media_type=METRICS_TYPE)

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
        Mount("/", StaticFiles(directory=static, html=True)),
    ]
    return Starlette(routes=routes, middleware=[Middleware(Gate, listen=listen, door=door)])


async def _send_pictures(socket: WebSocket, broker: Broker, pictures: Pictures) -> None:
    """At every beat what is new; a reader that is slow gets fewer pictures, never old ones."""
    seen = Seen()
    while True:
        if not broker.pulse.is_busy:
            text, seen = pictures.after(seen)
            await send(socket, text)
        async with broker.beaten:
            await broker.beaten.wait()
