"""What an operator asks for: sessions, listed and ended; clients, disconnected.

What changes something is taken from this machine only, and as JSON: a browser sends that to another
origin only after it was allowed to, and nobody allows it.
"""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from slipring.control import Broker
from slipring.control.address import Address
from slipring.native import ListedSession

SESSIONS_SHOWN = 1_000
"""Sessions of one answer, at most."""
NAMED_MAX = 1_000
"""Clients of one request, at most."""
ASKED_BYTES_MAX = 512 * 1024
ELSEWHERE = (
    "sessions are ended and clients disconnected from the broker's own machine only; "
    "run the command there\n"
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
    done = await asyncio.to_thread(lambda: [one for one in named if act(one)])
    return JSONResponse({"done": done, "unknown": [one for one in named if one not in set(done)]})


async def _named(request: Request) -> list[str] | Refused:
    peer = request.client
    if peer is None or not Address(peer.host, 0).is_loopback:
        return ELSEWHERE, 403
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        return NOT_UNDERSTOOD, 415
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > ASKED_BYTES_MAX:
            return NOT_UNDERSTOOD, 413
    named = _client_ids(body)
    return (NOT_UNDERSTOOD, 400) if named is None else named


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
    return min(int(text), SESSIONS_SHOWN) if text.isascii() and text.isdigit() else SESSIONS_SHOWN


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
