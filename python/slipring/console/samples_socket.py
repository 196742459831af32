"""The WebSocket on which a page gets what comes in of the parameters that it draws."""

import asyncio
import json
import math
from collections.abc import Sequence

from starlette.routing import BaseRoute, WebSocketRoute
from starlette.websockets import WebSocket

from slipring.console.authenticator import Authenticator, Proof
from slipring.console.login_routes import proof_of
from slipring.console.operation import socket_operation
from slipring.console.page import PageEnded, converse, send
from slipring.console.samples_feed import TURN_S, SamplesFeed, Watched
from slipring.control import Broker
from slipring.errors import InvalidTopic
from slipring.history.recent import FINE_NS
from slipring.native import check_topic
from slipring.status.asked import SamplesAsked
from slipring.status.history import SamplesMessage

NAMES_MAX = 128
"""Parameters that one page watches."""
STEP_MS_MAX = 60_000
BEAT_S = 1.0
"""A message comes at least so often, also if nothing is new."""
NOT_UNDERSTOOD = (
    f'send {{"names": ["a", "b"], "step_ms": 50}}; at most {NAMES_MAX} names, and a step from 1 to '
    f"{STEP_MS_MAX}"
)
Asked = tuple[tuple[str, ...], int]


def samples_routes(
    broker: Broker, authenticator: Authenticator, feed: SamplesFeed
) -> list[BaseRoute]:
    """Samples as they come in."""

    @socket_operation("Samples as they come in.", SamplesMessage, SamplesAsked)
    async def live(socket: WebSocket) -> None:
        await socket.accept()
        page = SamplesPage(socket, broker, authenticator, feed)
        try:
            await converse(socket, page.send_all(), page.take)
        finally:
            page.leave()

    return [WebSocketRoute("/api/samples", live)]


class SamplesPage:
    """One open page: what it asked for, and how far it has got."""

    def __init__(
        self, socket: WebSocket, broker: Broker, authenticator: Authenticator, feed: SamplesFeed
    ) -> None:
        self._socket = socket
        self._broker = broker
        self._authenticator = authenticator
        self._feed = feed
        self._proof: Proof = proof_of(socket)
        self._asked: Asked = ((), FINE_NS)
        self._chosen_for: tuple[Asked, int] | None = None
        self._watched = Watched((), FINE_NS)
        self._seen = -1
        self._left_out: list[str] = []

    def take(self, text: str | None) -> str | None:
        """Keep what the page asks for until the next message to it."""
        asked = _asked(text)
        if asked is None:
            return NOT_UNDERSTOOD
        self._asked = asked
        return None

    def leave(self) -> None:
        """Watch nothing any more."""
        self._feed.leave(self._watched.names)
        self._watched = Watched((), FINE_NS)

    async def send_all(self) -> None:
        """Send what is new; a page that reads slowly gets fewer messages, each with all of it."""
        loop = asyncio.get_running_loop()
        sent_s = -BEAT_S
        while True:
            if end := self._authenticator.page_end(self._proof):
                raise PageEnded(*end)
            is_other = not self._broker.pulse.is_busy and await self._choose()
            now_s = loop.time()
            if is_other or self._feed.revision != self._seen or now_s - sent_s >= BEAT_S:
                text, seen = await self._feed.message(self._watched, self._seen)
                if is_other:
                    text = _with(text, self._left_out)
                await send(self._socket, text)
                self._seen, sent_s = seen, now_s
            await self._next_turn(
                max(TURN_S, self._watched.step_ns / 1e9) if sent_s >= 0 else TURN_S
            )

    async def _next_turn(self, seconds: float) -> None:
        if seconds > TURN_S or not self._watched.names:
            await asyncio.sleep(min(seconds, BEAT_S))
            return
        try:
            async with asyncio.timeout(BEAT_S), self._feed.turned:
                await self._feed.turned.wait()
        except TimeoutError:
            pass

    async def _choose(self) -> bool:
        """Watch what the page asks for, as far as it may; True if that is something else now."""
        visitor = self._proof.visitor
        wanted = (self._asked, visitor.plan)
        if wanted == self._chosen_for:
            return False
        names, step_ns = wanted[0]
        may = visitor.may_watch_each(names)
        seen = [name for name, is_seen in zip(names, may, strict=True) if is_seen]
        self.leave()
        accepted = await self._feed.begin(seen)
        self._watched, self._chosen_for = Watched(tuple(accepted), step_ns), wanted
        self._left_out = [name for name in names if name not in accepted]
        self._seen = -1
        return True


def _with(text: str, left_out: Sequence[str]) -> str:
    told = json.loads(text)
    return json.dumps({**told, "left_out": left_out}, separators=(",", ":"))


def _asked(text: str | None) -> Asked | None:
    """Names and step, in whole buckets of what is followed; None if it is something else."""
    try:
        asked = json.loads(text or "")
        names, step_ms = asked["names"], asked.get("step_ms", 50)
        if not isinstance(names, list) or len(names) > NAMES_MAX:
            return None
        for name in names:
            check_topic(name)
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError, InvalidTopic):
        return None
    if type(step_ms) not in (int, float) or not 1 <= step_ms <= STEP_MS_MAX:
        return None
    steps = math.ceil(step_ms * 1_000_000 / FINE_NS)
    return tuple(dict.fromkeys(names)), steps * FINE_NS
