"""What every request passes: the check of Host and Origin, the bound on pages, security headers."""

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from slipring.console.guard import SECURITY_HEADERS, Verdict, judge
from slipring.console.listener import ConsoleListener
from slipring.control.address import Address

FOREIGN = (
    "this console answers only to its own page; "
    "open it by the address that `slipring serve` printed\n"
)
MALFORMED = "this request needs one Host header, HOST or HOST:PORT, and at most one Origin\n"
FULL = "so many pages are open at this console that there is no room for another one\n"


class AccessMiddleware:
    """Refuses requests of other origins and pages beyond the bound; adds the security headers."""

    def __init__(self, app: ASGIApp, listen: Address, listener: ConsoleListener) -> None:
        """Wrap `app`."""
        self.app = app
        self.listen = listen
        self.listener = listener

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
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

        with self.listener.answering(scope.get("client")):
            await self.app(scope, receive, send_guarded)

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        verdict = judge(scope.get("headers", []), self.listen)
        if verdict is Verdict.MALFORMED:
            return PlainTextResponse(MALFORMED, 400)
        if verdict is Verdict.FOREIGN:
            return PlainTextResponse(FOREIGN, 403)
        if scope["type"] == "websocket" and not self.listener.open_page(scope.get("client")):
            return PlainTextResponse(FULL, 503)
        return None


async def _answer(refusal: PlainTextResponse, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await WebSocket(scope, receive, send).send_denial_response(refusal)
    else:
        await refusal(scope, receive, send)
