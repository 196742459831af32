"""Makes a journal's folder from its archive, for a broker on a new machine."""

import hashlib
import os
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from slipring.archive.cache import download
from slipring.archive.checksum import crc32c
from slipring.archive.location import ArchiveLocation
from slipring.archive.manifest import ArchivedSegment, Manifest, OffsetRange
from slipring.archive.reader import ArchiveReader
from slipring.archive.segments import SNAPSHOT
from slipring.archive.store import ArchiveStore
from slipring.errors import ArchiveError

AHEAD = 1 << 24
"""Offsets after the archive's end that no message gets: the old broker may have given them."""
UNFINISHED = "journal.restoring"
PRIVATE = 0o700
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Restored:
    """What was restored, and what the archive did not have."""

    folder: Path
    manifest: Manifest
    has_state: bool
    """Whether a snapshot of the sessions and retained messages was in it."""
    next_offset: int
    """What the broker's next message gets."""

    @property
    def messages(self) -> int:
        return self.manifest.count(0, self.manifest.end_offset)

    @property
    def missing(self) -> list[OffsetRange]:
        """Offsets within the archive that were never archived."""
        return self.manifest.missing


def restore(location: ArchiveLocation, data: Path, progress: Progress | None = None) -> Restored:
    """Bring the archive into `data`/journal. An interrupted one goes on when it is called again."""
    folder, unfinished = data / "journal", data / UNFINISHED
    if folder.exists() and any(folder.iterdir()):
        raise ArchiveError(f"{folder} is there already; name a folder without a journal")
    reader = ArchiveReader(location)
    manifest = reader.manifest
    unfinished.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
    _refuse_others(unfinished, manifest)
    # First: a broker that still archives replaces it, and the manifest read above names this one.
    snapshot = reader.object(manifest.snapshot)
    store, brought = ArchiveStore(reader.location), 0
    for segment in manifest.segments:
        _bring(store, segment, unfinished)
        brought += segment.bytes
        if progress:
            progress(brought, manifest.total_bytes)
    if snapshot is not None:
        _write(unfinished / SNAPSHOT, snapshot)
    next_offset = manifest.end_offset + AHEAD
    _write(unfinished / "reserved", _reserved(manifest.journal, next_offset))
    if folder.exists():
        folder.rmdir()
    unfinished.rename(folder)
    _sync(data)
    return Restored(folder, manifest, snapshot is not None, next_offset)


def _refuse_others(unfinished: Path, manifest: Manifest) -> None:
    """An interrupted restore of another journal is not continued."""
    known = {one.name for one in manifest.segments}
    others = {one.name for one in unfinished.glob("*.seg")} - known
    if others:
        raise ArchiveError(
            f"{unfinished} has {min(others)}, which is not in the archive; remove it"
        )


def _bring(store: ArchiveStore, segment: ArchivedSegment, folder: Path) -> None:
    file, new = folder / segment.name, folder / f"{segment.name}.new"
    if file.exists():
        with file.open("rb") as stream:
            if hashlib.file_digest(stream, "sha256").hexdigest() == segment.sha256:
                return
        file.unlink()
    new.unlink(missing_ok=True)
    download(store, segment, new)
    new.chmod(0o600)
    new.rename(file)


def _reserved(journal: str, offset: int) -> bytes:
    """The bytes of the file `reserved`, as docs/journal.md has them."""
    head = struct.pack("<8sII16sQQQI", b"SLIPRRES", 1, 0, bytes.fromhex(journal), 0, 0, offset, 0)
    return head + struct.pack("<I", crc32c(head))


def _write(file: Path, content: bytes) -> None:
    new = file.with_name(f"{file.name}.new")
    with new.open("wb") as stream:
        new.chmod(0o600)
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    new.rename(file)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
