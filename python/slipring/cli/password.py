"""`slipring password`: asks for a password, and prints its line for a config file."""

import sys

import typer

from slipring.control.users import verifier_of
from slipring.errors import ConfigError


def run_password(iterations: int) -> None:
    """Print one line, which does not contain the password."""
    print(f'password = "{verifier_of(_ask(), iterations)}"')


def _ask() -> str:
    if sys.stdin.isatty():
        answer: str = typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
        return answer
    try:
        return sys.stdin.buffer.readline().decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise ConfigError("the password is not UTF-8") from None
