"""The options by which every command reaches a broker.

A password is never an argument: every user of the machine could read it there.
"""

import getpass
import logging
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from slipring.cli.option_sets import option_sets
from slipring.client import Tls, connect
from slipring.client.connecting import URL, Connecting
from slipring.errors import ConnectError
from slipring.journal.location import PASSWORD, USER, JournalBroker


def _file(text: str) -> Any:
    return typer.Option(help=text, exists=True, dir_okay=False)


@dataclass(frozen=True)
class Access:
    """How to reach a broker, as given on the command line."""

    url: Annotated[
        str, typer.Option(help="The broker: mqtt://host:port, mqtts:, ws:, wss: or unix:/path.")
    ] = URL
    user: Annotated[str | None, typer.Option(envvar=USER, help="Your user name.")] = None
    password_file: Annotated[
        Path | None,
        _file(f"The password is its first line; else {PASSWORD}; else you are asked."),
    ] = None
    ca: Annotated[Path | None, _file("Certificates of trusted authorities (PEM).")] = None
    cert: Annotated[Path | None, _file("Your certificate (PEM); with --key.")] = None
    key: Annotated[Path | None, _file("The key of your certificate (PEM).")] = None
    server_name: Annotated[
        str | None, typer.Option(help="The name in the broker's certificate, if not its host.")
    ] = None

    def connect(self, **options: Any) -> Connecting:
        """Open the connection; the options are those of `slipring.connect`.

        When it is lost or restored, a line on standard error says so.
        """
        _log_losses()
        password = self._password() if self.user is not None else None
        return connect(self.url, user=self.user, password=password, tls=self._tls(), **options)

    def journal(self) -> JournalBroker:
        """The same broker, to read its journal."""
        password = self._password().decode() if self.user is not None else None
        self._tls()
        ca, cert, key = (
            None if one is None else str(one) for one in (self.ca, self.cert, self.key)
        )
        return JournalBroker(self.url, self.user, password, ca, cert, key, self.server_name)

    def _password(self) -> bytes:
        if self.password_file is not None:
            return (self.password_file.read_bytes().splitlines() or [b""])[0]
        if PASSWORD in os.environ:
            return os.environb[PASSWORD.encode()]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", getpass.GetPassWarning)
                return getpass.getpass(f"Password of {self.user}: ").encode()
        except (getpass.GetPassWarning, EOFError, OSError):
            text = f"no password for {self.user!r}: give --password-file, or set {PASSWORD}"
            raise ConnectError(text) from None

    def _tls(self) -> Tls | None:
        if (self.cert is None) != (self.key is None):
            raise typer.BadParameter("give --cert and --key together")
        files = (self.ca, self.cert, self.server_name)
        if not any(files) and not self.url.startswith(("mqtts:", "wss:")):
            return None
        return Tls(ca=self.ca, certificate=self.cert, key=self.key, server_name=self.server_name)


def _log_losses() -> None:
    log = logging.getLogger("slipring.client")
    to_stderr = logging.StreamHandler()
    to_stderr.setFormatter(logging.Formatter("slipring: %(message)s"))
    log.addHandler(to_stderr)
    log.setLevel(logging.INFO)
    log.propagate = False


def with_access(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of `Access` to a command, which gets them as `access`."""
    return option_sets({"access": Access})(command)
