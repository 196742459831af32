"""The options by which a command reaches the console of a broker, and proves who asks.

A password or a token is never an argument: every user of the machine could read it there.
"""

import base64
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated

import typer

from slipring.cli.access import asked_password
from slipring.cli.option_sets import option_sets
from slipring.cli.token_store import stored_token
from slipring.credentials import PASSWORD, TOKEN, TOKEN_FILE, USER
from slipring.errors import ConnectError
from slipring.native import read_secret_file

CONSOLE = "http://127.0.0.1:8080"
CONSOLE_NAME = "SLIPRING_CONSOLE"
"""The environment variable of --console."""


@dataclass(frozen=True)
class ConsoleAccess:
    """Where a console is, and who asks, as given on the command line."""

    console: Annotated[
        str,
        typer.Option(
            "--console",
            "--url",
            envvar=CONSOLE_NAME,
            help="Address of the console, as `slipring serve` prints it.",
        ),
    ] = CONSOLE
    user: Annotated[
        str | None,
        typer.Option("--user", "-u", envvar=USER, help="Your user name, if the broker has users."),
    ] = None
    password_file: Annotated[
        Path | None,
        typer.Option(
            help=f"The password is its first line; else {PASSWORD}; else you are asked.",
            exists=True,
            dir_okay=False,
        ),
    ] = None
    token_file: Annotated[
        Path | None,
        typer.Option(
            envvar=TOKEN_FILE,
            help=f"The token is its first line; else {TOKEN}; else that of `slipring login`.",
            exists=True,
            dir_okay=False,
        ),
    ] = None
    ca: Annotated[
        Path | None,
        typer.Option(
            help="Certificates of trusted authorities (PEM).", exists=True, dir_okay=False
        ),
    ] = None

    @cached_property
    def authorization(self) -> str | None:
        """The header that proves who asks; None if nothing was given. A person is asked once."""
        if self.user is None:
            token = self._token()
            if not token:
                return None
            self._refuse_in_clear("token")
            return f"Bearer {token.decode()}"
        self._refuse_in_clear("password")
        pair = f"{self.user}:".encode() + self.password
        return f"Basic {base64.b64encode(pair).decode()}"

    def _token(self) -> bytes | None:
        if self.token_file is not None:
            return read_secret_file(self.token_file)
        return os.environb.get(TOKEN.encode()) or stored_token(self.console)

    def _refuse_in_clear(self, secret: str) -> None:
        if not self.console.lower().startswith("https://") and not self.is_on_this_machine:
            raise ConnectError(
                f"a {secret} is not sent to {self.console}: whoever reads the network would have "
                "it; use the https:// address of the console, or ssh -L"
            )

    @property
    def is_on_this_machine(self) -> bool:
        """Whether no network is on the way to it."""
        from urllib.parse import urlsplit

        from slipring.discovery.endpoint import is_loopback

        return is_loopback(urlsplit(self.console).hostname or "")

    @cached_property
    def password(self) -> bytes:
        """The password of the user. A person is asked once."""
        if self.password_file is not None:
            return read_secret_file(self.password_file)
        if PASSWORD in os.environ:
            return os.environb[PASSWORD.encode()]
        return asked_password(self.user)


def with_console(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of `ConsoleAccess` to a command, which gets them as `console`."""
    return option_sets({"console": ConsoleAccess})(command)
