"""The options of `slipring export` for samples of parameters."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slipring.errors import RecordingError
from slipring.model.nearest import nearest_name
from slipring.recording.file_format import FileFormat

if TYPE_CHECKING:
    from slipring.recording.history.export import HistoryShape
    from slipring.recording.history.read.definitions import Definitions
    from slipring.recording.history.shape.export_columns import ExportColumns


@dataclass(frozen=True)
class SampleOptions:
    """Which parameters, and what the file looks like."""

    parameters: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILTER", help="Samples of parameters, as 'gripen/#'; may be repeated."
        ),
    ] = None
    names: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Samples of the parameters in this file, a name in each line; - is standard "
            "input.",
        ),
    ] = None
    wide: Annotated[
        bool,
        typer.Option("--wide", help="Parquet: a row for each time, a column for each name."),
    ] = False
    grid: Annotated[
        str | None,
        typer.Option(metavar="STEP", help="Wide, at even times, with the last values: 100ms, 1s."),
    ] = None
    units: Annotated[bool, typer.Option("--units", help="CSV: units in a second line.")] = False
    time_column: Annotated[
        str, typer.Option(metavar="NAME", help="The name of the column of times.")
    ] = "time"

    @property
    def is_given(self) -> bool:
        """Whether samples are to be exported, not messages."""
        if self.parameters is not None and self.names is not None:
            raise typer.BadParameter("give --parameters or --names, not both")
        is_given = self.parameters is not None or self.names is not None
        if not is_given and (self.wide or self.grid or self.units):
            raise typer.BadParameter("--wide, --grid and --units are for --parameters or --names")
        return is_given

    def shape(self, file_format: FileFormat) -> "HistoryShape":
        """The shape of the file."""
        from slipring.recording.history.export import HistoryShape
        from slipring.recording.history.shape.time_grid import parse_step

        if file_format is FileFormat.MCAP and (self.wide or self.grid):
            raise typer.BadParameter("--wide and --grid are for Parquet and CSV")
        if self.units and file_format is not FileFormat.CSV:
            raise typer.BadParameter("--units is for CSV; Parquet and MCAP have the definitions")
        return HistoryShape(
            file_format,
            is_wide=self.wide,
            grid_ns=None if self.grid is None else parse_step(self.grid),
            has_units=self.units,
            time_name=self.time_column,
        )

    def choose(self, definitions: "Definitions", where: str) -> "ExportColumns":
        """The columns of the parameters that the options choose."""
        from slipring.recording.message_columns import check_filters

        if self.names is not None:
            names = _lines(self.names)
            _refuse_unknown(definitions, names, where)
            return definitions.columns_named(names)
        filters = self.parameters or []
        check_filters(filters)
        _refuse_unknown(definitions, [one for one in filters if not set(one) & set("+#")], where)
        return definitions.columns_matching(filters, where)


def _refuse_unknown(definitions: "Definitions", names: list[str], where: str) -> None:
    """Raise for a name that is not in the table, with a similar one."""
    missing = [name for name in names if name not in definitions.table]
    if not missing:
        return
    near = nearest_name(missing[0], (entry.name for entry in definitions.entries))
    hint = f"; did you mean {near!r}?" if near else f"; it has {len(definitions.table):,}"
    more = f", nor {len(missing) - 1:,} more of these names" if len(missing) > 1 else ""
    raise RecordingError(f"{where} has no parameter {missing[0]!r}{more}{hint}")


def _lines(path: Path) -> list[str]:
    """The names in a file, without empty lines and surrounding blanks."""
    try:
        text = sys.stdin.read() if path == Path("-") else path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise RecordingError(f"cannot read names from {path}: {error}") from None
    return [line.strip() for line in text.splitlines() if line.strip()]
