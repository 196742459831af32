"""The folder of files with rules and users. A file that cannot be trusted whole is refused.

Brokers let everyone in after a file was emptied (CVE-2018-12550) or could not be read
(CVE-2017-7652). Here such a file is an error: a start fails, and a running broker keeps its rules.
"""

import os
import time
import tomllib
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import Field, ValidationError

from slipring.control.access import RULES_MAX, TOPICS_MAX
from slipring.control.access_places import AccessTables, PlacedRule, placed_user
from slipring.control.mistakes import explain
from slipring.control.section import Section
from slipring.control.trusted_file import open_file, refuse_open, refuse_writable
from slipring.control.users import UserSection
from slipring.errors import ConfigError

FILES_MAX = 1_000
FILE_BYTES_MAX = 64 * 1024 * 1024
SETTLED_NS = 3_000_000_000
"""A file that changed later than this before it was read is read again the next time: within one
step of the clock of some file systems it can change once more, and look the same."""

FileState: TypeAlias = tuple[str, int, int, int, int, int]
"""What tells whether a file has changed: name, inode, size, times and mode."""
FolderState: TypeAlias = tuple[FileState, ...]


class FileRuleSection(PlacedRule):
    """A rule of a file. It names its topics: the default would widen a rule that was cut."""

    topics: tuple[str, ...] = Field(min_length=1, max_length=TOPICS_MAX)


class FileRulesSection(Section):
    """The rules of a file."""

    rule: tuple[FileRuleSection, ...] = Field((), max_length=RULES_MAX)


class FileTables(Section):
    """A file of the folder."""

    access: FileRulesSection = FileRulesSection()
    user: tuple[UserSection, ...] = ()


class AccessFolder:
    """Reads the folder; of files that have not changed it keeps what it read."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[FileState, FileTables]] = {}

    def read(self, folder: Path) -> AccessTables:
        """Read every file; ConfigError names the first that is refused, and why."""
        before, self._known = self._known, {}
        read: dict[Path, FileTables] = {}
        now_ns, count = time.time_ns(), 0
        for file in _files(folder):
            state = _state(file)
            known = before.get(file)
            tables = known[1] if known and known[0] == state else _read(file)
            read[file] = tables
            if is_settled(state, now_ns):
                self._known[file] = state, tables
            count += len(tables.access.rule)
            if count > RULES_MAX:
                raise ConfigError(f"{folder} has more than {RULES_MAX} rules")
        return AccessTables(
            tuple(rule for tables in read.values() for rule in tables.access.rule),
            tuple(
                placed_user(user, file.name)
                for file, tables in read.items()
                for user in tables.user
            ),
        )


_FOLDER = AccessFolder()


def read_folder(folder: Path) -> AccessTables:
    """Read every file; those that this process has read before, only if they have changed."""
    return _FOLDER.read(folder)


def is_settled(state: FileState, now_ns: int) -> bool:
    """Whether a file changed long enough ago that another change would show."""
    return max(state[3:5]) < now_ns - SETTLED_NS


def folder_state(folder: Path) -> FolderState:
    """What changes when a file does; ConfigError if the folder cannot be read."""
    return tuple(_state(file) for file in _files(folder))


def _state(file: Path) -> FileState:
    try:
        seen = file.stat()
    except OSError as error:
        raise _unreadable(file, error) from None
    times = (seen.st_mtime_ns, seen.st_ctime_ns)
    return file.name, seen.st_ino, seen.st_size, *times, seen.st_mode


def _files(folder: Path) -> list[Path]:
    try:
        refuse_writable(folder, folder.stat())
        names = [one.name for one in folder.iterdir() if one.name.endswith(".toml")]
    except OSError as error:
        raise _unreadable(folder, error) from None
    shown = sorted(name for name in names if not name.startswith("."))
    for name in shown:
        if ":" in name or not name.isprintable():
            raise ConfigError(
                f"{folder} has a file {name!a}: its rules would be named after it; give it a "
                "name without ':' and control characters"
            )
    if len(shown) > FILES_MAX:
        raise ConfigError(f"{folder} has {len(shown)} files of rules; at most {FILES_MAX} are read")
    return [folder / name for name in shown]


def _read(file: Path) -> FileTables:
    try:
        with open_file(file) as stream:
            seen = os.fstat(stream.fileno())
            refuse_writable(file, seen)
            content = stream.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise _unreadable(file, error) from None
    if len(content) > FILE_BYTES_MAX:
        raise ConfigError(f"{file} has more than {FILE_BYTES_MAX} bytes; use several files")
    values = _toml(file, content)
    if not values.get("access") and not values.get("user"):
        raise ConfigError(
            f"{file} has no rule and no user; if that is intended, remove it, otherwise it may be "
            "cut or half written"
        )
    if _has_verifier(values.get("user")):
        refuse_open(file, seen, "what checks the passwords of users")
    _name_rules(file, values)
    try:
        return FileTables.model_validate(values)
    except ValidationError as error:
        raise ConfigError(f"{file}: {explain(error, FileTables)}") from None


def _has_verifier(users: Any) -> bool:
    """Whether one is in the file itself, rather than in a file of its own."""
    tables = (one for one in (users if isinstance(users, list) else ()) if isinstance(one, dict))
    return any(isinstance(one.get("password"), str) for one in tables)


def _name_rules(file: Path, values: dict[str, Any]) -> None:
    """Give each rule its name; what is not as it should be is left for pydantic."""
    access = values.get("access")
    rules = access.get("rule") if isinstance(access, dict) else None
    for number, rule in enumerate(rules if isinstance(rules, list) else (), 1):
        if isinstance(rule, dict):
            if "name" in rule:
                raise ConfigError(f"{file}: access.rule.{number - 1}.name: there is no such key")
            rule["name"] = f"{file.name}:{number}"


def _toml(file: Path, content: bytes) -> dict[str, Any]:
    if content and not content.endswith(b"\n"):
        raise ConfigError(f"{file} does not end with a line feed: it may be cut or half written")
    try:
        return tomllib.loads(content.decode())
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits is a ValueError
        raise ConfigError(f"{file} is not valid TOML: {error}") from None


def _unreadable(path: Path, error: OSError) -> ConfigError:
    return ConfigError(f"cannot read {path}, which has rules of access: {error.strerror}")
