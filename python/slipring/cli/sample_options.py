"""The options of `slipring export` that are about samples of parameters."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slipring.errors import RecordingError
from slipring.model.nearest import nearest_name
from slipring.recording.form import Form

if TYPE_CHECKING:
    from slipring.recording.history.chosen import Chosen
    from slipring.recording.history.definitions import Definitions
    from slipring.recording.history.export import Shape


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
            metavar="FILE", help="Samples of the parameters that a file names, one in a line."
        ),
    ] = None
    wide: Annotated[
        bool,
        typer.Option("--wide", help="Parquet with a row for each time, a column for each name."),
    ] = False
    grid: Annotated[
        str | None,
        typer.Option(metavar="STEP", help="Wide, at even times, values held: 100ms, 1s."),
    ] = None
    units: Annotated[bool, typer.Option("--units", help="CSV: units in a second line.")] = False
    time_column: Annotated[
        str, typer.Option(metavar="NAME", help="What the column of times is called.")
    ] = "time"

    @property
    def is_given(self) -> bool:
        """Whether samples are asked for, not messages."""
        if self.parameters is not None and self.names is not None:
            raise typer.BadParameter("give --parameters or --names, not both")
        is_given = self.parameters is not None or self.names is not None
        if not is_given and (self.wide or self.grid or self.units):
            raise typer.BadParameter("--wide, --grid and --units are for --parameters or --names")
        return is_given

    def shape(self, form: Form) -> "Shape":
        """What the file is to look like."""
        from slipring.recording.history.export import Shape
        from slipring.recording.history.step import parse_step

        if form is Form.MCAP and (self.wide or self.grid):
            raise typer.BadParameter("--wide and --grid are for Parquet and CSV")
        if self.units and form is not Form.CSV:
            raise typer.BadParameter("--units is for CSV; Parquet and MCAP have the definitions")
        return Shape(
            form,
            is_wide=self.wide,
            grid_ns=None if self.grid is None else parse_step(self.grid),
            has_units=self.units,
            time_name=self.time_column,
        )

    def choose(self, definitions: "Definitions", where: str) -> "Chosen":
        """The parameters that are asked for."""
        from slipring.recording.columns import check_filters
        from slipring.recording.history.chosen import choose, choose_named

        if self.names is not None:
            names = _lines(self.names)
            _refuse_unknown(definitions, names, where)
            return choose_named(definitions, names)
        filters = self.parameters or []
        check_filters(filters)
        _refuse_unknown(definitions, [one for one in filters if not set(one) & set("+#")], where)
        return choose(definitions, filters, where)


def _refuse_unknown(definitions: "Definitions", names: list[str], where: str) -> None:
    """Raise for a name that is not in the table, with the one that may be meant."""
    missing = [name for name in names if name not in definitions.table]
    if not missing:
        return
    near = nearest_name(missing[0], (entry.name for entry in definitions.entries))
    hint = f"; did you mean {near!r}?" if near else f"; it has {len(definitions.table):,}"
    more = f", nor {len(missing) - 1:,} more of these names" if len(missing) > 1 else ""
    raise RecordingError(f"{where} has no parameter {missing[0]!r}{more}{hint}")


def _lines(path: Path) -> list[str]:
    """The names in a file; empty lines and blanks around names are nothing."""
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise RecordingError(f"cannot read names from {path}: {error}") from None
    return [line.strip() for line in lines if line.strip()]
