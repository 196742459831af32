"""Calls the callback that gives tokens. One that never returns holds up nobody else."""

import asyncio
import concurrent.futures
import inspect
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

TokenSource: TypeAlias = Callable[[], str | bytes | Awaitable[str | bytes]]


class TokenCallback:
    """One call at a time: what an earlier one gives too late is the next token."""

    def __init__(self) -> None:
        self._running: concurrent.futures.Future[Any] | None = None

    async def token(self, source: TokenSource) -> bytes:
        """What the callback gives. One that is not async runs in a thread, because it may wait."""
        if inspect.iscoroutinefunction(source):
            token: Any = await source()
        else:
            running = self._called(source)
            waited = asyncio.wrap_future(running)
            waited.add_done_callback(_look)
            await asyncio.wait([waited])
            self._running = None  # unless who waits here was cancelled
            token = running.result()
            if inspect.isawaitable(token):
                token = await token
        if not isinstance(token, str | bytes):
            raise TypeError(f"a token is text or bytes, not {type(token).__name__}")
        return token.encode() if isinstance(token, str) else token

    def _called(self, source: TokenSource) -> concurrent.futures.Future[Any]:
        """The call that runs, or a new one in a thread of its own.

        Not in the threads of the event loop: a few calls that never return would leave none of them
        for others, and the program would wait for them in the end.
        """
        if self._running is None:
            self._running = concurrent.futures.Future()
            self._running.set_running_or_notify_cancel()  # it cannot be cancelled from now on
            given = (source, self._running)
            threading.Thread(target=_run, args=given, name="slipring-token", daemon=True).start()
        return self._running


def _look(waited: asyncio.Future[Any]) -> None:
    """Look at the error if there is one: else asyncio would log it, and what it says."""
    if not waited.cancelled():
        waited.exception()


def _run(source: TokenSource, result: concurrent.futures.Future[Any]) -> None:
    try:
        result.set_result(source())
    except StopIteration:  # no future takes it: who waits would wait for ever
        result.set_exception(RuntimeError("StopIteration"))
    except BaseException as error:  # noqa: BLE001 (who waits raises it)
        result.set_exception(error)
