"""What a broker tells who looks for it, to one datagram of JSON and back. Pure.

An answer is read as what a stranger wrote: all of it is checked, or none of it counts.
"""

import json
import math
from bisect import bisect
from dataclasses import dataclass, replace
from typing import Any

from slipring.discovery.found import FoundBroker
from slipring.discovery.place import Place, is_loopback

VERSION = 1
ANSWER_BYTES_MAX = 1200
"""Fits into one packet of any network, so that it is never in pieces."""
TEXT_CHARACTERS_MAX = 128


@dataclass(frozen=True, slots=True)
class Announcement:
    """A broker, as it describes itself."""

    id: str
    name: str
    version: str
    places: tuple[Place, ...]
    uptime_s: float = 0.0
    table: int | None = None
    console: Place | None = None

    def for_one(self, source: str) -> "Announcement":
        """Without what cannot be reached from an address."""
        told = self if is_loopback(source) else self.for_others()
        return replace(told, places=tuple(place for place in told.places if place.takes(source)))

    def for_others(self) -> "Announcement":
        """Without what only this machine can reach."""
        console = self.console if self.console and not self.console.is_local else None
        places = tuple(place for place in self.places if not place.is_local)
        return replace(self, places=places, console=console)


def encode(told: Announcement, nonce: str | None = None) -> bytes:
    """Write one answer; listeners for which there is no room are left out, and counted."""
    whole = _answer(told, nonce, len(told.places))
    if len(whole) <= ANSWER_BYTES_MAX:
        return whole
    counts = range(1, len(told.places))
    kept = bisect(counts, ANSWER_BYTES_MAX, key=lambda count: len(_answer(told, nonce, count)))
    return _answer(told, nonce, kept)


def decode(datagram: bytes, nonce: str, source: str) -> FoundBroker | None:
    """Read an answer to this nonce that came from `source`; None where it is not one."""
    if len(datagram) > ANSWER_BYTES_MAX:
        return None
    try:
        answer = json.loads(datagram)
        if not isinstance(answer, dict) or answer.get("nonce") != nonce:
            return None
        return _found(answer, source)
    except (ValueError, RecursionError):
        return None


def _answer(told: Announcement, nonce: str | None, kept: int) -> bytes:
    return json.dumps(_fields(told, nonce, kept), separators=(",", ":")).encode()


def _fields(told: Announcement, nonce: str | None, kept: int) -> dict[str, Any]:
    fields = {
        "slipring": VERSION,
        "nonce": nonce,
        "id": told.id,
        "name": told.name[:TEXT_CHARACTERS_MAX],
        "version": told.version,
        "uptime_s": round(told.uptime_s, 3),
        "table": told.table,
        "console": told.console.told() if told.console else None,
        "listeners": [place.told() for place in told.places[:kept]],
        "more": len(told.places) - kept or None,
    }
    return {key: value for key, value in fields.items() if value is not None}


def _found(answer: dict[str, Any], source: str) -> FoundBroker | None:
    listeners = answer.get("listeners")
    if answer.get("slipring") != VERSION or not isinstance(listeners, list) or not listeners:
        return None
    console = answer.get("console")
    return FoundBroker(
        name=_text(answer.get("name")),
        urls=tuple(Place.parse(one).url(source) for one in listeners),
        id=_text(answer.get("id")),
        version=_text(answer.get("version")),
        uptime_s=_seconds(answer.get("uptime_s")),
        table=_table(answer.get("table")),
        console=None if console is None else Place.parse(console).url(source),
        found_by=("udp",),
    )


def _text(told: Any) -> str:
    if not isinstance(told, str) or not 0 < len(told) <= TEXT_CHARACTERS_MAX:
        raise ValueError("not a text, or a long one")
    return told


def _seconds(told: Any) -> float:
    if type(told) not in (int, float) or not 0 <= told < math.inf:
        raise ValueError("not a time")
    return float(told)


def _table(told: Any) -> int | None:
    if told is not None and (type(told) is not int or not 0 <= told < 1 << 32):
        raise ValueError("not the id of a table")
    return told
