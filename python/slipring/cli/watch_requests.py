"""`slipring requests` and `slipring subscribers`: what the broker looks after, and for whom."""

import json
from typing import Annotated

import typer

from slipring.cli.console_access import ConsoleAccess, with_console

AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]


@with_console
def requests(  # noqa: PLR0913 (typer reads the options from the signature)
    key: Annotated[
        str | None, typer.Argument(metavar="KEY", help="Show the life of this request.")
    ] = None,
    *,
    state: Annotated[
        str | None, typer.Option(help="Only those in this state, such as stored or timed-out.")
    ] = None,
    topic: Annotated[
        str | None, typer.Option(metavar="FILTER", help="Only those on these topics.")
    ] = None,
    client: Annotated[
        str | None, typer.Option(help="Only those that this client asked, or has as a service.")
    ] = None,
    most: Annotated[int, typer.Option(min=1, max=1_000, help="Show at most this many.")] = 50,
    follow: Annotated[
        bool, typer.Option("--follow", help="Print each change of state; Ctrl-C ends.")
    ] = False,
    as_json: AsJson = False,
    console: ConsoleAccess,
) -> None:
    """Show requests: how many are in each state, who is busy, what waits; or the life of one.

    Open requests come first, in the order in which they time out. Then come those that ended, the
    latest first; the broker remembers the last 1,000.

    For example:

        slipring requests

        slipring requests --state stored --topic 'solver/#'

        slipring requests --client gui-1 --follow

        slipring requests 5f0c7a1e22b90d41

        slipring requests --json | jq .figures
    """
    from slipring.cli import request_rows as rows

    if key is not None:
        answer = rows.found_one(console, key)
        print(json.dumps(answer, indent=2)) if as_json else rows.show_life(answer)
        return
    wanted = {"state": state and state.replace("-", " "), "topic": topic, "client": client}
    if follow:
        rows.follow(console, wanted, as_json=as_json)
        return
    listed = rows.found(console, wanted, most)
    if as_json:
        print(json.dumps(listed, indent=2))
    else:
        rows.show_requests(listed, is_narrowed=any(one is not None for one in wanted.values()))


@with_console
def subscribers(
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="Such as gripen/39-7/engine/rpm.")],
    *,
    most: Annotated[int, typer.Option(min=1, max=1_000, help="Show at most this many.")] = 50,
    as_json: AsJson = False,
    console: ConsoleAccess,
) -> None:
    """Show who is subscribed to a topic, by which filter, and how many messages came on it.

    Requests are not among these messages; `slipring requests --topic TOPIC` shows them.

    For example:

        slipring subscribers gripen/39-7/engine/rpm

        slipring subscribers solver/linear --json | jq '.subscribers[].client_id'
    """
    from slipring.cli import request_rows as rows

    found = rows.found_subscribers(console, topic, most)
    print(json.dumps(found, indent=2)) if as_json else rows.show_subscribers(found)
