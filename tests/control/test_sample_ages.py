"""How old samples are on arrival: of some parameters, however large the table is."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from slipring.control.sample_ages import CHOSEN_FOR_S, LOOKED_AT, AgeSample, percentiles


def row(age_ms: float, quality: str = "good") -> dict[str, Any]:
    return {"received": 10_000_000_000, "time": 10_000_000_000 - age_ms * 1e6, "quality": quality}


def test_percentiles_are_those_of_the_ages_on_arrival() -> None:
    found = percentiles(row(age) for age in range(100))
    assert found == {"aged": 100, "age_p50_ms": 50, "age_p99_ms": 99}


def test_what_is_stale_has_no_age_and_a_clock_ahead_makes_none_negative() -> None:
    found = percentiles([row(5_000, "stale"), row(-3), row(7, "bad")])
    assert (found["aged"], found["age_p50_ms"], found["age_p99_ms"]) == (2, 7, 7)
    assert percentiles([]) == {"aged": 0, "age_p50_ms": None, "age_p99_ms": None}
    assert percentiles([row(-3)])["age_p99_ms"] == 0


class Table:
    """As many parameters as wanted; every fourth is a text."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.asked: list[list[str]] = []

    def ask(self, name: str, body: bytes) -> bytes:
        wanted = json.loads(body)
        if name == "values":
            self.asked.append(wanted["names"])
            values = [row(1) | {"name": name} for name in wanted["names"]]
            return json.dumps({"values": values, "next": None}).encode()
        indices = range(wanted["from"], min(self.size, wanted["from"] + wanted["count"]))
        rows = [{"name": f"p/{i}", "type": "text" if i % 4 == 0 else "f64"} for i in indices]
        return json.dumps({"parameters": rows}).encode()


@pytest.mark.parametrize("size", [0, 10, LOOKED_AT, 20_001])
def test_a_bounded_number_is_looked_at_and_no_text(size: int) -> None:
    table = Table(size)
    found = AgeSample(table.ask, lambda: size, lambda: 0.0).look()
    names = table.asked[0] if table.asked else []
    assert found["aged"] == len(names) == min(size, LOOKED_AT) * 3 // 4
    assert not any(int(name.removeprefix("p/")) % 4 == 0 for name in names)


def test_other_parameters_of_a_large_table_are_chosen_from_time_to_time() -> None:
    table, clock = Table(20_000), SimpleNamespace(now_s=0.0)
    sample = AgeSample(table.ask, lambda: table.size, lambda: clock.now_s)
    for now_s in (0.0, CHOSEN_FOR_S - 1, CHOSEN_FOR_S):
        clock.now_s = now_s
        sample.look()
    first, again, others = table.asked
    assert first == again
    assert not set(first) & set(others)
