"""`slipring access ...`: who may do what; shown, granted, revoked, explained, imported."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from slipring.cli.access_users import users
from slipring.cli.console_access import ConsoleAccess, with_console

access: typer.Typer = typer.Typer(
    help="Rights: list, grant, deny, revoke, explain.", no_args_is_help=True
)
access.add_typer(users, name="users")

Who = Annotated[
    str,
    typer.Argument(
        metavar="WHO",
        help="user:NAME, role:NAME, claim:NAME=VALUE, known, anonymous or anyone; several with "
        "commas between them.",
    ),
]
Rights = Annotated[
    str,
    typer.Argument(
        metavar="RIGHT[,RIGHT]",
        help="publish, subscribe, retain, declare, select, stream, request, serve, journal, "
        "replay, watch, administer, or all.",
    ),
]
Topics = Annotated[
    list[str],
    typer.Argument(metavar="TOPIC...", help="Topic filters; %u is the user, %c the client."),
]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]
ConfigFile = Annotated[
    Path | None,
    typer.Option("--config", help="Ask this config file instead of a running broker."),
]


@access.command()
@with_console
def grant(who: Who, rights: Rights, topics: Topics, *, console: ConsoleAccess) -> None:
    """Allow somebody something, at once and for good: it survives a restart.

    For example:

        slipring access grant role:engineer subscribe,select 'gripen/#'

        slipring access grant user:anna publish 'notes/%u/#'
    """
    _grant(who, topics, console, allow=rights.split(","))


@access.command()
@with_console
def deny(who: Who, rights: Rights, topics: Topics, *, console: ConsoleAccess) -> None:
    """Deny somebody something, whatever is allowed. It takes effect on open connections, too.

    For example:

        slipring access deny user:anna publish 'plant/#'

        slipring access deny anonymous all '#'
    """
    _grant(who, topics, console, deny=rights.split(","))


@access.command()
@with_console
def revoke(
    names: Annotated[list[str], typer.Argument(metavar="RULE...")],
    *,
    console: ConsoleAccess,
) -> None:
    """Remove rules that were granted or denied while running, at once and for good.

    Rules of the config file and of its folder are removed there.

    For example:

        slipring access revoke granted:7
    """
    from urllib.parse import quote

    from slipring.cli.access_rows import change

    for name in names:
        change(console, f"/api/access/rules/{quote(name, safe='')}", "DELETE")
        print(f"revoked {name}")


@access.command("list")
@with_console
def list_rules(
    *, config: ConfigFile = None, as_json: AsJson = False, console: ConsoleAccess
) -> None:
    """Show all rules with their names, and all users with their roles.

    For example:

        slipring access list

        slipring access list --config broker.toml

        slipring access list --json | jq '.rules[] | select(.deny)'
    """
    from slipring.cli.access_rows import everything, show_access, status_of_file

    status = status_of_file(config) if config else everything(console)
    if as_json:
        print(json.dumps(status, indent=2))
    else:
        show_access(status)


@access.command()
@with_console
def explain(  # noqa: PLR0913 (each is an option)
    name: Annotated[str, typer.Argument(metavar="USER", help="A user name; - is nobody.")],
    action: Annotated[str, typer.Argument(metavar="ACTION", help="A right, such as publish.")],
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="A topic, or a filter.")],
    *,
    role: Annotated[
        list[str] | None, typer.Option(help="A role that a token gives, beside the user's own.")
    ] = None,
    claim: Annotated[list[str] | None, typer.Option(help="NAME=VALUE of a token.")] = None,
    client: Annotated[str, typer.Option(help="The client identifier, for %c.")] = "",
    config: ConfigFile = None,
    as_json: AsJson = False,
    console: ConsoleAccess,
) -> None:
    """Tell whether somebody may do something, which rule decides, and what would be needed.

    The exit code is 0 if it is allowed, and 3 if it is not, or only on a part of a filter.

    For example:

        slipring access explain anna subscribe gripen/39-7/engine/rpm

        slipring access explain anna subscribe 'gripen/#' --role engineer

        slipring access explain - publish notes/1 --client pad-1 --config broker.toml
    """
    from slipring.cli.access_rows import explain_by_broker, explain_by_file, show_explanation
    from slipring.control.access_explanation import AccessQuestion

    named = None if name == "-" else name
    claims = tuple(_pair(one) for one in claim or [])
    question = AccessQuestion(named, action, topic, tuple(role or ()), claims, client)
    answer = explain_by_file(config, question) if config else explain_by_broker(console, question)
    if as_json:
        print(json.dumps(answer, indent=2))
    else:
        show_explanation(answer, name, action, topic)
    if not answer["is_allowed"]:
        raise typer.Exit(3)


@access.command("import")
def import_acl(
    acl: Annotated[
        Path,
        typer.Option(
            help="A Mosquitto ACL file; - is standard input.",
            dir_okay=False,
        ),
    ],
    passwords: Annotated[
        Path | None,
        typer.Option(help="A Mosquitto password file.", exists=True, dir_okay=False),
    ] = None,
) -> None:
    """Print the rules of a Mosquitto ACL file as TOML, for the folder of rules.

    What cannot be taken over is told on standard error. Mosquitto's hashes of passwords cannot
    become verifiers: for each user the command is shown that sets a new password.

    For example:

        slipring access import --acl acl.txt --passwords passwd > access.d/10-mosquitto.toml
    """
    from slipring.cli.display import printable
    from slipring.control.mosquitto_access import imported

    found = imported(_lines_of(acl), _lines_of(passwords) if passwords else "")
    print(found.toml, end="")
    for note in found.notes:
        print(printable(note), file=sys.stderr)


def _lines_of(file: Path) -> str:
    """The text as it is: Mosquitto ends a line at a line feed only."""
    content = sys.stdin.buffer.read() if file == Path("-") else file.read_bytes()
    return content.decode(errors="surrogateescape")


def _grant(who: str, topics: list[str], console: ConsoleAccess, **rights: Any) -> None:
    from slipring.cli.access_rows import change

    rule = {"who": who.split(","), "topics": topics, **rights}
    print(f"rule {change(console, '/api/access/rules', 'POST', rule)['rule']} is in force")


def _pair(claim: str) -> tuple[str, str]:
    name, equals, value = claim.partition("=")
    if not equals:
        raise typer.BadParameter(f"'{claim}' is no claim; write NAME=VALUE")
    return name, value
