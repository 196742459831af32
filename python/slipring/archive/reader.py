"""Reads a journal from its archive, as the native reader reads a folder."""

import hashlib
import json
from typing import Any

from slipring.archive.cache import CachedSegment, SegmentCache
from slipring.archive.location import ArchiveLocation
from slipring.archive.manifest import (
    IDENTITY,
    MANIFEST,
    ArchivedObject,
    ArchivedSegment,
    Manifest,
)
from slipring.archive.store import ArchiveStore
from slipring.errors import ArchiveError, JournalGap
from slipring.native import JournalColumns, JournalReader


def find_journal(location: ArchiveLocation, identity: str | None) -> ArchiveLocation:
    """The archive of one journal, below a prefix that may hold those of several."""
    if ArchiveStore(location).version(MANIFEST) is not None:
        return location
    if identity is not None:
        return location.child(identity)
    # Others may use the bucket too, as a lake does.
    found = [one for one in ArchiveStore(location).children() if IDENTITY.fullmatch(one)]
    if not found:
        raise ArchiveError(f"there is no archive of a journal at {location.url}")
    if len(found) > 1:
        raise ArchiveError(
            f"{location.url} has the archives of {len(found)} journals; name one of them: "
            f"{', '.join(location.child(name).url for name in found[:10])}"
        )
    return location.child(found[0])


class ArchiveReader:
    """What is in the archive, and nothing after it."""

    def __init__(
        self,
        location: ArchiveLocation,
        identity: str | None = None,
        cache: SegmentCache | None = None,
    ) -> None:
        """Reads the manifest; with an identity it refuses any other journal."""
        self.location: ArchiveLocation = find_journal(location, identity)
        self._store = ArchiveStore(self.location)
        self._cache = cache or SegmentCache()
        self._version: str | None = None
        self._manifest: Manifest | None = None
        self._definitions: tuple[ArchivedObject, str] | None = None
        self._open: tuple[ArchivedSegment, CachedSegment, JournalReader] | None = None
        self.refresh()
        if identity not in (None, self.identity):
            raise ArchiveError(
                f"{self.location.url} is the archive of journal {self.identity}, but the stream "
                f"was reading journal {identity}; name its archive, or begin with a new checkpoint"
            )

    def refresh(self) -> None:
        """Read the manifest again, if it has changed."""
        version = self._store.version(MANIFEST)
        if version is None:
            raise ArchiveError(f"there is no archive of a journal at {self.location.url}")
        if version != self._version:
            content, self._version = self._get(MANIFEST)
            self._manifest = Manifest.from_json(content, f"{self.location.url}/{MANIFEST}")

    @property
    def manifest(self) -> Manifest:
        assert self._manifest is not None
        return self._manifest

    @property
    def identity(self) -> str:
        return self.manifest.journal

    @property
    def first_offset(self) -> int:
        return self.manifest.first_offset

    @property
    def archived_end(self) -> int:
        """The end of what was in the archive when the manifest was read last. Asks nobody."""
        return self.manifest.end_offset

    @property
    def written_offset(self) -> int:
        return self.manifest.end_offset

    @property
    def epoch(self) -> int:
        return self.manifest.epoch

    def end_offset(self) -> int:
        """The end of the archive by now."""
        self.refresh()
        return self.manifest.end_offset

    def left_out(self) -> list[tuple[int, int]]:
        return self.manifest.left_out

    def check_position(self, offset: int, epoch: int | None = None) -> None:
        """JournalGap if a reader that stored this position cannot resume here."""
        if not self.first_offset <= offset <= self.archived_end:
            raise JournalGap(
                f"offset {offset} was asked for, but the archive has the offsets "
                f"{self.first_offset} to {self.archived_end}"
            )
        before = self.manifest.containing(offset - 1)
        if epoch is not None and before is not None and before.epoch > epoch:
            raise JournalGap(
                f"the messages before offset {offset} were written in epoch {before.epoch}, after "
                f"epoch {epoch} in which they were read: other messages have these offsets now; "
                "begin with a new checkpoint"
            )

    def offset_at(self, receive_ns: int) -> int:
        """The lowest offset received at that time or later."""
        for segment in self.manifest.with_messages:
            if segment.last_ns is not None and segment.last_ns >= receive_ns:
                return self._reader_of(segment).offset_at(receive_ns)
        return self.archived_end

    def read(self, start: int, end: int, max_bytes: int) -> JournalColumns:
        """Messages from `start` on, of one segment at most."""
        reader, stop = self._at(start)
        return reader.read(start, min(end, stop), max_bytes)

    def samples(self, start: int, end: int) -> tuple[int, bytes]:
        """Which messages from `start` on are plain samples, of one segment at most."""
        reader, stop = self._at(start)
        return reader.samples(start, min(end, stop))

    def definitions(self) -> str:
        """The versions of all definitions, as JSON, as of the archive's end."""
        known = self.manifest.definitions
        if known is not None and self._definitions is not None and self._definitions[0] == known:
            return self._definitions[1]
        try:
            content = self.object(known)
        except ArchiveError:
            newest = self._newest_manifest().definitions
            if newest == known:
                raise
            known, content = newest, self.object(newest)  # the broker has replaced them meanwhile
        if known is None or content is None:
            raise ArchiveError(
                f"{self.location.url} has no definitions of parameters: it was written by an older "
                "Slipring, or nothing was archived since"
            )
        self._definitions = (known, content.decode())
        return self._definitions[1]

    def definitions_edition(self) -> tuple[int, int, int]:
        """Which definitions these are: table, revision and epoch."""
        told: dict[str, Any] = json.loads(self.definitions())
        return told["table"], told["revision"], told["epoch"]

    def object(self, known: ArchivedObject | None) -> bytes | None:
        """A small object that the manifest names, checked; None if it names none."""
        if known is None:
            return None
        content = b"".join(self._store.parts(known.key, known.bytes))
        return check_content(content, known, self.location)

    def _newest_manifest(self) -> Manifest:
        """The manifest by now; what this reader reads stays as it was."""
        return Manifest.from_json(self._get(MANIFEST)[0], f"{self.location.url}/{MANIFEST}")

    def _get(self, key: str) -> tuple[bytes, str]:
        found = self._store.get(key)
        if found is None:
            raise ArchiveError(f"{self.location.url}/{key} is not there any more")
        return found

    def _at(self, offset: int) -> tuple[JournalReader, int]:
        """The reader of the segment that has an offset, and where that one ends."""
        segment = self.manifest.containing(offset)
        if segment is None or offset >= self.archived_end:
            raise JournalGap(
                f"offset {offset} was asked for, but the archive {self.location.url} has the "
                f"offsets {self.first_offset} to {self.archived_end}"
            )
        following = self.manifest.following(segment)
        stop = following.first_offset if following else segment.end_offset
        if offset >= stop:
            raise JournalGap(
                f"offset {offset} was asked for, but retention removed the offsets from {stop} on "
                f"before they were archived in {self.location.url}"
            )
        return self._reader_of(segment), stop

    def _reader_of(self, segment: ArchivedSegment) -> JournalReader:
        if self._open is not None and self._open[0] == segment:
            return self._open[2]
        if self._open is not None:
            self._open[1].close()
            self._open = None
        following = self.manifest.following(segment)
        cached = self._cache.open(self._store, segment, following)
        reader = JournalReader(cached.folder)
        expected = following.first_offset if following else segment.end_offset
        if (reader.identity, reader.end_offset()) != (self.identity, expected):
            raise ArchiveError(f"{cached.folder} is not {segment.name} of {self.location.url}")
        self._open = (segment, cached, reader)
        return reader


def check_content(content: bytes, known: ArchivedObject, location: ArchiveLocation) -> bytes:
    """ArchiveError if an object is not what the manifest says."""
    if hashlib.sha256(content).hexdigest() != known.sha256:
        raise ArchiveError(f"{location.url}/{known.key} is damaged")
    return content
