"""The storage does what it is asked, and its answer is lost (D1)."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from slipring.lake.compaction import compact, plan
from slipring.lake.specs import SAMPLES
from slipring.lake.storage import LakeLocation
from slipring.lake.table import LakeTable
from tests.lake.sample_rows import APP, opened, put, rows_of
from tests.lake.test_upkeep import LONG_AFTER
from tests.lossy_s3 import LossyS3
from tests.s3_server import S3Server

LOG_ENTRY = rb"PUT .*/_delta_log/\d+\.json"


@pytest.fixture
def lossy(s3_server: S3Server) -> Iterator[LossyS3]:
    with LossyS3(s3_server).running() as made:
        yield made


def test_a_commit_whose_answer_was_lost_is_made_once(lossy: LossyS3, s3_bucket: str) -> None:
    lake = LakeLocation.of(f"s3://{s3_bucket}/lake", lossy.options)
    table = opened(lake)
    lossy.lose(LOG_ENTRY)
    put(table, lake, 0, 10)
    assert lossy.left == 0
    assert table.committed(APP) == 10
    assert rows_of(table).num_rows == 50


def test_a_compaction_whose_answer_was_lost_loses_no_row(lossy: LossyS3, s3_bucket: str) -> None:
    lake = LakeLocation.of(f"s3://{s3_bucket}/lake", lossy.options)
    table = opened(lake)
    for start in (0, 10):
        put(table, lake, start, start + 10)
    before = rows_of(table)
    (planned,) = plan(table.files(), table.spec, LONG_AFTER)
    lossy.lose(LOG_ENTRY)
    compact(table, planned, threading.Event())
    assert lossy.left == 0
    assert len(table.files()) == 1
    assert rows_of(table).equals(before)


def test_a_table_that_fails_after_its_commit_keeps_the_compacted_files(tmp_path: Path) -> None:
    lake = LakeLocation.of(tmp_path)
    table = opened(lake)
    for start in (0, 10):
        put(table, lake, start, start + 10)
    before = rows_of(table)
    (planned,) = plan(table.files(), table.spec, LONG_AFTER)

    class Unreachable(LakeTable):
        """The storage is away as soon as the commit is made."""

        def commit(self, *arguments: Any, **options: Any) -> None:
            super().commit(*arguments, **options)
            raise OSError("the storage is away")

    with pytest.raises(OSError, match="away"):
        compact(Unreachable.open(lake, SAMPLES), planned, threading.Event())
    assert rows_of(table).equals(before)
