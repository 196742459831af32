"""Tokens for scripts: given to who proves a name by a password, or has logged in with a page."""

import json

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from slipring.console.authenticator import Authenticator, Refusal
from slipring.console.json_body import json_body
from slipring.console.login_routes import LOGIN_BYTES_MAX, name_and_password, proof_of
from slipring.console.logins import Person
from slipring.control.acts import audit
from slipring.errors import TokenError

NOT_UNDERSTOOD = (
    'send JSON: {"user": "...", "password": "...", "lifetime_s": 3600}; a page that has logged in '
    "sends no user and password\n"
)
NO_PROOF = "a token needs a name and a password, or a login with the page\n"


def token_route(authenticator: Authenticator) -> Route:
    """Give a token."""

    async def token(request: Request) -> Response:
        body = await json_body(request, NOT_UNDERSTOOD, LOGIN_BYTES_MAX)
        if isinstance(body, tuple):
            return PlainTextResponse(*body)
        wanted = _wanted(body)
        if wanted is None:
            return PlainTextResponse(NOT_UNDERSTOOD, 400)
        found = await _who(authenticator, request, body)
        if isinstance(found, Refusal):
            return PlainTextResponse(found.text, found.status, found.headers)
        return _issued(authenticator, request, found, wanted[0])

    return Route("/api/token", token, methods=["POST"])


async def _who(authenticator: Authenticator, request: Request, body: bytes) -> Person | Refusal:
    """Who a token is for: a name and a password, or else the login of this browser."""
    if (pair := name_and_password(body)) is not None:
        return await authenticator.check(*pair, authenticator.address_of(request.scope))
    login = proof_of(request).login
    return login.person if login is not None else Refusal(NO_PROOF, 401)


def _issued(
    authenticator: Authenticator, request: Request, person: Person, lifetime_s: float | None
) -> Response:
    broker = authenticator.broker
    lasts_s = broker.config.token.lifetime_s if lifetime_s is None else lifetime_s
    most_s = min(lasts_s, broker.config.token.lifetime_s)
    try:
        made = broker.issue_token(person.user, person.roles, lifetime_s=int(most_s))
    except TokenError as error:
        return PlainTextResponse(f"{error}\n", 409)
    detail = f"{made.id}, for {int(most_s)} s"
    audit("token_issued", person.user, detail, authenticator.address_of(request.scope))
    return JSONResponse({"token": made.text, "user": person.user, "expires_s": int(most_s)})


def _wanted(body: bytes) -> tuple[float | None] | None:
    """The lifetime that is asked for, if any; None if it is not understood."""
    try:
        asked = json.loads(body)
        lifetime_s = asked.get("lifetime_s")
    except (ValueError, AttributeError, RecursionError):
        return None
    is_number = type(lifetime_s) in (int, float) and lifetime_s >= 1
    return (lifetime_s,) if lifetime_s is None or is_number else None
