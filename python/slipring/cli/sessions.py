"""`slipring sessions ...` and `slipring clients ...`: lists them, and ends them."""

import json
from typing import Annotated

import typer

from slipring.cli.console_access import ConsoleAccess, with_console

ClientIds = Annotated[list[str] | None, typer.Argument(metavar="CLIENT_ID...")]
Owner = Annotated[
    str | None,
    typer.Option(help="Only of this owner, as the list shows it: user:NAME or address:IP."),
]
Most = Annotated[
    int, typer.Option(min=1, max=1_000, help="Show at most this many; the costliest come first.")
]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]

sessions: typer.Typer = typer.Typer(
    help="Sessions, connected or away: list, end.", no_args_is_help=True
)
clients: typer.Typer = typer.Typer(
    help="Connected clients: list, disconnect.", no_args_is_help=True
)


@sessions.command("list")
@with_console
def list_sessions(
    *,
    owner: Owner = None,
    away: Annotated[bool, typer.Option("--away", help="Only of clients that are away.")] = False,
    most: Most = 50,
    as_json: AsJson = False,
    console: ConsoleAccess,
) -> None:
    """Show sessions, connected or away: their owners, and what they hold.

    Those with the most bytes waiting come first, then those with the most subscriptions.

    For example:

        slipring sessions list

        slipring sessions list --away --owner address:192.0.2.7

        slipring sessions list --json | jq '.sessions[] | select(.queued_bytes > 1000000)'
    """
    _list(console, owner, "away" if away else None, most, as_json=as_json)


@sessions.command()
@with_console
def end(client_ids: ClientIds = None, *, owner: Owner = None, console: ConsoleAccess) -> None:
    """End sessions with their queued messages; a connected client is disconnected (0x98).

    After the command no restart restores them. The exit code is 1 if a session was not found.

    For example:

        slipring sessions end recorder-17

        slipring sessions end --owner address:192.0.2.7
    """
    _each(console, "/api/sessions/end", None, client_ids or [], owner, "ended")


@clients.command("list")
@with_console
def list_clients(
    *,
    owner: Owner = None,
    most: Most = 50,
    as_json: AsJson = False,
    console: ConsoleAccess,
) -> None:
    """Show connected clients: their addresses, and what they hold.

    For example:

        slipring clients list

        slipring clients list --owner user:gripen --json
    """
    _list(console, owner, "connected", most, as_json=as_json)


@clients.command()
@with_console
def disconnect(
    client_ids: ClientIds = None, *, owner: Owner = None, console: ConsoleAccess
) -> None:
    """Disconnect clients (0x98, administrative action). Sessions stay; clients may reconnect.

    The exit code is 1 if one was not connected.

    For example:

        slipring clients disconnect recorder-17

        slipring clients disconnect --owner user:gripen
    """
    _each(console, "/api/clients/disconnect", "connected", client_ids or [], owner, "disconnected")


def _list(
    console: ConsoleAccess, owner: str | None, state: str | None, most: int, *, as_json: bool
) -> None:
    from slipring.cli.session_rows import found, show_sessions

    answer = found(console, owner, state, most)
    if as_json:
        print(json.dumps(answer, indent=2))
    else:
        show_sessions(answer)


def _each(  # noqa: PLR0917 (what to do, to whom, and how to say it)
    console: ConsoleAccess,
    path: str,
    state: str | None,
    client_ids: list[str],
    owner: str | None,
    done: str,
) -> None:
    from slipring.cli.session_rows import act, act_on_owner

    if bool(client_ids) == bool(owner):
        raise typer.BadParameter("name clients, or an owner with --owner")
    result = act_on_owner(console, path, owner, state) if owner else act(console, path, client_ids)
    print(f"{done} {len(result['done'])}")
    if result["unknown"]:
        print(f"not found: {', '.join(map(repr, result['unknown']))}")
        raise typer.Exit(1)
