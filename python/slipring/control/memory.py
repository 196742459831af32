"""The process's memory: the default budget, and the setting of the allocator."""

import ctypes
import os
from pathlib import Path

MEMORY_FILE = Path("/proc/meminfo")
GROUP_FILES = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
SHARE = 4
"""The default budget is the memory divided by this: tables and the system need some, too."""
M_ARENA_MAX = -8
"""The parameter of glibc's `mallopt` for the number of arenas."""


def share_free_memory() -> None:
    """Let all threads reuse what any of them has freed (decision 0061).

    glibc gives each thread its own arena. Memory freed in one is not reused by the others, so the
    budget could be resident once for each thread. MALLOC_ARENA_MAX overrides this.
    """
    if "MALLOC_ARENA_MAX" in os.environ:
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt:
        mallopt(M_ARENA_MAX, 1)


def give_memory_back() -> None:
    """Return free memory to the system. The allocator alone keeps what lies between used blocks.

    All threads that allocate wait meanwhile, so this is for a lowered budget, not for every drop.
    """
    malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if malloc_trim:
        malloc_trim(0)


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
    """A group without a limit contains `max`, or a number larger than any machine."""
    try:
        text = file.read_text(encoding="ascii").strip()
    except OSError:
        return 0
    return int(text) if text.isdigit() else 0
