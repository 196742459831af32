"""`slipring plot`: parameters of the lake over time, in the terminal or as a picture."""

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast, get_args

import typer

from slipring.cli import interrupt
from slipring.cli.awaited import awaited
from slipring.cli.display import counted
from slipring.cli.lake_options import AsOf, LakeWhere, opened_lake, source_time
from slipring.errors import LakeError
from slipring.model.nearest import nearest_name

if TYPE_CHECKING:
    from slipring.cli.plot_series import PlotLine
    from slipring.lake.lake import Lake
    from slipring.lake.resolution import Every
    from slipring.lake.result import LakeResult

SCREEN = (100, 30)
"""Columns and rows, if there is no terminal to ask."""
EVERY = "auto, raw, 1s, 1m or 1h"
TIME = "a time (UTC) as 2026-01-02T03:04:05, or an age as -10m"


def plot(  # noqa: PLR0913 (each is an option)
    filters: Annotated[
        list[str],
        typer.Argument(metavar="FILTER...", help="Names of parameters, as 'gripen/+/engine/egt'."),
    ],
    *,
    lake: LakeWhere = None,
    first: Annotated[
        str | None, typer.Option("--from", metavar="TIME", help=f"Begin at {TIME}.")
    ] = None,
    last: Annotated[
        str | None, typer.Option("--to", metavar="TIME", help="End before this time.")
    ] = None,
    every: Annotated[
        str, typer.Option(help=f"The detail: {EVERY}; auto is what a screen can show.")
    ] = "auto",
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A .png, .svg or .pdf file instead.")
    ] = None,
    as_of: AsOf = None,
) -> None:
    """Show parameters of the lake over source time; windows show their least and largest value.

    For example:

        slipring plot gripen/39-7/engine/egt --from -10m

        slipring plot 'gripen/+/engine/#' --from 2026-01-02T03:00 --to 2026-01-02T04:00 --output engine.png
    """  # noqa: E501 (a command is one line)
    interrupt.also_on_sigterm()
    _check(every, output)
    opened = opened_lake(lake, as_of)

    span = source_time(first), source_time(last)
    (result,) = awaited(
        lambda: [opened.read(filters, *span, every=cast("Every", every))], "reading", "rows", len
    )
    lines = _lines(opened, filters, result)
    title = f"{' '.join(filters)}, {'every sample' if result.every == 'raw' else result.every}"
    if output is None:
        _show(lines, title)
    else:
        _draw(lines, title, output)
        print(f"{counted(len(lines), 'parameter')} in {output}", file=sys.stderr)


def _check(every: str, output: Path | None) -> None:
    from slipring.cli.plot_picture import SUFFIXES
    from slipring.lake.resolution import Every

    if every not in get_args(Every):
        raise typer.BadParameter(f"--every is {every!r}; allowed: {EVERY}")
    if output is not None and output.suffix.lower() not in SUFFIXES:
        raise LakeError(f"{output} does not say what to draw: name it {', '.join(SUFFIXES)}")


def _lines(lake: "Lake", filters: list[str], result: "LakeResult") -> "list[PlotLine]":
    """The lines to show; LakeError, with what there is, if there are none."""
    from slipring.cli.plot_series import plot_lines
    from slipring.cli.plot_terminal import LINES_MAX

    lines = plot_lines(result)
    if not lines:
        raise LakeError(_nothing(lake, filters))
    if len(lines) > LINES_MAX:
        left = counted(len(lines) - LINES_MAX, "parameter")
        print(f"slipring: the first {LINES_MAX} are shown, {left} left out", file=sys.stderr)
    return lines[:LINES_MAX]


def _nothing(lake: "Lake", filters: list[str]) -> str:
    chosen = lake.parameters(filters)
    if chosen:
        return f"{counted(len(chosen), 'parameter')} match, and have no numbers in this time"
    near = next(filter(None, (nearest_name(one, lake.parameters()) for one in filters)), None)
    meant = (
        f"; did you mean {near}?"
        if near
        else '; slipring query "SELECT name FROM parameters" lists them'
    )
    return f"no parameter in the lake matches {' '.join(filters)}{meant}"


def _show(lines: "list[PlotLine]", title: str) -> None:
    from rich.console import Console

    from slipring.cli.plot_terminal import terminal_plot

    columns, rows = shutil.get_terminal_size(SCREEN)
    screen = Console(highlight=False, width=columns)
    for line in terminal_plot(lines, columns, rows, title):
        screen.print(line, no_wrap=True, crop=False, overflow="ignore")


def _draw(lines: "list[PlotLine]", title: str, output: Path) -> None:
    from slipring.cli.plot_picture import write_picture
    from slipring.recording.output import output_file

    with output_file(output) as file:
        write_picture(lines, title, output.suffix.lower(), file.stream)
