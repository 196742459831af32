"""A broker's answer to a discovery question: one datagram of JSON, encoded and decoded. Pure.

A decoded answer comes from a stranger: every field is checked, and one bad field discards it all.
"""

import json
import math
from bisect import bisect
from dataclasses import dataclass, replace
from typing import Any

from slipring.discovery.endpoint import Endpoint, is_loopback
from slipring.discovery.found import FoundBroker

VERSION = 1
ANSWER_BYTES_MAX = 1200
"""Fits into one packet of any network, so that it is never fragmented."""
TEXT_CHARACTERS_MAX = 128


@dataclass(frozen=True, slots=True)
class Announcement:
    """What a broker tells about itself."""

    id: str
    name: str
    version: str
    endpoints: tuple[Endpoint, ...]
    uptime_s: float = 0.0
    table: int | None = None
    console: Endpoint | None = None

    def for_one(self, source: str) -> "Announcement":
        """Without the endpoints that an address cannot reach."""
        seen = self if is_loopback(source) else self.for_others()
        return replace(seen, endpoints=tuple(one for one in seen.endpoints if one.takes(source)))

    def for_others(self) -> "Announcement":
        """Without the endpoints that only this machine can reach."""
        console = self.console if self.console and not self.console.is_local else None
        endpoints = tuple(endpoint for endpoint in self.endpoints if not endpoint.is_local)
        return replace(self, endpoints=endpoints, console=console)


def encode(announcement: Announcement, nonce: str | None = None) -> bytes:
    """One answer as a datagram; listeners that do not fit are left out and counted."""
    answer = _answer(announcement, nonce, len(announcement.endpoints))
    if len(answer) <= ANSWER_BYTES_MAX:
        return answer
    counts = range(1, len(announcement.endpoints))
    kept = bisect(
        counts, ANSWER_BYTES_MAX, key=lambda count: len(_answer(announcement, nonce, count))
    )
    return _answer(announcement, nonce, kept)


def decode(datagram: bytes, nonce: str, source: str) -> FoundBroker | None:
    """The broker of an answer to this nonce, received from `source`; None if it is not valid."""
    if len(datagram) > ANSWER_BYTES_MAX:
        return None
    try:
        answer = json.loads(datagram)
        if not isinstance(answer, dict) or answer.get("nonce") != nonce:
            return None
        return _found(answer, source)
    except (ValueError, RecursionError):
        return None


def _answer(announcement: Announcement, nonce: str | None, kept: int) -> bytes:
    return json.dumps(_fields(announcement, nonce, kept), separators=(",", ":")).encode()


def _fields(announcement: Announcement, nonce: str | None, kept: int) -> dict[str, Any]:
    fields = {
        "slipring": VERSION,
        "nonce": nonce,
        "id": announcement.id,
        "name": announcement.name[:TEXT_CHARACTERS_MAX],
        "version": announcement.version,
        "uptime_s": round(announcement.uptime_s, 3),
        "table": announcement.table,
        "console": announcement.console.as_json() if announcement.console else None,
        "listeners": [endpoint.as_json() for endpoint in announcement.endpoints[:kept]],
        "more": len(announcement.endpoints) - kept or None,
    }
    return {key: value for key, value in fields.items() if value is not None}


def _found(answer: dict[str, Any], source: str) -> FoundBroker | None:
    listeners = answer.get("listeners")
    if answer.get("slipring") != VERSION or not isinstance(listeners, list) or not listeners:
        return None
    console = answer.get("console")
    return FoundBroker(
        name=_text(answer.get("name")),
        urls=tuple(Endpoint.parse(one).url(source) for one in listeners),
        id=_text(answer.get("id")),
        version=_text(answer.get("version")),
        uptime_s=_seconds(answer.get("uptime_s")),
        table=_table(answer.get("table")),
        console=None if console is None else Endpoint.parse(console).url(source),
        found_by=("udp",),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= TEXT_CHARACTERS_MAX:
        raise ValueError("not a text, or a long one")
    return value


def _seconds(value: Any) -> float:
    if type(value) not in (int, float) or not 0 <= value < math.inf:
        raise ValueError("not a time")
    return float(value)


def _table(value: Any) -> int | None:
    if value is not None and (type(value) is not int or not 0 <= value < 1 << 32):
        raise ValueError("not the id of a table")
    return value
