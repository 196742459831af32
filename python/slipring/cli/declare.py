"""`slipring declare`: the parameters of a dictionary become those of a broker's table."""

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slipring.cli.access import Access, reaching
from slipring.cli.dictionary import File, Strict, tell_problems
from slipring.cli.display import counted, printable
from slipring.errors import DictionaryError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slipring.client.connecting import Connecting
    from slipring.model import Parameter


@reaching
def declare(
    file: File,
    *,
    prefix: Annotated[
        str,
        typer.Option(metavar="TOPIC", help="What stands before every name: gripen/39-7."),
    ],
    strict: Strict = False,
    access: Access,
) -> None:
    """Declare the parameters of a dictionary at a broker; all, or none where something is wrong.

    A parameter that is there already stays the same parameter; its description, range, limits,
    rate and source are those of the file. Another type, unit or other labels are refused.

    For example:

    slipring declare engine.csv --prefix gripen/39-7/engine

    slipring declare powertrain.dbc --prefix truck/12 --url mqtts://broker.example --user gripen
    """
    parameters = _checked(file, strict=strict)
    asyncio.run(_declare(access.connect(), prefix, parameters))
    under = printable(prefix)
    print(f"declared {counted(len(parameters), 'parameter')} under {under}")


def _checked(file: Path, *, strict: bool) -> "Mapping[str, Parameter]":
    from slipring.dictionary import Severity, read

    found = read(file, strict=strict)
    tell_problems(found, sys.stderr)
    if not found.is_right:
        errors = counted(found.counts[Severity.ERROR], "error")
        raise DictionaryError(f"{file} has {errors}; nothing was declared")
    return found.parameters


async def _declare(
    connecting: "Connecting", prefix: str, parameters: "Mapping[str, Parameter]"
) -> None:
    async with connecting as bus:
        await bus.declare(prefix, parameters)
