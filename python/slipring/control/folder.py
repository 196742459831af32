"""The folder of a broker's data: for its owner alone. Never changes one that is there."""

import stat
from pathlib import Path

PRIVATE = 0o700
OTHERS = 0o077


def make_private(folder: Path) -> None:
    """Make a folder that only its owner can read; one that is there stays as it is."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=PRIVATE, exist_ok=True)


def open_to_others(folder: Path) -> str | None:
    """Say that others can read a folder, where they can."""
    mode = stat.S_IMODE(folder.stat().st_mode)
    if not mode & OTHERS:
        return None
    return (
        f"others can look into {folder} (mode {mode:04o}); the journal in it is for its owner "
        f"alone, what else is there may not be: chmod 700 {folder}"
    )
