"""The data folder, readable by its owner only. Never changes an existing folder."""

import stat
from pathlib import Path

PRIVATE = 0o700
OTHERS = 0o077


def make_private(folder: Path) -> None:
    """Make a folder that only its owner can read; an existing one stays as it is."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=PRIVATE, exist_ok=True)


def open_to_others(folder: Path) -> str | None:
    """Return a warning if others can read a folder."""
    mode = stat.S_IMODE(folder.stat().st_mode)
    if not mode & OTHERS:
        return None
    return (
        f"others can read {folder} (mode {mode:04o}); the journal in it is private, other files "
        f"there may not be: chmod 700 {folder}"
    )
