"""`slipring password`: asks for a password, and prints its line for a config file."""

import sys
from typing import Annotated

import typer

from slipring.errors import ConfigError


def password(
    iterations: Annotated[
        int,
        typer.Option(min=4_096, max=1_000_000, help="More make guessing slower, and logins too."),
    ] = 4_096,
) -> None:
    """Ask for a password, and print its line for the config file.

    The line is enough to check the password, but does not contain it. A program can write the
    password to standard input instead.

    For example:

        slipring password

        pass show broker/gripen | slipring password
    """
    from slipring.control.users import verifier_of

    print(f'password = "{verifier_of(ask_password(), iterations)}"')


def ask_password() -> str:
    """A password from a prompt, or from standard input; never from the command line."""
    if sys.stdin.isatty():
        answer: str = typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
        return answer
    try:
        return sys.stdin.buffer.readline().decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise ConfigError("the password is not UTF-8") from None
