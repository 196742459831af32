"""The audit over HTTP: the newest records, filtered, in pages. Only reads."""

import asyncio

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from slipring.console.operating import refused
from slipring.console.operation import operation
from slipring.control import Broker
from slipring.control.audit import audit_folder
from slipring.errors import JournalError
from slipring.status.answers import AuditAnswer
from slipring.status.asked import AuditQuery

RECORDS_SHOWN = 200
"""Records of one page, at most."""
DIGITS_MAX = 19
"""Digits of a time in nanoseconds."""
NUMBER_MAX = (1 << 63) - 1
NOT_KEPT = 'no audit is kept: add a [[user]], or `keep = "always"` under [audit]\n'


def audit_routes(broker: Broker) -> list[BaseRoute]:
    """Show the audit."""

    @operation(
        "Records of the audit, the newest first.", AuditAnswer, query=AuditQuery, refusals=(404,)
    )
    async def shown(request: Request) -> Response:
        from slipring.journal.audit import AuditFilter, AuditReader  # loads Arrow: 30 MB

        if refusal := refused(request):
            return PlainTextResponse(*refusal)
        query = request.query_params
        numbers = {key: _number(query.get(key, "")) for key in ("before", "most", "since_ns")}
        texts = {key: query.get(key, "") for key in ("user", "client", "kind")}
        wanted = AuditFilter(**texts, since_ns=numbers["since_ns"] or 0)
        most = min(numbers["most"] or RECORDS_SHOWN, RECORDS_SHOWN)
        folder = audit_folder(broker.config.data)
        if not folder.is_dir():
            return PlainTextResponse(NOT_KEPT, 404)
        try:
            records, before = await asyncio.to_thread(
                lambda: AuditReader(folder).page(wanted, most, numbers["before"])
            )
        except JournalError as error:
            return PlainTextResponse(f"{error}\n", 503)
        return JSONResponse({"records": records, "before": before})

    return [Route("/api/audit", shown)]


def _number(text: str) -> int | None:
    is_number = text.isascii() and text.isdigit() and len(text) <= DIGITS_MAX
    return min(int(text), NUMBER_MAX) if is_number else None
