"""Reports of arrivals: how often data reached a client against the interval that it asked for.

A report is an ordinary message, JSON on the topic `slipring/arrivals`; docs/steps.md has its form.
Any client may send one, so `parse_report` trusts nothing. Standard library only.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

ARRIVALS_TOPIC = "slipring/arrivals"
REPORT_BYTES_MAX = 256 << 10
"""A longer report is refused unread."""
REPORT_SUBSCRIPTIONS_MAX = 1_000
SUBSCRIPTION_BYTES_MAX = 65_535
"""As long as a filter of MQTT may be."""

WISH_NS = (1_000_000, 1_000_000_000_000)
"""From 1000 to 0.001 Hz, as a selection may ask for."""
LENGTH_NS_MAX = 366 * 86_400_000_000_000
ARRIVALS_MAX = 1_000_000_000

WITHIN_1, WITHIN_5 = 0.01, 0.05
_PACKED_BYTES = 64 << 10
"""Where our own client begins another report."""


@dataclass(frozen=True, slots=True)
class ArrivalTotals:
    """The arrivals at one subscription between two reports."""

    subscription: str
    """Its filter, or a name for it."""
    wish_ns: int
    """The interval that it asked for."""
    arrivals: int = 0
    """Those that ended an interval: the very first one does not."""
    sum_ns: int = 0
    """All intervals together."""
    max_ns: int = 0
    within_1_percent: int = 0
    """Intervals that differ from the wish by at most 1 % of it."""
    within_5_percent: int = 0
    source_ns: int | None = None
    """The interval of the source itself; None if it is not known."""

    def __post_init__(self) -> None:
        """Refuse with ValueError what cannot be true."""
        _check_text(self.subscription)
        _check_whole("wish_ns", self.wish_ns, *WISH_NS)
        _check_whole("arrivals", self.arrivals, 0, ARRIVALS_MAX)
        _check_whole("sum_ns", self.sum_ns, 0, LENGTH_NS_MAX)
        _check_whole("max_ns", self.max_ns, 0, self.sum_ns)
        _check_whole("sum_ns", self.sum_ns, 0, self.max_ns * self.arrivals)
        _check_whole("within_5_percent", self.within_5_percent, 0, self.arrivals)
        _check_whole("within_1_percent", self.within_1_percent, 0, self.within_5_percent)
        if self.source_ns is not None:
            _check_whole("source_ns", self.source_ns, 1, LENGTH_NS_MAX)


_FIELDS = tuple(ArrivalTotals.__dataclass_fields__)


def report_payloads(totals: Iterable[ArrivalTotals]) -> Iterator[bytes]:
    """Payloads of reports with these totals: more than one if there are many."""
    part, size = list[str](), 0
    for one in totals:
        known = {name: value for name, value in asdict(one).items() if value is not None}
        text = json.dumps(known, ensure_ascii=False)
        length = len(text.encode())
        if part and (size + length > _PACKED_BYTES or len(part) == REPORT_SUBSCRIPTIONS_MAX):
            yield _report(part)
            part, size = [], 0
        part.append(text)
        size += length
    if part:
        yield _report(part)


def _report(part: list[str]) -> bytes:
    return f'{{"subscriptions": [{", ".join(part)}]}}'.encode()


def parse_report(payload: bytes) -> list[ArrivalTotals]:
    """The totals in a report; or ValueError, which says what is wrong with it."""
    if len(payload) > REPORT_BYTES_MAX:
        raise ValueError(f"the report has {len(payload)} bytes; {REPORT_BYTES_MAX} are allowed")
    try:
        report = json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the report is not JSON: {error}") from None
    match report:
        case {"subscriptions": [*rows]}:
            pass
        case _:
            raise ValueError('the report is not an object with a list "subscriptions"')
    if len(rows) > REPORT_SUBSCRIPTIONS_MAX:
        raise ValueError(
            f"the report has {len(rows)} subscriptions; {REPORT_SUBSCRIPTIONS_MAX} are allowed"
        )
    return [_totals(number, row) for number, row in enumerate(rows)]


def _totals(number: int, row: Any) -> ArrivalTotals:
    """One subscription of a report. Keys that are not known are left out: they may be newer."""
    try:
        match row:
            case {"subscription": _, "wish_ns": _}:
                return ArrivalTotals(**{name: row[name] for name in _FIELDS if name in row})
    except ValueError as error:
        raise ValueError(f"subscription {number} of the report: {error}") from None
    raise ValueError(
        f"subscription {number} of the report is not an object with subscription and wish_ns"
    )


def _check_text(text: object) -> None:
    if not isinstance(text, str) or not text or "\0" in text:
        raise ValueError("its name, subscription, is not a text with characters")
    # An unpaired surrogate raises UnicodeEncodeError, which is a ValueError.
    if len(text.encode()) > SUBSCRIPTION_BYTES_MAX:
        raise ValueError(f"its name is longer than {SUBSCRIPTION_BYTES_MAX} bytes")


def _check_whole(name: str, value: object, least: int, most: int) -> None:
    if type(value) is not int:
        raise ValueError(f"{name} is not a whole number")
    if not least <= value <= most:
        raise ValueError(f"{name} is {_short(value)}, not from {least} to {most}")


def _short(value: int) -> str:
    """A number for a person; Python refuses to write one with thousands of digits."""
    return str(value) if abs(value) < 10**20 else "a number with more than 20 digits"
