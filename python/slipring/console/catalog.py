"""The sorted names of all parameters, and which of them a search finds.

Definitions are not kept here: a page shows few of them, and asks for those.
"""

import asyncio
import json
import re
import time
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from slipring.errors import InvalidTopic
from slipring.native import check_filter

PAGE = 2_000
"""Parameters in one request to the engine: a few milliseconds."""
REST_S = (1.0, 5.0)
"""Least and most time between two readings of a table that keeps changing."""
REST_SHARE = 3
"""Within these bounds, the pause after a reading is so many times its duration."""

Ask: TypeAlias = Callable[[str, bytes], bytes]
"""`Engine.ask_table`."""
Json = dict[str, Any]


class Catalog:
    """Reads the names again when the table has changed and a page asks."""

    def __init__(self, ask: Ask) -> None:
        """Start without names."""
        self.names: list[str] = []
        self.revision: int = -1
        self._ask = ask
        self._rest_until_s = 0.0
        self._reading = asyncio.Lock()
        """Pages that ask at the same time share one reading."""
        self._finding = asyncio.Lock()

    async def refresh(self) -> None:
        """Read the names if the table has changed."""
        async with self._reading:
            revision = self.ask("find", {"names": []})["revision"]
            started_s = time.monotonic()
            if revision == self.revision or started_s < self._rest_until_s:
                return
            self.names = await asyncio.to_thread(lambda: sorted(self._read(), key=_sort_key))
            self.revision = revision
            now_s = time.monotonic()
            least_s, most_s = REST_S
            self._rest_until_s = now_s + min(max(least_s, REST_SHARE * (now_s - started_s)), most_s)

    def ask(self, name: str, body: Json) -> Json:
        """Ask the engine about the table."""
        answer: Json = json.loads(self._ask(name, json.dumps(body).encode()))
        return answer

    def _read(self) -> Iterable[str]:
        start: int | None = 0
        while start is not None:
            page = self.ask("list", {"from": start, "count": PAGE})
            yield from (one["name"] for one in page["parameters"])
            start = page["next"]

    async def found(self, search: str, among: list[str] | None = None) -> list[str]:
        """Search a large table on a thread, one at a time, so that the event loop is free."""
        if len(self.names) <= PAGE:
            return self.find(search, among)
        async with self._finding:
            return await asyncio.to_thread(self.find, search, among)

    def find(self, search: str, among: list[str] | None = None) -> list[str]:
        """Return the names that a filter with wildcards matches, or that contain this text."""
        names = self.names if among is None else among
        wanted = search.strip()
        if not wanted:
            return names
        if _is_filter(wanted):
            matches = re.compile(_pattern(wanted), re.DOTALL).fullmatch
            return [name for name in names if matches(name)]
        part = wanted.casefold()
        return [name for name in names if part in name.casefold()]


def _sort_key(name: str) -> str:
    """Numbers in names compare as numbers: `cell/2` comes before `cell/10`."""
    return re.sub("[0-9]+", lambda number: number[0].zfill(10), name)


def _is_filter(text: str) -> bool:
    try:
        check_filter(text)
    except InvalidTopic:
        return False
    return any(level in ("+", "#") for level in text.split("/"))


def _pattern(filter_: str) -> str:
    """A filter as a regular expression; `a/#` also matches `a` (MQTT-4.7.1-2)."""
    levels = filter_.split("/")
    rest = levels[-1] == "#"
    parts = [
        "[^/]*" if level == "+" else re.escape(level) for level in levels[: -1 if rest else None]
    ]
    if not parts:
        return ".*"
    return "/".join(parts) + ("(/.*)?" if rest else "")
