"""`slipring login` and `slipring logout`: gets a token from a broker, keeps it, forgets it."""

import sys
from dataclasses import replace
from typing import Annotated

import typer

from slipring.cli.console_access import ConsoleAccess, with_console
from slipring.cli.console_request import ask
from slipring.cli.display import printable
from slipring.cli.token_store import check_address, forget_token, keep_token, store_file
from slipring.client.connecting import URL
from slipring.credentials import USER, token_end_s
from slipring.errors import ConnectError, SecretError

BrokerUrl = Annotated[str, typer.Argument(metavar="URL", help="The broker, as other commands say.")]


@with_console
def login(url: BrokerUrl = URL, *, console: ConsoleAccess) -> None:
    """Get a token from a broker and keep it: further commands need no password.

    The token is kept in a file that only you can read, and used when no other credential is given.

    For example:

        slipring login mqtts://broker.example --console https://broker.example --user gripen

        slipring sub --url mqtts://broker.example 'gripen/#'
    """
    check_address(url)
    name = console.user or _asked_user()
    access = replace(console, user=name)
    asked = {"user": name, "password": access.password.decode()}
    answer = ask(access, "/api/token", asked)
    token = answer.get("token")
    if not isinstance(token, str) or not token:
        raise ConnectError(f"the broker at {console.console} answered without a token")
    keep_token([url, console.console], token)
    end_s = token_end_s(token.encode())
    until = "" if end_s is None else f" for {_length(answer.get('expires_s'))}"
    print(f"logged in at {printable(url)} as {printable(name)}{until}", file=sys.stderr)


def logout(url: BrokerUrl = URL) -> None:
    """Forget the token of a broker.

    For example:

        slipring logout mqtts://broker.example
    """
    if not forget_token(url):
        raise SecretError(f"you are not logged in at {url}; {store_file()} has no token for it")
    print(f"logged out of {printable(url)}", file=sys.stderr)


def _asked_user() -> str:
    print("User: ", end="", file=sys.stderr, flush=True)
    name = sys.stdin.readline().strip()
    if not name:
        raise SecretError(f"no user name was given: give --user, or set {USER}")
    return name


def _length(seconds: object) -> str:
    return f"{seconds:,.0f} s" if isinstance(seconds, int | float) else "some time"
