"""What the broker's table says: definitions, and the newest sample of each parameter. Pure but for
the question to the engine.
"""

import base64
import json
import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from slipring.control.newest_values import Ask, newest_rows
from slipring.history.question import KnownParameter

KNOWN_MAX = 4_096
"""Definitions that are remembered."""
NOT_SHOWN = ("bad", "stale")


@dataclass(frozen=True)
class NewestSample:
    """A row of the table's current values."""

    value: Any
    time_ns: int
    quality: str
    why: str | None

    @property
    def is_good(self) -> bool:
        """Whether it counts in a plot, as in the rollups."""
        return self.quality not in NOT_SHOWN


class TableNow:
    """Definitions and newest values, asked for as often as needed."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._known: dict[str, KnownParameter] = {}
        self._known_for: tuple[int, int] | None = None
        self._lock = threading.Lock()  # readers of several threads share the definitions

    def definitions(self, names: Sequence[str]) -> dict[str, KnownParameter]:
        """What is declared; a name that the broker does not know is left out."""
        revision = (answer := self._answer("find", {"names": []}))["table"], answer["revision"]
        with self._lock:
            if revision != self._known_for or len(self._known) > KNOWN_MAX:
                self._known, self._known_for = {}, revision
            for name in names:
                if name not in self._known:
                    body = {"filter": name, "count": 1}
                    rows = self._answer("list", body).get("parameters", ())
                    self._known.update((name, _definition(row)) for row in rows)
            return {name: self._known[name] for name in names if name in self._known}

    def newest(self, names: Sequence[str]) -> dict[str, NewestSample]:
        """The newest samples of those that ever had one."""
        return {
            name: NewestSample(row["value"], row["time"], row["quality"], row.get("why"))
            for name, row in newest_rows(self._ask, names).items()
        }

    def _answer(self, name: str, body: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self._ask(name, json.dumps(body).encode()))
        return answer


def _definition(row: dict[str, Any]) -> KnownParameter:
    labels = {int(number): text for number, text in (row.get("labels") or {}).items()}
    return KnownParameter(row["type"], row.get("unit"), labels or None)


def number_of(newest: NewestSample, known: KnownParameter) -> float | None:
    """The value on an axis: of an enumeration its number; None if it has no place there."""
    value = newest.value
    if known.labels and isinstance(value, str):
        return next((float(one) for one, text in known.labels.items() if text == value), None)
    value = value_of(newest, known)
    is_number = isinstance(value, bool | int | float) and not math.isnan(value)
    return float(value) if is_number else None


def value_of(newest: NewestSample, known: KnownParameter) -> Any:
    """The value as people read it: bytes as bytes, the words for NaN and infinities as numbers.

    None if it is nothing of this type: the parameter was removed, and declared with another one.
    """
    try:
        if known.type == "bytes":
            return base64.b64decode(newest.value)
        if known.type in ("f32", "f64") and isinstance(newest.value, str):
            return float(newest.value)
    except (ValueError, TypeError):
        return None
    return newest.value
