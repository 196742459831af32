"""A short backlog goes into the lake without Spark, and is the same there."""

import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slipring.errors import JournalGap
from slipring.journal.location import JournalFolder
from slipring.lake.specs import MESSAGES
from slipring.lake.storage import LakeLocation
from slipring.native import JournalReader, list_consumers
from slipring.pipeline import catch_up, run
from slipring.pipeline.archive_table import ArchiveTable
from slipring.pipeline.destination import Destination, LakeCommit
from slipring.pipeline.range_files import LakeTarget, write_range
from tests.journal_messages import payloads, write_and_be_killed, write_messages
from tests.read_lake import read_lake

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NO_SPARK = """
import sys
from pathlib import Path
from slipring.pipeline import run
run(Path(sys.argv[1]), Path(sys.argv[2]), once=True, on_step=print, on_batch=print)
assert "pyspark" not in sys.modules
"""


def test_few_messages_arrive_without_spark_and_in_batches(tmp_path: Path) -> None:
    journal, where = tmp_path / "j", tmp_path / "lake"
    batches, steps = list[LakeCommit](), list[str]()
    write_messages(journal, 100)
    for _ in range(2):
        run(
            journal,
            where,
            once=True,
            batch_messages_max=70,
            on_batch=batches.append,
            on_step=steps.append,
        )
    assert [(one.batch, one.start, one.end, one.rows["messages"]) for one in batches] == [
        (0, 0, 70, 70),
        (1, 70, 100, 30),
    ]
    rows = read_lake(where, ["offset", "payload"])
    assert rows.column("payload").to_pylist() == payloads(0, 100)
    assert [consumer.offset for consumer in list_consumers(journal)] == [100]
    assert steps == [
        "100 messages are not in the lake yet, from offset 0 on",
        "the lake has everything, up to offset 100",
    ]


def test_neither_spark_nor_java_is_touched(tmp_path: Path) -> None:
    write_messages(tmp_path / "j", 3)
    for _ in range(2):
        subprocess.run(
            [sys.executable, "-c", NO_SPARK, tmp_path / "j", tmp_path / "lake"],
            env={"PATH": ""},
            check=True,
            timeout=60,
        )


@pytest.mark.timeout(900)
def test_spark_goes_on_where_it_ended_and_the_other_way_round(
    spark: "SparkSession", tmp_path: Path
) -> None:
    journal, where = tmp_path / "j", tmp_path / "lake"
    for number in range(4):
        write_messages(journal, 10, start=10 * number)
        run(journal, where, once=True, spark=spark if number % 2 else None)
    assert read_lake(where, ["payload"]).column("payload").to_pylist() == payloads(0, 40)


@pytest.mark.timeout(900)
def test_spark_goes_on_where_retention_removed_what_its_checkpoint_names(
    spark: "SparkSession", tmp_path: Path
) -> None:
    journal, where = tmp_path / "j", tmp_path / "lake"
    write_messages(journal, 10)
    run(journal, where, once=True, spark=spark)
    write_messages(journal, 10, start=10)
    run(journal, where, once=True)
    min(journal.glob("*.seg")).unlink()
    min(journal.glob("*.seg")).unlink()
    write_messages(journal, 10, start=20)
    run(journal, where, once=True, spark=spark)
    assert read_lake(where, ["payload"]).column("payload").to_pylist() == payloads(0, 30)


def test_a_journal_that_lost_what_the_lake_has_is_told(tmp_path: Path) -> None:
    journal, where = tmp_path / "j", tmp_path / "lake"
    write_messages(journal, 10)
    run(journal, where, once=True)
    identity = read_lake(where, ["journal"]).column("journal")[0].as_py()
    ArchiveTable(LakeLocation.of(where), MESSAGES).commit(identity, 50, 1, [])
    with pytest.raises(JournalGap, match=r"offset 50 was asked for, .* synced up to 10"):
        run(journal, where, once=True)


def test_a_long_backlog_is_worth_starting_spark_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_messages(tmp_path / "j", 10)
    monkeypatch.setattr(catch_up, "BYTES_MAX", 9)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(Exception, match="Spark needs Java"):
        run(tmp_path / "j", tmp_path / "lake", once=True)


def test_the_lake_goes_on_behind_offsets_that_were_left_out(tmp_path: Path) -> None:
    journal, where = tmp_path / "j", tmp_path / "lake"
    write_and_be_killed(journal, 10)
    run(journal, where, once=True)
    # Nothing but offsets that no message has, then messages behind them.
    write_messages(journal, 0)
    run(journal, where, once=True, batch_messages_max=1_000)
    write_messages(journal, 10, start=10)
    run(journal, where, once=True)
    assert read_lake(where, ["payload"]).column("payload").to_pylist() == payloads(0, 20)
    identity = read_lake(where, ["journal"]).column("journal")[0].as_py()
    table = ArchiveTable(LakeLocation.of(where), MESSAGES)
    assert (table.committed(identity), table.epoch(identity)) == (
        JournalReader(journal).end_offset(),
        JournalReader(journal).epoch,
    )


class Overtaken(Destination):
    """Another run brings everything into the lake just before this one begins to write."""

    def target(self) -> LakeTarget:
        other = Destination(self.journal.location, self.lake, "other")
        catch_up.catch_up(other, 10, batch_messages_max=100, stop=threading.Event())
        return super().target()


def test_a_run_that_another_one_overtakes_has_nothing_left_to_do(tmp_path: Path) -> None:
    write_messages(tmp_path / "j", 10)
    destination = Overtaken(JournalFolder(str(tmp_path / "j")), tmp_path / "lake")
    catch_up.catch_up(destination, 10, batch_messages_max=100, stop=threading.Event())
    assert read_lake(tmp_path / "lake", ["payload"]).column("payload").to_pylist() == payloads(
        0, 10
    )


def test_what_was_read_is_committed_also_when_retention_overtakes_it(tmp_path: Path) -> None:
    journal, where = tmp_path / "j", tmp_path / "lake"
    write_messages(journal, 20, segment_bytes=300)
    destination = Destination(JournalFolder(str(journal)), where)
    target = destination.target()
    files = write_range(0, 5, target)
    for _ in range(2):
        min(journal.glob("*.seg")).unlink()
    destination.commit(0, target, files)
    assert read_lake(where, ["payload"]).column("payload").to_pylist() == payloads(0, 5)


def test_a_lake_that_has_another_history_is_told(tmp_path: Path) -> None:
    journal, where = tmp_path / "j", tmp_path / "lake"
    write_messages(journal, 10)
    shutil.copytree(journal, tmp_path / "copy")
    write_messages(journal, 10, start=10)
    run(journal, where, once=True)
    write_messages(tmp_path / "copy", 5, start=100)
    write_messages(tmp_path / "copy", 5, start=200)
    write_messages(tmp_path / "copy", 5, start=300)
    with pytest.raises(JournalGap, match=r"cannot continue .* epoch"):
        run(tmp_path / "copy", where, once=True)
