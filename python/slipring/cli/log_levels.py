"""`slipring log`: the level of each room of a broker's log, and its log servers."""

import json
from typing import Annotated

import typer

from slipring.cli.console_access import ConsoleAccess, with_console


@with_console
def log_levels(
    room: Annotated[
        str | None,
        typer.Argument(
            metavar="ROOM",
            help="connections, access, subscriptions, messages, requests, journal, broker, or all.",
        ),
    ] = None,
    level: Annotated[
        str | None, typer.Argument(metavar="LEVEL", help="debug, info, warning or error.")
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    console: ConsoleAccess,
) -> None:
    """Show the level of each room of the log and what log servers got; or set the level of a room.

    A room is a part of the log, such as all lines about requests. A new level holds at once: the
    broker writes lines of this level and above. When it reads its config file again or is started
    again, the level is that of the file.

    For example:

        slipring log

        slipring log requests debug

        slipring log all info
    """
    from slipring.cli.console_request import ask
    from slipring.cli.display import printable

    if room is not None and level is None:
        raise typer.BadParameter("name a level too: debug, info, warning or error")
    body = None if room is None else {"room": room, "level": level}
    answer = ask(console, "/api/log", body)
    if as_json:
        print(json.dumps(answer, indent=2))
        return
    for one in answer["rooms"]:
        print(f"{one['room']:<14} {one['level']}")
    for one in answer["servers"]:
        state = f"failing: {printable(one['failure'])}" if one["is_failing"] else "ok"
        figures = f"sent {one['sent']:,}  lost {one['lost']:,}  waiting {one['waiting']:,}"
        print(f"{printable(one['server'])}  {figures}  {state}")
