"""Reports of arrivals (P's table 6): what one says is read back, and nonsense is refused."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipring.model.arrival_report import (
    REPORT_BYTES_MAX,
    REPORT_SUBSCRIPTIONS_MAX,
    ArrivalTotals,
    parse_report,
    report_payloads,
)

MS = 1_000_000
GOOD = {
    "subscription": "jet/#",
    "wish_ns": 100 * MS,
    "arrivals": 10,
    "sum_ns": 1_000 * MS,
    "max_ns": 110 * MS,
    "within_1_percent": 8,
    "within_5_percent": 9,
}


def report(*rows: object) -> bytes:
    return json.dumps({"subscriptions": rows}).encode()


def test_a_report_is_read_as_it_was_written() -> None:
    totals = [ArrivalTotals(**GOOD), ArrivalTotals("jet/höhe", 20 * MS, source_ns=10 * MS)]  # type: ignore[arg-type]
    (payload,) = report_payloads(totals)
    assert parse_report(payload) == totals


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1)))
def test_any_subscriptions_fit_into_reports_that_are_accepted(names: list[str]) -> None:
    totals = [ArrivalTotals(name * 100, MS) for name in names]
    found = [one for payload in report_payloads(totals) for one in parse_report(payload)]
    assert found == totals


def test_many_subscriptions_are_several_reports() -> None:
    totals = [ArrivalTotals(f"jet/{number}", MS) for number in range(2 * REPORT_SUBSCRIPTIONS_MAX)]
    payloads = list(report_payloads(totals))
    assert len(payloads) > 1
    assert [one for payload in payloads for one in parse_report(payload)] == totals


def test_a_key_that_is_not_known_is_left_out() -> None:
    assert parse_report(report({**GOOD, "p99_ns": 1})) == [ArrivalTotals(**GOOD)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"subscriptions": [' + b"9" * 5_000 + b"]}", "not JSON"),
        (b"[]", "not an object with a list"),
        (b'{"subscriptions": {"a": 1}}', "not an object with a list"),
        (b'{"subscriptions": "all"}', "not an object with a list"),
        (b" " * (REPORT_BYTES_MAX + 1), "262144 are allowed"),
        (report(*[1] * (REPORT_SUBSCRIPTIONS_MAX + 1)), "1001 subscriptions"),
        (report(GOOD, 1), "subscription 1 of the report is not an object"),
        (report({"subscription": "a"}), "not an object with subscription and wish_ns"),
    ],
)
def test_what_is_no_report_is_refused_with_a_reason(payload: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_report(payload)


@pytest.mark.parametrize(
    "wrong",
    [
        {"subscription": ""},
        {"subscription": 7},
        {"subscription": "a\0b"},
        {"subscription": "\ud800"},
        {"subscription": "a" * 65_536},
        {"wish_ns": 0},
        {"wish_ns": -1},
        {"wish_ns": 10**4_000},
        {"wish_ns": float("nan")},
        {"wish_ns": 1e8},
        {"wish_ns": True},
        {"wish_ns": None},
        {"arrivals": -1},
        {"arrivals": 10**18},
        {"sum_ns": float("inf")},
        {"sum_ns": 2**63},
        {"sum_ns": 1_101 * MS},
        {"max_ns": 1_001 * MS},
        {"within_1_percent": 10},
        {"within_5_percent": 11},
        {"within_1_percent": -1},
        {"source_ns": 0},
        {"source_ns": "fast"},
    ],
)
def test_numbers_that_cannot_be_true_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="subscription 0 of the report: "):
        parse_report(report({**GOOD, **wrong}))
