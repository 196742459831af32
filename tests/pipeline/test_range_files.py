"""What workers write, and what the table's commit makes of it; without Spark."""

from datetime import date
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from slipring.errors import LakeConflict, PipelineError
from slipring.journal.location import Journal, JournalFolder
from slipring.lake.specs import MESSAGES
from slipring.lake.status import status
from slipring.lake.storage import LakeLocation
from slipring.native import JournalReader
from slipring.pipeline.archive_table import ArchiveTable
from slipring.pipeline.range_files import LakeTarget, RangeFile, write_range
from tests.journal_messages import RECEIVE_NS, payloads, write_messages
from tests.read_lake import read_lake

DAY_NS = 86_400 * 10**9


def target_of(journal: Path, lake: Path, committed: int = 0) -> LakeTarget:
    located = Journal(JournalFolder(str(journal)), JournalReader(journal).identity)
    return LakeTarget(located, LakeLocation.of(lake), {"messages": committed})


def table_of(lake: Path) -> ArchiveTable:
    return ArchiveTable(LakeLocation.of(lake), MESSAGES)


def written(start: int, end: int, target: LakeTarget) -> list[RangeFile]:
    """The files alone; a row before them stands for the range."""
    first, *files = write_range(start, end, target)
    assert (first.table, first.start, first.end) == ("", start, end)
    return files


def test_a_range_becomes_one_file_for_each_day(tmp_path: Path) -> None:
    write_messages(tmp_path / "j", 10)
    write_messages(tmp_path / "j", 10, start=10, receive_ns=RECEIVE_NS + DAY_NS)
    table = table_of(tmp_path)
    target = target_of(tmp_path / "j", tmp_path)
    files = written(0, 20, target)
    assert [(file.partition["receive_date"], file.rows) for file in files] == [
        ("2026-01-02", 10),
        ("2026-01-03", 10),
    ]
    table.commit(target.journal.identity, 20, 1, files)
    rows = read_lake(tmp_path)
    assert rows.column("payload").to_pylist() == payloads(0, 20)
    assert rows.column("receive_date").unique().to_pylist() == [date(2026, 1, 2), date(2026, 1, 3)]
    assert status(tmp_path).rows == 20


def test_what_the_table_has_is_not_written_again(tmp_path: Path) -> None:
    write_messages(tmp_path / "j", 20)
    target = target_of(tmp_path / "j", tmp_path, committed=15)
    (file,) = written(10, 20, target)
    assert (file.rows, file.start, file.end) == (5, 10, 20)
    assert pq.read_table(target.lake.path / "messages" / file.path).column(
        "offset"
    ).to_pylist() == [*range(15, 20)]
    assert written(0, 15, target) == []


def test_files_of_an_attempt_that_died_are_not_seen(tmp_path: Path) -> None:
    write_messages(tmp_path / "j", 20)
    table = table_of(tmp_path)
    target = target_of(tmp_path / "j", tmp_path)
    written(0, 20, target)
    table.commit(target.journal.identity, 20, 1, written(0, 20, target))
    assert len(list((tmp_path / "messages").rglob("*-*.parquet"))) == 2
    assert read_lake(tmp_path, ["payload"]).column(0).to_pylist() == payloads(0, 20)


def test_of_two_writers_of_the_same_range_one_is_refused(tmp_path: Path) -> None:
    write_messages(tmp_path / "j", 20)
    first, second = table_of(tmp_path), table_of(tmp_path)
    target = target_of(tmp_path / "j", tmp_path)
    journal = target.journal.identity
    assert first.committed(journal) is second.committed(journal) is None
    first.commit(journal, 20, 1, written(0, 20, target))
    with pytest.raises(LakeConflict):
        second.commit(journal, 20, 1, written(0, 20, target))
    assert second.committed(journal) == 20
    assert status(tmp_path).rows == 20


def test_a_lake_without_a_table_says_who_makes_it(tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match="slipring pipeline run makes it"):
        status(tmp_path)
