"""`slipring discover`: finds brokers, and prints them."""

import asyncio
import json
from dataclasses import asdict
from typing import Annotated

import typer

from slipring.discovery import FoundBroker
from slipring.discovery.discover import TIMEOUT_S
from slipring.discovery.question import PORT


def discover(
    hosts: Annotated[
        list[str] | None, typer.Argument(help="Further hosts to ask, outside this network.")
    ] = None,
    *,
    timeout: Annotated[float, typer.Option(min=0.05, help="Seconds to wait for answers.")] = (
        TIMEOUT_S
    ),
    port: Annotated[int, typer.Option(min=1, max=65_535, help="UDP port of the question.")] = PORT,
    mdns: Annotated[bool, typer.Option(help="Look by mDNS too.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object for each one.")] = False,
) -> None:
    """Find brokers on this machine and on the local network.

    The exit code is 1 if none answers. An answer proves nothing about its sender: use TLS for that.

    For example:

        slipring discover

        slipring discover --json --timeout 1 | jq -r .url

        slipring discover ground.example
    """
    import slipring
    from slipring.errors import ConnectError, NoAnswer

    looking = slipring.discover(*(hosts or ()), timeout_s=timeout, port=port, mdns=mdns)
    try:
        found = asyncio.run(looking)
    except OSError as error:
        raise ConnectError(f"cannot ask {' '.join(hosts or ())}: {error.strerror}") from None
    for one in found if as_json else ():
        print(json.dumps(asdict(one) | {"url": one.url}))
    if found and not as_json:
        _show(found)
    if not found:
        raise NoAnswer(
            f"no broker has answered within {timeout:g} s; name a host to ask, or wait longer with "
            "--timeout (`slipring serve` starts a broker)"
        )


def _show(found: list[FoundBroker]) -> None:
    from slipring.cli.display import duration
    from slipring.cli.terminal_table import plain, show, table

    shown = table("broker", "url", "version", "+up for", "found by", "console")
    for one in found:
        up = "" if one.uptime_s is None else duration(one.uptime_s)
        by = " and ".join(one.found_by)
        for row in (one.url, *(url for url in one.urls if url != one.url)):
            first = row == one.url
            rest = (one.version or "", up, by, one.console or "") if first else ("", "", "", "")
            shown.add_row(*map(plain, (one.name if first else "", row, *rest)))
    show(shown)
