"""Opens files that say who may do what: only those that nobody else can write, or read if secret.

What was opened is what is checked: a file that is swapped after a look at its name gains nothing.
"""

import os
import stat
from pathlib import Path
from typing import BinaryIO

from slipring.errors import ConfigError

WRITABLE_BY_OTHERS = 0o022
WRITABLE_BY_ALL = 0o002
OTHERS = 0o077
OTHERS_OF_ROOT = 0o037
"""A file of root may be readable for a group that services share."""
ROOT = 0


def open_file(path: Path) -> BinaryIO:
    """Open a regular file. OSError if it cannot be opened, ConfigError if it is no file."""
    # Opening a pipe would wait for somebody who writes.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ConfigError(f"{path} is not a file; move it away")
    return os.fdopen(descriptor, "rb")


def refuse_writable(path: Path, seen: os.stat_result) -> None:
    """Refuse what others than the owner could have written, unless nobody can write there."""
    if os.statvfs(path).f_flag & os.ST_RDONLY:
        return
    if not _is_ours(seen):
        raise ConfigError(
            f"{path} belongs to another user, who can give everybody rights with it: "
            f"chown $(id -u) {path}"
        )
    if seen.st_mode & WRITABLE_BY_OTHERS:
        raise ConfigError(
            f"others can write {path} (mode {_mode(seen)}), and with it give themselves rights: "
            f"chmod go-w {path}"
        )


def refuse_writable_by_all(path: Path, seen: os.stat_result) -> None:
    """Refuse a config file that everybody on this machine can write.

    A group may: on many systems each user has one of his own.
    """
    if stat.S_ISREG(seen.st_mode) and seen.st_mode & WRITABLE_BY_ALL:
        raise ConfigError(
            f"everybody can write {path} (mode {_mode(seen)}), and with it change what is allowed: "
            f"chmod o-w {path}"
        )


def refuse_open(path: Path, seen: os.stat_result, what: str) -> None:
    """Refuse a file that others can read or write, although it has something secret."""
    if not _is_ours(seen):
        raise ConfigError(f"{path} belongs to another user, and has {what}: chown $(id -u) {path}")
    is_of_root = seen.st_uid == ROOT != os.geteuid()
    if seen.st_mode & (OTHERS_OF_ROOT if is_of_root else OTHERS):
        raise ConfigError(
            f"others can read or write {path} (mode {_mode(seen)}), which has {what}: "
            f"chmod {640 if is_of_root else 600} {path}"
        )


def _is_ours(seen: os.stat_result) -> bool:
    return seen.st_uid in (os.geteuid(), ROOT)


def _mode(seen: os.stat_result) -> str:
    return f"{stat.S_IMODE(seen.st_mode):04o}"
