"""The audit of a running broker, read from its folder until what a test waits for is there."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from slipring.errors import JournalError
from slipring.journal.audit import AuditFilter, AuditReader

WAIT_S = 60
Record = dict[str, Any]


def all_records(data: Path) -> list[Record]:
    """Every record, oldest first."""
    try:
        return AuditReader(data / "audit").after(0)
    except JournalError:
        return []


def awaited(data: Path, is_meant: Callable[[Record], bool]) -> Record:
    """The first record that is meant, as soon as it is there."""
    until_s = time.monotonic() + WAIT_S
    while time.monotonic() < until_s:
        for record in all_records(data):
            if is_meant(record):
                return record
    raise AssertionError(f"not in the audit: {all_records(data)}")


def of_kind(kind: str, **fields: object) -> Callable[[Record], bool]:
    """Whether a record is of a kind, and has these fields."""
    wanted = {"kind": kind, **fields}
    return lambda record: all(record[key] == value for key, value in wanted.items())


__all__ = ["AuditFilter", "AuditReader", "all_records", "awaited", "of_kind"]
