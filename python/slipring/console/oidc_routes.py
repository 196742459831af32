"""The two routes of a login by an identity provider: to it, and back from it."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from secrets import compare_digest
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from slipring.console.attempts import network_of
from slipring.console.authenticator import Authenticator
from slipring.console.cookies import LoginCookie
from slipring.console.oidc import FLOW_S, OidcClient, OidcError
from slipring.console.operation import REDIRECT, operation
from slipring.status.asked import CallbackQuery

ASKS_MAX = 4
"""Questions to the provider at once."""
WAITING_MAX = 64
"""Those that wait meanwhile; further logins fail."""
FIELD_MAX = 4_096
"""Characters of a code or a state."""
NONE = "this console has no identity provider\n"


def oidc_routes(authenticator: Authenticator) -> list[BaseRoute]:
    """Go to the provider, and come back."""
    section = authenticator.broker.config.console.oidc
    client = OidcClient(section)
    # The browser comes back from another site, and must bring it then: Strict would keep it away.
    state_cookie = LoginCookie(
        authenticator.broker.id, is_secure=authenticator.is_secure, suffix="-oidc"
    )

    threads = ThreadPoolExecutor(ASKS_MAX, "slipring-oidc")
    waiting = asyncio.Semaphore(ASKS_MAX + WAITING_MAX)

    async def asked(ask: Callable[..., Any], *given: str) -> Any:
        """Ask the provider on a thread that nobody else waits for."""
        if waiting.locked():
            raise OidcError("too many logins wait for the provider")
        async with waiting:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(threads, ask, *given)

    @operation("Go to the identity provider.", REDIRECT, refusals=(404,))
    async def log_in(request: Request) -> Response:
        if not section.is_on or not authenticator.is_needed:
            return PlainTextResponse(NONE, 404)
        address = authenticator.address_of(request.scope)
        try:
            where, state = await asked(
                client.begin, _redirect(authenticator, request), network_of(address)
            )
        except OidcError as error:
            return _failed(authenticator, request, str(error))
        cookie = state_cookie.set(state, same_site="Lax", most_s=int(FLOW_S))
        return RedirectResponse(where, 303, {"set-cookie": cookie})

    @operation("Come back from it.", REDIRECT, query=CallbackQuery, refusals=(404,))
    async def come_back(request: Request) -> Response:
        if not section.is_on or not authenticator.is_needed:
            return PlainTextResponse(NONE, 404)
        told = request.query_params
        state, code, error = (told.get(key, "")[:FIELD_MAX] for key in ("state", "code", "error"))
        own = state_cookie.read(request.scope["headers"]) or ""
        if not state or not compare_digest(state.encode(), own.encode()):
            return _failed(authenticator, request, "this login was not begun by this browser")
        if told.get("iss", section.issuer) != section.issuer:  # RFC 9207: a mix-up of providers
            return _failed(authenticator, request, "the answer is of another provider")
        if not code:
            return _failed(authenticator, request, f"the provider says {error or 'nothing'}")
        try:
            person = await asked(client.finish, state, code)
        except OidcError as failure:
            return _failed(authenticator, request, str(failure))
        authenticator.outcomes["accepted"] += 1
        cookie = authenticator.open_login(person, request.scope, "oidc", lasts_s=section.login_s)
        answer = RedirectResponse("/", 303, {"set-cookie": cookie})
        answer.headers.append("set-cookie", state_cookie.cleared())
        return answer

    return [Route("/api/oidc/login", log_in), Route("/api/oidc/callback", come_back)]


def _redirect(authenticator: Authenticator, request: Request) -> str:
    """Where the provider sends the browser back to; it must know the address."""
    scheme = "https" if authenticator.is_secure else "http"
    own = f"{scheme}://{request.headers.get('host', '')}"
    base = authenticator.broker.config.console.oidc.address.rstrip("/") or own
    return f"{base}/api/oidc/callback"


def _failed(authenticator: Authenticator, request: Request, why: str) -> Response:
    """Back to the form, which says so; the log has the reason."""
    authenticator.outcomes["wrong"] += 1
    address = authenticator.address_of(request.scope)
    authenticator.broker.audit("login", address=address, outcome="refused", detail=f"oidc: {why}")
    return RedirectResponse("/#login-failed", 303)
