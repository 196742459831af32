"""Reads what a request asks of history. Has no I/O; a wrong request is a sentence."""

import re
import time
from collections.abc import Sequence
from decimal import Decimal

from starlette.datastructures import QueryParams

from slipring.history import HistoryQuestion
from slipring.history.question import NAMES_MAX
from slipring.history.steps import MINUTE_NS

VALUES_MAX = 500
"""Names of one question for values."""
SPAN_NS = 5 * MINUTE_NS
"""How much is shown if nothing is said."""
WIDTH = 800
_MS = re.compile(r"\d{1,13}(\.\d{1,12})?")
_WHOLE = re.compile(r"\d{1,6}")
NS_PER_MS = 1_000_000


class WrongRequest(ValueError):
    """What is wrong with a request, as a sentence for people."""


def history_question(asked: QueryParams) -> HistoryQuestion:
    """Names, time and width; by default the last five minutes."""
    names = names_of(asked, NAMES_MAX)
    to_ns = time_ns(asked, "to_ms")
    to_ns = time.time_ns() if to_ns is None else to_ns
    from_ns = time_ns(asked, "from_ms")
    width = asked.get("width", str(WIDTH))
    if not _WHOLE.fullmatch(width):
        raise WrongRequest("width is a whole number from 1 to 4000")
    try:
        return HistoryQuestion(
            names, max(0, to_ns - SPAN_NS) if from_ns is None else from_ns, to_ns, int(width)
        )
    except ValueError as error:
        raise WrongRequest(str(error)) from None


def names_of(asked: QueryParams, most: int) -> tuple[str, ...]:
    """The names, each once."""
    names: Sequence[str] = asked.getlist("name")
    if not 1 <= len(names) <= most:
        raise WrongRequest(f"ask for 1 to {most} parameters, each as name=")
    return tuple(dict.fromkeys(names))


def time_ns(asked: QueryParams, key: str) -> int | None:
    """A time in milliseconds since 1970, with digits behind the point, as nanoseconds."""
    text = asked.get(key)
    if text is None:
        return None
    if not _MS.fullmatch(text):
        raise WrongRequest(f"{key} is a time in milliseconds since 1970, as 1767322800000.25")
    return int(Decimal(text) * NS_PER_MS)
