"""`slipring memory [SIZE]`: what the memory budget is used for, and another budget."""

import json
from typing import Annotated, cast

import typer

from slipring.cli.console_access import ConsoleAccess, with_console
from slipring.cli.console_request import ask
from slipring.status.engine import MemoryUse

PARTS = {
    "outboxes": "QoS 0 messages",
    "queues": "QoS 1 and 2 messages",
    "waiting": "waiting for a first subscriber",
    "retained": "retained messages",
    "requests": "requests and answers",
    "journal": "waiting for the journal",
    "other": "other",
}
"""The parts of the memory, in words."""


@with_console
def memory(
    size: Annotated[
        str | None,
        typer.Argument(metavar="SIZE", help="The new budget: 512MB, 2GiB, or a number of bytes."),
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    console: ConsoleAccess,
) -> None:
    """Show what the memory budget is used for; with SIZE, set it.

    A lower budget takes effect at once: what does not fit any more is dropped, plain messages
    before requests. When the broker reads its config file again or is started again, the budget is
    limits.memory_bytes again.

    For example:

        slipring memory

        slipring memory 512MB
    """
    body = None if size is None else {"size": size}
    used = cast("MemoryUse", ask(console, "/api/memory", body))
    if as_json:
        print(json.dumps(used, indent=2))
    else:
        _show(used)


def _show(used: MemoryUse) -> None:
    from slipring.cli.display import size
    from slipring.cli.terminal_table import facts, show, table

    most = size(used["budget"]) if used["budget"] else "any amount"
    parts = table("what", "+now", "+dropped for lack of memory")
    victims = cast("dict[str, int]", used["victims"])
    for name, bytes_ in cast("dict[str, int]", used["parts"]).items():
        dropped = f"{victims[name]:,}" if name in victims else ""
        parts.add_row(PARTS[name], size(bytes_), dropped)
    show(facts([("used", f"{size(used['bytes'])} of {most}")]), parts)
