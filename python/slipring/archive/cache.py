"""Segments of archives in a local folder of bounded size, for all processes of one machine.

Each segment has a folder of its own, which is a journal that the native reader opens. A reader
holds a shared lock on it; who makes room takes no folder that is locked. A folder comes and goes by
one rename, so that nobody finds half of one.
"""

import fcntl
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4
from weakref import finalize

from slipring.archive.manifest import KEY_DIGITS, ArchivedSegment
from slipring.archive.segments import HEADER_BYTES
from slipring.archive.store import ArchiveStore
from slipring.errors import ArchiveError

CACHE_BYTES = 2 << 30
"""The size of the folder, unless one is named; the segment in use may exceed it."""
PRIVATE = 0o700
UNFINISHED = ".new-"
"""Begins the name of a folder that is being filled or removed."""
_OURS = re.compile(
    rf"[0-9a-f]{{64}}(\+[0-9a-f]{{{KEY_DIGITS}}})?|{re.escape(UNFINISHED)}[0-9a-f]{{32}}"
)
"""The names of the folders that are made here; others are never removed."""
LOCK = ".lock"
ROOM = "room"
"""Names the lock of whoever makes room."""


class CachedSegment:
    """A segment on this machine, which nobody removes until this is closed or forgotten."""

    def __init__(self, folder: Path, lock: int) -> None:
        """`lock` is the descriptor of a locked file."""
        self.folder = folder
        self.close: Callable[[], object] = finalize(self, os.close, lock)


class SegmentCache:
    """The folder, and its bound."""

    def __init__(self, folder: Path | None = None, bytes_max: int = CACHE_BYTES) -> None:
        """Without a folder: one of this user below the system's folder for temporary files."""
        default = Path(tempfile.gettempdir()) / f"slipring-archive-{os.getuid()}"
        self.folder: Path = folder or default
        self._is_named = folder is not None
        self.bytes_max = bytes_max

    def open(
        self, store: ArchiveStore, segment: ArchivedSegment, following: ArchivedSegment | None
    ) -> CachedSegment:
        """A segment, brought here if it is not; with the header of one that skips offsets."""
        self._make()
        skips = f"+{following.sha256[:KEY_DIGITS]}" if following else ""
        folder = self.folder / f"{segment.sha256}{skips}"
        with self._locked(folder.name):
            return _hold(folder) or self._bring(store, segment, following, folder)

    def _make(self) -> None:
        self.folder.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        owner = self.folder.stat()
        # Beside other users' files, a link may be theirs, to any folder of this user.
        is_link = self.folder.is_symlink() and not self._is_named
        if is_link or owner.st_uid != os.getuid() or owner.st_mode & 0o077:
            raise ArchiveError(
                f"others can write or read {self.folder}, which would hold segments of a journal; "
                f"remove it, or chmod 700 {self.folder}"
            )

    @contextmanager
    def _locked(self, name: str) -> Iterator[None]:
        """One process at a time brings a segment, or makes room; the others wait."""
        with (self.folder / f".lock-{name[:2]}").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _bring(
        self,
        store: ArchiveStore,
        segment: ArchivedSegment,
        following: ArchivedSegment | None,
        folder: Path,
    ) -> CachedSegment:
        new, lock = self._begin(segment.bytes)
        try:
            download(store, segment, new / segment.name)
            if following is not None:
                header = next(store.parts(following.key, HEADER_BYTES))
                (new / following.name).write_bytes(header)
            new.rename(folder)
        except BaseException:
            with self._locked(ROOM):
                shutil.rmtree(new, ignore_errors=True)
            os.close(lock)
            raise
        return CachedSegment(folder, lock)

    def _begin(self, wanted: int) -> tuple[Path, int]:
        """Make room, and an empty folder with its lock."""
        with self._locked(ROOM):  # nobody removes the new folder before it is locked
            self._make_room(wanted)
            new = self._unfinished()
            new.mkdir(mode=PRIVATE)
            lock = _lock(new, fcntl.LOCK_SH, os.O_CREAT)
        assert lock is not None
        return new, lock

    def _unfinished(self) -> Path:
        return self.folder / f"{UNFINISHED}{uuid4().hex}"

    def _make_room(self, wanted: int) -> None:
        """Remove what was not used for longest, until there is room."""
        folders = [one for one in self.folder.iterdir() if _OURS.fullmatch(one.name)]
        aged = sorted((_used_ns(one), one) for one in folders)
        sizes = {one: _size(one) for _, one in aged}
        used = sum(sizes.values())
        for _, folder in aged:
            if used + wanted <= self.bytes_max:
                return
            if self._remove(folder):
                used -= sizes[folder]

    def _remove(self, folder: Path) -> bool:
        """Remove a folder that nobody reads; whether it is gone."""
        # Of a folder whose removal was cut off, the lock may be gone already.
        lock = _lock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB, os.O_CREAT)
        if lock is None:
            return False
        try:
            going = folder.rename(self._unfinished())
            shutil.rmtree(going, ignore_errors=True)
        finally:
            os.close(lock)
        return True


def download(store: ArchiveStore, segment: ArchivedSegment, file: Path) -> None:
    """Bring a segment's object into a file; ArchiveError if any byte is not as it was sent."""
    digest = hashlib.sha256()
    with file.open("xb") as stream:
        for part in store.parts(segment.key, segment.bytes):
            digest.update(part)
            stream.write(part)
        stream.flush()
        os.fsync(stream.fileno())
    if digest.hexdigest() != segment.sha256:
        file.unlink()
        raise ArchiveError(
            f"{store.url}/{segment.key} is damaged: its content is not what was archived (offsets "
            f"{segment.first_offset} to {segment.end_offset})"
        )


def _lock(folder: Path, kind: int, create: int = 0) -> int | None:
    """The descriptor of the locked lock file of a folder; None if it is locked or not there."""
    try:
        lock = os.open(folder / LOCK, os.O_RDWR | create, 0o600)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(lock, kind)
        # Whoever held the lock before may have removed the folder, and another be in its place.
        if os.path.samestat(os.fstat(lock), (folder / LOCK).stat()):
            return lock
    except (BlockingIOError, FileNotFoundError):
        pass
    os.close(lock)
    return None


def _hold(folder: Path) -> CachedSegment | None:
    """Lock a segment for reading; None if it is not here."""
    lock = _lock(folder, fcntl.LOCK_SH)
    if lock is None:
        return None
    os.utime(folder)
    return CachedSegment(folder, lock)


def _size(folder: Path) -> int:
    """The bytes of its files; 0 if another process removes it."""
    try:
        return sum(file.stat().st_size for file in folder.iterdir())
    except FileNotFoundError:
        return 0


def _used_ns(folder: Path) -> int:
    try:
        return folder.stat().st_mtime_ns
    except FileNotFoundError:
        return 0
