"""`slipring table`: the parameters of a broker with their current values. Parse, ask, print."""

import asyncio
import contextlib
import json
import sys
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slipring.cli.access import Access, reaching
from slipring.cli.display import ago, counted, printable, sample_fields, value_text

if TYPE_CHECKING:
    from rich.table import Table

    from slipring.client import Bus
    from slipring.client.connecting import Connecting
    from slipring.model import Entry, Sample

WATCH_HZ = 2.0


@reaching
def table(
    filters: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILTER", help="Which parameters, such as 'gripen/#'; else all."),
    ] = None,
    *,
    search: Annotated[
        str | None, typer.Option(help="Only those with this in their name or description.")
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Go on showing them; Ctrl-C ends.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="An object a line.")] = False,
    access: Access,
) -> None:
    """Show the parameters of a broker: type, unit, current value, quality and age.

    For example:

    slipring table

    slipring table 'gripen/+/engine/#' --search temperature

    slipring table 'gripen/39-7/#' --watch

    slipring table --json | jq 'select(.quality != "good") | .name'
    """
    if watch and as_json:
        raise typer.BadParameter("--watch shows a table; without it, --json prints one")
    if watch and not sys.stdout.isatty():
        raise typer.BadParameter("--watch needs a terminal; `slipring sub --rate 1` prints lines")
    chosen, connecting = filters or ["#"], access.connect()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run((_watch if watch else _list)(connecting, chosen, search, as_json=as_json))


async def _list(
    connecting: "Connecting", filters: list[str], search: str | None, *, as_json: bool
) -> None:
    async with connecting as bus:
        entries = await _entries(bus, filters, search)
        samples: dict[str, Sample] = {}
        for one in filters:
            samples |= await bus.current(one)
    if as_json:
        for entry in entries:
            print(json.dumps(_object(entry, samples.get(entry.name))))
        return
    from slipring.cli.tables import show

    show(_picture(entries, samples))
    print(f"\n{counted(len(entries), 'parameter')}")


async def _watch(
    connecting: "Connecting", filters: list[str], search: str | None, *, as_json: bool
) -> None:
    from rich.live import Live

    assert not as_json
    samples: dict[str, Sample] = {}
    async with connecting as bus:
        with Live(auto_refresh=False, screen=True) as live:
            async with bus.select(*filters, rate_hz=WATCH_HZ) as frames:
                while True:
                    entries = await _entries(bus, filters, search)
                    live.update(_picture(entries, samples), refresh=True)
                    with contextlib.suppress(TimeoutError):  # then ages grow all the same
                        frame = await asyncio.wait_for(anext(frames), 1 / WATCH_HZ)
                        samples.update(frame.each())


async def _entries(bus: "Bus", filters: list[str], search: str | None) -> "list[Entry]":
    found = (await bus.table()).matching(*filters)
    if search is None:
        return found
    word = search.casefold()
    return [
        entry
        for entry in found
        if word in f"{entry.name}\0{entry.parameter.description or ''}".casefold()
    ]


def _picture(entries: "Iterable[Entry]", samples: "dict[str, Sample]") -> "Table":
    from slipring.cli.tables import plain
    from slipring.cli.tables import table as made

    now_ns = time.time_ns()
    shown = made("name", "type", "+value", "unit", "quality", "age", "description")
    for entry in entries:
        sample, parameter = samples.get(entry.name), entry.parameter
        shown.add_row(
            plain(entry.name),
            parameter.type,
            plain("" if sample is None else value_text(sample)),
            plain(parameter.unit or ""),
            "no sample" if sample is None else printable(str(sample.quality)),
            "" if sample is None else ago((now_ns - sample.time_ns) / 1e9),
            plain(parameter.description or ""),
        )
    return shown


def _object(entry: "Entry", sample: "Sample | None") -> dict[str, Any]:
    row = {"index": entry.index, "name": entry.name, **entry.parameter.as_json()}
    return row if sample is None else row | sample_fields(sample)
