"""Asks for another token before the present one ends, and before each further connection.

The native client makes no connection again before it has been given a token for it.
"""

import asyncio
import contextlib
import itertools
import logging
import time

from slipring.client.changes import Changes
from slipring.credentials import BrokerCredentials, token_left_s
from slipring.errors import ConnectError, SecretError
from slipring.model import ConnectionChange
from slipring.native import Client

MARGIN = 0.2
"""A token is renewed when this part of its time is left."""
MARGIN_S_MAX = 300.0
"""But not earlier than this before its end."""
PAUSE_S_MIN = 1.0
"""Between two questions, however soon a token ends."""
PAUSE_S_MAX = 30.0
"""The longest pause after a callback that failed, or gave a token that has ended."""

_RUNNING = set[asyncio.Task[None]]()
"""The loop itself holds its tasks weakly."""

log: logging.Logger = logging.getLogger("slipring.client")


class Renewal:
    """The tokens of one connection; begins with the one it was made with."""

    def __init__(
        self, native: Client, credentials: BrokerCredentials, token: bytes, reconnect_s: float
    ) -> None:
        self._native = native
        self._credentials = credentials
        self._token = token
        self._reconnect_s = reconnect_s
        self._away_since_s: float | None = None
        self._wanted = asyncio.Event()

    def follow(self, changes: Changes[ConnectionChange]) -> None:
        """Gives tokens until the connection ends for good."""
        task = asyncio.get_running_loop().create_task(self._follow(changes))
        _RUNNING.add(task)
        task.add_done_callback(_RUNNING.discard)

    async def _follow(self, changes: Changes[ConnectionChange]) -> None:
        giving = asyncio.get_running_loop().create_task(self._run())
        try:
            async for change in changes:
                if change.connected:
                    self._away_since_s = None
                elif self._away_since_s is None:
                    self._away_since_s = time.monotonic()
                if not change.connected:
                    self._wanted.set()  # the next connection needs a token
        finally:
            giving.cancel()

    async def _run(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause_s(self._token, time.time())):
                    await self._wanted.wait()
            self._wanted.clear()
            await self._renew()

    async def _renew(self) -> None:
        for attempt in itertools.count():
            try:
                token = await self._credentials.secret(self._native.url)
            except (ConnectError, SecretError) as error:
                log.warning("%s; asking again", error)
                if await self._is_over_after(attempt):
                    return
                continue
            assert token is not None
            if self._is_taken(token):
                return
            log.warning("the broker at %s has refused the newest token", self._native.url)
            if await self._is_over_after(attempt):
                return

    def _is_taken(self, token: bytes) -> bool:
        """Gives it to the client; False if the broker has refused a connection with it."""
        if token != self._token or self._away_since_s is not None:
            self._token = token
            return self._native.renew(token)
        return True

    async def _is_over_after(self, attempt: int) -> bool:
        """Waits before the next question; ends the connection when it is too late for one."""
        if self._is_over():
            self._native.close()
            return True
        await asyncio.sleep(min(PAUSE_S_MIN * 2 ** min(attempt, 10), PAUSE_S_MAX))
        return False

    def _is_over(self) -> bool:
        """Whether a lost connection has been tried for as long as it may be."""
        since_s = self._away_since_s
        return since_s is not None and time.monotonic() - since_s >= self._reconnect_s


def pause_s(token: bytes, now_s: float) -> float | None:
    """How long after now to ask for another token; None for a token that does not say."""
    left_s = token_left_s(token, now_s)
    if left_s is None:
        return None
    if left_s <= 0:
        return PAUSE_S_MAX  # if it has ended for the broker, too, that ends the connection
    return max(left_s - min(left_s * MARGIN, MARGIN_S_MAX), PAUSE_S_MIN)
