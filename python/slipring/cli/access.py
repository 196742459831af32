"""The options by which a command reaches a broker, the same for each. Takes no password as an
argument, where every user of the machine could read it.
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

from slipring.cli.grouped import grouped
from slipring.client import Tls, connect
from slipring.client.connecting import URL, Connecting
from slipring.errors import ConnectError
from slipring.spark.place import Broker

PASSWORD = "SLIPRING_PASSWORD"  # noqa: S105 (the name of a variable)


def _file(text: str) -> Any:
    return typer.Option(help=text, exists=True, dir_okay=False)


@dataclass(frozen=True)
class Access:
    """How to reach a broker, as given on the command line."""

    url: Annotated[
        str, typer.Option(help="The broker: mqtt://host:port, mqtts:, ws:, wss: or unix:/path.")
    ] = URL
    user: Annotated[str | None, typer.Option(envvar="SLIPRING_USER", help="Your user name.")] = None
    password_file: Annotated[
        Path | None,
        _file(f"Its first line is the password. Else {PASSWORD} is; else you are asked."),
    ] = None
    ca: Annotated[
        Path | None, _file("Authorities that may have signed the broker's certificate (PEM).")
    ] = None
    cert: Annotated[Path | None, _file("Your certificate (PEM); with --key.")] = None
    key: Annotated[Path | None, _file("The key of your certificate (PEM).")] = None
    server_name: Annotated[
        str | None, typer.Option(help="The name in the broker's certificate, if not its host.")
    ] = None

    def connect(self, **options: Any) -> Connecting:
        """Opens the connection; the options are those of `slipring.connect`.

        A loss, and the return, is one line on standard error.
        """
        _tell_of_losses()
        password = self._password() if self.user is not None else None
        return connect(self.url, user=self.user, password=password, tls=self._tls(), **options)

    def journal(self) -> Broker:
        """The same for reading the broker's journal."""
        password = self._password().decode() if self.user is not None else None
        self._tls()
        ca, cert, key = (
            None if one is None else str(one) for one in (self.ca, self.cert, self.key)
        )
        return Broker(self.url, self.user, password, ca, cert, key, self.server_name)

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


def _tell_of_losses() -> None:
    log = logging.getLogger("slipring.client")
    teller = logging.StreamHandler()
    teller.setFormatter(logging.Formatter("slipring: %(message)s"))
    log.addHandler(teller)
    log.setLevel(logging.INFO)
    log.propagate = False


def reaching(command: Callable[..., None]) -> Callable[..., None]:
    """A command with the options of `Access` behind its own; it gets them as `access`."""
    return grouped({"access": Access})(command)
