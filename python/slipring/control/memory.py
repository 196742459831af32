"""The process's memory: how much may be used for what waits, and how the system gives it."""

import ctypes
import os
from pathlib import Path

MEMORY_FILE = Path("/proc/meminfo")
GROUP_FILES = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
SHARE = 4
"""One part of so many: the tables and the system need some, too."""
M_ARENA_MAX = -8
"""The number by which glibc's `mallopt` knows how many arenas there may be."""


def share_free_memory() -> None:
    """Let all threads use what any of them has freed (decision 0061).

    glibc gives each thread an arena of its own: memory freed by one is not used by the others, and
    a budget is resident once for each. Who sets MALLOC_ARENA_MAX decides for themselves.
    """
    if "MALLOC_ARENA_MAX" in os.environ:
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt:
        mallopt(M_ARENA_MAX, 1)


def default_budget_bytes() -> int:
    """A quarter of the machine's memory, or of the control group's; 0 if neither is known."""
    known = [_machine_bytes(), *(_group_bytes(file) for file in GROUP_FILES)]
    return min((amount for amount in known if amount), default=0) // SHARE


def _machine_bytes() -> int:
    try:
        lines = MEMORY_FILE.read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    total = next((line for line in lines if line.startswith("MemTotal:")), "MemTotal: 0 kB")
    return int(total.split()[1]) * 1024


def _group_bytes(file: Path) -> int:
    """A group without a limit says `max`, or a number that no machine has."""
    try:
        text = file.read_text(encoding="ascii").strip()
    except OSError:
        return 0
    return int(text) if text.isdigit() else 0
