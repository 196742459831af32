"""History as the page reads it: JSON without NaN, times in milliseconds. Reads nothing."""

import json
import math
from typing import Any

import numpy as np

from slipring.console.shared_rows import EXACT_MAX, TEXT_SHOWN
from slipring.history.buckets import Times
from slipring.history.question import KnownParameter
from slipring.history.series import HistoryAnswer, ParameterSeries, shown_bytes

Json = dict[str, Any]
NS_PER_MS = 1_000_000


def history_text(answer: HistoryAnswer) -> bytes:
    """The whole answer, encoded."""
    told = {
        "from_ms": answer.from_ns / NS_PER_MS,
        "to_ms": answer.to_ns / NS_PER_MS,
        "oldest_ms": None if answer.oldest_ns is None else answer.oldest_ns / NS_PER_MS,
        "damage": list(answer.damage),
    }
    # Each series by itself: no other thread runs while one text is made.
    series = b",".join(_encoded(series_json(one)) for one in answer.series)
    return _encoded(told)[:-1] + b',"series":[' + series + b"]}"


def _encoded(told: Json) -> bytes:
    text = json.dumps(told, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    return text.encode(errors="replace")


def series_json(series: ParameterSeries) -> Json:
    """One series. Single samples also have their exact times: nanoseconds after the first one."""
    is_number = series.parameter.labels is None and not series.parameter.is_text
    told: Json = {
        "name": series.name,
        "unit": series.parameter.unit,
        "type": series.parameter.type,
        "origin": series.origin,
        "step_ms": series.step_ns / NS_PER_MS if series.step_ns else 0,
        "t": milliseconds(series.times_ns),
        "min": numbers(series.low) if is_number else [],
        "max": numbers(series.high) if is_number else [],
        "last": numbers(series.last) if is_number else _words(series),
        "is_cut": series.is_cut,
    }
    if not series.step_ns and len(series.times_ns):
        first = int(series.times_ns[0])
        told |= {"first_ns": str(first), "after_ns": (series.times_ns - first).tolist()}
    return told


def milliseconds(times_ns: Times) -> list[float]:
    """Each as exactly as a float can have it: whole milliseconds are whole."""
    found: list[float] = (times_ns // NS_PER_MS + times_ns % NS_PER_MS / NS_PER_MS).tolist()
    return found


def shown_value(value: Any) -> Any:
    """One value for the page: bytes in hex, long texts cut, large integers as text."""
    if isinstance(value, bytes):
        return shown_bytes(value, len(value))
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return str(value) if abs(value) > EXACT_MAX else value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value[:TEXT_SHOWN] if isinstance(value, str) else value


def numbers(values: np.ndarray) -> list[float | None]:
    """What is infinite has no place on an axis: null."""
    if np.isfinite(values).all():
        found: list[float | None] = values.tolist()
        return found
    return [one if math.isfinite(one) else None for one in values.tolist()]


def labelled(values: np.ndarray, known: KnownParameter) -> list[str]:
    """The labels of an enumeration; a number without one as it is."""
    labels = known.labels or {}
    return [labels.get(round(one), str(round(one))) for one in values.tolist()]


def _words(series: ParameterSeries) -> list[Any]:
    """What is shown of an enumeration, of texts and of bytes."""
    if series.parameter.labels is not None:
        return list(labelled(series.last, series.parameter))
    return [shown_value(one) for one in series.last.tolist()]
