"""The pipeline's start and end, with fakes in Spark's place."""

import subprocess
import sys
import threading
from pathlib import Path
from typing import cast

import pytest
from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql.streaming.readwriter import DataStreamWriter

from slipring.errors import JournalGap, PipelineError
from slipring.journal.location import JournalFolder
from slipring.native import list_consumers
from slipring.pipeline.destination import Destination
from slipring.pipeline.ingest import Ingest
from slipring.pipeline.job import require_java
from slipring.pipeline.query import SLOW_START, START_ATTEMPTS, explained, follow
from tests.journal_messages import write_messages


class Stream:
    """A query that has ended when it is asked, with these failures one after the other."""

    isActive = False  # noqa: N815 (Spark's name)

    def __init__(self, *failures: str | None) -> None:
        self.failures = list(failures)
        self.starts = 0

    def start(self) -> "Stream":
        self.starts += 1
        return self

    def exception(self) -> StreamingQueryException | None:
        failure = self.failures.pop(0)
        return None if failure is None else StreamingQueryException(failure)

    def stop(self) -> None:
        pass

    def follow(self, tmp_path: Path) -> None:
        write_messages(tmp_path / "journal", 1)
        journal = JournalFolder(str(tmp_path / "journal"))
        self.ingest = Ingest(Destination(journal, tmp_path / "lake"), lambda _commit: None)
        follow(cast("DataStreamWriter", self), threading.Event(), self.ingest)


class StreamOfWorkers(Stream):
    """The same, where it is the writing of files in Spark's workers that fails."""

    def exception(self) -> StreamingQueryException | None:
        failure = super().exception()
        if failure is not None:
            self.ingest.failure = PySparkException(str(failure))
        return failure


@pytest.mark.parametrize("kind", [Stream, StreamOfWorkers])
def test_a_slow_start_is_tried_again(tmp_path: Path, kind: type[Stream]) -> None:
    stream = kind(SLOW_START, None)
    stream.follow(tmp_path)
    assert stream.starts == 2


def test_a_start_that_is_always_slow_is_told(tmp_path: Path) -> None:
    stream = Stream(*[SLOW_START] * START_ATTEMPTS)
    with pytest.raises(PipelineError, match=SLOW_START):
        stream.follow(tmp_path)
    assert stream.starts == START_ATTEMPTS


@pytest.mark.parametrize("kind", [Stream, StreamOfWorkers])
def test_any_other_failure_is_not_tried_again(tmp_path: Path, kind: type[Stream]) -> None:
    stream = kind("the disk is full", None)
    with pytest.raises(PipelineError, match="the disk is full"):
        stream.follow(tmp_path)
    assert stream.starts == 1


def test_our_own_error_is_found_in_spark_s_account() -> None:
    account = "[PYTHON_ERROR] Traceback ...\nslipring.errors.JournalGap: offset 1 ...\n\tat java"
    found = explained(RuntimeError(account))
    assert (type(found), str(found)) == (JournalGap, "offset 1 ...")
    damaged = explained(RuntimeError("slipring.errors.JournalDamaged: offsets 3 to 5 ..."))
    assert (type(damaged), str(damaged)) == (PipelineError, "offsets 3 to 5 ...")


def test_before_the_first_batch_the_journal_keeps_what_the_lake_lacks(tmp_path: Path) -> None:
    write_messages(tmp_path / "journal", 10)
    Destination(JournalFolder(str(tmp_path / "journal")), tmp_path / "lake", "lake")
    assert [consumer.offset for consumer in list_consumers(tmp_path / "journal")] == [0]


def test_without_java_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(PipelineError, match="apt-get install openjdk-17-jre-headless"):
        require_java()


def test_importing_the_pipeline_does_not_load_spark() -> None:
    program = "import sys, slipring.pipeline; print({'pyspark', 'pyarrow'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "set()"
