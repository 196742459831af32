"""A disk that fails on request, under the data folder of one broker: disk.c, built and steered.

    disk = Disk.under(tmp_path / "data", tmp_path, library)
    broker = RunningBroker.start(disk.folder, environment=disk.environment)
    disk.panel.room_bytes = 4_096       # from now on 4 KiB fit, and then no more
    disk.panel.stop_at = disk.panel.calls + 3   # it dies when it comes to the third change from now

Without a knob turned the disk is as good as the one below it.
"""

import ctypes
import mmap
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

SOURCE = Path(__file__).with_name("disk.c")
NO_BOUND = -1


class Panel(ctypes.Structure):
    """The knobs and the counters, shared with the broker's process; disk.c says what they mean."""

    _fields_ = (
        ("calls", ctypes.c_uint64),
        ("stop_at", ctypes.c_uint64),
        ("stop_bytes", ctypes.c_uint64),
        ("room_bytes", ctypes.c_int64),
        ("no_room", ctypes.c_uint64),
        ("write_errno", ctypes.c_uint64),
        ("sync_errno", ctypes.c_uint64),
        ("syncs", ctypes.c_uint64),
        ("sync_lies", ctypes.c_uint64),
        ("sync_us", ctypes.c_uint64),
        ("sync_noted", ctypes.c_uint64),
        ("clock_ns", ctypes.c_int64),
        ("opens", ctypes.c_uint64),
        ("open_errno", ctypes.c_uint64),
        ("open_at", ctypes.c_uint64),
        ("clock_skips", ctypes.c_uint64),
        ("clock_failures", ctypes.c_uint64),
        ("clock_held", ctypes.c_uint64),
        ("clock_thread", ctypes.c_char * 16),
    )
    calls: int
    stop_at: int
    stop_bytes: int
    room_bytes: int
    no_room: int
    write_errno: int
    sync_errno: int
    syncs: int
    sync_lies: int
    sync_us: int
    sync_noted: int
    clock_ns: int
    opens: int
    open_errno: int
    open_at: int
    clock_skips: int
    clock_failures: int
    clock_held: int
    clock_thread: bytes


@dataclass
class Disk:
    """A folder, what is known of its disk, and the panel."""

    folder: Path
    trace: Path
    library: Path
    panel_file: Path
    panel: Panel = field(repr=False)

    @classmethod
    def under(cls, folder: Path, beside: Path, library: Path) -> Self:
        """A disk for a folder; its own files are `beside` it."""
        folder.mkdir(parents=True, exist_ok=True)
        file = beside / "panel"
        file.write_bytes(bytes(ctypes.sizeof(Panel)))
        with file.open("r+b") as opened:
            panel = Panel.from_buffer(mmap.mmap(opened.fileno(), ctypes.sizeof(Panel)))
        panel.room_bytes = NO_BOUND
        return cls(folder.resolve(), beside / "trace", library, file, panel)

    @property
    def environment(self) -> dict[str, str]:
        """For the process that writes to the folder; nobody else."""
        return {
            **os.environ,
            "LD_PRELOAD": str(self.library),
            "DISK_FOLDER": str(self.folder),
            "DISK_PANEL": str(self.panel_file),
            "DISK_TRACE": str(self.trace),
        }

    def stop_in(self, calls: int, stop_bytes: int = 0) -> None:
        """The process dies when it comes to so many calls from now.

        If that is a write, some bytes of it arrive.
        """
        self.panel.stop_bytes = stop_bytes
        self.panel.stop_at = self.panel.calls + calls

    @property
    def has_stopped(self) -> bool:
        """Whether it came to the call it was to die at."""
        return 0 < self.panel.stop_at <= self.panel.calls

    def mend(self) -> None:
        """Nothing fails any more."""
        self.panel.stop_at = self.panel.stop_bytes = 0
        self.panel.write_errno = self.panel.sync_errno = 0
        self.panel.sync_lies = self.panel.sync_us = 0
        self.panel.open_errno = self.panel.open_at = 0
        self.panel.room_bytes = NO_BOUND


def built(folder: Path) -> Path:
    """The library, compiled into a folder."""
    library = folder / "disk.so"
    options = ["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror"]
    command = ["cc", *options, "-o", str(library), str(SOURCE), "-ldl", "-lpthread"]
    subprocess.run(command, check=True)
    return library
