"""A copy of the broker's table, or of the parts that are needed; it follows the changes."""

import asyncio
import json
import logging
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from slipring.client.changes import Changes, Followers
from slipring.client.desk import Desk, in_requests
from slipring.client.incoming import Incoming
from slipring.errors import SlipringError
from slipring.frames.table import Table
from slipring.model import Entry, Message, TableChange

CHANGES = "$slipring/table/changes"
EVERYTHING = "#"
LOST: dict[str, Any] = {}
"""Stands for changes that were too many to keep."""
NEAR = 50
"""Indices that are no further apart are listed by one request: a second one costs more."""
PAGE = 1000
"""Parameters asked for at once; the broker may answer with fewer."""
TOLD_MAX = 1000
"""Changes that wait to be applied; with more, everything is listed again."""

log: logging.Logger = logging.getLogger("slipring.client")


class _Listing(NamedTuple):
    """What the broker answered."""

    identity: int
    revision: int
    entries: list[Entry]


class Mirror:
    """Lists what its filters choose once, then fetches what the broker reports as changed.

    Only one task asks at a time, so that an older answer never replaces a newer one.
    """

    def __init__(self, desk: Desk[Any]) -> None:
        self.table: Table = Table()
        self._desk = desk
        self._filters: list[str] = []
        self._names: dict[str, None] = {}
        """Names beside the filters, in the order they were asked for."""
        self._incoming: Incoming | None = None
        self._lock = asyncio.Lock()
        self._told: deque[dict[str, Any]] = deque()
        self._work: asyncio.Task[None] | None = None
        self._followers: Followers[TableChange] = Followers()
        self._listeners: set[Callable[[TableChange], None]] = set()

    async def cover(self, filters: Iterable[str], names: Iterable[str] = ()) -> Table:
        """The table, with these names and all that the filters choose.

        Raises like `Desk.ask`.
        """
        async with self._lock:
            if self._incoming is None:
                incoming = Incoming(self._desk.connection, self._receive)
                await incoming.subscribe([CHANGES])
                self._incoming = incoming
            for one in filters:
                if one not in self._filters and EVERYTHING not in self._filters:
                    await self._add([one], [])
            if EVERYTHING not in self._filters:
                await self._add([], [name for name in names if name not in self._names])
        return self.table

    async def catch_up(self, identity: int | None = None) -> Table:
        """The table, after all changes so far are applied; listed anew if it is another one."""
        while self._work is not None and not self._work.done():
            await asyncio.shield(self._work)
        if identity is not None and identity != self.table.identity:
            await self.reload()
        return self.table

    async def remembered(self) -> _Listing:
        """Every parameter of the broker, with those that were removed; not kept here."""
        return await self._list([EVERYTHING], removed=True)

    async def reload(self) -> None:
        """Lists everything again, because changes may have been missed."""
        if self._incoming is None:
            return
        async with self._lock:
            self._told.clear()
            changes = self._replace(await self._kept())
        for change in changes:
            self._tell(change)

    def changes(self) -> Changes[TableChange]:
        """What happens to the table from now on."""
        return self._followers.follow()

    def listen(self, listener: Callable[[TableChange], None]) -> None:
        """Calls it with every change, until `leave`."""
        self._listeners.add(listener)

    def leave(self, listener: Callable[[TableChange], None]) -> None:
        """Undoes `listen`."""
        self._listeners.discard(listener)

    def end(self) -> None:
        """Ends every iteration over changes: the bus is closed."""
        self._followers.tell(None)
        if self._work is not None:
            self._work.cancel()

    async def _add(self, filters: list[str], names: list[str]) -> None:
        if not filters and not names:
            return
        is_first = not self._filters and not self._names
        listing = await self._with_names(await self._list(filters), names)
        is_same = listing.identity == self.table.identity
        if not is_first and not is_same:
            listing = joined(await self._kept(), listing)
        self._take(listing)
        self._filters += filters
        self._names |= dict.fromkeys(names)

    async def _kept(self, first: int = 0, end: int | None = None) -> _Listing:
        """What the filters and names choose of a range of indices."""
        by_filter = await self._list(self._filters, first, end)
        return await self._with_names(by_filter, list(self._names), first, end)

    async def _with_names(
        self, found: _Listing, names: list[str], first: int = 0, end: int | None = None
    ) -> _Listing:
        """These names too, without their neighbours: few requests, however long the table is."""
        if not names:
            return found
        wanted = set(names)
        if end is not None and end - first <= max(NEAR, len(names)):
            inside = [(first, end)]
        else:
            found, inside = await self._found(found, names, first, end)
        for start, stop in inside:
            listed = await self._list([EVERYTHING], start, stop)
            mine = [entry for entry in listed.entries if entry.name in wanted]
            found = joined(found, listed._replace(entries=mine))
        return found

    async def _found(
        self, found: _Listing, names: list[str], first: int, end: int | None
    ) -> tuple[_Listing, list[tuple[int, int]]]:
        """Which ranges have these names, of those between `first` and `end`."""
        indices = list[int]()
        for some in in_requests(names):
            answer = await self._desk.ask("find", {"names": some})
            found = joined(found, _Listing(answer["table"], answer["revision"], []))
            indices += [one for one in answer["indices"] if one is not None]
        return found, spans(
            sorted(one for one in indices if one >= first and (end is None or one < end))
        )

    async def _list(
        self,
        filters: Iterable[str],
        first: int = 0,
        end: int | None = None,
        *,
        removed: bool = False,
    ) -> _Listing:
        """What these filters choose of a range of indices, page by page."""
        found = _Listing(self.table.identity, self.table.revision, [])
        count = PAGE if end is None else min(PAGE, end - first)
        for one in list(filters):
            body = {"filter": one, "count": count} | ({"removed": True} if removed else {})
            async for page in self._desk.pages("list", body, first, end):
                entries = [Entry.of_json(row) for row in page["parameters"]]
                inside = [entry for entry in entries if end is None or entry.index < end]
                found = joined(found, _Listing(page["table"], page["revision"], inside))
        return found

    def _take(self, listing: _Listing) -> None:
        if listing.identity != self.table.identity:
            self.table = Table(listing.identity)
        self.table.revision = listing.revision
        for entry in listing.entries:
            self.table.put(entry)

    def _replace(self, listing: _Listing) -> list[TableChange]:
        """Takes a complete listing, and returns what it changes."""
        before, known = self.table, {entry.name: entry for entry in self.table.entries()}
        self._take(listing)
        if self.table is not before:
            is_first = not known
            return [] if is_first else [TableChange("replaced", (), listing.revision)]
        gone = self.table.keep_only(entry.name for entry in listing.entries)
        new = [entry for entry in listing.entries if known.get(entry.name) != entry]
        names = {
            "removed": tuple(sorted(gone)),
            "added": tuple(entry.name for entry in new if entry.name not in known),
            "changed": tuple(entry.name for entry in new if entry.name in known),
        }
        return [TableChange(event, some, listing.revision) for event, some in names.items() if some]

    def _receive(self, message: Message) -> None:
        if len(self._told) >= TOLD_MAX:
            self._told.clear()
            self._told.append(LOST)
        self._told.append(json.loads(message.payload))
        if self._work is None or self._work.done():
            self._work = asyncio.get_running_loop().create_task(self._apply_all())

    async def _apply_all(self) -> None:
        try:
            while self._told:
                async with self._lock:
                    changes = await self._apply(self._told.popleft()) if self._told else []
                for change in changes:
                    self._tell(change)
        except SlipringError as error:
            # On another connection all is listed again; on this one, with the next change.
            self._told.appendleft(LOST)
            log.warning(
                "cannot follow the table at %s: %s", self._desk.connection.native.url, error
            )

    async def _apply(self, told: dict[str, Any]) -> list[TableChange]:
        if told is LOST or told["table"] != self.table.identity:
            return self._replace(await self._kept())
        event, names = told["event"], list[str]()
        for first, size in told["ranges"]:
            if event == "removed":
                names += self.table.remove(first, size)
                continue
            if event in {"added", "changed"}:
                self._take(await self._kept(first, first + size))
            names += self.table.range_names(first, size)
        self.table.revision = max(self.table.revision, told["revision"])
        return [TableChange(event, tuple(names), told["revision"], told.get("why"))]

    def _tell(self, change: TableChange) -> None:
        self._followers.tell(change)
        for listener in list(self._listeners):
            listener(change)


def joined(one: _Listing, other: _Listing) -> _Listing:
    """Both, or the later one if they are of two tables."""
    entries = one.entries if one.identity == other.identity else []
    return other._replace(entries=entries + other.entries)


def spans(indices: list[int]) -> list[tuple[int, int]]:
    """Ranges that hold these ascending indices, and few others."""
    made = list[tuple[int, int]]()
    for one in indices:
        if made and one - made[-1][1] < NEAR:
            made[-1] = (made[-1][0], one + 1)
        else:
            made.append((one, one + 1))
    return made
