"""What a route of the HTTP API is: said where it is made, for its description and for the check of
queries. Never answers for a route.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.websockets import WebSocket

from slipring.console.query import wrong_query

Endpoint = Callable[[Request], Awaitable[Response]]
SocketEndpoint = Callable[[WebSocket], Awaitable[None]]

MARK = "slipring_operation"
"""Where a function keeps its description."""
TEXT = "text/plain"
REDIRECT = "redirect"


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path."""

    summary: str
    """What it does, as a sentence."""
    answer: Any
    """A described type or a list of one, answered as JSON; the media type of what is not JSON; or
    a redirect, whose query is that of somebody else."""
    query: type | None = None
    """The described type of its parameters; None if it has none."""
    body: type | None = None
    refusals: tuple[int, ...] = ()
    """Codes that it answers with a sentence, beside those of every route."""
    conflict: type | None = None
    """What it answers as JSON with 409; None if it never does."""


def operation(
    summary: str,
    answer: Any,
    *,
    query: type | None = None,
    body: type | None = None,
    refusals: tuple[int, ...] = (),
    conflict: type | None = None,
) -> Callable[[Endpoint], Endpoint]:
    """Describe a route, and answer 400 to a query that is not as described."""
    told = Operation(summary, answer, query, body, refusals, conflict)

    def described(endpoint: Endpoint) -> Endpoint:
        @wraps(endpoint)
        async def checked(request: Request) -> Response:
            wrong = None if answer == REDIRECT else wrong_query(request.query_params, query)
            if wrong:
                return PlainTextResponse(f"{wrong}\n", 400)
            return await endpoint(request)

        checked.__dict__[MARK] = told
        return checked

    return described


def socket_operation(
    summary: str, sends: type, takes: type | None = None
) -> Callable[[SocketEndpoint], SocketEndpoint]:
    """Describe a WebSocket: the messages that it sends, and those that it takes."""

    def described(endpoint: SocketEndpoint) -> SocketEndpoint:
        endpoint.__dict__[MARK] = Operation(summary, sends, body=takes)
        return endpoint

    return described


def operation_of(endpoint: object) -> Operation | None:
    """The description of a route; None if nobody wrote one."""
    found = getattr(endpoint, MARK, None)
    return found if isinstance(found, Operation) else None
