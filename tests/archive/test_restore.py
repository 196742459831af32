"""A new machine starts from the archive, and says what was not in it."""

import json
import os
import signal
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from slipring.archive.archiver import Archiver
from slipring.archive.location import ArchiveLocation
from slipring.archive.manifest import MANIFEST, ArchivedObject
from slipring.archive.restore import AHEAD, UNFINISHED, restore
from slipring.archive.store import ArchiveStore
from slipring.client import connect
from slipring.errors import ArchiveError, JournalGap
from slipring.native import JournalReader, JournalWriter, journal_check
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
from tests.journal_messages import write_messages
from tests.running_broker import PATIENCE_S, RunningBroker
from tests.s3_server import S3Server

pytestmark = pytest.mark.timeout(300)
SEGMENT_BYTES = 65_536
MESSAGES = 10_000


def slipring(server: S3Server, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """The command line, with the keys of the storage in its environment."""
    return subprocess.run(
        [sys.executable, "-m", "slipring", *arguments],
        env={**os.environ, **server.options},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


@pytest.fixture
def archived(tmp_path: Path, s3_server: S3Server, s3_bucket: str) -> ArchiveLocation:
    where = location(s3_server, s3_bucket)
    write_messages(tmp_path / "old" / "journal", MESSAGES, segment_bytes=SEGMENT_BYTES)
    archiver = Archiver(tmp_path / "old" / "journal", where)
    while archiver.step() is not None:
        pass
    return where


def test_the_restored_journal_is_the_old_one(tmp_path: Path, archived: ArchiveLocation) -> None:
    restored = restore(archived, tmp_path / "new")
    old, new = JournalReader(tmp_path / "old" / "journal"), JournalReader(restored.folder)
    assert new.identity == old.identity
    assert messages(new, 0, MESSAGES) == messages(old, 0, MESSAGES)
    assert journal_check(restored.folder).is_whole
    assert restored.folder.stat().st_mode & 0o077 == 0
    assert not (tmp_path / "new" / UNFINISHED).exists()


def test_no_message_gets_an_offset_that_the_old_broker_may_have_given(
    tmp_path: Path, archived: ArchiveLocation
) -> None:
    restored = restore(archived, tmp_path / "new")
    old = JournalReader(tmp_path / "old" / "journal")
    old_epoch = old.epoch
    writer = JournalWriter(restored.folder)
    assert writer.next_offset == restored.next_offset == MESSAGES + AHEAD
    writer.append("p", 0, [("t", b"new")])
    writer.close()
    new = JournalReader(restored.folder)
    assert new.left_out() == [(MESSAGES, MESSAGES + AHEAD)]
    new.check_position(MESSAGES + 5, old_epoch)  # read on the old machine, goes on here
    with pytest.raises(JournalGap):
        new.check_position(MESSAGES + AHEAD + 1, old_epoch)


def test_an_interrupted_restore_goes_on(tmp_path: Path, archived: ArchiveLocation) -> None:
    class Interrupted(Exception):
        pass

    def interrupt(brought: int, _: int) -> None:
        if brought > 2 * SEGMENT_BYTES:
            raise Interrupted

    with pytest.raises(Interrupted):
        restore(archived, tmp_path / "new", interrupt)
    assert not (tmp_path / "new" / "journal").exists()
    unfinished = tmp_path / "new" / UNFINISHED
    there = {file.name: file.stat().st_mtime_ns for file in unfinished.glob("*.seg")}
    assert there
    damaged = unfinished / min(there)
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"?")
    restored = restore(archived, tmp_path / "new")
    after = {name: (restored.folder / name).stat().st_mtime_ns for name in there}
    assert {name for name in there if after[name] == there[name]} == {*there} - {damaged.name}
    assert journal_check(restored.folder).messages == MESSAGES


def test_a_folder_with_a_journal_is_left_alone(tmp_path: Path, archived: ArchiveLocation) -> None:
    with pytest.raises(ArchiveError, match="is there already"):
        restore(archived, tmp_path / "old")


def test_a_damaged_archive_is_not_restored(tmp_path: Path, archived: ArchiveLocation) -> None:
    there = open_archive(archived, tmp_path)
    segment, objects = there.manifest.segments[1], ArchiveStore(there.location)
    content = bytearray(b"".join(objects.parts(segment.key, segment.bytes)))
    content[1000] ^= 1
    objects.put(segment.key, bytes(content))
    with pytest.raises(ArchiveError, match="is damaged"):
        restore(archived, tmp_path / "new")
    assert not (tmp_path / "new" / "journal").exists()


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("name", "../../outside.seg"),
        ("name", "/tmp/outside.seg"),
        ("sha256", "../outside"),
        ("bytes", -1),
        ("bytes", "8"),
        ("first_ns", "now"),
        ("end_offset", 0.5),
    ],
)
def test_a_manifest_that_names_other_files_is_refused(
    tmp_path: Path, archived: ArchiveLocation, key: str, told: object
) -> None:
    """Who can write the bucket must not write files of this machine."""
    there = open_archive(archived, tmp_path)
    manifest = json.loads(there.manifest.to_json())
    manifest["segments"] = manifest["segments"][:1]
    manifest["segments"][0][key] = told
    ArchiveStore(there.location).put(MANIFEST, json.dumps(manifest).encode())
    with pytest.raises(ArchiveError, match="is not a manifest"):
        restore(archived, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_snapshot_that_is_replaced_while_segments_come_is_not_missed(
    tmp_path: Path, archived: ArchiveLocation
) -> None:
    """The old broker still runs and archives on."""
    there = open_archive(archived, tmp_path)
    objects, snapshot = ArchiveStore(there.location), b"the state"
    known = ArchivedObject("state-0.snap", len(snapshot), sha256(snapshot).hexdigest())
    objects.put(known.key, snapshot)
    manifest = there.manifest.with_objects(known, there.manifest.definitions, 1)
    objects.put(MANIFEST, manifest.to_json())

    def remove(_brought: int, _total: int) -> None:
        objects.delete(known.key)

    restored = restore(archived, tmp_path / "new", remove)
    assert (restored.folder / "state.snap").read_bytes() == snapshot


def test_a_lake_in_the_same_place_is_no_journal(tmp_path: Path, archived: ArchiveLocation) -> None:
    ArchiveStore(archived).put("lake/samples/_delta_log/0.json", b"{}")
    assert open_archive(archived, tmp_path).archived_end == MESSAGES


async def test_a_broker_on_a_new_machine_has_sessions_retained_messages_and_history(
    tmp_path: Path, s3_server: S3Server, s3_bucket: str
) -> None:
    """The state comes from the snapshot alone: what led to it was removed before the archive."""
    where, retain = location(s3_server, s3_bucket), "retain_bytes = 131072"
    broker = start_broker(tmp_path / "old", "", s3_server, retain)
    async with connect(broker.url, client_id="recorder", session_expiry_s=3600) as bus:
        async with bus.subscribe("wanted", qos=1):
            pass
        await bus.publish("kept", b"retained", qos=1, retain=True)
    await publish(broker, 300)
    while journal_told(broker)["first_offset"] == 0:
        assert broker.process.poll() is None
    broker.stop()
    broker = start_broker(tmp_path / "old", where.url, s3_server, retain)
    done = 300
    while not has_snapshot(where, tmp_path):
        await publish(broker, 100, start=done)
        done += 100
        archive_told(broker, is_caught_up)
    broker.stop(signal.SIGKILL)

    said = slipring(s3_server, "journal", "restore", where.url, "--data", str(tmp_path / "new"))
    assert said.returncode == 0, said.stderr
    end = open_archive(where, tmp_path).archived_end
    assert f"from offset {end:,} on" in said.stdout
    assert "of the snapshot" in said.stdout

    new = RunningBroker.start(tmp_path / "new")
    async with connect(new.url) as bus, bus.subscribe("kept") as received:
        message = await anext(aiter(received))
        assert (message.payload, message.retain) == (b"retained", True)
    async with connect(new.url) as bus:
        await bus.publish("wanted", b"after", qos=1)
    async with connect(new.url, client_id="recorder", session_expiry_s=3600) as bus:
        assert bus.session_present
        async with bus.subscribe("wanted", qos=1) as received:
            assert (await anext(aiter(received))).payload == b"after"
    there = open_archive(where, tmp_path)
    here = JournalReader(tmp_path / "new" / "journal")
    first = there.first_offset
    assert messages(here, first, end) == messages(there, first, end)
    code, errors = new.stop()
    assert code == 0, errors
    assert "state is lost" not in errors


def has_snapshot(where: ArchiveLocation, folder: Path) -> bool:
    """Whether the archive has a snapshot by now."""
    try:
        return open_archive(where, folder).manifest.snapshot is not None
    except ArchiveError:
        return False


def test_the_command_line_shows_what_is_archived(
    tmp_path: Path, s3_server: S3Server, archived: ArchiveLocation
) -> None:
    shown = slipring(s3_server, "journal", "archive", archived.url)
    assert shown.returncode == 0, shown.stderr
    assert f"{MESSAGES:,} messages, offsets 0 to {MESSAGES:,}" in shown.stdout
    told = json.loads(slipring(s3_server, "journal", "archive", archived.url, "--json").stdout)
    assert told["end_offset"] == MESSAGES
    local = slipring(s3_server, "journal", "show", str(tmp_path / "old"))
    assert f"up to offset {MESSAGES:,}; 0 messages behind, 0 complete segments wait" in local.stdout
    missing = slipring(s3_server, "journal", "archive", f"{archived.url}/none")
    assert (missing.returncode, missing.stdout) == (1, "")
    assert "there is no archive" in missing.stderr
    wrong = slipring(s3_server, "journal", "restore", "data/jets", "--data", str(tmp_path / "x"))
    assert "write s3://bucket/prefix" in wrong.stderr
