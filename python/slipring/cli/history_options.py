"""The options of `slipring import` for histories: files with samples of parameters."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slipring.errors import RecordingError
from slipring.model import Parameter
from slipring.recording.file_format import TimeFormat

if TYPE_CHECKING:
    from slipring.frames import Table
    from slipring.recording.history.read.import_columns import GivenDefinitions


@dataclass(frozen=True)
class HistoryOptions:
    """What a file of samples does not tell."""

    prefix: Annotated[
        str | None,
        typer.Option(metavar="TOPIC", help="A history: the prefix of its columns' names."),
    ] = None
    time_column: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="A history: the column of source times."),
    ] = None
    time_format: Annotated[
        TimeFormat | None,
        typer.Option(help="A history: ISO 8601, or a number since 1970 in this unit."),
    ] = None
    types: Annotated[
        list[str] | None,
        typer.Option(
            "--type", metavar="NAME=TYPE", help="A history: a column's type; may be repeated."
        ),
    ] = None
    dictionary: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A history: its dictionary.", exists=True, dir_okay=False
        ),
    ] = None
    units: Annotated[
        bool, typer.Option("--units", help="A history as CSV: its second line has units.")
    ] = False

    def is_asked_of(self, file: Path) -> bool:
        """Whether to import a file as samples, not as messages."""
        from slipring.recording.history.read.open_history import is_history

        given = (self.prefix, self.time_column, self.time_format, self.types, self.dictionary)
        if any(one is not None for one in given) or self.units:
            return True
        # Only a regular file: a pipe can be read just once.
        return file.is_dir() or (file.is_file() and is_history(file))

    def given(self, table: "Table") -> "GivenDefinitions":
        """The definitions that do not come from the file."""
        from slipring.recording.history.read.import_columns import GivenDefinitions

        return GivenDefinitions(dict(map(_pair, self.types or [])), self._dictionary(), table)

    def _dictionary(self) -> dict[str, Parameter]:
        if self.dictionary is None:
            return {}
        from slipring.dictionary import load

        return load(self.dictionary)


def _pair(text: str) -> tuple[str, str]:
    name, equals, word = text.rpartition("=")
    if not equals:
        raise RecordingError(f"--type {text}: write it as NAME=TYPE, such as rpm=f64")
    try:
        Parameter(word)
    except ValueError as error:
        raise RecordingError(f"--type {text}: {error}") from None
    return name, word
