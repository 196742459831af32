"""A client's side of a desk of the broker: requests in JSON, and what the client declares there.

A desk answers requests to `$slipring/NAME/...`: the table and the streams are desks.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from typing import Any, Generic, Protocol, TypeVar

from slipring.client.connection import ClientConnection
from slipring.client.reconnecting import Work, redo
from slipring.errors import DeclareRefused, NoAnswer, PublishRefused, RequestFailed

NOT_AUTHORIZED = 0x87
REQUEST_BYTES_MAX = 192 << 10
"""Bytes of the names or parameters of a request; a broker takes 256 KiB with everything."""
NAMES_MAX = 4_096
"""Names that a broker takes in one request."""
CHANGED_MAX = 2_048
"""Parameters that a broker adds or removes by one request."""

Item = TypeVar("Item")
Result = TypeVar("Result")


class _Declarable(Protocol):
    """Parameters or a stream that a client publishes."""

    async def declare(self) -> None:
        """Declares it on the connection there is now."""


Publication = TypeVar("Publication", bound=_Declarable)


class Desk(Generic[Publication]):
    """One client at the desk `table` or `streams`; declares again on every new connection."""

    def __init__(self, connection: ClientConnection, name: str) -> None:
        self.connection = connection
        self._name = name
        self._declared: dict[Publication, None] = {}
        """In the order of their declarations."""
        self._redeclaring = redo(connection, self._works)

    async def add(self, one: Publication) -> Publication:
        """Declares it now, and again on every new connection until `forget`."""
        await one.declare()
        self._declared[one] = None
        return one

    def forget(self, one: Publication) -> None:
        """Does not declare it again on another connection."""
        self._declared.pop(one, None)

    def end(self) -> None:
        """Declares nothing again: the bus is closed."""
        self._redeclaring.cancel()

    def _works(self) -> Iterator[Work]:
        for one in self._declared:
            yield one.declare

    async def ask(self, name: str, body: dict[str, Any]) -> dict[str, Any]:
        """The answer to `$slipring/table/<name>`, or to the same of the streams.

        Raises DeclareRefused, RequestFailed, NoAnswer, ConnectionLost, or Refused if the request is
        too long.
        """
        try:
            answer = await self._answer(f"{self._name}/{name}", json.dumps(body).encode())
        except PublishRefused as refused:
            if refused.code != NOT_AUTHORIZED:
                raise
            text = f"{refused}: it has no {self._name}, or not for this client"
            raise RequestFailed(text, code="not_authorized") from None
        return _checked(name, json.loads(answer), self.connection.native.url)

    async def pages(
        self, name: str, body: dict[str, Any], start: int = 0, end: int | None = None
    ) -> AsyncIterator[dict[str, Any]]:
        """The pages of an answer, from the index `start` to before `end`."""
        following: int | None = start
        while following is not None and (end is None or following < end):
            page = await self.ask(name, body | {"from": following})
            yield page
            following = page["next"]

    async def on_one_connection(
        self, declare: Callable[[], Awaitable[Result]]
    ) -> tuple[int, Result]:
        """Declares until no reconnection interrupts it; the connection's number, and the result."""
        while True:
            connection = self.connection.native.connection
            result = await declare()
            if connection == self.connection.native.connection:
                return connection, result

    async def remove(self, names: Iterable[str]) -> None:
        """Removes these for everybody; raises RequestFailed for one that others publish too."""
        for some in in_requests(names, CHANGED_MAX):
            answer = await self.ask("remove", {"names": some})
            for error in answer.get("errors", ()):
                text = f"{error['name']} was not removed: {error['message']}"
                raise RequestFailed(text, code=error["code"])

    async def _answer(self, topic: str, body: bytes) -> bytes:
        """Asks again if the connection changed: the time to answer counts from its beginning."""
        while True:
            connection = self.connection.native.connection
            try:
                return await self.connection.ask(topic, body)
            except NoAnswer:
                if self.connection.is_open and self.connection.native.connection == connection:
                    raise


def in_requests(items: Iterable[Item], count_max: int = NAMES_MAX) -> Iterator[list[Item]]:
    """Lists of names or definitions, each small enough for one request."""
    part, size = list[Item](), 0
    for item in items:
        length = len(json.dumps(item)) + 2
        if part and (size + length > REQUEST_BYTES_MAX or len(part) == count_max):
            yield part
            part, size = [], 0
        part.append(item)
        size += length
    yield part


def _checked(name: str, found: dict[str, Any], url: str) -> dict[str, Any]:
    """The answer; raises the error that it reports."""
    if "error" not in found:
        return found
    text = f"the broker at {url} refused '{name}': {found.get('message', found['error'])}"
    if name == "declare":
        raise DeclareRefused(text, problems=found.get("problems", []))
    raise RequestFailed(text, code=found["error"])
