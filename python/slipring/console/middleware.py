"""What every request passes: the check of Host and Origin, who it is from and what they may do,
the bound on pages, security headers.
"""

from secrets import compare_digest

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from slipring.console.auditing import SLOWED, RequestAudit
from slipring.console.authenticator import Authenticator, Proof, Refusal
from slipring.console.guard import SECRET_HEADERS, Verdict, headers_of, judge
from slipring.console.listener import ConsoleListener
from slipring.console.logins import ConsoleLogin
from slipring.console.needs import READS, need_of
from slipring.control.address import Address

FOREIGN = (
    "this console answers only to its own page; "
    "open it by the address that `slipring serve` printed\n"
)
MALFORMED = "this request needs one Host header, HOST or HOST:PORT, and at most one Origin\n"
FULL = "so many pages are open at this console that there is no room for another one\n"


UNPROVED = "log in first: with the page, HTTP basic authentication, or a bearer token\n"
UNALLOWED = "you have no right to this\n"
NO_CSRF = (
    "a request that changes something and is proved by a cookie needs the header x-slipring-csrf, "
    "as /api/me shows it\n"
)
LOGIN = "/api/login"
"""Sent by a page without a login; JSON and the check of Origin keep other pages from it."""
CSRF_HEADER = b"x-slipring-csrf"


class AccessMiddleware:
    """Refuses requests of other origins, requests without the right to what they ask for, and pages
    beyond the bound; adds the security headers.
    """

    def __init__(
        self,
        app: ASGIApp,
        listen: Address,
        listener: ConsoleListener,
        authenticator: Authenticator,
    ) -> None:
        """Wrap `app`."""
        self.app = app
        self.listen = listen
        self.listener = listener
        self.authenticator = authenticator
        self._audit = RequestAudit(authenticator)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                if message["status"] == SLOWED:
                    self._audit.slowed(scope)
                own = headers_of(scope["path"])
                extra = [(name.encode(), value.encode()) for name, value in own.items()]
                message["headers"] = [*message.get("headers", []), *extra]
            await send(message)

        with self.listener.answering(scope.get("client")):
            refusal = await self._refusal(scope)
            if refusal is not None:
                await _answer(refusal, scope, receive, send)
                return
            await self.app(scope, receive, send_guarded)

    async def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        authenticator = self.authenticator
        self._audit.begin(scope)
        verdict = judge(
            scope.get("headers", []),
            self.listen,
            is_secure=authenticator.is_secure,
            behind_proxy=authenticator.behind_proxy,
        )
        if verdict is Verdict.MALFORMED:
            self._audit.foreign(MALFORMED, scope)
            return PlainTextResponse(MALFORMED, 400)
        if verdict is Verdict.FOREIGN:
            self._audit.foreign(FOREIGN, scope)
            return PlainTextResponse(FOREIGN, 403)
        proof = await authenticator.prove(scope)
        if isinstance(proof, Refusal):
            self._audit.unproved(proof, scope)
            return self._refused(proof, scope)
        if refusal := self._unallowed(proof, scope):
            self._audit.denied(proof, refusal, scope)
            return self._refused(refusal, scope)
        self._audit.allowed(proof, scope)
        scope["proof"] = proof
        if scope["type"] == "websocket" and not self.listener.open_page(scope.get("client")):
            return PlainTextResponse(FULL, 503)
        return None

    def _unallowed(self, proof: Proof, scope: Scope) -> Refusal | None:
        """Why this visitor may not ask this; None if it may."""
        method = scope.get("method", "GET")
        is_change = method not in READS and scope["path"] != LOGIN
        if proof.login is not None and is_change and not _has_csrf(proof.login, scope):
            return Refusal(NO_CSRF, 403)
        if not proof.visitor.is_restricted or need_of(scope["path"], method)(proof.visitor):
            return None
        self.authenticator.outcomes["refused"] += 1
        if proof.visitor.name is None:
            return Refusal(UNPROVED, 401)
        return Refusal(UNALLOWED, 403)

    def _refused(self, refusal: Refusal, scope: Scope) -> PlainTextResponse:
        headers = refusal.headers
        if refusal.status == SLOWED:
            self._audit.slowed(scope)
        if refusal.status == 401:
            # Offered Basic, a browser asks for a password itself: that is for scrapers only.
            scheme = "Basic" if scope["path"] == "/metrics" else "Bearer"
            headers |= {"www-authenticate": f'{scheme} realm="slipring"'}
        return PlainTextResponse(refusal.text, refusal.status, headers | SECRET_HEADERS)


def _has_csrf(login: ConsoleLogin, scope: Scope) -> bool:
    sent = [value for name, value in scope["headers"] if name == CSRF_HEADER]
    return len(sent) == 1 and compare_digest(sent[0], login.csrf.encode())


async def _answer(refusal: PlainTextResponse, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await WebSocket(scope, receive, send).send_denial_response(refusal)
    else:
        await refusal(scope, receive, send)
