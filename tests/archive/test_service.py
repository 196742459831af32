"""The thread that archives never ends by itself: it says what fails, and tries again."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from slipring.archive.archiver import Archiver
from slipring.archive.service import RETRY_MOST_S, ArchiveProgress, ArchiveService, retry_s
from tests.archive.archived_broker import location
from tests.journal_messages import write_messages
from tests.running_broker import PATIENCE_S
from tests.s3_server import S3Server

pytestmark = pytest.mark.timeout(300)
SEGMENT_BYTES = 65_536
LOOK_S = 0.05


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    write_messages(tmp_path / "data" / "journal", 5_000, segment_bytes=SEGMENT_BYTES)
    return tmp_path / "data" / "journal"


@pytest.fixture
def service(journal: Path, s3_server: S3Server, s3_bucket: str) -> Iterator[ArchiveService]:
    made = ArchiveService(journal, location(s3_server, s3_bucket))
    yield made
    made.stop()


def told(service: ArchiveService, holds: Callable[[ArchiveProgress], bool]) -> ArchiveProgress:
    deadline = time.monotonic() + PATIENCE_S
    while not holds(service.progress):
        assert time.monotonic() < deadline, service.progress
        service._thread.join(LOOK_S)
        assert service._thread.is_alive(), "it has ended by itself"
    return service.progress


def test_a_storage_that_is_away_for_days_is_still_tried() -> None:
    assert [retry_s(tries) for tries in (1, 2, 3)] == [1, 2, 4]
    assert retry_s(100_000) == RETRY_MOST_S


def test_a_segment_without_a_header_is_told_and_archived_when_it_is_whole(
    journal: Path, service: ArchiveService
) -> None:
    first = min(journal.glob("*.seg"))
    content = first.read_bytes()
    first.write_bytes(content[:10])
    service.start()
    failed = told(service, lambda progress: progress.failure is not None)
    assert "is damaged and is not archived: it has 10 bytes" in str(failed.failure)
    first.write_bytes(content)
    assert told(service, lambda progress: progress.segments > 0).failure is None


def test_half_a_kept_snapshot_is_not_sent(
    journal: Path, s3_server: S3Server, s3_bucket: str
) -> None:
    kept = journal.parent / "archive" / "state.snap"
    kept.parent.mkdir()
    kept.write_bytes(b"SLIP")
    archiver = Archiver(journal, location(s3_server, s3_bucket))
    assert archiver.step() is not None
    assert archiver.manifest.snapshot is None
