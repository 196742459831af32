"""The key by which SCRAM shows a client with an unknown name a salt that stays the same.

It is kept in the data folder: a salt that changes at each start would tell that nobody has the
name. Whoever reads the key can tell unknown names from users, and nothing more.
"""

import os
import secrets
from pathlib import Path

from slipring.control.trusted_file import open_file, refuse_open
from slipring.errors import ConfigError

NAME = "stand-in.key"
KEY_BYTES = 32


def make_key(data: Path) -> None:
    """Make the key, unless there is one. ConfigError if others can read it, or it is damaged."""
    file = data / NAME
    if not file.exists():
        fresh = file.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        made = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(made, "wb") as out:
            out.write(secrets.token_bytes(KEY_BYTES))
            out.flush()
            os.fsync(out.fileno())
        fresh.replace(file)
    _read(file)


def read_stand_in_key(data: Path) -> bytes | None:
    """The key; None if there is none that can be used: then it is another one at each start."""
    try:
        return _read(data / NAME)
    except (OSError, ConfigError):
        return None


def _read(file: Path) -> bytes:
    with open_file(file) as stream:
        refuse_open(file, os.fstat(stream.fileno()), "the key that hides which names exist")
        key = stream.read(KEY_BYTES + 1)
    if len(key) != KEY_BYTES:
        raise ConfigError(f"{file} is damaged; remove it: rm {file}")
    return key
