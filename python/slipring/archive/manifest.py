"""What an archive holds of one journal. Pure: parsed once, checked, and written as JSON."""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from slipring.errors import ArchiveError

MANIFEST = "manifest.json"
FORMAT = "slipring archive"
VERSION = 1
KEY_DIGITS = 16
"""Digits of the checksum that are in an object's name: two contents never share a name."""


@dataclass(frozen=True)
class ArchivedObject:
    """A small object beside the segments."""

    key: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class ArchivedSegment:
    """A sealed segment in the archive."""

    name: str
    """Its file name in the journal."""
    first_offset: int
    end_offset: int
    skipped: int
    """Offsets directly before the first one that no message has."""
    bytes: int
    sha256: str
    first_ns: int | None
    """The oldest receive time; None without messages."""
    last_ns: int | None
    epoch: int

    @property
    def key(self) -> str:
        """The name of its object."""
        return f"segments/{self.name.removesuffix('.seg')}-{self.sha256[:KEY_DIGITS]}.seg"

    @property
    def place(self) -> tuple[int, int]:
        """Its order among the segments: offset and part."""
        return segment_place(self.name)


def segment_place(name: str) -> tuple[int, int]:
    """The offset and the part in a segment's file name."""
    offset, _, part = name.removesuffix(".seg").partition("-")
    return int(offset), int(part or 0)


OffsetRange = tuple[int, int]
SEGMENT_NAME = re.compile(r"\d{20}(?:-\d{4,10})?\.seg")
IDENTITY = re.compile(r"[0-9a-f]{32}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_COUNTS = ("first_offset", "end_offset", "skipped", "bytes", "epoch")


@dataclass(frozen=True)
class Manifest:
    """The list of all that is in the archive of a journal."""

    journal: str
    segments: tuple[ArchivedSegment, ...] = ()
    snapshot: ArchivedObject | None = None
    definitions: ArchivedObject | None = None
    updated_ns: int = 0
    with_messages: tuple[ArchivedSegment, ...] = field(init=False, compare=False, repr=False)
    """Segments that do not hold records only."""

    def __post_init__(self) -> None:
        """Segments ascend and do not overlap."""
        for before, after in zip(self.segments, self.segments[1:], strict=False):
            if after.place <= before.place or after.first_offset < before.end_offset:
                raise ArchiveError(
                    f"the manifest of journal {self.journal} is wrong: {after.name} does not "
                    f"follow {before.name}"
                )
        found = tuple(one for one in self.segments if one.end_offset > one.first_offset)
        object.__setattr__(self, "with_messages", found)

    @property
    def first_offset(self) -> int:
        return self.segments[0].first_offset if self.segments else 0

    @property
    def end_offset(self) -> int:
        """Everything before it is in the archive."""
        return self.segments[-1].end_offset if self.segments else 0

    @property
    def epoch(self) -> int:
        """That of the newest segment."""
        return self.segments[-1].epoch if self.segments else 0

    @property
    def total_bytes(self) -> int:
        return sum(one.bytes for one in self.segments)

    @property
    def left_out(self) -> list[OffsetRange]:
        """Ranges of offsets that no message has."""
        return [(start, end) for start, end, is_missing in self._gaps() if not is_missing]

    @property
    def missing(self) -> list[OffsetRange]:
        """Ranges that retention removed before they were archived."""
        return [(start, end) for start, end, is_missing in self._gaps() if is_missing]

    def _gaps(self) -> Iterator[tuple[int, int, bool]]:
        for before, after in zip(self.segments, self.segments[1:], strict=False):
            skipped_from = max(before.end_offset, after.first_offset - after.skipped)
            if before.end_offset < skipped_from:
                yield before.end_offset, skipped_from, True
            if skipped_from < after.first_offset:
                yield skipped_from, after.first_offset, False

    def containing(self, offset: int) -> ArchivedSegment | None:
        """The last segment that begins at or before an offset."""
        at = bisect_right(self.with_messages, offset, key=lambda one: one.first_offset)
        return self.with_messages[at - 1] if at else None

    def following(self, segment: ArchivedSegment) -> ArchivedSegment | None:
        """The next segment that begins after the end of this one, if offsets are skipped there."""
        at = bisect_right(self.segments, segment.end_offset, key=lambda one: one.first_offset)
        found = self.segments[at] if at < len(self.segments) else None
        if found is None or found.first_offset - found.skipped > segment.end_offset:
            return None
        between = self.segments[at - 1]  # records only, where the gap begins
        return found if between.end_offset == segment.end_offset else None

    def count(self, start: int, end: int) -> int:
        """The messages in a range, as far as they are in the archive."""
        overlaps = (
            max(0, min(end, one.end_offset) - max(start, one.first_offset))
            for one in self.with_messages
        )
        return sum(overlaps)

    def adding(self, segment: ArchivedSegment) -> "Manifest":
        return replace(self, segments=(*self.segments, segment))

    def with_objects(
        self,
        snapshot: ArchivedObject | None,
        definitions: ArchivedObject | None,
        updated_ns: int,
    ) -> "Manifest":
        return replace(self, snapshot=snapshot, definitions=definitions, updated_ns=updated_ns)

    def to_json(self) -> bytes:
        """The bytes of the manifest's object."""
        summary = {
            "format": FORMAT,
            "version": VERSION,
            "journal": self.journal,
            "updated_ns": self.updated_ns,
            "first_offset": self.first_offset,
            "end_offset": self.end_offset,
            "left_out": self.left_out,
            "missing": self.missing,
            "snapshot": self.snapshot and asdict(self.snapshot),
            "definitions": self.definitions and asdict(self.definitions),
            "segments": [{**asdict(one), "key": one.key} for one in self.segments],
        }
        return json.dumps(summary, indent=1).encode()

    @classmethod
    def from_json(cls, content: bytes, place: str) -> "Manifest":
        """Parse what `to_json` wrote; `place` is for the message."""
        try:
            told = json.loads(content)
            version = (told["format"], told["version"])
            if version != (FORMAT, VERSION):
                raise ArchiveError(f"{place} has version {version}, not {(FORMAT, VERSION)}")
            segments = [
                {key: value for key, value in one.items() if key != "key"}
                for one in told["segments"]
            ]
            return cls(
                journal=_like(IDENTITY, told["journal"]),
                segments=tuple(map(_segment, segments)),
                snapshot=_object(told["snapshot"]),
                definitions=_object(told["definitions"]),
                updated_ns=int(told["updated_ns"]),
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ArchiveError(f"{place} is not a manifest: {error!r}") from None


def _segment(told: dict[str, Any]) -> ArchivedSegment:
    """A segment; its name and its checksum become names of files."""
    made = ArchivedSegment(**told)
    _like(SEGMENT_NAME, made.name)
    _like(_SHA256, made.sha256)
    for name in _COUNTS:
        _count(told[name])
    for time_ns in (made.first_ns, made.last_ns):
        if time_ns is not None and not isinstance(time_ns, int):
            raise ValueError(f"{time_ns!r} is not a time")
    if made.end_offset < made.first_offset:
        raise ValueError(f"{made.name} ends before it begins")
    return made


def _object(told: dict[str, Any] | None) -> ArchivedObject | None:
    if told is None:
        return None
    made = ArchivedObject(**told)
    _like(_SHA256, made.sha256)
    _count(made.bytes)
    return made


def _like(pattern: re.Pattern[str], told: object) -> str:
    if not isinstance(told, str) or not pattern.fullmatch(told):
        raise ValueError(f"{told!r} is not as {pattern.pattern}")
    return told


def _count(told: object) -> None:
    if not isinstance(told, int) or told < 0:
        raise ValueError(f"{told!r} is not a count")
