"""Whether a broker has a journal open. Only looks: a lock taken here would stop the broker."""

from pathlib import Path

LOCKS = Path("/proc/locks")


def is_open_for_writing(folder: Path) -> bool:
    """Whether a process of this machine holds the journal's lock, as far as /proc shows it."""
    try:
        inode = str((folder / "lock").stat().st_ino)
        lines = LOCKS.read_text().splitlines()
    except OSError:
        return False
    held = (line.split() for line in lines)
    return any(
        "FLOCK" in words and inode == word.rpartition(":")[2]
        for words in held
        for word in words[4:6]
    )
