"""Log in, log out, and who one is: the routes that need no login."""

import json

from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from slipring.console.authenticator import Authenticator, Proof, Refusal
from slipring.console.json_body import json_body
from slipring.console.operating import is_from_here
from slipring.console.operation import operation
from slipring.console.visitor import described
from slipring.status.answers import LoginAnswer, LogoutAnswer, LogoutEverywhereAnswer
from slipring.status.asked import LoginBody
from slipring.status.console import ConsoleVisitor

LOGIN_BYTES_MAX = 16_384
NOT_UNDERSTOOD = 'send JSON: {"user": "...", "password": "..."}\n'
NOBODY = "log in first: there is nobody to log out\n"
NO_USERS = "this broker has no users; the console needs no login\n"


def proof_of(request: HTTPConnection) -> Proof:
    """Who makes a request, as the middleware has found out."""
    proof: Proof = request.scope["proof"]
    return proof


def login_routes(authenticator: Authenticator) -> list[BaseRoute]:
    """Log in, log out, and who the page's visitor is."""

    @operation("Who asks, and what they may do.", ConsoleVisitor)
    async def me(request: Request) -> Response:
        return JSONResponse(told(authenticator, request, proof_of(request)))

    @operation(
        "Log in with a page: the answer sets a cookie.",
        LoginAnswer,
        body=LoginBody,
        refusals=(409,),
    )
    async def log_in(request: Request) -> Response:
        body = await json_body(request, NOT_UNDERSTOOD, LOGIN_BYTES_MAX)
        pair = name_and_password(body) if isinstance(body, bytes) else None
        if pair is None:
            status = 400 if isinstance(body, bytes) else body[1]
            return PlainTextResponse(NOT_UNDERSTOOD, status)
        if not authenticator.is_needed:
            return PlainTextResponse(NO_USERS, 409)
        address = authenticator.address_of(request.scope)
        mark = authenticator.mark_of(pair[0].encode("utf-8", "replace").decode())
        found = await authenticator.check(*pair, address)
        if isinstance(found, Refusal):
            return PlainTextResponse(found.text, found.status, found.headers)
        cookie = authenticator.open_login(found, request.scope, "password", mark=mark)
        return JSONResponse({"user": found.user}, headers={"set-cookie": cookie})

    @operation("Log out here.", LogoutAnswer)
    async def log_out(request: Request) -> Response:
        login = proof_of(request).login
        if login is not None:
            authenticator.logins.end_of(login)
            address = authenticator.address_of(request.scope)
            authenticator.broker.audit("logout", user=login.person.user, address=address)
        return JSONResponse({}, headers={"set-cookie": authenticator.cookie.cleared()})

    @operation("End all logins of the user.", LogoutEverywhereAnswer)
    async def log_out_everywhere(request: Request) -> Response:
        user = proof_of(request).visitor.name
        if user is None:
            return PlainTextResponse(NOBODY, 401)
        ended = authenticator.logins.end_all_of(user)
        address = authenticator.address_of(request.scope)
        detail = f"everywhere: {ended} logins"
        authenticator.broker.audit("logout", user=user, address=address, detail=detail)
        return JSONResponse(
            {"ended": ended}, headers={"set-cookie": authenticator.cookie.cleared()}
        )

    return [
        Route("/api/me", me),
        Route("/api/login", log_in, methods=["POST"]),
        Route("/api/logout", log_out, methods=["POST"]),
        Route("/api/logout/everywhere", log_out_everywhere, methods=["POST"]),
    ]


def told(authenticator: Authenticator, request: Request, proof: Proof) -> ConsoleVisitor:
    """What the page is told of its visitor."""
    visitor, oidc = proof.visitor, authenticator.broker.config.console.oidc
    is_operator_here = visitor.is_restricted or is_from_here(request)
    return {
        "needs_login": visitor.is_restricted and visitor.watched == "nothing",
        "has_users": visitor.is_restricted,
        "user": visitor.name,
        "role": described(visitor) if visitor.name else None,
        "watches": visitor.watched,
        "administers": list(visitor.areas) if is_operator_here else [],
        "csrf": proof.login.csrf if proof.login else None,
        "oidc": oidc.name if oidc.is_on and visitor.is_restricted else None,
    }


def name_and_password(body: bytes) -> tuple[str, str] | None:
    """The name and the password in a body; None if they are not there."""
    try:
        asked = json.loads(body)
        user, password = asked["user"], asked["password"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    are_texts = isinstance(user, str) and isinstance(password, str)
    return (user, password) if are_texts else None
