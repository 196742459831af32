"""What is wrong or doubtful in a dictionary: where, what, and what to do. Reported together."""

from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

PROBLEMS_MAX = 100
"""Problems of one file that are listed; further ones are only counted."""


class Severity(StrEnum):
    """How serious a problem is."""

    ERROR = "error"
    """Nothing of the file is declared until it is corrected."""
    WARNING = "warning"
    """Probably a mistake; with `--strict` an error."""
    NOTE = "note"
    """Good to know."""


class Problem(NamedTuple):
    """One finding in a file."""

    file: Path
    line: int | None
    severity: Severity
    text: str

    def __str__(self) -> str:
        """`engine.csv:3: error: max 10 is below min 20`, in the form that editors understand."""
        where = f"{self.file}:{self.line}" if self.line else str(self.file)
        return f"{where}: {self.severity}: {self.text}"


class Findings:
    """Collects the problems of one file, in the order in which they are found."""

    def __init__(self, file: Path, *, strict: bool = False) -> None:
        """With `strict` a warning is an error."""
        self.file = file
        self.problems: list[Problem] = []
        self.counts: dict[Severity, int] = dict.fromkeys(Severity, 0)
        self._strict = strict

    def error(self, line: int | None, text: str) -> None:
        """Report what must be corrected."""
        self.add(line, Severity.ERROR, text)

    def warning(self, line: int | None, text: str) -> None:
        """Report what is probably wrong."""
        self.add(line, Severity.WARNING, text)

    def note(self, line: int | None, text: str) -> None:
        """Report what is good to know."""
        self.add(line, Severity.NOTE, text)

    def add(self, line: int | None, severity: Severity, text: str) -> None:
        """Report a problem of any severity."""
        if self._strict and severity is Severity.WARNING:
            severity = Severity.ERROR
        self.counts[severity] += 1
        self.problems.append(Problem(self.file, line, severity, text))

    def listed(self) -> tuple[Problem, ...]:
        """At most PROBLEMS_MAX problems, sorted by line; if there are more, the worst ones."""
        chosen = self.problems
        if len(chosen) > PROBLEMS_MAX:
            worst_first = sorted(chosen, key=lambda one: list(Severity).index(one.severity))
            chosen = worst_first[:PROBLEMS_MAX]
        return tuple(sorted(chosen, key=lambda one: one.line or 0))
