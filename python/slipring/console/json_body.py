"""The JSON body of a request: bounded in size and in time."""

import asyncio

from starlette.requests import ClientDisconnect, Request

from slipring.console.listener import WAIT_S

ASKED_BYTES_MAX = 512 * 1024

Refused = tuple[str, int]


async def json_body(
    request: Request, not_understood: str, bytes_max: int = ASKED_BYTES_MAX
) -> bytes | Refused:
    """The body. Only as JSON: a browser sends that to another origin only after it was allowed."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        return not_understood, 415
    try:
        async with asyncio.timeout(WAIT_S):
            body = await _body(request, bytes_max)
    except TimeoutError:
        return not_understood, 408
    except ClientDisconnect:  # nobody reads the answer
        return not_understood, 400
    return (not_understood, 413) if body is None else body


async def _body(request: Request, bytes_max: int) -> bytes | None:
    """The body of a request; None if it is too large."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > bytes_max:
            return None
    return body
