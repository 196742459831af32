"""What is in the archive is read as from the folder, and joined with the broker without a seam."""

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from slipring.archive.archiver import Archiver
from slipring.archive.cache import SegmentCache
from slipring.archive.location import ArchiveLocation
from slipring.archive.reader import ArchiveReader
from slipring.credentials import BrokerCredentials
from slipring.errors import ArchiveError, JournalError, JournalGap
from slipring.journal.location import JournalArchive, JournalBroker
from slipring.native import JournalReader
from tests.archive.archived_broker import (
    archive_told,
    is_caught_up,
    location,
    messages,
    open_archive,
    publish,
    start_broker,
)
from tests.faults.trouble import journal_told
from tests.journal_messages import RECEIVE_NS, write_and_be_killed, write_messages
from tests.s3_server import S3Server

pytestmark = pytest.mark.timeout(300)
SEGMENT_BYTES = 65_536
MESSAGES = 10_000


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A journal that was killed once, so that some offsets have no message."""
    folder = tmp_path_factory.mktemp("reading") / "data" / "journal"
    write_messages(folder, MESSAGES, segment_bytes=SEGMENT_BYTES)
    write_and_be_killed(folder, 1000, start=MESSAGES)
    write_messages(folder, 1000, start=2 * MESSAGES, segment_bytes=SEGMENT_BYTES)
    return folder


@pytest.fixture(scope="module")
def archived(journal: Path, s3_server: S3Server) -> ArchiveLocation:
    where = location(s3_server, s3_server.new_bucket())
    archive(journal, where)
    return where


def archive(journal: Path, where: ArchiveLocation) -> Archiver:
    archiver = Archiver(journal, where)
    while archiver.step() is not None:
        pass
    return archiver


def test_every_message_is_that_of_the_folder(
    tmp_path: Path, journal: Path, archived: ArchiveLocation
) -> None:
    here, there = JournalReader(journal), open_archive(archived, tmp_path)
    end = there.end_offset()
    assert (there.first_offset, end) == (0, here.end_offset())
    assert there.left_out() == here.left_out() != []
    assert messages(there, 0, end) == messages(here, 0, end)
    [(gap, after)] = there.left_out()
    for start in (gap - 1, gap, gap + 1, after - 1, after):
        assert messages(there, start, end) == messages(here, start, end)
        assert messages(there, start, after + 1) == messages(here, start, after + 1)
    assert there.samples(0, 10)[0] == here.samples(0, 10)[0]
    for receive_ns in (0, RECEIVE_NS + 5000, RECEIVE_NS + 10**12):
        assert there.offset_at(receive_ns) == here.offset_at(receive_ns)


def test_positions_are_checked_as_in_the_folder(
    tmp_path: Path, journal: Path, archived: ArchiveLocation
) -> None:
    here, there = JournalReader(journal), open_archive(archived, tmp_path)
    end, first_epoch = there.archived_end, there.manifest.segments[0].epoch
    for reader in (here, there):
        reader.check_position(100, first_epoch)
        reader.check_position(end, reader.epoch)
        with pytest.raises(JournalGap):
            reader.check_position(end, first_epoch)
        with pytest.raises(JournalGap):
            reader.check_position(end + 1, reader.epoch)
    with pytest.raises(JournalGap, match=str(end)):
        there.read(end, end + 1, 1)


def test_the_cache_is_bounded_and_its_segments_are_used_again(
    tmp_path: Path, archived: ArchiveLocation
) -> None:
    cache = SegmentCache(tmp_path / "cache", 3 * SEGMENT_BYTES)
    there = ArchiveReader(archived, cache=cache)
    messages(there, 0, there.archived_end)
    kept = {one.name: one.stat().st_ino for one in cache.folder.iterdir() if one.is_dir()}
    size = sum(file.stat().st_size for file in cache.folder.rglob("*.seg"))
    assert 0 < size <= 3 * SEGMENT_BYTES
    last = there.manifest.with_messages[-1]
    again = ArchiveReader(archived, cache=cache)
    messages(again, last.first_offset, last.end_offset)
    assert {one.name: one.stat().st_ino for one in cache.folder.iterdir() if one.is_dir()} == kept


def test_a_segment_in_use_is_not_removed(tmp_path: Path, archived: ArchiveLocation) -> None:
    cache = SegmentCache(tmp_path / "cache", 1)
    one, other = ArchiveReader(archived, cache=cache), ArchiveReader(archived, cache=cache)
    start = one.read(0, 100, 1 << 20).end
    messages(other, 1000, other.archived_end)
    assert one.read(start, start + 100, 1 << 20).end == start + 100


def test_readers_that_drive_each_other_out_of_a_small_cache_all_get_their_segments(
    tmp_path: Path, archived: ArchiveLocation
) -> None:
    """A folder that was being removed was found by the next reader, and kept by its lock."""

    def read(turn: int) -> int:
        there = ArchiveReader(archived, cache=SegmentCache(tmp_path / "cache", 1))
        segments = there.manifest.with_messages
        return sum(
            there.read(segment.first_offset, segment.first_offset + 1, 1).end > 0
            for segment in random.Random(turn).choices(segments, k=40)
        )

    with ThreadPoolExecutor(8) as readers:
        assert list(readers.map(read, range(8))) == [40] * 8
    assert not [*(tmp_path / "cache").glob(".new-*")]


def test_what_is_left_of_a_removal_that_was_cut_off_is_removed(
    tmp_path: Path, archived: ArchiveLocation
) -> None:
    there = ArchiveReader(archived, cache=SegmentCache(tmp_path / "cache", 1))
    there.read(0, 1, 1)
    left = tmp_path / "cache" / f".new-{'0' * 32}"
    left.mkdir()
    (left / "0.seg").write_bytes(b"x")
    messages(there, 1000, there.archived_end)
    assert not left.exists()


def test_the_cache_removes_nothing_that_is_not_its_own(
    tmp_path: Path, archived: ArchiveLocation
) -> None:
    """Somebody names a folder for it that has other things."""
    (tmp_path / "cache" / "photos").mkdir(parents=True)
    (tmp_path / "cache").chmod(0o700)
    (tmp_path / "cache" / "photos" / "one.jpg").write_bytes(b"x" * 100)
    there = ArchiveReader(archived, cache=SegmentCache(tmp_path / "cache", 1))
    assert there.read(0, 10, 1 << 20).end == 10
    assert (tmp_path / "cache" / "photos" / "one.jpg").exists()


def test_a_link_in_place_of_the_cache_is_refused(
    tmp_path: Path, archived: ArchiveLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    SegmentCache().folder.symlink_to(private)
    with pytest.raises(ArchiveError, match="others can write or read"):
        ArchiveReader(archived).read(0, 10, 1 << 20)
    assert list(private.iterdir()) == []


def test_a_cache_that_others_can_read_is_refused(tmp_path: Path, archived: ArchiveLocation) -> None:
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(0o755)
    with pytest.raises(ArchiveError, match="chmod 700"):
        open_archive(archived, tmp_path).read(0, 1, 1)


def test_one_of_several_journals_is_chosen_by_name(
    tmp_path: Path, s3_server: S3Server, s3_bucket: str
) -> None:
    where = location(s3_server, s3_bucket)
    with pytest.raises(ArchiveError, match="there is no archive"):
        open_archive(where, tmp_path)
    for name in ("one", "two"):
        write_messages(tmp_path / name / "journal", 100)
        archive(tmp_path / name / "journal", where)
    identity = JournalReader(tmp_path / "two" / "journal").identity
    with pytest.raises(ArchiveError, match="2 journals.*" + identity):
        open_archive(where, tmp_path)
    assert ArchiveReader(where, identity).identity == identity
    assert ArchiveReader(where.child(identity)).identity == identity
    with pytest.raises(ArchiveError, match="was reading journal"):
        ArchiveReader(where.child(identity), "0" * 32)


def test_what_retention_removed_before_it_was_archived_is_a_gap(
    tmp_path: Path, s3_server: S3Server, s3_bucket: str
) -> None:
    journal = tmp_path / "data" / "journal"
    write_messages(journal, MESSAGES, segment_bytes=SEGMENT_BYTES)
    where = location(s3_server, s3_bucket)
    first = Archiver(journal, where).step()
    assert first is not None
    lost, *_ = sorted(journal.glob("*.seg"))[1:]
    lost.unlink()
    (journal / first.name).unlink()
    archive(journal, where)
    there = open_archive(where, tmp_path)
    [(start, end)] = there.manifest.missing
    assert start == first.end_offset == int(lost.name[:20])
    assert len(messages(there, 0, start)) == start
    assert len(messages(there, end, MESSAGES)) == MESSAGES - end
    for offset in (start, end - 1):
        with pytest.raises(JournalGap, match="before they were archived"):
            there.read(offset, end, 1)


async def test_archive_and_broker_are_read_as_one_journal(
    tmp_path: Path, s3_server: S3Server, s3_bucket: str
) -> None:
    where = location(s3_server, s3_bucket)
    broker = start_broker(tmp_path / "data", where.url, s3_server, "retain_bytes = 131072")
    await publish(broker, 410)
    archive_told(broker, is_caught_up)
    joined = JournalArchive(where, JournalBroker(broker.url), str(tmp_path / "cache")).open()
    while journal_told(broker)["first_offset"] == 0:
        assert broker.process.poll() is None
    assert joined.first_offset == 0
    assert joined.end_offset() == 410
    payloads = [row[5].split()[0] for row in messages(joined, 0, 410)]
    assert payloads == [str(number).encode() for number in range(410)]
    # The joined journal was opened before these were archived, and removed by the broker.
    await publish(broker, 400, start=410)
    while journal_told(broker)["first_offset"] <= 410:
        assert broker.process.poll() is None
    found = messages(joined, 0, joined.end_offset())
    assert [row[0] for row in found] == list(range(810))
    assert [row[5].split()[0] for row in found] == [str(one).encode() for one in range(810)]
    broker.stop()


async def test_what_is_archived_is_read_without_the_broker(
    tmp_path: Path, s3_server: S3Server, s3_bucket: str
) -> None:
    where = location(s3_server, s3_bucket)
    broker = start_broker(tmp_path / "data", where.url, s3_server)
    await publish(broker, 200)
    archive_told(broker, is_caught_up)
    location_ = JournalArchive(where, JournalBroker(broker.url), str(tmp_path / "cache"))
    identity = location_.open().identity
    broker.stop()
    joined = location_.open(identity)  # as a worker of Spark does
    end = open_archive(where, tmp_path).archived_end
    assert len(messages(joined, 0, end)) == end


def test_an_archive_alone_has_no_consumers(archived: ArchiveLocation) -> None:
    with pytest.raises(JournalError, match="leave option consumer out"):
        JournalArchive(archived).commit("lake", "0" * 32, 0, None)


def test_an_archive_is_shown_by_its_options_and_never_its_keys(archived: ArchiveLocation) -> None:
    there = JournalArchive(
        archived, JournalBroker("mqtt://host", BrokerCredentials("lake", b"pencil"))
    )
    options = {name.lower(): value for name, value in there.options().items()}
    assert JournalArchive.from_options(options["path"], options["broker"], options) == there
    assert "pencil" not in repr(there)
    assert archived.options["AWS_SECRET_ACCESS_KEY"] not in repr(there)
