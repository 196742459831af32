"""A disk that can be filled and freed: a real tmpfs where mounting is allowed, else a bound in the
failing disk. Both answer ENOSPC.
"""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from tests.faults.disk import NO_BOUND, Disk

SIZE_BYTES = 8 << 20


class SmallDisk(Protocol):
    """What a test does with it."""

    def fill(self) -> None:
        """Leave no room."""

    def free(self) -> None:
        """Leave room again."""


class Bounded:
    """Through the panel of the failing disk."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk

    def fill(self) -> None:
        """Leave room for a part of a message, so that a write is cut short."""
        self._disk.panel.room_bytes = 100

    def free(self) -> None:
        self._disk.panel.room_bytes = NO_BOUND


class Ballast:
    """A file that takes all the room of a small file system."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "ballast"

    def fill(self) -> None:
        """Write until nothing fits any more."""
        with self._file.open("wb", buffering=0) as ballast:
            for size in (1 << 16, 1 << 10, 100):
                with suppress(OSError):
                    while ballast.write(bytes(size)):
                        pass

    def free(self) -> None:
        self._file.unlink()


@contextmanager
def small_disk(kind: str, disk: Disk) -> Iterator[SmallDisk]:
    """`tmpfs` under the data folder if this process may mount one, else `bounded`."""
    options = ["-t", "tmpfs", "-o", f"size={SIZE_BYTES}", "tmpfs", str(disk.folder)]
    if kind != "tmpfs" or subprocess.run(["mount", *options], check=False).returncode:
        yield Bounded(disk)
        return
    try:
        yield Ballast(disk.folder)
    finally:
        subprocess.run(["umount", "--lazy", str(disk.folder)], check=True)
