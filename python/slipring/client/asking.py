"""Questions to the broker about its table or streams, in JSON: its answers, and its refusals."""

import json
from typing import Any

from slipring.client.link import Link
from slipring.errors import DeclareRefused, NoAnswer, PublishRefused, RequestFailed

NOT_AUTHORIZED = 0x87
REQUEST_BYTES_MAX = 192 << 10
"""What the names or parameters of a request are kept below; a broker takes 256 KiB."""
NAMES_MAX = 4_096
"""Names that a broker takes in one request."""
CHANGED_MAX = 2_048
"""Parameters that a broker adds or removes by one request."""


class Asking:
    """One client's questions."""

    def __init__(self, link: Link, about: str = "table") -> None:
        self._link = link
        self._about = about

    async def ask(self, name: str, body: dict[str, Any]) -> dict[str, Any]:
        """The answer to `$slipring/table/<name>`, or to the same of the streams.

        Raises DeclareRefused, RequestFailed, NoAnswer, ConnectionLost, or Refused where the
        question is too long.
        """
        try:
            answer = await self._answer(f"{self._about}/{name}", json.dumps(body).encode())
        except PublishRefused as refused:
            if refused.code != NOT_AUTHORIZED:
                raise
            text = f"{refused}: it has no {self._about}, or not for this client"
            raise RequestFailed(text, code="not_authorized") from None
        return _checked(name, json.loads(answer), self._link.native.url)

    async def _answer(self, topic: str, body: bytes) -> bytes:
        """While there is no connection it is waited for, as everywhere: the broker's time to answer
        is that of one connection.
        """
        while True:
            connection = self._link.native.connection
            try:
                return await self._link.ask(topic, body)
            except NoAnswer:
                if self._link.is_open and self._link.native.connection == connection:
                    raise


def _checked(name: str, found: dict[str, Any], url: str) -> dict[str, Any]:
    """The answer; raises what it says went wrong."""
    if "error" not in found:
        return found
    text = f"the broker at {url} refused '{name}': {found.get('message', found['error'])}"
    if name == "declare":
        raise DeclareRefused(text, problems=found.get("problems", []))
    raise RequestFailed(text, code=found["error"])
