"""`slipring dictionary ...`: checks dictionaries of parameters, and shows them."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from slipring.cli.display import counted, printable
from slipring.errors import DictionaryError

if TYPE_CHECKING:
    from slipring.dictionary import Dictionary
    from slipring.model import AlarmLimits, Parameter

FILES = "CSV (.csv), DBC (.dbc) or VSS as JSON (.json); - is standard input, CSV."
File = Annotated[Path, typer.Argument(metavar="FILE", help=FILES)]
Strict = Annotated[
    bool, typer.Option("--strict", help="A warning, such as an unknown unit, is an error too.")
]
LABELS_SHOWN = 4

dictionary: typer.Typer = typer.Typer(
    help="Check files that describe parameters, and show them.", no_args_is_help=True
)


@dictionary.command()
def check(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help=FILES),
    ],
    *,
    strict: Strict = False,
) -> None:
    """List every problem of dictionaries, with file and line. Needs no broker.

    The exit code is 1 if there is an error. A unit that is not UCUM is a warning.

    For example:

        slipring dictionary check engine.csv powertrain.dbc

        slipring dictionary check --strict vss.json

        slipring dictionary show powertrain.dbc --csv | slipring dictionary check -
    """
    right = [_is_right(file, strict=strict) for file in files]
    if not all(right):
        raise typer.Exit(1)


def _is_right(file: Path, *, strict: bool) -> bool:
    """Whether a file has no error; prints its problems."""
    from slipring.dictionary import read

    try:
        found = read(file, strict=strict)
    except DictionaryError as error:
        print(printable(f"slipring: {error}"), file=sys.stderr)
        return False
    tell_problems(found, sys.stdout)
    print(printable(f"{found.file}: {summary(found)}"))
    return found.is_right


@dictionary.command()
def show(
    file: File,
    *,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="As CSV, with all columns; also to convert a file.")
    ] = False,
) -> None:
    """Show the parameters of a dictionary as a table; problems go to standard error.

    For example:

        slipring dictionary show powertrain.dbc

        slipring dictionary show powertrain.dbc --csv > powertrain.csv
    """
    from slipring.dictionary import read, write_csv

    found = read(file)
    tell_problems(found, sys.stderr)
    if as_csv:
        print(write_csv(found.parameters), end="")
    else:
        _show(found)
    if not found.is_right:
        raise typer.Exit(1)


def tell_problems(found: "Dictionary", stream: TextIO) -> None:
    """Write a line for each listed problem, and one that counts the others."""
    for problem in found.problems:
        print(printable(str(problem)), file=stream)
    if more := sum(found.counts.values()) - len(found.problems):
        print(printable(f"{found.file}: and {counted(more, 'more problem')}"), file=stream)


def summary(found: "Dictionary") -> str:
    """`120 parameters, 2 errors, 1 warning`."""
    counts = [(len(found.parameters), "parameter")]
    counts += [(number, severity) for severity, number in found.counts.items() if number]
    return ", ".join(counted(number, thing) for number, thing in counts)


def _show(found: "Dictionary") -> None:
    from slipring.cli.terminal_table import plain, show, table

    made = table("name", "type", "unit", "range", "limits", "+Hz", "source", "description")
    for name, parameter in found.parameters.items():
        made.add_row(*(plain(cell) for cell in _cells(name, parameter)))
    show(made)


def _cells(name: str, parameter: "Parameter") -> list[str]:
    span = parameter.range
    return [
        name,
        parameter.type,
        parameter.unit or "",
        f"{span[0]:.10g} to {span[1]:.10g}" if span else _labels(parameter),
        _limits(parameter.limits) if parameter.limits else "",
        f"{parameter.rate_hz:g}" if parameter.rate_hz else "",
        parameter.source or "",
        parameter.description or "",
    ]


def _labels(parameter: "Parameter") -> str:
    labels = [f"{number} {label}" for number, label in (parameter.labels or {}).items()]
    return ", ".join(labels[:LABELS_SHOWN] + ["..."] * (len(labels) > LABELS_SHOWN))


def _limits(limits: "AlarmLimits") -> str:
    """`<2 >6`, and the critical ones doubled: `<<1.5`."""
    signs = {"low_critical": "<<", "low": "<", "high": ">", "high_critical": ">>"}
    given = ((sign, getattr(limits, name)) for name, sign in signs.items())
    return " ".join(f"{sign}{limit:g}" for sign, limit in given if limit is not None)
