"""Derived values are computed once, live and from history, to the last bit (D1)."""

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from slipring.errors import ConnectError, LakeConflict, PipelineError
from slipring.lake.storage import LakeLocation
from slipring.pipeline.derive_store import DeriveStore
from tests.pipeline.derive_history import (
    DERIVE,
    JOURNAL,
    MESSAGES,
    MS,
    T0_NS,
    derivations,
    history,
    samples_between,
)
from tests.publication.batches import samples_in
from tests.running_broker import RunningBroker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from slipring.pipeline.derive_job import DeriveJob

pytestmark = pytest.mark.timeout(1800)
PROGRAM = Path(__file__).with_name("killed_derive.py")
WAIT_S = 400
ORDER = [("parameter", "ascending"), ("source_ns", "ascending")]


def job_of(lake: Path) -> "DeriveJob":
    from slipring.pipeline.derive_job import DeriveJob

    return DeriveJob(derivations(), DeriveStore(LakeLocation.of(lake), JOURNAL, lake / "_derive"))


def derived(lake: Path) -> pa.Table:
    return DeltaTable(lake / "derived").to_pyarrow_table().sort_by(ORDER)


def live(spark: "SparkSession", lake: Path, *cuts: int) -> pa.Table:
    job = job_of(lake)
    for start, end in zip((0, *cuts), (*cuts, MESSAGES), strict=True):
        job.write(lambda a, b: samples_between(spark, a, b), start, end)
    job.finish()
    return derived(lake)


def test_batches_and_backfill_are_equal_to_the_last_bit(
    spark: "SparkSession", tmp_path: Path
) -> None:
    one = live(spark, tmp_path / "one")
    many = live(spark, tmp_path / "many", 7, 8, 150, 333)
    assert Counter(one.column("parameter").to_pylist()).keys() == DERIVE.keys()
    assert one.equals(many)
    again = job_of(tmp_path / "again")
    from_ns, to_ns = T0_NS + 4_000 * MS, T0_NS + 9_000 * MS
    # As the lake has them: by parameter, not in the order of arrival.
    rows = spark.createDataFrame(history().sort_by(ORDER))
    again.backfill(rows, from_ns, to_ns, rows_max=5_000)
    times = one.column("source_ns").to_numpy()
    expected = one.filter(pa.array((times >= from_ns) & (times < to_ns)))
    assert expected.num_rows > 300
    assert derived(tmp_path / "again").equals(expected)
    # Over values that are there it changes nothing.
    job_of(tmp_path / "one").backfill(rows, from_ns, to_ns)
    assert derived(tmp_path / "one").equals(one)


def test_a_backfill_leaves_to_the_job_what_it_has_not_computed(
    spark: "SparkSession", tmp_path: Path
) -> None:
    """Its time goes on where the job has not come yet: no value is there twice, or missing."""
    lake = tmp_path / "lake"
    job = job_of(lake)
    job.write(lambda a, b: samples_between(spark, a, b), 0, 300)
    rows = spark.createDataFrame(history())
    job_of(lake).backfill(rows, T0_NS + 2_000 * MS, T0_NS + 9_000 * MS)
    job.write(lambda a, b: samples_between(spark, a, b), 300, MESSAGES)
    assert derived(lake).equals(live(spark, tmp_path / "other"))


def test_a_second_run_ends_when_the_first_has_come_further(
    spark: "SparkSession", tmp_path: Path
) -> None:
    """Its states lack what the other has read."""
    one, two = job_of(tmp_path), job_of(tmp_path)
    one.write(lambda a, b: samples_between(spark, a, b), 0, 100)
    two.write(lambda a, b: samples_between(spark, a, b), 100, 200)
    with pytest.raises(LakeConflict, match="to offset 200; this one was at 100: stop one of them"):
        one.write(lambda a, b: samples_between(spark, a, b), 100, 300)


def test_a_batch_is_written_once_and_none_is_left_out(
    spark: "SparkSession", tmp_path: Path
) -> None:
    expected = live(spark, tmp_path / "once", 300)
    job = job_of(tmp_path / "lake")
    for start, end in ((0, 300), (0, 300), (100, MESSAGES)):
        job.write(lambda a, b: samples_between(spark, a, b), start, end)
    assert derived(tmp_path / "lake").equals(expected)
    with pytest.raises(PipelineError, match=f"up to offset {MESSAGES}, and cannot go on at 700"):
        job.write(lambda a, b: samples_between(spark, a, b), 700, 800)


def test_killed_anywhere_every_value_is_once_in_the_lake_and_on_the_bus(
    spark: "SparkSession", broker: RunningBroker, tmp_path: Path
) -> None:
    lake = tmp_path / "lake"
    for step in ("computed", "kept", "sent", "acknowledged", "end"):
        command = [sys.executable, str(PROGRAM), broker.url, str(lake), step]
        done = subprocess.run(
            command,
            timeout=WAIT_S,
            capture_output=True,
            text=True,
            check=False,
            # The program imports other modules of the tests.
            env={**os.environ, "PYTHONPATH": str(PROGRAM.parents[2])},
        )
        assert done.returncode == (0 if step == "end" else -signal.SIGKILL), done.stderr[-2000:]
    broker.stop()
    found = derived(lake)
    assert found.equals(live(spark, tmp_path / "other"))
    pairs = zip(
        found.column("source_ns").to_pylist(), found.column("value").to_pylist(), strict=True
    )
    assert samples_in(broker.data, "jet") == Counter(pairs)


def test_what_could_not_be_published_comes_before_the_next_batch(
    spark: "SparkSession", address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from slipring.journal.location import JournalBroker
    from slipring.pipeline.derive_job import DeriveJob
    from slipring.publication import publisher

    monkeypatch.setattr(publisher, "PATIENCE_S", 0.0)
    target = publisher.PublicationTarget(JournalBroker(f"mqtt://{address}"), "derive")
    store = DeriveStore(LakeLocation.of(tmp_path / "lake"), JOURNAL, tmp_path / "state")
    job = DeriveJob(derivations(), store, publisher.BatchPublisher(target, tmp_path / "bus"))
    with pytest.raises(ConnectError):
        job.write(lambda a, b: samples_between(spark, a, b), 0, 300)
    broker = RunningBroker.start(tmp_path / "data", "--mqtt", address)
    job.write(lambda a, b: samples_between(spark, a, b), 300, MESSAGES)
    job.finish()
    broker.stop()
    found = derived(tmp_path / "lake")
    times, values = (found.column(name).to_pylist() for name in ("source_ns", "value"))
    assert samples_in(broker.data, "jet") == Counter(zip(times, values, strict=True))
