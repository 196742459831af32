"""Offsets found by the time at which messages were received."""

from pathlib import Path

import pytest

from slipring.native import JournalReader, JournalWriter

# The clock jumps back by 35 after the fourth batch, and forward again.
TIMES = (10, 20, 30, 40, 5, 15, 60)


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    writer = JournalWriter(tmp_path, 200)
    for receive_ns in TIMES:
        writer.append("p", receive_ns, [("t", b"x" * 60)])
    writer.close()
    return tmp_path


@pytest.mark.parametrize(
    ("receive_ns", "offset"),
    [(-1, 0), (10, 0), (11, 1), (40, 3), (41, 6), (60, 6), (61, 7)],
)
def test_it_is_the_lowest_offset_received_then_or_later(
    journal: Path, receive_ns: int, offset: int
) -> None:
    assert JournalReader(journal).offset_at(receive_ns) == offset
    for index in journal.glob("*.idx"):
        index.unlink()
    assert JournalReader(journal).offset_at(receive_ns) == offset
