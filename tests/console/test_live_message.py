"""What is shown of a payload, and of a limit."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

from slipring.console.live_message import (
    TEXT_SHOWN,
    LivePosition,
    as_text,
    limit_reached,
    live_message,
)
from slipring.control import Broker
from slipring.control.config import Config
from slipring.control.limits import LimitsSection
from slipring.control.overview import ReachedLimit
from slipring.status.engine import BrokerStatus, MemoryUse
from tests.status.blank import blank


@pytest.mark.parametrize(
    ("payload", "whole", "text"),
    [
        (b"12034.5", True, "12034.5"),
        (b"", True, ""),
        ("grön".encode(), True, "grön"),
        (b"\xff\x00", True, None),
        ("ö".encode()[:1], True, None),
        (b"cut " + "ö".encode()[:1], False, "cut "),
    ],
)
def test_text_is_shown_and_bytes_are_not(payload: bytes, whole: bool, text: str | None) -> None:
    assert as_text(payload, whole=whole) == text


@pytest.mark.parametrize(
    ("given", "source", "mark"),
    [
        ({}, "lab", None),
        ({"source": " Gripen 39-7 ", "mark": "DEMO DATA"}, "Gripen 39-7", "DEMO DATA"),
    ],
)
def test_the_page_learns_where_the_data_is_from_and_what_marks_it(
    tmp_path: Path, given: dict[str, str], source: str, mark: str | None
) -> None:
    """Simulated data and a real flight cannot be confused."""
    values = {"data": tmp_path, "name": "lab", "console": given, "mqtt": {"listen": "127.0.0.1:0"}}
    broker = Broker(Config.model_validate(values))
    try:
        summary = live_message(broker, LivePosition())[0]["broker"]
        assert (summary["source"], summary["mark"]) == (source, mark)
    finally:
        broker.engine.stop()


@pytest.mark.parametrize(
    "given", [{"mark": "DEMO\nDATA"}, {"source": "a\u202eb"}, {"mark": "x" * 25}]
)
def test_a_source_and_a_mark_are_one_short_line(given: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        Config.model_validate({"console": given})


def test_a_long_text_is_cut() -> None:
    assert as_text(b"x" * 1000, whole=True) == "x" * TEXT_SHOWN


@pytest.mark.parametrize(("limit", "value"), [("memory_bytes", 5_000_000), ("connections", 7)])
def test_a_limit_is_shown_as_it_holds(limit: str, value: int) -> None:
    """Without a budget in the file it is a part of the machine's memory, and not 0."""
    limits = LimitsSection(connections=7)
    broker: Any = SimpleNamespace(config=SimpleNamespace(limits=limits))
    status = blank(BrokerStatus, memory=blank(MemoryUse, budget=5_000_000))
    shown = limit_reached(broker, status, ReachedLimit(limit, 3, 2_000_000))
    assert shown == {"limit": limit, "value": value, "times": 3, "last_ms": 2.0}
