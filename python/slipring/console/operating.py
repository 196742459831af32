"""What an operator asks for: list and end sessions, disconnect clients, change the memory budget.

Without users, requests that change something are taken from this machine only. They are taken only
as JSON: a browser sends JSON to another origin only after that origin allowed it, and the console
never does.
"""

import asyncio
import json
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from slipring.console.auditing import acted_by
from slipring.console.guard import host_name
from slipring.console.json_body import Refused, json_body
from slipring.console.operation import operation
from slipring.control import Broker
from slipring.control.address import Address
from slipring.control.audit import ActedBy
from slipring.errors import JournalError
from slipring.status.answers import ClientsDone, SessionsAnswer
from slipring.status.asked import NAMED_MAX, ClientsBody, MemoryBody, SessionsQuery
from slipring.status.engine import MemoryUse

SESSIONS_SHOWN = 1_000
"""Sessions of one answer, at most."""
DIGITS_MAX = 9
"""Digits of a number in a query: Python refuses to convert thousands of them."""
SIZE_CHARACTERS_MAX = 64
UNSPECIFIED = ("0.0.0.0", "::")  # noqa: S104 (printed as the address by a console that listens everywhere)
ELSEWHERE = (
    "sessions are ended, clients disconnected, levels set, the memory budget changed, alarms "
    "acknowledged, rights and users seen and changed from the broker's own machine only; "
    "run the command there, with --console http://127.0.0.1:PORT\n"
)
NOT_UNDERSTOOD = f'send JSON: {{"client_ids": ["..."]}}, at most {NAMED_MAX} of them\n'
NO_SIZE = 'send JSON: {"size": "512MB"}\n'


def operator_routes(broker: Broker) -> list[BaseRoute]:
    """List sessions, end them, disconnect clients, show the memory and set its budget."""
    engine = broker.engine

    def _noted(request: Request, act: str, client_id: str, is_done: bool) -> bool:
        if is_done:
            who = asker(request)
            broker.audit("changed", **who, client=client_id, topic="clients", detail=act)
        return is_done

    @operation("Sessions, the costliest first.", SessionsAnswer, query=SessionsQuery)
    async def listed(request: Request) -> Response:
        wanted = request.query_params
        connected = {"connected": True, "away": False}.get(wanted.get("state", ""))
        most = _most(wanted.get("most", ""))
        found, total = await asyncio.to_thread(
            engine.sessions, most, connected=connected, owner=wanted.get("owner")
        )
        return JSONResponse({"sessions": found, "total": total})

    @operation("End sessions.", ClientsDone, body=ClientsBody)
    async def end(request: Request) -> Response:
        def ended(client_id: str) -> bool:
            return _noted(request, "ended the session", client_id, engine.end_session(client_id))

        return await _each(request, ended)

    @operation("Disconnect clients; their sessions stay.", ClientsDone, body=ClientsBody)
    async def disconnect(request: Request) -> Response:
        def disconnected(client_id: str) -> bool:
            return _noted(request, "disconnected it", client_id, engine.disconnect(client_id))

        return await _each(request, disconnected)

    @operation(
        "The memory of all that waits, and its budget; POST sets the budget.",
        MemoryUse,
        body=MemoryBody,
    )
    async def memory(request: Request) -> Response:
        if request.method != "POST":
            return JSONResponse((await asyncio.to_thread(engine.status))["memory"])
        body = await operator_body(request, NO_SIZE)
        if isinstance(body, tuple):
            return PlainTextResponse(*body)
        try:
            size = _size(body)
            used = await asyncio.to_thread(engine.set_memory, size)
            detail = f"set limits.memory_bytes to {size}"
            broker.audit("changed", **asker(request), topic="memory", detail=detail)
            return JSONResponse(used)
        except ValueError as error:
            return PlainTextResponse(f"{error}\n", 400)

    return [
        Route("/api/memory", memory, methods=["GET", "POST"]),
        Route("/api/sessions", listed),
        Route("/api/sessions/end", end, methods=["POST"]),
        Route("/api/clients/disconnect", disconnect, methods=["POST"]),
    ]


def asker(request: Request) -> ActedBy:
    """Who asks, and by which right, for the audit."""
    return {**acted_by(request.scope, request.scope.get("proof")), "right": "administer"}


async def _each(request: Request, act: Callable[[str], bool]) -> Response:
    """Apply `act` to each named client; answer with those it was done to, and the unknown ones."""
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
    body = await operator_body(request, NOT_UNDERSTOOD)
    if isinstance(body, tuple):
        return body
    named = _client_ids(body)
    return (NOT_UNDERSTOOD, 400) if named is None else named


async def operator_body(request: Request, not_understood: str) -> bytes | Refused:
    """The JSON of a request that changes something."""
    return refused(request) or await json_body(request, not_understood)


def refused(request: Request) -> Refused | None:
    """Why a request may not act for an operator; None if it may.

    With users, the middleware has asked for the right to it. Without, this machine has to ask.
    """
    proof = request.scope.get("proof")
    is_allowed = proof is not None and proof.visitor.is_restricted
    return None if is_allowed or is_from_here(request) else (ELSEWHERE, 403)


def is_from_here(request: Request) -> bool:
    """Whether it comes from this machine and names it by a loopback address or localhost.

    The name matters: a foreign page can let its own name resolve to this machine (DNS rebinding).
    The browser here then asks for that page, with equal Host and Origin.
    """
    peer, name = request.client, host_name(request.headers.get("host", ""))
    is_own = name in UNSPECIFIED or (name is not None and Address(name, 0).is_loopback)
    return is_own and peer is not None and Address(peer.host, 0).is_loopback


def _client_ids(body: bytes) -> list[str] | None:
    try:
        asked = json.loads(body)
        named = asked["client_ids"]
        "".join(named).encode()  # half of a surrogate pair is not a name
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    is_list = isinstance(named, list) and len(named) <= NAMED_MAX
    return list(dict.fromkeys(named)) if is_list else None


def _size(body: bytes) -> str:
    """The size that a request names; raises ValueError if it names none."""
    try:
        size = json.loads(body)["size"]
    except (ValueError, TypeError, KeyError, RecursionError):
        size = None
    if not isinstance(size, str) or len(size) > SIZE_CHARACTERS_MAX:
        raise ValueError(NO_SIZE.strip())
    return size


def _most(text: str) -> int:
    is_number = text.isascii() and text.isdigit() and len(text) <= DIGITS_MAX
    return min(int(text), SESSIONS_SHOWN) if is_number else SESSIONS_SHOWN
