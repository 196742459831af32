"""`slipring table`: shows the parameters of a broker with their current values."""

import asyncio
import contextlib
import json
import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from slipring.cli.access import Access, with_access
from slipring.cli.display import counted
from slipring.errors import RequestFailed
from slipring.model.nearest import nearest_name

if TYPE_CHECKING:
    from rich.console import RenderableType

    from slipring.client import Bus
    from slipring.client.connecting import Connecting
    from slipring.model import Entry, Sample

WATCH_HZ = 2.0
ROWS_BESIDE = 3
"""Lines of a watched terminal that are not rows: the heads, and the count."""


@with_access
def table(
    filters: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILTER",
            help="Such as 'gripen/#'; one name shows all about it.",
        ),
    ] = None,
    *,
    search: Annotated[
        str | None, typer.Option(help="Only those with this in their name or description.")
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Keep showing them; Ctrl-C ends.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object in each line.")] = False,
    access: Access,
) -> None:
    """Show the parameters of a broker: type, unit, current value, state and age.

    The state is the quality, or the limit that the value exceeds. A name without wildcards that is
    not in the table is an error.

    For example:

        slipring table

        slipring table gripen/39-7/engine/rpm

        slipring table 'gripen/+/engine/#' --search temperature

        slipring table 'gripen/39-7/#' --watch

        slipring table --json | jq 'select(.quality != "good") | .name'
    """
    if watch and as_json:
        raise typer.BadParameter("--watch shows a table; without it, --json prints one")
    if watch and not sys.stdout.isatty():
        raise typer.BadParameter("--watch needs a terminal; `slipring sub --rate 1` prints lines")
    chosen, connecting = filters or ["#"], access.connect()
    if watch:
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(_watch(connecting, chosen, search))
    else:
        asyncio.run(_list(connecting, chosen, search, as_json=as_json))


async def _list(
    connecting: "Connecting", filters: list[str], search: str | None, *, as_json: bool
) -> None:
    async with connecting as bus:
        entries = await _entries(bus, filters, search)
        samples: dict[str, Sample] = {}
        for one in filters:
            samples |= await bus.current(one)
        await _tell_missing(bus, filters)
        known = len(await bus.table())
    if as_json:
        from slipring.cli.parameter_rows import as_object

        for entry in entries:
            print(json.dumps(as_object(entry, samples.get(entry.name))))
    elif entries:
        _show(entries, samples, filters)
    else:
        print("no parameters", _why_none(known), file=sys.stderr)


def _why_none(known: int) -> str:
    if not known:
        return "yet; `slipring declare` takes a file of them"
    return f"match; `slipring table` lists {'the one there is' if known == 1 else f'all {known:,}'}"


def _show(entries: "list[Entry]", samples: "dict[str, Sample]", filters: list[str]) -> None:
    from slipring.cli.parameter_rows import parameter_facts, parameter_table
    from slipring.cli.terminal_table import facts, show

    if [entry.name for entry in entries] == filters and len(filters) == 1:
        one = entries[0]
        show(facts(parameter_facts(one, samples.get(one.name), time.time_ns())))
        return
    show(parameter_table(entries, samples, time.time_ns()))
    print(f"\n{counted(len(entries), 'parameter')}")


async def _tell_missing(bus: "Bus", filters: list[str]) -> None:
    """Raise for a name that is not in the table, with a similar one."""
    for name in filters:
        if set(name) & set("+#") or (await bus.table()).matching(name):
            continue
        near = nearest_name(name, (entry.name for entry in (await bus.table()).matching("#")))
        hint = f"did you mean {near!r}?" if near else "`slipring table` lists them all"
        text = f"the broker at {bus.url} has no parameter {name!r}; {hint}"
        raise RequestFailed(text, code="not_found")


async def _watch(connecting: "Connecting", filters: list[str], search: str | None) -> None:
    from rich.live import Live

    samples: dict[str, Sample] = {}
    async with connecting as bus:
        with Live(auto_refresh=False, screen=True) as live:
            async with bus.select(*filters, rate_hz=WATCH_HZ) as frames:
                while True:
                    entries = await _entries(bus, filters, search)
                    live.update(_screen(entries, samples, live.console.height), refresh=True)
                    with contextlib.suppress(TimeoutError):  # no frame: the ages still grow
                        # Before Python 3.12 wait_for() can swallow a Ctrl-C beside a frame.
                        async with asyncio.timeout(1 / WATCH_HZ):
                            frame = await anext(frames)
                        samples.update(frame.each())


def _screen(entries: "list[Entry]", samples: "dict[str, Sample]", height: int) -> "RenderableType":
    """As many rows as the terminal has room for."""
    from rich.console import Group
    from rich.text import Text

    from slipring.cli.parameter_rows import parameter_table

    rows = entries[: max(1, height - ROWS_BESIDE)]
    shown = parameter_table(rows, samples, time.time_ns())
    total = counted(len(entries), "parameter")
    more = len(entries) - len(rows)
    hint = f", {more:,} of them not in view: name a filter, or --search" if more else ""
    return Group(shown, "", Text(f"{total}{hint}"))


async def _entries(bus: "Bus", filters: list[str], search: str | None) -> "list[Entry]":
    """The parameters, sorted by name."""
    found = sorted((await bus.table()).matching(*filters), key=lambda entry: entry.name)
    if search is None:
        return found
    word = search.casefold()
    return [
        entry
        for entry in found
        if word in f"{entry.name}\0{entry.parameter.description or ''}".casefold()
    ]
