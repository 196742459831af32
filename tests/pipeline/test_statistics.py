"""The table's statistics: what they say must never hide a row."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipring.journal.location import Journal, JournalFolder
from slipring.lake.specs import MESSAGES
from slipring.lake.statistics import TEXT_MAX, lower, upper
from slipring.lake.status import open_table
from slipring.lake.storage import LakeLocation
from slipring.native import JournalReader, JournalWriter
from slipring.pipeline.archive_table import ArchiveTable
from slipring.pipeline.range_files import LakeTarget, write_range
from tests.journal_messages import RECEIVE_NS

LONG_TOPIC = "a" * 5000

long_text = st.builds(
    lambda head, tail: "x" * (TEXT_MAX - 1) + head + tail,
    st.sampled_from(["", "y", "\U0010ffff"]),
    st.text(max_size=3) | st.just("\U0010ffff\U0010ffff"),
)


@pytest.fixture
def filled_lake(tmp_path: Path) -> Path:
    writer = JournalWriter(tmp_path / "j")
    writer.append("pump", RECEIVE_NS, [("a/b", b"1"), ("z", b"2"), (LONG_TOPIC, b"3")], retain=True)
    writer.close()
    journal = Journal(JournalFolder(str(tmp_path / "j")), JournalReader(tmp_path / "j").identity)
    lake = LakeLocation.of(tmp_path)
    table = ArchiveTable(lake, MESSAGES)
    _, *files = write_range(0, 3, LakeTarget(journal, lake, {"messages": 0}))
    table.commit(journal.identity, 3, 1, files)
    return tmp_path


@pytest.mark.parametrize(
    ("column", "value", "rows"),
    [
        ("offset", 1, 1),
        ("receive_ns", RECEIVE_NS, 3),
        ("publisher", "pump", 3),
        ("publisher", "valve", 0),
        ("topic", "a/b", 1),
        ("topic", "z", 1),
        ("topic", LONG_TOPIC, 1),
        ("payload", b"2", 1),
        ("qos", 0, 3),
        ("retain", True, 3),
        ("properties", b"", 3),
        ("properties", b"x", 0),
    ],
)
def test_rows_are_found_by_any_column(
    filled_lake: Path, column: str, value: object, rows: int
) -> None:
    table = open_table(filled_lake)
    assert table.to_pyarrow_table(filters=[(column, "=", value)]).num_rows == rows


@given(st.text(max_size=5) | long_text)
def test_cut_bounds_still_hold(text: str) -> None:
    assert lower(text).encode() <= text.encode() <= upper(text).encode()


def test_bounds_are_cut() -> None:
    assert len(lower(LONG_TOPIC)) == TEXT_MAX
    assert len(upper(LONG_TOPIC)) == TEXT_MAX + 1
