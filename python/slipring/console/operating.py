"""What an operator asks for: sessions, listed and ended; clients, disconnected.

What changes something is taken from this machine only, and as JSON: a browser sends that to another
origin only after it was allowed to, and nobody allows it.
"""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from slipring.console.door import WAIT_S
from slipring.console.guard import host_name
from slipring.control import Broker
from slipring.control.address import Address
from slipring.errors import JournalError
from slipring.native import ListedSession

SESSIONS_SHOWN = 1_000
"""Sessions of one answer, at most."""
NAMED_MAX = 1_000
"""Clients of one request, at most."""
ASKED_BYTES_MAX = 512 * 1024
DIGITS_MAX = 9
"""Of a number in a question: Python refuses to read thousands of them."""
UNSPECIFIED = ("0.0.0.0", "::")  # noqa: S104 (as who listens everywhere prints its address)
ELSEWHERE = (
    "sessions are ended and clients disconnected from the broker's own machine only; "
    "run the command there, with --console http://127.0.0.1:PORT\n"
)
NOT_UNDERSTOOD = f'send JSON: {{"client_ids": ["..."]}}, at most {NAMED_MAX} of them\n'

Json = dict[str, Any]
Refused = tuple[str, int]


def operator_routes(broker: Broker) -> list[BaseRoute]:
    """List sessions, end them, disconnect clients."""
    engine = broker.engine

    async def listed(request: Request) -> Response:
        wanted = request.query_params
        connected = {"connected": True, "away": False}.get(wanted.get("state", ""))
        most = _most(wanted.get("most", ""))
        found, total = await asyncio.to_thread(
            engine.sessions, most, connected=connected, owner=wanted.get("owner")
        )
        return JSONResponse({"sessions": [session_picture(one) for one in found], "total": total})

    async def end(request: Request) -> Response:
        return await _each(request, engine.end_session)

    async def disconnect(request: Request) -> Response:
        return await _each(request, engine.disconnect)

    return [
        Route("/api/sessions", listed),
        Route("/api/sessions/end", end, methods=["POST"]),
        Route("/api/clients/disconnect", disconnect, methods=["POST"]),
    ]


async def _each(request: Request, act: Callable[[str], bool]) -> Response:
    """Do it to each client that is named; tell of whom it was done."""
    named = await _named(request)
    if isinstance(named, tuple):
        return PlainTextResponse(*named)
    try:
        done = await asyncio.to_thread(lambda: dict.fromkeys(one for one in named if act(one)))
    except JournalError as error:
        return PlainTextResponse(f"{error}\n", 503)
    unknown = [one for one in named if one not in done]
    return JSONResponse({"done": list(done), "unknown": unknown})


async def _named(request: Request) -> list[str] | Refused:
    if not _is_from_here(request):
        return ELSEWHERE, 403
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        return NOT_UNDERSTOOD, 415
    try:
        async with asyncio.timeout(WAIT_S):
            body = await _body(request)
    except TimeoutError:
        return NOT_UNDERSTOOD, 408
    except ClientDisconnect:  # nobody hears this
        return NOT_UNDERSTOOD, 400
    if body is None:
        return NOT_UNDERSTOOD, 413
    named = _client_ids(body)
    return (NOT_UNDERSTOOD, 400) if named is None else named


def _is_from_here(request: Request) -> bool:
    """Whether it comes from this machine, by an address of its own or as localhost.

    A page elsewhere can have a name of its own point here: then the browser of this machine asks
    for it, and Host and Origin are alike.
    """
    peer, name = request.client, host_name(request.headers.get("host", ""))
    is_own = name in UNSPECIFIED or (name is not None and Address(name, 0).is_loopback)
    return is_own and peer is not None and Address(peer.host, 0).is_loopback


async def _body(request: Request) -> bytes | None:
    """What was sent; None where it is too much."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > ASKED_BYTES_MAX:
            return None
    return body


def _client_ids(body: bytes) -> list[str] | None:
    try:
        asked = json.loads(body)
        named = asked["client_ids"]
        "".join(named).encode()  # half of a surrogate pair is no name
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    is_list = isinstance(named, list) and len(named) <= NAMED_MAX
    return list(dict.fromkeys(named)) if is_list else None


def _most(text: str) -> int:
    is_number = text.isascii() and text.isdigit() and len(text) <= DIGITS_MAX
    return min(int(text), SESSIONS_SHOWN) if is_number else SESSIONS_SHOWN


def session_picture(one: ListedSession) -> Json:
    """Show whose a session is, and what it holds."""
    return {
        "client_id": one.client_id,
        "user": one.user,
        "owner": one.owner,
        "state": "away" if one.address is None else "connected",
        "address": one.address,
        "since_ms": one.since_ns / 1e6,
        "kept": one.is_kept,
        "expires_s": one.expires_s,
        "queued_messages": one.queued_messages,
        "queued_bytes": one.queued_bytes,
        "subscriptions": one.subscriptions,
        "parameters": one.parameters,
    }
