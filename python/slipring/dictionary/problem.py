"""What is wrong with a dictionary, or doubtful: where, what, and what to do. Told all at once."""

from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

PROBLEMS_MAX = 100
"""Problems of one file that are told; further ones are counted."""


class Severity(StrEnum):
    """How bad it is."""

    ERROR = "error"
    """Nothing of the file is declared until it is put right."""
    WARNING = "warning"
    """Probably a mistake; an error for those who ask for `--strict`."""
    NOTE = "note"
    """Good to know."""


class Problem(NamedTuple):
    """One finding in a file."""

    file: Path
    line: int | None
    severity: Severity
    text: str

    def __str__(self) -> str:
        """`engine.csv:3: error: max 10 is below min 20`, as editors understand it."""
        place = f"{self.file}:{self.line}" if self.line else str(self.file)
        return f"{place}: {self.severity}: {self.text}"


class Findings:
    """Gathers the problems of one file, in the order they are found."""

    def __init__(self, file: Path, *, strict: bool = False) -> None:
        """Strict: a warning is an error."""
        self.file = file
        self.problems: list[Problem] = []
        self.counts = dict.fromkeys(Severity, 0)
        self._strict = strict

    def error(self, line: int | None, text: str) -> None:
        """Tell what must be put right."""
        self._add(line, Severity.ERROR, text)

    def warning(self, line: int | None, text: str) -> None:
        """Tell what is probably wrong."""
        self._add(line, Severity.ERROR if self._strict else Severity.WARNING, text)

    def note(self, line: int | None, text: str) -> None:
        """Tell what is good to know."""
        self._add(line, Severity.NOTE, text)

    def _add(self, line: int | None, severity: Severity, text: str) -> None:
        self.counts[severity] += 1
        self.problems.append(Problem(self.file, line, severity, text))

    def told(self) -> tuple[Problem, ...]:
        """The first hundred by line; errors before the rest where there are more than that."""
        chosen = self.problems
        if len(chosen) > PROBLEMS_MAX:
            worst_first = sorted(chosen, key=lambda one: list(Severity).index(one.severity))
            chosen = worst_first[:PROBLEMS_MAX]
        return tuple(sorted(chosen, key=lambda one: one.line or 0))
