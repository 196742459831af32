"""What every request passes: whether it is ours, whether there is a place for it, and headers."""

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from slipring.console.door import Door
from slipring.console.guard import SECURITY_HEADERS, Verdict, judge
from slipring.control.address import Address

FOREIGN = (
    "this console answers only to its own page; "
    "open it by the address that `slipring serve` printed\n"
)
MALFORMED = "this request needs one Host header, HOST or HOST:PORT, and at most one Origin\n"
FULL = "so many pages are open at this console that there is no room for another one\n"


class Gate:
    """Turns away what is not ours or too much, and sends the security headers with everything."""

    def __init__(self, app: ASGIApp, listen: Address, door: Door) -> None:
        """Stand in front of `app`."""
        self.app = app
        self.listen = listen
        self.door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request of ours through."""
        refusal = self._refusal(scope)
        if refusal is not None:
            await _answer(refusal, scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                extra = [
                    (name.encode(), value.encode()) for name, value in SECURITY_HEADERS.items()
                ]
                message["headers"] = [*message.get("headers", []), *extra]
            await send(message)

        with self.door.answering(scope.get("client")):
            await self.app(scope, receive, send_guarded)

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        verdict = judge(scope.get("headers", []), self.listen)
        if verdict is Verdict.MALFORMED:
            return PlainTextResponse(MALFORMED, 400)
        if verdict is Verdict.FOREIGN:
            return PlainTextResponse(FOREIGN, 403)
        if scope["type"] == "websocket" and not self.door.open_page(scope.get("client")):
            return PlainTextResponse(FULL, 503)
        return None


async def _answer(refusal: PlainTextResponse, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await WebSocket(scope, receive, send).send_denial_response(refusal)
    else:
        await refusal(scope, receive, send)
