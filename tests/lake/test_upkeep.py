"""Retention, vacuum and turns of upkeep; what killed writers left behind goes (D1)."""

import os
import signal
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from slipring.errors import ConfigError
from slipring.lake.files import write_file
from slipring.lake.retention import Keep
from slipring.lake.specs import SAMPLES
from slipring.lake.storage import LakeLocation
from slipring.lake.table import LakeTable
from slipring.lake.upkeep import TableUpkeep, UpkeepPolicy, UpkeepReport, care_for
from tests.lake.sample_rows import APP, HOUR_NS, START_NS, opened, put, rows_of, samples

START = datetime.fromtimestamp(START_NS / 10**9, UTC)
LONG_AFTER = START + timedelta(days=400)

KILLED_WRITER = """
import os, signal, sys
from slipring.lake.files import TableFile, write_file
from slipring.lake.specs import SAMPLES
from slipring.lake.storage import LakeLocation
from tests.lake.sample_rows import samples
lake = LakeLocation.of(sys.argv[1])
write_file(lake, SAMPLES, [samples(10, 20)])
half = TableFile(lake.child("samples").filesystem(), SAMPLES, "2026-01-02", "rows")
half.__enter__()
for start in range(0, 300_000, 30_000):
    half.add(samples(start, start + 30_000))
os.kill(os.getpid(), signal.SIGKILL)
"""


def data_files(lake: LakeLocation) -> list[Path]:
    return sorted((lake.path / "samples").rglob("*.parquet"))


def make_old(paths: list[Path], hours: int) -> None:
    for path in paths:
        then = path.stat().st_mtime - hours * 3600
        os.utime(path, (then, then))


def test_files_of_a_killed_writer_are_not_seen_and_vacuumed_when_they_are_old(
    tmp_path: Path,
) -> None:
    """Fault "Spark worker killed": between its files and the commit, and within a file."""
    lake = LakeLocation.of(tmp_path)
    table = opened(lake)
    put(table, lake, 0, 10)
    (kept,) = data_files(lake)
    killed = subprocess.run(
        [sys.executable, "-c", KILLED_WRITER, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        timeout=120,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    left = [path for path in data_files(lake) if path != kept]
    assert len(left) == 2
    assert rows_of(table).num_rows == 50
    assert table.vacuum(1) == []
    make_old([kept, *left], 2)
    assert len(table.vacuum(1)) == 2
    assert data_files(lake) == [kept]
    put(table, lake, 10, 20)
    assert rows_of(table).num_rows == 100


def test_replaced_files_stay_for_readers_of_older_versions(tmp_path: Path) -> None:
    lake = LakeLocation.of(tmp_path)
    table = opened(lake)
    for start in (0, 10):
        put(table, lake, start, start + 10)
    version = table.delta.version()
    upkeep = TableUpkeep(lake, SAMPLES, UpkeepPolicy())
    report = upkeep.turn(LONG_AFTER)
    assert (report.compacted_files, report.new_files, report.rows) == (2, 1, 100)
    older = LakeTable.open(lake, SAMPLES)
    older.delta.load_as_version(version)
    assert older.delta.to_pyarrow_table().num_rows == 100
    assert upkeep.turn(LONG_AFTER).is_idle


@pytest.mark.parametrize(
    ("text", "keep"),
    [
        ("12h", Keep(age=timedelta(hours=12))),
        ("30d", Keep(age=timedelta(days=30))),
        ("8w", Keep(age=timedelta(days=56))),
        ("500MB", Keep(bytes=500_000_000)),
        ("1 TB", Keep(bytes=10**12)),
    ],
)
def test_what_is_kept_is_an_age_or_a_size(text: str, keep: Keep) -> None:
    assert Keep.of(text) == keep


@pytest.mark.parametrize("text", ["", "30", "30 days", "d", "-1d", "1e3GB"])
def test_another_text_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="neither an age, as 30d, nor a size"):
        Keep.of(text)


@pytest.mark.parametrize("text", ["0d", "0GB", "999999999d", f"{'9' * 5000}w"])
def test_keeping_nothing_or_for_longer_than_a_date_can_say_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="must be from 1 to 100,000"):
        Keep.of(text)


def test_rows_that_are_too_old_go_and_the_position_stays(lake: LakeLocation) -> None:
    table = opened(lake)
    for hour in range(4):
        put(table, lake, 10 * hour, 10 * hour + 10, start_ns=START_NS + hour * HOUR_NS)
    upkeep = TableUpkeep(lake, SAMPLES, UpkeepPolicy(keep=Keep(age=timedelta(hours=2))))
    report = upkeep.turn(START + timedelta(hours=4))
    assert report.expired_files == 2
    assert set(rows_of(table).column("offset").to_pylist()) == {*range(20, 40)}
    assert table.committed(APP) == 40


def test_a_table_that_is_too_large_loses_its_oldest_rows(lake: LakeLocation) -> None:
    table = opened(lake)
    for start in range(0, 100, 10):
        put(table, lake, start, start + 10)
    size = sum(file.bytes for file in table.files())
    upkeep = TableUpkeep(lake, SAMPLES, UpkeepPolicy(keep=Keep(bytes=size // 2)))
    assert upkeep.turn(START).expired_files == 6
    assert set(rows_of(table).column("offset").to_pylist()) == {*range(60, 100)}
    assert upkeep.turn(START).expired_files == 0


def test_compacted_files_are_as_old_as_their_rows(tmp_path: Path) -> None:
    lake = LakeLocation.of(tmp_path)
    table = opened(lake)
    for start in (0, 10):
        put(table, lake, start, start + 10)
    newest = max(file.time_ms for file in table.files())
    put(table, lake, 20, 30, start_ns=START_NS + HOUR_NS)
    TableUpkeep(lake, SAMPLES, UpkeepPolicy()).turn(LONG_AFTER)
    assert table.committed(APP) == 30
    assert table.files()[0].time_ms == newest


def test_upkeep_in_a_thread_takes_turns_until_it_is_stopped(tmp_path: Path) -> None:
    lake = LakeLocation.of(tmp_path)
    table = opened(lake)
    for start in range(32):
        put(table, lake, start, start + 1)
    stop, reports = threading.Event(), list[UpkeepReport]()

    def note(name: str, report: UpkeepReport) -> None:
        assert name == "samples"
        reports.append(report)
        stop.set()

    upkeep = TableUpkeep(lake, SAMPLES, UpkeepPolicy())
    thread = threading.Thread(target=care_for, args=([upkeep], stop), kwargs={"on_turn": note})
    thread.start()
    thread.join(120)
    assert not thread.is_alive()
    assert [report.compacted_files for report in reports] == [32]
    assert rows_of(table).num_rows == 160


def test_upkeep_goes_on_when_a_storage_that_was_away_is_back(tmp_path: Path) -> None:
    lake = LakeLocation.of(tmp_path)
    table = opened(lake)
    for start in range(32):
        put(table, lake, start, start + 1)
    upkeep, stop = TableUpkeep(lake, SAMPLES, UpkeepPolicy()), threading.Event()
    failed, reports = list[str](), list[UpkeepReport]()
    log, away = tmp_path / "samples" / "_delta_log", tmp_path / "away"
    log.rename(away)

    def bring_back(name: str, _error: Exception) -> None:
        failed.append(name)
        away.rename(log)

    def note(_name: str, report: UpkeepReport) -> None:
        reports.append(report)
        stop.set()

    hooks = {"every_s": 0.01, "on_turn": note, "on_failure": bring_back}
    thread = threading.Thread(target=care_for, args=([upkeep], stop), kwargs=hooks)
    thread.start()
    thread.join(120)
    assert not thread.is_alive()
    assert failed == ["samples"]
    assert [report.compacted_files for report in reports] == [32]


def test_a_slice_that_cannot_be_merged_does_not_keep_the_others_from_it(tmp_path: Path) -> None:
    lake = LakeLocation.of(tmp_path)
    table = opened(lake)
    for hour in (0, 1):
        for start in (20 * hour, 20 * hour + 10):
            put(table, lake, start, start + 10, start_ns=START_NS + hour * HOUR_NS)
    (tmp_path / "samples" / table.files()[0].path).unlink()
    report = TableUpkeep(lake, SAMPLES, UpkeepPolicy()).turn(LONG_AFTER)
    assert (report.compacted_files, report.new_files) == (2, 1)


def test_a_writer_that_removed_the_files_first_is_not_disturbed(tmp_path: Path) -> None:
    lake = LakeLocation.of(tmp_path)
    table = opened(lake)
    for start in (0, 10):
        put(table, lake, start, start + 10)

    class Overtaken(TableUpkeep):
        """Another writer replaces a file after this one has planned."""

        def _expire(self, now: datetime) -> int:
            (first, *_) = table.files()
            table.commit(write_file(lake, SAMPLES, [samples(0, 5)]), {}, [first.path])
            return super()._expire(now)

    report = Overtaken(lake, SAMPLES, UpkeepPolicy()).turn(LONG_AFTER)
    assert report.compacted_files == 0
    assert rows_of(table).num_rows == 75
