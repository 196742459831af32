"""Tokens for scripts: given to who proves a name by a password, or has logged in with a page."""

import json

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from slipring.console.authenticator import Authenticator, Refusal
from slipring.console.json_body import json_body
from slipring.console.login_routes import LOGIN_BYTES_MAX, name_and_password, proof_of
from slipring.console.logins import Person
from slipring.console.operation import operation
from slipring.control.token_issuing import RESERVED, ClaimValue
from slipring.errors import TokenError
from slipring.status.answers import TokenAnswer
from slipring.status.asked import TokenBody

NOT_UNDERSTOOD = (
    'send JSON: {"user": "...", "password": "...", "lifetime_s": 3600}; a page that has logged in '
    "sends no user and password\n"
)
NO_PROOF = "a token needs a name and a password, or a login with the page\n"


def token_route(authenticator: Authenticator) -> Route:
    """Give a token."""

    @operation("Make a token for a script.", TokenAnswer, body=TokenBody, refusals=(409,))
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
        person, most_s = found
        return _issued(authenticator, request, person, min(most_s, wanted[0] or most_s))

    return Route("/api/token", token, methods=["POST"])


async def _who(
    authenticator: Authenticator, request: Request, body: bytes
) -> tuple[Person, float] | Refusal:
    """Who a token is for, by a name and a password, or else by the login of this browser; and how
    long it may last: beyond a login by a provider, the provider has to be asked again.
    """
    most_s = float(authenticator.broker.config.token.lifetime_s)
    if (pair := name_and_password(body)) is not None:
        found = await authenticator.check(*pair, authenticator.address_of(request.scope))
        return found if isinstance(found, Refusal) else (found, most_s)
    if (login := proof_of(request).login) is None:
        return Refusal(NO_PROOF, 401)
    is_own = login.mark is not None
    return login.person, most_s if is_own else min(most_s, authenticator.logins.left_s(login))


def _issued(
    authenticator: Authenticator, request: Request, person: Person, lasts_s: float
) -> Response:
    broker, lasts_s = authenticator.broker, max(1, int(lasts_s))
    try:
        made = broker.issue_token(person.user, person.roles, _claims(person), lasts_s)
    except TokenError as error:
        return PlainTextResponse(f"{error}\n", 409)
    detail = f"{made.id}, for {lasts_s} s"
    address = authenticator.address_of(request.scope)
    broker.audit("token_issued", user=person.user, address=address, detail=detail)
    return JSONResponse({"token": made.text, "user": person.user, "expires_s": lasts_s})


def _claims(person: Person) -> dict[str, ClaimValue]:
    """The claims of a login: without them, a rule that denies something by one would not hold."""
    values: dict[str, list[str]] = {}
    for name, value in person.claims:
        if name not in RESERVED:
            values.setdefault(name, []).append(value)
    return {name: some[0] if len(some) == 1 else some for name, some in values.items()}


def _wanted(body: bytes) -> tuple[float | None] | None:
    """The lifetime that is asked for, if any; None if it is not understood."""
    try:
        asked = json.loads(body)
        lifetime_s = asked.get("lifetime_s")
    except (ValueError, AttributeError, RecursionError):
        return None
    is_number = type(lifetime_s) in (int, float) and lifetime_s >= 1
    return (lifetime_s,) if lifetime_s is None or is_number else None
