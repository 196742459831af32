"""How far the jobs of a run are: told to whoever watches the run, and to the broker (D1)."""

import asyncio
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slipring.journal.consumer_note import ConsumerNote
from slipring.journal.count_rates import READ
from slipring.journal.location import JournalBroker, JournalFolder
from slipring.lake.storage import LakeLocation
from slipring.native import list_consumers
from slipring.pipeline.config import parse_pipeline
from slipring.pipeline.pipeline_run import PipelineRun
from slipring.pipeline.progress import RunProgress
from tests.console_answer import overview
from tests.journal_messages import RECEIVE_NS, write_messages
from tests.metrics import Metrics
from tests.pipeline.test_computed_tables import ROWS, fly
from tests.running_broker import PATIENCE_S, RunningBroker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from slipring.pipeline.run_jobs import JobProgress

SECOND_NS = 1_000_000_000


def age_s(receive_ns: int) -> float:
    return (time.time_ns() - receive_ns) / SECOND_NS


def test_a_report_has_lag_by_the_receive_times_of_the_journal(tmp_path: Path) -> None:
    begin_ns = time.time_ns() - 100 * SECOND_NS
    write_messages(tmp_path, 5, receive_ns=begin_ns)
    write_messages(tmp_path, 5, start=5, receive_ns=begin_ns + 60 * SECOND_NS)
    progress = RunProgress(JournalFolder(str(tmp_path)))
    assert progress.reports() == []
    assert progress.add("archive", 2, {"messages": 2})
    assert progress.note("rollup", 5, ConsumerNote({"rollup_1s": 7}))
    assert progress.note("budget", 10, ConsumerNote())
    archive, rollup, budget = progress.reports()
    assert [one.behind for one in (archive, rollup, budget)] == [8, 5, 0]
    assert archive.lag_s is not None
    assert rollup.lag_s is not None
    assert 100 <= archive.lag_s <= age_s(begin_ns)
    assert 40 <= rollup.lag_s <= age_s(begin_ns) - 60
    assert budget.lag_s == 0.0
    assert not progress.add("archive", 10, {"messages": 8})
    archive = progress.reports()[0]
    assert (archive.behind, archive.lag_s) == (0, 0.0)
    assert archive.note == ConsumerNote({"messages": 10}, {"messages": 8})
    assert archive.rates[READ] == archive.rates["messages"] > 0


def test_a_journal_that_is_not_there_leaves_lag_unknown(tmp_path: Path) -> None:
    progress = RunProgress(JournalFolder(str(tmp_path / "none")))
    progress.add("archive", 2, {})
    (report,) = progress.reports()
    assert (report.offset, report.behind, report.lag_s) == (2, None, None)


def test_lag_is_told_for_a_journal_over_the_network(broker: RunningBroker) -> None:
    asyncio.run(fly(broker.url))
    progress = RunProgress(JournalBroker(broker.url))
    progress.add("archive", 1, {})
    (report,) = progress.reports()
    assert report.behind is not None
    assert report.behind > 0
    assert report.lag_s is not None
    assert 0 < report.lag_s < age_s(RECEIVE_NS)


def lake_of(broker: RunningBroker) -> dict[str, Any]:
    """The consumer `lake` as the console tells it, once it has written rows."""
    given_up_s = time.monotonic() + PATIENCE_S
    while True:
        found = overview(broker)["broker"]["journal"]["consumers"]
        if found and found[0]["rows"]:
            lake: dict[str, Any] = found[0]
            return lake
        assert time.monotonic() < given_up_s, found


def test_the_broker_tells_what_a_pipeline_wrote_whether_it_reads_files_or_asks(
    broker: RunningBroker, tmp_path: Path
) -> None:
    asyncio.run(fly(broker.url))
    for source in ([], ["--broker", broker.url]):
        lake = tmp_path / f"lake-{len(source)}"
        command = [sys.executable, "-m", "slipring", "pipeline", "run", "--once"]
        where = ["--data", str(broker.data), "--lake", str(lake), *source]
        subprocess.run([*command, *where], check=True, timeout=120, capture_output=True)
        found = lake_of(broker)
        rows = {row["table"]: row for row in found["rows"]}
        assert (found["name"], found["behind"], found["lag_s"]) == ("lake", 0, 0.0)
        assert rows["samples"]["rows"] == rows["samples"]["last_rows"] == 2 * ROWS
        assert rows["messages"]["rows"] == found["offset"]
        metrics = Metrics.of(broker)
        label = '{consumer="lake",table="samples"}'
        assert metrics[f"slipring_journal_consumer_rows_total{label}"] == 2 * ROWS
        assert metrics['slipring_journal_consumer_read_total{consumer="lake"}'] == found["offset"]
        (folder,) = (broker.data / "journal").glob("consumers")
        (folder / "lake").unlink()
        given_up_s = time.monotonic() + PATIENCE_S
        while overview(broker)["broker"]["journal"]["consumers"]:
            assert time.monotonic() < given_up_s


def test_each_job_tells_its_rows_to_the_journal_and_to_the_run(
    tmp_path: Path, broker: RunningBroker, spark: "SparkSession"
) -> None:
    asyncio.run(fly(broker.url))
    broker.stop()
    jobs, told = ["archive", "rollup", "limits", "latency", "budget"], list["JobProgress"]()
    run = PipelineRun(
        JournalFolder(str(broker.data / "journal")),
        LakeLocation.of(tmp_path / "lake"),
        parse_pipeline({"budget": {"vehicle": "jet/{vehicle}/#"}, "rollup": {"late": "36500d"}}),
        state=tmp_path / "state",
        once=True,
        on_progress=told.append,
    )
    run.run(jobs, spark)
    consumers = {one.name: one for one in list_consumers(broker.data / "journal")}
    assert len({one.offset for one in consumers.values()}) == 1
    rows = {name: ConsumerNote.decode(one.note).rows for name, one in consumers.items()}
    assert rows["lake"]["samples"] == 2 * ROWS
    assert {"rollup_1s", "rollup_1m", "rollup_1h"} <= rows["lake-rollup"].keys()
    assert {*rows["lake-limits"]} == {"events"}
    assert {*rows["lake-latency"]} == {"latency"}
    assert {*rows["lake-budget"]} == {"budget"}
    last = {one.job: one for one in told}
    assert {*last} == {*jobs} - {"archive"}
    for name, progress in last.items():
        written = {table: count for table, count in progress.note.rows.items() if count}
        assert written == rows[f"lake-{name}"]
        assert progress.end == consumers["lake"].offset
