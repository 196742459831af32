"""Sends a journal's sealed segments to its archive: one at a time, in order, each once.

An order of steps that a kill may end anywhere: the segment's object, then the manifest, then the
consumer `archive`. An object that no manifest names is found by its name and not sent again.
"""

import hashlib
import os
import shutil
import time
from pathlib import Path

from slipring.archive.location import CONSUMER, ArchiveLocation
from slipring.archive.manifest import (
    KEY_DIGITS,
    MANIFEST,
    ArchivedObject,
    ArchivedSegment,
    Manifest,
    segment_place,
)
from slipring.archive.pace import Pace
from slipring.archive.segments import SNAPSHOT, checked, sealed_segments, snapshot_place
from slipring.archive.store import ArchiveStore, OtherVersion
from slipring.errors import ArchiveError, JournalGap
from slipring.native import JournalReader, commit_consumer, list_consumers


class Archiver:
    """The archive of one journal, from the side of its broker."""

    def __init__(self, folder: Path, location: ArchiveLocation, pace: Pace | None = None) -> None:
        """Opens the journal; the archive is asked with the first step."""
        self._folder = folder
        self._reader = JournalReader(folder)
        self.location: ArchiveLocation = location.child(self._reader.identity)
        self._store = ArchiveStore(self.location)
        self._pace = pace or Pace()
        self._manifest: Manifest | None = None
        self._version: str | None = None
        self._kept = _KeptSnapshot(folder)

    @property
    def manifest(self) -> Manifest:
        """What is in the archive, as far as it is known by now."""
        return self._manifest or Manifest(self._reader.identity)

    def hold(self) -> None:
        """Make retention wait from now on, also while the archive cannot be reached.

        What is not known to be archived is kept; a consumer that is there already knows better.
        """
        names = {one.name for one in list_consumers(self._folder) if one.flaw is None}
        if CONSUMER not in names:
            self._commit(self._reader.first_offset, None)

    def waiting(self) -> list[Path]:
        """Sealed segments that are not in the archive yet, oldest first."""
        last = self.manifest.segments[-1].place if self.manifest.segments else (-1, -1)
        return [file for file in sealed_segments(self._folder) if segment_place(file.name) > last]

    def step(self) -> ArchivedSegment | None:
        """Send the next segment, if there is one; returns it."""
        if self._manifest is None:
            self._begin()
        self._kept.take()
        for file in self.waiting()[:1]:
            try:
                segment = checked(file)
            except FileNotFoundError:
                return None  # retention was told not to wait
            self._send(file, segment)
            self._put(self.manifest.adding(segment))
            self._commit(segment.end_offset, segment.epoch)
            return segment
        return None

    def _begin(self) -> None:
        """Read the manifest, and refuse an archive of another history."""
        found = self._store.get(MANIFEST)
        place = f"{self.location.url}/{MANIFEST}"
        manifest = Manifest.from_json(found[0], place) if found else self.manifest
        self._reader.end_offset()  # reads the first offset anew, too
        if manifest.segments and manifest.end_offset > self._reader.first_offset:
            try:
                self._reader.check_position(manifest.end_offset, manifest.epoch)
            except JournalGap as gap:
                raise ArchiveError(
                    f"{self.location.url} is the archive of another history of this journal: "
                    f"{gap}; name another prefix in journal.archive"
                ) from None
        self._manifest, self._version = manifest, found[1] if found else None
        self._commit(max(manifest.end_offset, self._reader.first_offset), manifest.epoch or None)

    def _send(self, file: Path, segment: ArchivedSegment) -> None:
        """Send a segment, unless its object is there from before a kill."""
        known = self._store.head(segment.key)
        if known is None or (known.bytes, known.sha256) != (segment.bytes, segment.sha256):
            self._store.upload(segment.key, file, segment.sha256, self._pace)
            known = self._store.head(segment.key)
        if known is None or (known.bytes, known.sha256) != (segment.bytes, segment.sha256):
            raise ArchiveError(f"{self.location.url}/{segment.key} was sent, but is {known}")

    def _put(self, manifest: Manifest) -> None:
        """Replace the manifest, with what else is new beside the segments."""
        before = self.manifest
        snapshot, definitions = self._snapshot(manifest), self._definitions(manifest)
        manifest = manifest.with_objects(snapshot, definitions, time.time_ns())
        content = manifest.to_json()
        try:
            self._version = self._store.replace(MANIFEST, content, self._version)
        except OtherVersion:
            found = self._store.get(MANIFEST)
            if found is None or found[0] != content:
                self._manifest = None
                raise ArchiveError(
                    f"another broker writes {self.location.url}: two brokers have copies of one "
                    "journal; give one of them another prefix in journal.archive"
                ) from None
            self._version = found[1]  # ours: only the answer was lost
        self._manifest = manifest
        for old, new in ((before.snapshot, snapshot), (before.definitions, definitions)):
            if old is not None and old != new:
                self._store.delete(old.key)

    def _snapshot(self, manifest: Manifest) -> ArchivedObject | None:
        """The newest snapshot whose position is in the archive."""
        content = self._kept.within(manifest)
        if content is None:
            return manifest.snapshot
        return self._object("state", "snap", content, manifest.snapshot)

    def _definitions(self, manifest: Manifest) -> ArchivedObject:
        """The definitions of all parameters by now."""
        content = self._reader.definitions().encode()
        return self._object("definitions", "json", content, manifest.definitions)

    def _object(
        self, name: str, kind: str, content: bytes, known: ArchivedObject | None
    ) -> ArchivedObject:
        sha256 = hashlib.sha256(content).hexdigest()
        if known is not None and known.sha256 == sha256:
            return known
        new = ArchivedObject(f"{name}-{sha256[:KEY_DIGITS]}.{kind}", len(content), sha256)
        self._store.put(new.key, content)
        return new

    def _commit(self, offset: int, epoch: int | None) -> None:
        commit_consumer(self._folder, CONSUMER, self._reader.identity, offset, epoch)


class _KeptSnapshot:
    """A snapshot that waits until the segment of its position is archived.

    The broker's newest snapshot is nearly always of the segment being written, and is replaced
    before that one is sealed. So one is kept aside until it can be sent.
    """

    def __init__(self, folder: Path) -> None:
        self._newest = folder / SNAPSHOT
        self._kept = folder.parent / "archive" / SNAPSHOT

    def take(self) -> None:
        """Keep the newest snapshot, if none is kept."""
        if self._kept.exists() or not self._newest.exists():
            return
        self._kept.parent.mkdir(mode=0o700, exist_ok=True)
        try:
            os.link(self._newest, self._kept)
        except FileNotFoundError:
            return  # replaced at this moment
        except OSError:
            self._copy()

    def _copy(self) -> None:
        """Copy it where a file cannot have two names; a kill leaves no half of one."""
        unfinished = self._kept.with_name(f"{SNAPSHOT}.new")
        shutil.copyfile(self._newest, unfinished)
        unfinished.replace(self._kept)

    def within(self, manifest: Manifest) -> bytes | None:
        """The kept snapshot, if its position is in the archive; then the next one is kept."""
        try:
            content = self._kept.read_bytes()
        except FileNotFoundError:
            return None
        journal, place = snapshot_place(content) or ("", (0, 0))
        if journal == manifest.journal and place > manifest.segments[-1].place:
            return None
        self._kept.unlink()
        return content if journal == manifest.journal else None
