"""What a notebook shows: bounded, escaped, well-formed, in the colours of the page."""

from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pytest

from slipring import sync
from slipring.frames import Samples, Table
from slipring.lake.result import LakeResult
from slipring.model import GOOD, Entry, Parameter, Quality, Sample, Status
from slipring.model.notebook import ROWS_MAX, TEXT_MAX, html_table
from tests.running_broker import RunningBroker

HOSTILE = "<script>alert('x')</script>&\x1b[31m\u202e"


class _Cells(HTMLParser):
    """The texts of the cells, and every tag that was opened and not closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.rows: list[list[str]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def cells(shown: object) -> list[list[str]]:
    """The rows, heads first, of what a notebook would show."""
    text = shown if isinstance(shown, str) else shown._repr_html_()  # type: ignore[attr-defined]
    parsed = _Cells(text)
    assert parsed.open == []
    assert parsed.tags <= {"div", "p", "table", "thead", "tbody", "tr", "th", "td"}
    assert "background" not in text
    assert "color:" not in text, "the notebook has its own"
    return parsed.rows


def test_hostile_texts_are_texts() -> None:
    (_, row) = cells(html_table(HOSTILE, ["a"], [[HOSTILE]], 1))
    assert row == ["<script>alert('x')</script>&\\x1b[31m\\u202e"]


def test_rows_and_cells_are_bounded() -> None:
    text = html_table("many", ["n"], ([number] for number in range(10**9)), 10**9)
    assert len(cells(text)) == 1 + ROWS_MAX
    assert "999,999,980 more" in text
    assert cells(html_table("", ["a"], [["x" * 10**6]], 1))[1] == ["x" * TEXT_MAX + "…"]


def test_a_sample_is_a_row() -> None:
    sample = Sample(3, 1_763_000_000_123_456_789, Quality(Status.STALE), "<on>")
    expected = ["3", "<on>", "2025-11-13 02:13:20.123456", "stale"]
    assert cells(sample)[1] == expected
    assert cells(Sample(b"\x00\xff", 1 << 62, GOOD))[1][0] == "00 ff"


def test_samples_of_a_parameter_are_rows() -> None:
    times = np.arange(100, dtype=np.int64)
    shown = cells(Samples(times, times * 0.5, np.zeros(100, np.uint8)))
    assert shown[2] == ["1970-01-01 00:00:00", "0.5", "good"]
    assert len(shown) == 1 + ROWS_MAX


def test_a_table_shows_its_first_parameters() -> None:
    table = Table(7)
    for index in reversed(range(50)):
        table.put(Entry(index, f"a/{index}", Parameter("f64", unit="<m>", description=HOSTILE)))
    shown = cells(table)
    assert shown[1][:4] == ["0", "a/0", "f64", "<m>"]
    assert len(shown) == 1 + ROWS_MAX


def test_rows_of_the_lake_are_rows() -> None:
    rows = pa.table({"parameter": [HOSTILE] * 30, "value": [1.5] * 30})
    shown = cells(LakeResult(rows, "raw"))
    assert shown[0] == ["parameter", "value"]
    assert len(shown) == 1 + ROWS_MAX
    assert cells(LakeResult(rows.slice(0, 0), "1m")) == [["parameter", "value"]]


def test_a_frame_of_a_broker_shows_its_newest_samples(shared_broker: RunningBroker) -> None:
    with sync.connect(shared_broker.url) as bus:
        engine = bus.declare("notebook", {"rpm": "f64", "mode": "text"})
        engine.write({"rpm": 12034.5, "mode": HOSTILE})
        engine.flush()
        with bus.select("notebook/#") as frames:
            shown = cells(next(frames))
    rows = {row[0]: row[1] for row in shown[1:]}
    assert rows["notebook/rpm"] == "12034.5"
    assert rows["notebook/mode"].startswith("<script>")


@pytest.mark.parametrize("nothing", [None, ""])
def test_nothing_is_an_empty_cell(nothing: object) -> None:
    assert cells(html_table("", ["a"], [[nothing]], 1))[1] == [""]
