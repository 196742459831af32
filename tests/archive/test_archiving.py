"""A broker archives its journal while it is written (D1): in order, once, and without waiting."""

import json
import signal
from pathlib import Path

import obstore
import pytest

from slipring.archive.archiver import Archiver
from slipring.archive.manifest import MANIFEST, Manifest
from slipring.archive.store import ArchiveStore
from slipring.errors import ArchiveError
from slipring.native import JournalReader, list_consumers
from tests.archive.archived_broker import (
    archive_told,
    is_caught_up,
    location,
    messages,
    open_archive,
    publish,
    start_broker,
)
from tests.archive.test_server import store
from tests.faults.trouble import journal_told
from tests.journal_messages import write_messages
from tests.metrics import Metrics
from tests.running_broker import RunningBroker
from tests.s3_server import S3Server

pytestmark = pytest.mark.timeout(300)
SEGMENT_BYTES = 65_536


def keys(server: S3Server, bucket: str, part: str) -> list[str]:
    """The names of the objects below a part of the archive, by themselves."""
    found = (one["path"] for some in obstore.list(store(server, bucket)) for one in some)
    return sorted(path.rpartition("/")[2] for path in found if f"/{part}/" in path)


def folder_segments(journal: Path) -> list[str]:
    return sorted(file.name for file in journal.glob("*.seg"))


async def test_complete_segments_are_archived_while_messages_come(
    tmp_path: Path, s3_server: S3Server, s3_bucket: str
) -> None:
    where = location(s3_server, s3_bucket)
    broker = start_broker(tmp_path / "data", where.url, s3_server)
    await publish(broker, 300)
    told = archive_told(broker, lambda told: told["segments"] >= 5)
    await publish(broker, 300, start=300)
    told = archive_told(broker, lambda told: told["segments"] >= 15 and is_caught_up(told))

    assert told["url"].startswith(where.url)
    assert told["behind"] == 600 - told["end_offset"]
    journal = tmp_path / "data" / "journal"
    here, there = JournalReader(journal), open_archive(where, tmp_path)
    assert there.identity == here.identity
    assert there.end_offset() == told["end_offset"]
    assert messages(there, 0, told["end_offset"]) == messages(here, 0, told["end_offset"])
    archived = [one.name for one in there.manifest.segments]
    assert archived == folder_segments(journal)[:-1]
    [consumer] = list_consumers(journal)
    assert (consumer.name, consumer.offset) == ("archive", told["end_offset"])
    assert Metrics.of(broker)["slipring_archive_segments"] == told["segments"]
    code, errors = broker.stop()
    assert code == 0, errors


async def test_a_restart_sends_nothing_again(
    tmp_path: Path, s3_server: S3Server, s3_bucket: str
) -> None:
    where = location(s3_server, s3_bucket)
    broker = start_broker(tmp_path / "data", where.url, s3_server)
    await publish(broker, 200)
    before = archive_told(broker, is_caught_up)
    broker.stop()
    written = {
        one["path"]: one["last_modified"]
        for some in obstore.list(store(s3_server, s3_bucket))
        for one in some
        if "/segments/" in one["path"]
    }

    broker = start_broker(tmp_path / "data", where.url, s3_server)
    await publish(broker, 200, start=200)
    archive_told(broker, lambda told: told["segments"] > before["segments"] and is_caught_up(told))
    broker.stop()

    after = {
        one["path"]: one["last_modified"]
        for some in obstore.list(store(s3_server, s3_bucket))
        for one in some
    }
    assert {path: after[path] for path in written} == written
    there = open_archive(where, tmp_path)
    here = JournalReader(tmp_path / "data" / "journal")
    assert messages(there, 0, there.archived_end) == messages(here, 0, there.archived_end)


async def test_a_server_that_dies_and_comes_back_is_told_and_loses_nothing(
    tmp_path: Path, own_s3_server: S3Server
) -> None:
    bucket = own_s3_server.new_bucket()
    where = location(own_s3_server, bucket)
    broker = start_broker(tmp_path / "data", where.url, own_s3_server)
    await publish(broker, 200)
    archive_told(broker, lambda told: told["segments"] > 1)
    own_s3_server.kill()
    await publish(broker, 400, start=200)  # the broker does not wait
    told = archive_told(broker, lambda told: told["failure"] is not None)
    assert where.bucket in told["failure"]
    assert told["failures"] > 0
    assert journal_told(broker)["state"] == "ok"

    own_s3_server.start()
    told = archive_told(broker, lambda told: told["segments"] >= 15 and is_caught_up(told))
    code, errors = broker.stop()

    assert code == 0, errors
    assert "it is tried again" in errors
    assert "segments are sent again" in errors
    there = open_archive(where, tmp_path)
    here = JournalReader(tmp_path / "data" / "journal")
    assert messages(there, 0, there.archived_end) == messages(here, 0, there.archived_end)


async def test_retention_waits_for_the_archive(tmp_path: Path, own_s3_server: S3Server) -> None:
    where = location(own_s3_server, own_s3_server.new_bucket())
    own_s3_server.kill()
    retain = "retain_bytes = 131072"
    broker = start_broker(tmp_path / "data", where.url, own_s3_server, retain)
    await publish(broker, 400)
    while (told := journal_told(broker))["held_by"] is None:
        assert broker.process.poll() is None
    assert "consumer archive" in told["held_by"]
    assert told["first_offset"] == 0

    own_s3_server.start()
    while journal_told(broker)["first_offset"] == 0:
        assert broker.process.poll() is None
    broker.stop()

    there = open_archive(where, tmp_path)
    here = JournalReader(tmp_path / "data" / "journal")
    assert there.first_offset == 0
    assert here.first_offset <= there.archived_end
    assert len(messages(there, 0, there.archived_end)) == there.archived_end


class DyingArchiver(Archiver):
    """Dies when a segment is sent and the manifest is not."""

    def _put(self, manifest: Manifest) -> None:
        raise KeyboardInterrupt


async def test_a_broker_that_is_killed_again_and_again_archives_each_message_once(
    tmp_path: Path, s3_server: S3Server, s3_bucket: str
) -> None:
    where = location(s3_server, s3_bucket)
    lives = 4
    for life in range(lives):
        slow = "archive_bytes_per_s = 200000"
        broker = start_broker(tmp_path / "data", where.url, s3_server, slow)
        await publish(broker, 100, start=100 * life)
        sent = len(keys(s3_server, s3_bucket, "segments"))
        while len(keys(s3_server, s3_bucket, "segments")) == sent:
            assert broker.process.poll() is None
        broker.stop(signal.SIGKILL)
    broker = start_broker(tmp_path / "data", where.url, s3_server)
    archive_told(broker, lambda told: is_caught_up(told) and told["end_offset"] > 4096)
    broker.stop()

    there, here = (
        open_archive(where, tmp_path),
        JournalReader(tmp_path / "data" / "journal"),
    )
    end = there.archived_end
    assert messages(there, 0, end) == messages(here, 0, end)
    assert there.left_out() == [one for one in here.left_out() if one[1] <= end]
    assert len({one.name for one in there.manifest.segments}) == len(there.manifest.segments)


def test_an_archiver_that_died_before_the_manifest_goes_on_there(
    tmp_path: Path, s3_server: S3Server, s3_bucket: str
) -> None:
    where = location(s3_server, s3_bucket)
    write_messages(tmp_path / "data" / "journal", 8000, segment_bytes=SEGMENT_BYTES)
    assert Archiver(tmp_path / "data" / "journal", where).step() is not None
    with pytest.raises(KeyboardInterrupt):
        DyingArchiver(tmp_path / "data" / "journal", where).step()
    sent = keys(s3_server, s3_bucket, "segments")
    assert len(sent) == 2
    assert len(open_archive(where, tmp_path).manifest.segments) == 1

    after = Archiver(tmp_path / "data" / "journal", where)
    while after.step() is not None:
        pass

    assert set(sent) < set(keys(s3_server, s3_bucket, "segments"))
    there = open_archive(where, tmp_path)
    assert messages(there, 0, 8000) == messages(
        JournalReader(tmp_path / "data" / "journal"), 0, 8000
    )


def test_a_flipped_byte_on_the_disk_is_not_archived(
    tmp_path: Path, s3_server: S3Server, s3_bucket: str
) -> None:
    journal = tmp_path / "data" / "journal"
    write_messages(journal, 8000, segment_bytes=SEGMENT_BYTES)
    damaged = journal / folder_segments(journal)[1]
    content = bytearray(damaged.read_bytes())
    content[len(content) // 2] ^= 1
    damaged.write_bytes(content)
    archiver = Archiver(journal, location(s3_server, s3_bucket))
    first = archiver.step()
    assert first is not None
    for _ in range(2):
        with pytest.raises(ArchiveError, match=f"{damaged.name} is damaged.*salvage"):
            archiver.step()
    assert archiver.manifest.end_offset == first.end_offset
    [consumer] = list_consumers(journal)
    assert consumer.offset == first.end_offset


def test_a_flipped_byte_in_the_archive_is_refused(
    tmp_path: Path, s3_server: S3Server, s3_bucket: str
) -> None:
    where = location(s3_server, s3_bucket)
    write_messages(tmp_path / "data" / "journal", 4000, segment_bytes=SEGMENT_BYTES)
    archiver = Archiver(tmp_path / "data" / "journal", where)
    while archiver.step() is not None:
        pass
    segment = archiver.manifest.segments[1]
    objects = ArchiveStore(archiver.location)
    content = bytearray(b"".join(objects.parts(segment.key, segment.bytes)))
    content[len(content) // 2] ^= 1
    objects.put(segment.key, bytes(content))

    there = open_archive(where, tmp_path)
    assert len(messages(there, 0, segment.first_offset)) == segment.first_offset
    with pytest.raises(ArchiveError, match="is damaged"):
        messages(there, segment.first_offset, segment.end_offset)
    assert len(messages(there, segment.end_offset, 4000)) == 4000 - segment.end_offset


def test_two_brokers_with_copies_of_a_journal_are_found(
    tmp_path: Path, s3_server: S3Server, s3_bucket: str
) -> None:
    where = location(s3_server, s3_bucket)
    write_messages(tmp_path / "one" / "journal", 8000, segment_bytes=SEGMENT_BYTES)
    one = Archiver(tmp_path / "one" / "journal", where)
    other = Archiver(tmp_path / "one" / "journal", where)
    one.step()
    other.step()  # knows what the first has archived, and goes on there
    with pytest.raises(ArchiveError, match="another broker writes"):
        one.step()
    assert len(open_archive(where, tmp_path).manifest.segments) == 2


def test_an_archive_of_another_history_is_refused(
    tmp_path: Path, s3_server: S3Server, s3_bucket: str
) -> None:
    import shutil

    where = location(s3_server, s3_bucket)
    journal = tmp_path / "data" / "journal"
    write_messages(journal, 2000, segment_bytes=SEGMENT_BYTES)
    shutil.copytree(journal, tmp_path / "older" / "journal")
    write_messages(journal, 4000, start=2000, segment_bytes=SEGMENT_BYTES)
    archiver = Archiver(journal, where)
    while archiver.step() is not None:
        pass
    write_messages(tmp_path / "older" / "journal", 5000, start=9000, segment_bytes=SEGMENT_BYTES)

    with pytest.raises(ArchiveError, match="another history"):
        Archiver(tmp_path / "older" / "journal", where).step()


def test_the_manifest_says_what_there_is(
    tmp_path: Path, s3_server: S3Server, s3_bucket: str
) -> None:
    where = location(s3_server, s3_bucket)
    write_messages(tmp_path / "data" / "journal", 4000, segment_bytes=SEGMENT_BYTES)
    archiver = Archiver(tmp_path / "data" / "journal", where)
    while archiver.step() is not None:
        pass
    found = ArchiveStore(archiver.location).get(MANIFEST)
    assert found is not None
    told = json.loads(found[0])
    assert (told["first_offset"], told["end_offset"]) == (0, 4000)
    assert Manifest.from_json(found[0], "here") == archiver.manifest
    assert [one["key"].rpartition("/")[2] for one in told["segments"]] == keys(
        s3_server, s3_bucket, "segments"
    )


def test_an_upload_is_paced(tmp_path: Path) -> None:
    from io import BytesIO
    from time import monotonic

    from slipring.archive.pace import Pace

    begun = monotonic()
    pieces = list(Pace(4_000_000).pieces(BytesIO(bytes(1_000_000)), len))
    assert sum(map(len, pieces)) == 1_000_000
    assert monotonic() - begun >= 0.2


def test_a_broker_without_an_archive_says_that_retention_waits_for_one(tmp_path: Path) -> None:
    journal = tmp_path / "data" / "journal"
    write_messages(journal, 10)
    from slipring.native import commit_consumer

    commit_consumer(journal, "archive", JournalReader(journal).identity, 0)
    code, errors = RunningBroker.start(tmp_path / "data").stop()
    assert code == 0
    assert "slipring journal forget archive" in errors
