"""A journal's sealed segments, as files of its folder. Checks them, and never writes."""

import hashlib
import struct
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from slipring.archive.manifest import SEGMENT_NAME, ArchivedSegment, segment_place
from slipring.errors import ArchiveError
from slipring.native import journal_check

HEADER_BYTES = 64
# docs/journal.md, "A segment's header": magic, version, part, identity, epoch, base, skipped.
_HEADER = struct.Struct("<8sII16sQQQ")
SNAPSHOT = "state.snap"
# docs/journal.md, "Snapshots": magic, version, part, identity, base offset of the segment.
_SNAPSHOT = struct.Struct("<8sII16sQ")


@dataclass(frozen=True)
class SegmentHead:
    """What a segment's header says."""

    journal: str
    epoch: int
    skipped: int


def sealed_segments(folder: Path) -> list[Path]:
    """The segments that nobody writes any more, oldest first: all but the last one."""
    names = [
        name for name in (one.name for one in folder.iterdir()) if SEGMENT_NAME.fullmatch(name)
    ]
    return [folder / name for name in sorted(names, key=segment_place)[:-1]]


def segment_head(header: bytes) -> SegmentHead:
    """The parts of a header that an archive notes; its checksum is checked with the segment."""
    _, _, _, identity, epoch, _, skipped = _HEADER.unpack(header[: _HEADER.size])
    return SegmentHead(identity.hex(), epoch, skipped)


def checked(file: Path) -> ArchivedSegment:
    """What the manifest notes of a segment; ArchiveError if any byte of it is not as written."""
    with file.open("rb") as stream:
        header = stream.read(HEADER_BYTES)
        if len(header) < HEADER_BYTES:
            raise _damaged(file, f"it has {len(header)} bytes, less than a header")
        head = segment_head(header)
        stream.seek(0)
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
    # A folder with this segment alone is a journal: the journal's own check reads every byte.
    with TemporaryDirectory(prefix="slipring-") as alone:
        (Path(alone) / file.name).symlink_to(file.absolute())
        report = journal_check(alone)
    [segment] = report.segments
    flaws = [segment.flaw, *(one.why for one in report.damage), report.tail and report.tail.why]
    if why := next((flaw for flaw in flaws if flaw), None):
        raise _damaged(file, why)
    return ArchivedSegment(
        name=file.name,
        first_offset=report.first_offset,
        end_offset=report.end_offset,
        skipped=head.skipped,
        bytes=segment.bytes,
        sha256=sha256,
        first_ns=segment.oldest_ns,
        last_ns=segment.newest_ns,
        epoch=head.epoch,
    )


def _damaged(file: Path, why: str) -> ArchiveError:
    return ArchiveError(
        f"{file} is damaged and is not archived: {why}; stop the broker, and copy what is "
        "whole with `slipring journal salvage`"
    )


def snapshot_place(content: bytes) -> tuple[str, tuple[int, int]] | None:
    """The journal of a snapshot, and the segment that its position is in; None if it is cut off."""
    if len(content) < _SNAPSHOT.size:
        return None
    _, _, part, identity, base = _SNAPSHOT.unpack(content[: _SNAPSHOT.size])
    return identity.hex(), (base, part)
