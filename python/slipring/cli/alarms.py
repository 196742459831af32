"""`slipring alarms ...`: shows alarms, acknowledges, shelves and comments them."""

import json
from typing import Annotated

import typer

from slipring.cli.console_access import ConsoleAccess, with_console

Ids = Annotated[
    list[str] | None, typer.Argument(metavar="ID...", help="As `slipring alarms` shows them.")
]
Parameter = Annotated[
    str | None, typer.Option(metavar="NAME", help="Those of this parameter instead.")
]
Every = Annotated[bool, typer.Option("--all", help="All that are in the list instead.")]
State = Annotated[
    str | None,
    typer.Option(help="Only these: active, ended, unacknowledged, shelved; or history."),
]

alarms: typer.Typer = typer.Typer(invoke_without_command=True)


@alarms.callback()
@with_console
def list_alarms(
    context: typer.Context,
    *,
    state: State = None,
    watch: Annotated[bool, typer.Option("--watch", help="Print each change; Ctrl-C ends.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    console: ConsoleAccess,
) -> None:
    """Show alarms: values beyond their limits, and who has seen them.

    Those that nobody has acknowledged come first. An alarm that ended and was acknowledged is in
    the history.

    For example:

        slipring alarms

        slipring alarms --state history

        slipring alarms --watch

        slipring alarms --json | jq '.alarms[] | select(.level == "critical")'
    """
    if context.invoked_subcommand is not None:
        return
    from slipring.cli import alarm_rows as rows

    if watch:
        rows.watch(console, state, as_json=as_json)
        return
    listed = rows.found(console, state)
    if as_json:
        print(json.dumps(listed, indent=2))
    else:
        rows.show_alarms(listed)


@alarms.command()
@with_console
def acknowledge(
    ids: Ids = None,
    *,
    parameter: Parameter = None,
    every: Every = False,
    comment: Annotated[str, typer.Option(help="What to write about it.")] = "",
    console: ConsoleAccess,
) -> None:
    """Say that somebody has seen alarms; those that ended leave the list.

    The exit code is 1 if an alarm is not in the list.

    For example:

        slipring alarms acknowledge 17

        slipring alarms acknowledge --parameter jet/egt --comment 'hot start'
    """
    _act(console, "acknowledge", ids, parameter, every=every, comment=comment)


@alarms.command()
@with_console
def shelve(
    ids: Ids = None,
    *,
    parameter: Parameter = None,
    every: Every = False,
    seconds: Annotated[
        float, typer.Option("--for", min=1, max=604_800, help="For how many seconds.")
    ] = 600,
    console: ConsoleAccess,
) -> None:
    """Let alarms disturb nobody for a while: they are not counted and not acknowledged meanwhile.

    For example:

        slipring alarms shelve 17

        slipring alarms shelve --parameter jet/egt --for 3600
    """
    _act(console, "shelve", ids, parameter, every=every, seconds=seconds)


@alarms.command()
@with_console
def unshelve(
    ids: Ids = None,
    *,
    parameter: Parameter = None,
    every: Every = False,
    console: ConsoleAccess,
) -> None:
    """Let shelved alarms disturb again.

    For example:

        slipring alarms unshelve 17

        slipring alarms unshelve --all
    """
    _act(console, "unshelve", ids, parameter, every=every)


@alarms.command()
@with_console
def comment(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="At most 500 characters.")],
    ids: Ids = None,
    *,
    parameter: Parameter = None,
    every: Every = False,
    console: ConsoleAccess,
) -> None:
    """Write something about alarms, for everybody who looks at them.

    For example:

        slipring alarms comment 'the probe is broken' 17

        slipring alarms comment 'look at the pump' --parameter jet/oil
    """
    _act(console, "comment", ids, parameter, every=every, comment=text)


def _act(
    console: ConsoleAccess,
    verb: str,
    ids: list[str] | None,
    parameter: str | None,
    *,
    every: bool,
    **fields: object,
) -> None:
    from slipring.cli import alarm_rows as rows

    if [bool(ids), parameter is not None, every].count(True) != 1:
        raise typer.BadParameter("name alarms, or a parameter with --parameter, or --all")
    chosen = ids or rows.ids_of(console, parameter)
    answer = rows.act(console, verb, chosen, fields)
    print(rows.told(verb, answer))
    if answer["unknown"] or not chosen:
        raise typer.Exit(1)
