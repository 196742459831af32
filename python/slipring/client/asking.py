"""Questions to the broker about its table, each with its answer: MQTT 5 request and response."""

import asyncio
import json
import secrets
from itertools import count
from typing import Any

from slipring.client.incoming import Incoming
from slipring.client.link import Link
from slipring.errors import DeclareRefused, NoAnswer, PublishRefused, RequestFailed
from slipring.model import Message

TOPIC = "$slipring/table/"
ANSWER_S = 10.0
"""How long an answer may take while there is a connection."""
NOT_AUTHORIZED = 0x87
REQUEST_BYTES_MAX = 512 << 10
"""What a request is kept below: half of what a broker takes by default."""


class Asking:
    """One client's questions. Each is asked again on the next connection, until it is answered."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._topic = f"{TOPIC}answer/{secrets.token_hex(8)}"
        self._numbers = count(1)
        self._answers: dict[bytes, asyncio.Future[bytes]] = {}
        self._incoming: Incoming | None = None

    async def ask(self, name: str, body: dict[str, Any]) -> dict[str, Any]:
        """The answer to `$slipring/table/<name>`.

        Raises DeclareRefused, RequestFailed, NoAnswer, ConnectionLost, or Refused where the
        question is too long.
        """
        if self._incoming is None:
            self._incoming = Incoming(self._link, self._receive)
            self._incoming.listen(self._topic)
        correlation = next(self._numbers).to_bytes(8, "big")
        answer = self._answers[correlation] = asyncio.get_running_loop().create_future()
        try:
            await self._until_answered(name, json.dumps(body).encode(), correlation, answer)
            return _checked(name, answer.result(), self._link.native.url)
        finally:
            del self._answers[correlation]

    async def _until_answered(
        self, name: str, body: bytes, correlation: bytes, answer: "asyncio.Future[bytes]"
    ) -> None:
        while not answer.done():
            again = self._link.next_connection()
            await self._publish(name, body, correlation)
            done, _ = await asyncio.wait(
                {answer, again}, timeout=ANSWER_S, return_when=asyncio.FIRST_COMPLETED
            )
            if not done and self._link.is_open:
                raise NoAnswer(
                    f"the broker at {self._link.native.url} did not answer {TOPIC}{name}"
                    f" within {ANSWER_S:.0f} s; is it a Slipring broker?"
                )
            if again in done and (error := again.exception()) is not None:
                raise error

    async def _publish(self, name: str, body: bytes, correlation: bytes) -> None:
        extras = ((), "application/json", self._topic, correlation, None)
        try:
            identity = await self._link.send(
                lambda: self._link.native.publish(TOPIC + name, body, 1, False, extras)
            )
            await self._link.acknowledged(identity)
        except PublishRefused as refused:
            if refused.code == NOT_AUTHORIZED:
                text = f"{refused}: it has no table, or not for this client"
                raise RequestFailed(text, code="not_authorized") from None
            raise

    def _receive(self, message: Message) -> None:
        answer = self._answers.get(message.correlation_data or b"")
        if answer is not None and not answer.done():
            answer.set_result(message.payload)


def _checked(name: str, payload: bytes, url: str) -> dict[str, Any]:
    """The answer; raises what it says went wrong."""
    found: dict[str, Any] = json.loads(payload)
    if "error" not in found:
        return found
    text = f"the broker at {url} refused to {name}: {found.get('message', found['error'])}"
    if name == "declare":
        raise DeclareRefused(text, problems=found.get("problems", []))
    raise RequestFailed(text, code=found["error"])
