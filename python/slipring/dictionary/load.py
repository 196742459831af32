"""A dictionary from a file; its suffix tells the format: CSV, DBC, or VSS as JSON."""

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from slipring.dictionary.checks import Checker
from slipring.dictionary.csv_file import read_csv
from slipring.dictionary.dbc_file import read_dbc
from slipring.dictionary.draft import Draft
from slipring.dictionary.problem import Findings, Problem, Severity
from slipring.dictionary.vss_file import read_vss
from slipring.errors import DictionaryError
from slipring.model import Parameter

BYTES_MAX = 256 * 1024 * 1024
"""A larger file is not a dictionary."""

DraftReader = Callable[[str, Findings], Iterable[Draft]]
STDIN = Path("-")
"""Standard input; CSV."""
READERS: dict[str, DraftReader] = {".csv": read_csv, ".dbc": read_dbc, ".json": read_vss}


@dataclass(frozen=True, slots=True)
class Dictionary:
    """What a file says about parameters, and what is wrong with it."""

    file: Path
    parameters: Mapping[str, Parameter]
    """By name, in the file's order; without those that have an error."""
    lines: Mapping[str, int]
    """The line of each name in the file."""
    problems: tuple[Problem, ...]
    """The first hundred."""
    counts: Mapping[Severity, int]
    """The number of problems of each severity."""

    @property
    def is_right(self) -> bool:
        """Whether it has no error."""
        return not self.counts[Severity.ERROR]


def load(file: Path | str, *, strict: bool = False) -> dict[str, Parameter]:
    """The parameters of a dictionary, for `bus.declare`; an error raises DictionaryError.

    With `strict` a warning, such as an unknown unit, is an error too.
    """
    found = read(file, strict=strict)
    if not found.is_right:
        errors = [problem for problem in found.problems if problem.severity is Severity.ERROR]
        more = found.counts[Severity.ERROR] - len(errors)
        lines = [*map(str, errors), *([f"and {more} more"] if more else [])]
        raise DictionaryError("\n".join(lines), problems=found.problems)
    return dict(found.parameters)


def read(file: Path | str, *, strict: bool = False) -> Dictionary:
    """A dictionary with its problems; raises DictionaryError only if the file cannot be read."""
    path = Path(file)
    reader = read_csv if path == STDIN else READERS.get(path.suffix.lower())
    if reader is None:
        known = "CSV (.csv), DBC (.dbc) or VSS as JSON (.json)"
        raise DictionaryError(f"{path}: a dictionary is {known}; rename the file if it is one")
    findings = Findings(path, strict=strict)
    checker = Checker(findings)
    for draft in reader(_text(path), findings):
        checker.add(draft)
    if not checker.lines and not findings.problems:
        findings.error(None, "there is no parameter in it")
    return Dictionary(path, checker.parameters, checker.lines, findings.listed(), findings.counts)


def _content(path: Path) -> bytes:
    if path == STDIN:
        content = sys.stdin.buffer.read(BYTES_MAX + 1)
    elif path.stat().st_size > BYTES_MAX:
        raise _too_large(path)
    else:
        content = path.read_bytes()
    if len(content) > BYTES_MAX:
        raise _too_large(path)
    return content


def _too_large(path: Path) -> DictionaryError:
    return DictionaryError(f"{path}: larger than {BYTES_MAX} bytes: not a dictionary")


def _text(path: Path) -> str:
    """The text of a file; a DBC that is not UTF-8 is in a Windows encoding."""
    try:
        content = _content(path)
    except OSError as error:
        raise DictionaryError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if path.suffix.lower() == ".dbc":
            return content.decode("cp1252", errors="replace")
        line = content.count(b"\n", 0, error.start) + 1
        raise DictionaryError(f"{path}:{line}: is not UTF-8; save the file as UTF-8") from None
