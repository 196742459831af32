"""The layouts in the data folder, one file each, written whole or not at all. Never follows a name
out of its folder.
"""

import contextlib
import json
import os
import stat
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slipring.control.folder import make_private
from slipring.control.layout import (
    LAYOUT_BYTES_MAX,
    NAME,
    READY_MADE,
    Layout,
    LayoutError,
    checked_name,
    read_layout,
)

FOLDER = "layouts"
SUFFIX = ".json"
FORMAT = 1
LAYOUTS_MAX = 200
PRIVATE = 0o600
FILE_BYTES_MAX = 2 * LAYOUT_BYTES_MAX
"""A layout that was taken fits, with who saved it."""

FileIdentity = tuple[int, int, int]
"""Inode, size and time of a file."""


@dataclass(frozen=True)
class SavedLayout:
    """A layout, who saved it last, and when: that is its version, too."""

    name: str
    layout: Layout
    changed_ms: int
    by: str | None


@dataclass(frozen=True)
class LayoutSummary:
    """What a list shows of a layout. `trouble`: why it cannot be read; None if it can."""

    name: str
    title: str
    changed_ms: int
    by: str | None
    trouble: str | None


@dataclass(frozen=True)
class DamagedLayout:
    """A file that is not a layout, or not a whole one."""

    name: str
    why: str
    changed_ms: int


class LayoutConflict(LayoutError):
    """Somebody else has saved or removed the layout since it was read."""

    def __init__(self, text: str, found: SavedLayout | None) -> None:
        super().__init__(text)
        self.found = found


class LayoutStore:
    """One change at a time. `expected` is the version that a change was made from; None is any,
    and 0 is that there is none yet.
    """

    def __init__(self, data: Path) -> None:
        self.folder: Path = data / FOLDER
        self._lock = threading.Lock()
        self._seen: dict[str, tuple[FileIdentity, LayoutSummary]] = {}
        """Summaries by name: a list reads only files that have changed."""

    def names(self) -> list[str]:
        """The names of all that are kept, sorted."""
        try:
            found = [file.name for file in self.folder.iterdir()]
        except FileNotFoundError:
            return []
        stems = (file.removesuffix(SUFFIX) for file in found if file.endswith(SUFFIX))
        named = (stem for stem in stems if NAME.fullmatch(stem) and stem not in READY_MADE)
        return sorted(named)[:LAYOUTS_MAX]

    def listed(self) -> list[LayoutSummary]:
        """All that are kept, by name."""
        names = self.names()
        seen = {name: summary for name in names if (summary := self._summary(name)) is not None}
        self._seen = seen
        return [summary for _, summary in seen.values()]

    def _summary(self, name: str) -> tuple[FileIdentity, LayoutSummary] | None:
        try:
            found = self._file(name).lstat()
        except FileNotFoundError:
            return None
        identity = (found.st_ino, found.st_size, found.st_mtime_ns)
        known = self._seen.get(name)
        if known is not None and known[0] == identity:
            return known
        read = self._read(name)
        if read is None:
            return None
        if isinstance(read, DamagedLayout):
            return identity, LayoutSummary(name, name, read.changed_ms, None, read.why)
        title = read.layout.title or name
        return identity, LayoutSummary(name, title, read.changed_ms, read.by, None)

    def read(self, name: str) -> SavedLayout | None:
        """One layout; None if there is none of this name. LayoutError if its file is damaged."""
        found = self._read(checked_name(name))
        if isinstance(found, DamagedLayout):
            raise LayoutError(f"the layout {name} cannot be read: {found.why}")
        return found

    def write(self, name: str, layout: Layout, by: str | None, expected: int | None) -> SavedLayout:
        """Save one. When this returns, a power cut does not undo it."""
        _refuse_ready_made(name)
        with self._lock:
            before = self._compare(name, expected)
            if before is None and len(self.names()) >= LAYOUTS_MAX:
                raise LayoutError(f"there are {LAYOUTS_MAX} layouts; delete one to save another")
            last_ms = 0 if before is None else before.changed_ms
            now_ms = max(time.time_ns() // 1_000_000, last_ms + 1)
            saved = SavedLayout(name, layout, now_ms, by)
            try:
                make_private(self.folder)
                _replace(self.folder, name + SUFFIX, _encoded(saved))
            except OSError as error:
                raise LayoutError(f"the layout {name} is not saved: {error.strerror}") from None
            return saved

    def remove(self, name: str, expected: int | None) -> bool:
        """Remove one; False if there is none."""
        _refuse_ready_made(name)
        with self._lock:
            before = self._compare(name, expected)
            if before is None:
                return False
            try:
                self._file(name).unlink()
                _sync(self.folder)
            except OSError as error:
                raise LayoutError(f"the layout {name} is not removed: {error.strerror}") from None
            return True

    def _compare(self, name: str, expected: int | None) -> SavedLayout | DamagedLayout | None:
        found = self._read(checked_name(name))
        version = 0 if found is None else found.changed_ms
        if expected is None or expected == version:
            return found
        if isinstance(found, SavedLayout):
            raise LayoutConflict(
                f"{found.by or 'somebody'} has saved {name} since you read it", found
            )
        raise LayoutConflict(f"the layout {name} was removed since you read it", None)

    def _file(self, name: str) -> Path:
        return self.folder / (name + SUFFIX)

    def _read(self, name: str) -> SavedLayout | DamagedLayout | None:
        try:
            descriptor = os.open(self._file(name), os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        except FileNotFoundError:
            return None
        except OSError as error:
            return DamagedLayout(name, f"{error.strerror}", 0)
        found = os.fstat(descriptor)
        changed_ms = found.st_mtime_ns // 1_000_000
        if not stat.S_ISREG(found.st_mode):
            os.close(descriptor)
            return DamagedLayout(name, f"{self._file(name)} is not a file; remove it", changed_ms)
        with os.fdopen(descriptor, "rb") as stream:
            try:
                return _decoded(name, stream.read(FILE_BYTES_MAX))
            except (ValueError, TypeError, KeyError, RecursionError, OSError, LayoutError):
                why = f"{self._file(name)} is not a layout; remove it, or restore it from a copy"
                return DamagedLayout(name, why, changed_ms)


def _refuse_ready_made(name: str) -> None:
    if name in READY_MADE:
        raise LayoutError(f"{name} is a ready-made layout: copy it under another name to change it")


def _encoded(saved: SavedLayout) -> bytes:
    head = {"slipring": "layout", "format": FORMAT, "changed_ms": saved.changed_ms, "by": saved.by}
    return json.dumps(head | {"layout": saved.layout.model_dump()}, indent=1).encode()


def _decoded(name: str, content: bytes) -> SavedLayout:
    found: dict[str, Any] = json.loads(content)
    changed_ms, by = found["changed_ms"], found["by"]
    is_ours = (found["slipring"], found["format"]) == ("layout", FORMAT)
    if not is_ours or type(changed_ms) is not int or not isinstance(by, str | None):
        raise ValueError("not a layout of this version")
    return SavedLayout(name, read_layout(json.dumps(found["layout"])), changed_ms, by)


def _replace(folder: Path, file: str, content: bytes) -> None:
    new = folder / f".{file}.new"
    new.unlink(missing_ok=True)  # of a write that was cut; never follow a link
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(descriptor)
        new.replace(folder / file)
    except OSError:
        with contextlib.suppress(OSError):
            new.unlink()
        raise
    _sync(folder)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
