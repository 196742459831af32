"""The file of rules and users that were changed while running. Written whole, or not at all.

A line of JSON is the head: the version, and the SHA-256 of the rest. Each further line is a rule or
a user. A file that is not whole is refused: it may have lost a rule that denies something.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from slipring.control.access_grants import AccessGrants, user_of
from slipring.control.access_places import GRANTED, PlacedRule, placed_user
from slipring.control.folder import make_private
from slipring.control.trusted_file import open_file, refuse_open, refuse_writable
from slipring.errors import ConfigError

FILE = "access.jsonl"
FORMAT = 1
PRIVATE = 0o600
STORE_BYTES_MAX = 1024 * 1024 * 1024

FileIdentity = tuple[int, int, int] | None
"""Inode, size and time of a file; None if it is not there."""


class AccessStore:
    """The file in the data folder of a broker."""

    def __init__(self, data: Path) -> None:
        self.file: Path = data / FILE
        self._seen: FileIdentity = None

    def read(self) -> AccessGrants:
        """What the file has; nothing if it is not there. ConfigError if it is not whole."""
        try:
            with open_file(self.file) as stream:
                seen = os.fstat(stream.fileno())
                refuse_open(self.file, seen, "rules and users")
                self._refuse_folder()
                content = stream.read(STORE_BYTES_MAX)
        except FileNotFoundError:
            self._seen = None
            return AccessGrants()
        except OSError as error:
            raise ConfigError(f"cannot read {self.file}: {error.strerror}") from None
        self._seen = _identity(seen)
        try:
            return _decoded(content)
        except (ValueError, TypeError, KeyError, RecursionError, ConfigError) as error:
            raise ConfigError(
                f"{self.file} is damaged ({error}): it may have lost a rule that denies "
                "something. Restore it from a copy; or remove it, and grant again what was granted "
                "while running"
            ) from None

    def write(self, grants: AccessGrants) -> None:
        """Replace the file. When this returns, a power cut does not undo it."""
        new = self.file.with_name(f"{FILE}.new")
        content = _encoded(grants)
        if len(content) > STORE_BYTES_MAX:
            raise ConfigError(
                f"nothing is changed: {self.file} would have more than {STORE_BYTES_MAX} bytes; "
                "keep rules in the folder of rules instead"
            )
        try:
            make_private(self.file.parent)
            self._refuse_folder()
            if self._on_disk() != self._seen:
                raise ConfigError(
                    f"another program has changed {self.file}; start the broker again to read it"
                )
            _write(new, content)
            new.replace(self.file)
        except OSError as error:
            with contextlib.suppress(OSError):
                new.unlink(missing_ok=True)
            raise ConfigError(
                f"nothing is changed: cannot write {self.file}: {error.strerror}"
            ) from None
        self._seen = self._on_disk()
        try:
            _sync_folder(self.file.parent)
        except OSError as error:
            raise ConfigError(
                f"the change is not in force, and may be after a restart: cannot sync the folder "
                f"of {self.file}: {error.strerror}"
            ) from None

    def _on_disk(self) -> FileIdentity:
        try:
            return _identity(self.file.stat())
        except FileNotFoundError:
            return None

    def _refuse_folder(self) -> None:
        """Who can write the folder can take the file away, and with it every rule that denies."""
        folder = self.file.parent
        refuse_writable(folder, folder.stat())


def _identity(seen: os.stat_result) -> FileIdentity:
    return seen.st_ino, seen.st_size, seen.st_mtime_ns


def _write(new: Path, content: bytes) -> None:
    new.unlink(missing_ok=True)  # of a write that was cut; never follow a link
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE)
    with os.fdopen(descriptor, "wb") as stream:
        os.fchmod(descriptor, PRIVATE)
        stream.write(content)
        stream.flush()
        os.fsync(descriptor)


def _encoded(grants: AccessGrants) -> bytes:
    # A line at a time, so that other threads of Python run in between.
    lines = b"".join(json.dumps(row).encode() + b"\n" for row in _rows(grants))
    head = {
        "slipring": "access",
        "format": FORMAT,
        "version": grants.version,
        "next": grants.next_number,
        "sha256": hashlib.sha256(lines).hexdigest(),
    }
    return json.dumps(head).encode() + b"\n" + lines


def _rows(grants: AccessGrants) -> Iterator[dict[str, Any]]:
    for rule in grants.rules:
        verb = {"allow": rule.allow} if rule.allow else {"deny": rule.deny}
        yield {"rule": rule.name, "who": rule.who, **verb, "topics": rule.topics}
    for user in grants.users:
        verifier = user.password.get_secret_value()
        yield {"user": user.name, "password": verifier, "roles": user.roles}


def _decoded(content: bytes) -> AccessGrants:
    first, _, lines = content.partition(b"\n")
    head = json.loads(first)
    if (head["slipring"], head["format"]) != ("access", FORMAT):
        raise ValueError("it is not a store of rules, or one of a later version of Slipring")
    if hashlib.sha256(lines).hexdigest() != head["sha256"]:
        raise ValueError("its content does not have the checksum of its first line")
    rules, users = [], []
    for row in map(json.loads, lines.splitlines()):
        if "rule" in row:
            words = {key: row[key] for key in ("who", "allow", "deny", "topics") if key in row}
            rules.append(PlacedRule.model_validate(words | {"name": row["rule"]}))
        else:
            user = user_of(row["user"], row["password"], row["roles"])
            users.append(placed_user(user, GRANTED))
    return AccessGrants(head["version"], head["next"], tuple(rules), tuple(users))


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
