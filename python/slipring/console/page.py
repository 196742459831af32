"""The WebSocket of one open page: sends to it and takes its messages until it closes."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine

from starlette.websockets import WebSocket, WebSocketDisconnect

UNSUPPORTED = 1003
"""The code that closes a WebSocket after data that cannot be accepted (RFC 6455, 7.4.1)."""


class PageEnded(Exception):
    """The console closes a page: its code and the reason, which the page shows."""

    def __init__(self, code: int, reason: str) -> None:
        """Close with these."""
        super().__init__(reason)
        self.code: int = code
        self.reason: str = reason


Take = Callable[[str | None], str | None]
"""Takes a message (None: it was not text); returns what is wrong with it, or None."""


async def converse(socket: WebSocket, sending: Coroutine[None, None, None], take: Take) -> None:
    """Run `sending` until the page closes, the console ends, or a message is not understood."""
    tasks = (asyncio.create_task(sending), asyncio.create_task(_take_all(socket, take)))
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        # Nothing may be sent once the connection is being closed.
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
    for result in results:
        if isinstance(result, Exception) and not isinstance(
            result, WebSocketDisconnect | PageEnded
        ):
            raise result
    if isinstance(ended := results[0], PageEnded):
        await _close(socket, ended.code, ended.reason)
    elif isinstance(wrong := results[1], str):
        await _close(socket, UNSUPPORTED, wrong)


async def _close(socket: WebSocket, code: int, reason: str) -> None:
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):  # the page may be gone already
        await socket.close(code, reason)


async def send(socket: WebSocket, text: str) -> None:
    """Send to a page; raises WebSocketDisconnect if it has closed or is closing."""
    try:
        await socket.send_text(text)
    except RuntimeError:  # it is closing, and its disconnect event has not arrived yet
        raise WebSocketDisconnect from None


async def _take_all(socket: WebSocket, take: Take) -> str:
    """Take messages until one is not understood; return what is wrong with it."""
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message["code"])
        if wrong := take(message.get("text")):
            return wrong
