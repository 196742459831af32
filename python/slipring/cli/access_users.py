"""`slipring access users ...`: add, remove and change users. Passwords are asked for, never
arguments, and never leave this process: the broker gets a verifier.
"""

from typing import Annotated, Any
from urllib.parse import quote

import typer

from slipring.cli.console_access import ConsoleAccess, with_console

Json = dict[str, Any]
users: typer.Typer = typer.Typer(help="Users: add, remove, password, roles.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="USER")]
Roles = Annotated[
    list[str] | None,
    typer.Option("--role", help="A role, such as viewer, operator or administrator; repeat it."),
]
Iterations = Annotated[
    int,
    typer.Option(min=4_096, max=1_000_000, help="More make guessing slower, and logins too."),
]


@users.command()
@with_console
def add(
    name: Name,
    role: Roles = None,
    *,
    iterations: Iterations = 4_096,
    console: ConsoleAccess,
) -> None:
    """Add a user, who may connect at once. Asks for the password, or reads it from standard input.

    The first user of a broker makes it ask for names and rights: what no rule allows is denied.

    For example:

        slipring access users add anna --role engineer

        pass show broker/anna | slipring access users add anna
    """
    user = {"name": name, "verifier": _verifier(iterations), "roles": role or []}
    _ask(console, "/api/access/users", "POST", user)
    print(f"added {name!r}")


@users.command()
@with_console
def remove(name: Name, *, console: ConsoleAccess) -> None:
    """Remove a user who was added while running.

    For example:

        slipring access users remove anna
    """
    _ask(console, _path(name), "DELETE")
    print(f"removed {name!r}")


@users.command()
@with_console
def password(name: Name, *, iterations: Iterations = 4_096, console: ConsoleAccess) -> None:
    """Set another password. Asks for it, or reads it from standard input.

    For example:

        slipring access users password anna
    """
    _ask(console, _path(name), "PUT", {"verifier": _verifier(iterations)})
    print(f"{name!r} has another password")


@users.command()
@with_console
def roles(
    name: Name,
    roles: Annotated[list[str] | None, typer.Argument(metavar="ROLE...")] = None,
    *,
    console: ConsoleAccess,
) -> None:
    """Set the roles of a user, instead of those there were; none takes all away.

    For example:

        slipring access users roles anna engineer operator
    """
    _ask(console, _path(name), "PUT", {"roles": roles or []})
    print(f"{name!r} has the roles {', '.join(roles)}" if roles else f"{name!r} has no role")


def _verifier(iterations: int) -> str:
    from slipring.cli.password import ask_password
    from slipring.control.users import verifier_of

    return verifier_of(ask_password(), iterations)


def _path(name: str) -> str:
    return f"/api/access/users/{quote(name, safe='')}"


def _ask(console: ConsoleAccess, path: str, method: str, body: Json | None = None) -> None:
    from slipring.cli.access_rows import change

    change(console, path, method, body)
