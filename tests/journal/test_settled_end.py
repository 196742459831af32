"""Who reads to the end gets what is written when it begins, synced or not yet (D1)."""

from pathlib import Path

import pytest

from slipring.journal import location
from slipring.native import JournalReader, JournalWriter
from tests.running_broker import PATIENCE_S


def test_what_is_written_and_not_synced_yet_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(location, "SETTLE_S", PATIENCE_S)  # a sync of a busy disk takes its time
    writer = JournalWriter(tmp_path)
    writer.append("jet", 1, [("rpm", b"1")])
    writer.flush()
    reader = JournalReader(tmp_path)
    # Only the interval syncs these: nobody asks for it.
    writer.append("jet", 2, [("rpm", b"2"), ("rpm", b"3")])
    while reader.end_offset() < 3 and reader.written_offset < 3:
        pass
    assert reader.written_offset == 3
    assert location.settled_end(reader) == 3
    writer.close()
