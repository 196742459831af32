"""The options of `slipring import` that are about histories: files with samples of parameters."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slipring.errors import RecordingError
from slipring.model import Parameter
from slipring.recording.time_format import TimeFormat

if TYPE_CHECKING:
    from slipring.frames import Table
    from slipring.recording.history.open_history import Manner
    from slipring.recording.history.settling import Said


@dataclass(frozen=True)
class HistoryOptions:
    """What a file of samples does not say itself."""

    prefix: Annotated[
        str | None,
        typer.Option(metavar="TOPIC", help="A history: what its columns' names are put below."),
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
            metavar="FILE", help="A history: what its columns are.", exists=True, dir_okay=False
        ),
    ] = None
    units: Annotated[
        bool, typer.Option("--units", help="A history as CSV: its second line has units.")
    ] = False

    def is_asked_of(self, file: Path) -> bool:
        """Whether a file is to be taken as samples, and not as messages."""
        from slipring.recording.history.open_history import is_history

        given = (self.prefix, self.time_column, self.time_format, self.types, self.dictionary)
        if any(one is not None for one in given) or self.units:
            return True
        # A pipe can be read once only.
        return file.is_dir() or (file.is_file() and is_history(file))

    def manner(self) -> "Manner":
        """How to read the file."""
        from slipring.recording.history.open_history import Manner

        return Manner(self.time_column, self.time_format, self.units)

    def said(self, table: "Table") -> "Said":
        """What is known of parameters beside the file."""
        from slipring.recording.history.settling import Said

        return Said(dict(map(_pair, self.types or [])), self._dictionary(), table)

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
