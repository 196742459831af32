"""`slipring declare`: declares the parameters of a dictionary at a broker."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slipring.cli import interrupt
from slipring.cli.access import Access, with_access
from slipring.cli.dictionary import File, Strict, tell_problems
from slipring.cli.display import counted, printable
from slipring.errors import DictionaryError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from slipring.client.connecting import Connecting
    from slipring.dictionary import Dictionary
    from slipring.frames import Table
    from slipring.model import Parameter

CLASHES_TOLD_MAX = 100


@with_access
def declare(
    file: File,
    *,
    prefix: Annotated[
        str,
        typer.Option(metavar="TOPIC", help="The prefix of every name, such as gripen/39-7."),
    ],
    strict: Strict = False,
    access: Access,
) -> None:
    """Declare the parameters of a dictionary at a broker; none, if there is an error.

    A parameter that is declared already stays the same; its description, range, limits, rate and
    source become those of the file. Another type or unit, or other labels, are refused.

    For example:

        slipring declare engine.csv --prefix gripen/39-7/engine

        slipring declare powertrain.dbc --prefix truck/12 --url mqtts://broker.example --user gripen
    """
    found = _checked(file, strict=strict)
    try:
        interrupt.run(_declare(access.connect(), prefix, found))
    except KeyboardInterrupt:
        done = "some of the parameters may be declared; declare the file again to have all"
        print(f"slipring: interrupted: {done}", file=sys.stderr)
        raise
    print(f"declared {counted(len(found.parameters), 'parameter')} under {printable(prefix)}")


def _checked(file: Path, *, strict: bool) -> "Dictionary":
    from slipring.dictionary import Severity, read

    found = read(file, strict=strict)
    tell_problems(found, sys.stderr)
    if not found.is_right:
        errors = counted(found.counts[Severity.ERROR], "error")
        raise DictionaryError(f"{file} has {errors}; nothing was declared")
    return found


async def _declare(connecting: "Connecting", prefix: str, found: "Dictionary") -> None:
    async with connecting as bus:
        _refuse_clashes(prefix, found, await bus.table())
        await bus.declare(prefix, found.parameters)


def _refuse_clashes(prefix: str, found: "Dictionary", table: "Table") -> None:
    """Raise if the broker has a parameter with another identity; lists each with file and line."""
    clashes = list(_clashes(prefix, found, table))
    for clash in clashes[:CLASHES_TOLD_MAX]:
        print(printable(clash), file=sys.stderr)
    if clashes:
        count = counted(len(clashes), "parameter")
        raise DictionaryError(
            f"{count} of {found.file} clash with the broker's table; nothing was declared: correct "
            "the file, rename them, or take another prefix"
        )


def _clashes(prefix: str, found: "Dictionary", table: "Table") -> "Iterator[str]":
    for name, parameter in found.parameters.items():
        entry = table.get(f"{prefix}/{name}" if prefix else name)
        if entry is None or _identity(entry.parameter) == _identity(parameter):
            continue
        there, here = _words(entry.parameter), _words(parameter)
        other = "other labels" if there == here else f"{there}, not {here}"
        yield f"{found.file}:{found.lines[name]}: error: {name}: the broker has it as {other}"


def _identity(parameter: "Parameter") -> "tuple[object, ...]":
    """What never changes of a parameter."""
    return parameter.type, parameter.unit, parameter.labels and dict(parameter.labels)


def _words(parameter: "Parameter") -> str:
    return f"{parameter.type} in {parameter.unit}" if parameter.unit else parameter.type
