"""What a power cut leaves of a folder: the model that reads the trace of disk.c. Its `cut` writes.

A byte is safe when a sync of its file ended that began after it was written; a name when such a
sync of its folder ended. What is not safe may be there or not after a cut: none of it, or any pages
of the bytes, and the first so many changes of names (file systems keep these in order).
"""

import shutil
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path, PurePosixPath
from random import Random
from typing import NamedTuple

PAGE_BYTES = 4_096
RECORD = struct.Struct("=IIQII")


class Kind(IntEnum):
    """As in disk.c."""

    OPENED = 1
    WRITTEN = 2
    CUT = 3
    SYNC_BEGAN = 4
    SYNCED = 5
    RENAMED = 6
    REMOVED = 7
    FOLDER_MADE = 8


class Record(NamedTuple):
    """One line of the trace."""

    kind: Kind
    file: int
    place: int
    name: str
    data: bytes


class Edit(NamedTuple):
    """A change of a file: bytes at a place, or a cut to a size when there are none."""

    place: int
    data: bytes | None


@dataclass
class File:
    """A file, by whatever names. A folder is one that has no bytes."""

    safe: bytearray = field(default_factory=bytearray)
    edits: list[Edit] = field(default_factory=list)
    is_folder: bool = False

    def bytes_now(self) -> bytes:
        return bytes(applied(self.safe, self.edits))

    def bytes_after(self, choice: Random | None) -> bytes:
        """What a cut leaves; without a choice, nothing that is not safe."""
        if choice is None or not self.edits or choice.random() < 1 / 3:
            return bytes(self.safe)
        kept = choice.randint(1, len(self.edits))
        newest = applied(self.safe, self.edits[:kept])
        if choice.random() < 1 / 2:
            return bytes(newest)
        return bytes(_with_pages_lost(self.safe, newest, choice))


@dataclass
class Change:
    """A name that points to another file than before, or to none; in one folder."""

    name: str
    file: File | None
    old_name: str | None = None

    @property
    def folder(self) -> str:
        return parent(self.name)

    def apply(self, names: dict[str, File]) -> None:
        if self.old_name is not None:
            names.pop(self.old_name, None)
        if self.file is None:
            names.pop(self.name, None)
        else:
            names[self.name] = self.file


class Platter:
    """A folder as it is, and what of it is safe."""

    def __init__(self, folder: Path) -> None:
        """All that is there now is safe."""
        self.folder = folder
        self.safe_names: dict[str, File] = {}
        self.changes: list[Change] = []
        self._numbers: dict[int, tuple[str, File]] = {}
        self._began: dict[int, list[int | list[Change]]] = {}
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder).as_posix()
            content = b"" if path.is_dir() else path.read_bytes()
            self.safe_names[name] = File(bytearray(content), is_folder=path.is_dir())

    @property
    def names(self) -> dict[str, File]:
        """The names now."""
        names = dict(self.safe_names)
        for change in self.changes:
            change.apply(names)
        return names

    def follow(self, trace: bytes) -> None:
        """Take in what happened; a record that is cut short did not happen."""
        for record in records(trace):
            self._take(record)

    def _take(self, record: Record) -> None:
        match record.kind:
            case Kind.OPENED:
                self._open(record)
            case Kind.WRITTEN:
                self._numbers[record.file][1].edits.append(Edit(record.place, record.data))
            case Kind.CUT:
                self._numbers[record.file][1].edits.append(Edit(record.place, None))
            case Kind.SYNC_BEGAN:
                self._begin_sync(record.file)
            case Kind.SYNCED:
                self._end_sync(record.file)
            case Kind.RENAMED:
                file = self.names[record.name]
                self.changes.append(Change(record.data.decode(), file, old_name=record.name))
            case Kind.REMOVED:
                self.changes.append(Change(record.name, None))
            case Kind.FOLDER_MADE:
                self.changes.append(Change(record.name, File(is_folder=True)))

    def _open(self, record: Record) -> None:
        file = self.names.get(record.name)
        if not record.name:
            file = File(is_folder=True)
        elif file is None:
            file = File()
            self.changes.append(Change(record.name, file))
        self._numbers[record.file] = (record.name, file)
        if record.place and file.bytes_now():
            file.edits.append(Edit(0, None))

    def _begin_sync(self, number: int) -> None:
        name, file = self._numbers[number]
        covered: int | list[Change] = len(file.edits)
        if file.is_folder:
            covered = [change for change in self.changes if change.folder == name]
        self._began.setdefault(number, []).append(covered)

    def _end_sync(self, number: int) -> None:
        _, file = self._numbers[number]
        covered = self._began[number].pop(0)
        if isinstance(covered, int):
            file.safe = applied(file.safe, file.edits[:covered])
            del file.edits[:covered]
            self._began[number] = [
                later - covered if isinstance(later, int) else later
                for later in self._began[number]
            ]
            return
        for change in covered:
            if any(change is pending for pending in self.changes):
                change.apply(self.safe_names)
        self.changes = [
            change for change in self.changes if not any(change is one for one in covered)
        ]

    def differences(self) -> list[str]:
        """Where the folder is not what the trace says: something was written behind its back."""
        names = self.names
        there = {path.relative_to(self.folder).as_posix(): path for path in self.folder.rglob("*")}
        found = [f"{name}: not in the trace" for name in sorted(set(there) - set(names))]
        found += [f"{name}: gone" for name in sorted(set(names) - set(there))]
        for name in sorted(set(names) & set(there)):
            if not names[name].is_folder and there[name].read_bytes() != names[name].bytes_now():
                found.append(f"{name}: other bytes")
        return found

    def left(self, choice: Random | None = None) -> dict[str, File]:
        """What a cut leaves, by name; without a choice, nothing that is not safe."""
        names = dict(self.safe_names)
        kept = choice.randint(0, len(self.changes)) if choice else 0
        for change in self.changes[:kept]:
            change.apply(names)
        reachable = {name: file for name, file in names.items() if _is_reachable(name, names)}
        after = {id(file): file.bytes_after(choice) for file in reachable.values()}
        return {
            name: File(bytearray(after[id(file)]), is_folder=file.is_folder)
            for name, file in reachable.items()
        }

    def cut(self, choice: Random | None = None) -> int:
        """Make the folder what a cut leaves; how many bytes are gone."""
        before = sum(len(file.bytes_now()) for file in self.names.values())
        left = self.left(choice)
        shutil.rmtree(self.folder)
        self.folder.mkdir()
        for name, file in sorted(left.items()):
            path = self.folder / name
            if file.is_folder:
                path.mkdir()
            else:
                path.write_bytes(file.safe)
        return before - sum(len(file.safe) for file in left.values())


def applied(content: bytes | bytearray, edits: list[Edit]) -> bytearray:
    """A file's bytes after these changes; a hole is zeros."""
    content = bytearray(content)
    for place, data in edits:
        if data is None:
            size = place
            del content[size:]
            content.extend(bytes(size - len(content)))
            continue
        content.extend(bytes(max(0, place - len(content))))
        content[place : place + len(data)] = data
    return content


def records(trace: bytes) -> Iterator[Record]:
    """The whole records of a trace."""
    at = 0
    while at + RECORD.size <= len(trace):
        kind, file, place, name_bytes, data_bytes = RECORD.unpack_from(trace, at)
        name_at = at + RECORD.size
        data_at = name_at + name_bytes
        at = data_at + data_bytes
        if at > len(trace):
            return
        yield Record(Kind(kind), file, place, trace[name_at:data_at].decode(), trace[data_at:at])


def parent(name: str) -> str:
    """The folder of a name; that of the outermost is empty."""
    return str(PurePosixPath(name).parent).removeprefix(".")


def _is_reachable(name: str, names: dict[str, File]) -> bool:
    folder = parent(name)
    return not folder or (folder in names and _is_reachable(folder, names))


def _with_pages_lost(safe: bytearray, newest: bytearray, choice: Random) -> bytearray:
    """Some pages are as they were before, or zeros where there were none."""
    left = bytearray(newest)
    for start in range(0, len(newest), PAGE_BYTES):
        if choice.random() < 1 / 2:
            page = slice(start, min(start + PAGE_BYTES, len(newest)))
            old = bytes(safe[page])
            left[page] = old + bytes(page.stop - page.start - len(old))
    return left
