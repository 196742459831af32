"""A journal checked byte by byte, from Python."""

from pathlib import Path

import pytest

from slipring.errors import JournalError
from slipring.native import JournalReader, commit_consumer, journal_check
from tests.journal_messages import RECEIVE_NS, write_messages


def test_a_whole_journal_in_figures(tmp_path: Path) -> None:
    write_messages(tmp_path, 40, segment_bytes=1000)
    identity = JournalReader(tmp_path).identity
    commit_consumer(tmp_path, "lake", identity, 7)
    report = journal_check(tmp_path)
    assert report.is_whole
    assert (report.identity, report.first_offset, report.end_offset) == (identity, 0, 40)
    assert (report.messages, report.batches, report.damage, report.tail) == (40, 8, [], None)
    assert report.bytes == sum(file.stat().st_size for file in tmp_path.glob("*.seg"))
    assert [consumer.name for consumer in report.consumers] == ["lake"]
    assert (report.snapshot, report.snapshot_flaw) == (None, None)
    first, *_, last = report.segments
    assert (first.name, first.index) == ("00000000000000000000", "good")
    assert (first.oldest_ns, first.messages > 0) == (RECEIVE_NS, True)
    assert (last.messages, last.oldest_ns, last.index) == (0, None, "absent")


def test_damage_is_named_and_the_rest_counted(tmp_path: Path) -> None:
    write_messages(tmp_path, 40, segment_bytes=1000)
    first = min(tmp_path.glob("*.seg"))
    damaged = bytearray(first.read_bytes())
    damaged[120] ^= 1
    first.write_bytes(damaged)
    report = journal_check(tmp_path)
    assert not report.is_whole
    assert report.messages == 35
    (damage,) = report.damage
    assert (damage.segment, damage.position) == ("00000000000000000000", 64)
    assert (damage.first_offset, damage.end_offset) == (0, 5)
    assert damage.why == "the batch's checksum is wrong"
    assert first.read_bytes() == damaged


def test_progress_goes_from_some_to_all(tmp_path: Path) -> None:
    write_messages(tmp_path, 40, segment_bytes=1000)
    told = list[tuple[int, int]]()
    report = journal_check(tmp_path, lambda read, total: told.append((read, total)))
    assert told == sorted(told)
    assert told[-1] == (report.bytes, report.bytes)


def test_what_progress_raises_ends_the_check(tmp_path: Path) -> None:
    write_messages(tmp_path, 40)

    def stop(_read: int, _total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        journal_check(tmp_path, stop)


def test_no_journal_is_said_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match=f"there is no journal in {tmp_path}"):
        journal_check(tmp_path)
